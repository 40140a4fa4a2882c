// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * imap://host/folder and imaps://: a tree of mailboxes. imap:// encrypts with
 * STARTTLS.
 *
 * CREATE is the exclusive act; a mailbox is a folder, and an object is a mail,
 * which is there whole or not at all. One that is put twice, because an answer
 * was lost, is there twice, and the same. In the layout of mkdir-epoch.c the folders
 * three deep (those of epochs) hold mails and no folders, those above hold
 * folders and no mails: so a list needs to ask for one of them only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "store/backend.h"
#include "store/tree/curl-tree.h"
#include "store/tree/imap-mail.h"

#define MAX_LIST (256u << 20)

struct imap {
	struct rj_net net;
	char separator; /* between mailbox levels; 0: not asked yet */
	/* The mails of the folder last listed. */
	char folder[RJ_TREE_FOLDER];
	struct rj_buf mails; /* of struct rj_mail */
	/* The server's last tagged answer, "NO [ALREADYEXISTS] ...". */
	char answer[200];
	struct rj_buf *out; /* gets a long list's lines */
	bool no_memory;
};

static struct imap *imap_of(struct rj_tree *t)
{
	return (struct imap *)t;
}

static void on_line(void *arg, const char *line, size_t len)
{
	struct imap *m = arg;
	const char *p;

	if (!len || *line == '*' || *line == '+')
		return;
	p = memchr(line, ' ', len);
	if (p)
		snprintf(m->answer, sizeof(m->answer), "%.*s",
			(int)(line + len - p - 1), p + 1);
}

static bool answered(const struct imap *m, const char *what)
{
	return strcasestr(m->answer, what) != NULL;
}

static int fail(struct imap *m, CURLcode code, struct rj_error *err)
{
	if (code == CURLE_LOGIN_DENIED && answered(m, "[LIMIT]"))
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: the IMAP server takes no more connections: %s", m->net.base.url,
			m->answer);
	if (answered(m, "[OVERQUOTA]") || answered(m, "[LIMIT]"))
		return rj_net_fail(&m->net, CURLE_REMOTE_DISK_FULL, err);
	if (code == CURLE_QUOTE_ERROR || code == CURLE_UPLOAD_FAILED)
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: the IMAP server does not do it: %s",
			m->net.base.url, m->answer);
	return rj_net_fail(&m->net, code, err);
}

/* COMMAND; with MAILBOX (may be NULL) it is done in that mailbox. What the server
 * says goes to OUT (may be NULL). *CODE as in rj_net_perform(). */
static int command(struct imap *m, const char *mailbox, const char *text,
	struct rj_buf *out, CURLcode *code, struct rj_error *err)
{
	char url[RJ_NET_URL];
	struct rj_net_call c = {
		.url = url,
		.custom = text,
		.out = out,
		.max = MAX_LIST,
		.line = on_line,
		.arg = m,
	};

	snprintf(url, sizeof(url), "%s%.700s", m->net.origin,
		mailbox ? mailbox : "");
	m->answer[0] = '\0';
	return rj_net_perform(&m->net, &c, code, err);
}

static void on_long_line(void *arg, const char *line, size_t len)
{
	struct imap *m = arg;

	m->no_memory |= m->out->len > MAX_LIST || rj_buf_append(m->out, line, len) ||
			rj_buf_append(m->out, "\n", 1);
}

/* COMMAND, and what the server says to OUT, however long that is. *CODE 0, or
 * CURLE_QUOTE_ERROR: the server refuses. */
static int command_long(
	struct imap *m, const char *text, struct rj_buf *out, CURLcode *code, struct rj_error *err)
{
	int rc;

	m->out = out;
	m->no_memory = false;
	rc = rj_net_ask(&m->net, text, on_long_line, m, err);
	on_line(m, m->net.answer, strlen(m->net.answer));
	*code = strncasecmp(m->answer, "OK", 2) ? CURLE_QUOTE_ERROR : CURLE_OK;
	if (!rc && m->no_memory)
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory for a listing");
	return rc;
}

/*
 * COMMAND, whose answer is a list of WHAT; with MAILBOX (may be NULL) it is done in that
 * mailbox. One that is too long for libcurl comes over the other connection.
 */
static int command_list(struct imap *m, const char *mailbox, const char *text, const char *what,
	struct rj_buf *out, CURLcode *code, struct rj_error *err)
{
	char select[RJ_NET_PATH + 16];
	int rc;

	if (strcmp(m->net.large, what)) {
		rc = command(m, mailbox, text, out, code, err);
		if (rc || !rj_net_cut(*code))
			return rc;
	}
	*code = CURLE_OK;
	rc = 0;
	if (mailbox) {
		snprintf(select, sizeof(select), "EXAMINE %s", mailbox);
		rc = command_long(m, select, out, code, err);
		out->len = 0;
	}
	if (!rc && *code)
		*code = CURLE_LOGIN_DENIED; /* what libcurl makes of it */
	else if (!rc)
		rc = command_long(m, text, out, code, err);
	if (!rc)
		rj_net_asked(&m->net, what, out->len, !mailbox);
	return rc;
}

/* * LIST (\Noselect) "/" "" */
static int ask_separator(struct imap *m, struct rj_error *err)
{
	struct rj_buf out = {0};
	const char *p;
	CURLcode code;
	int rc;

	if (m->separator)
		return 0;
	rc = command(m, NULL, "LIST \"\" \"\"", &out, &code, err);
	if (!rc && code)
		rc = fail(m, code, err);
	if (!rc && rj_buf_append(&out, "", 1))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	p = rc ? NULL : strstr((const char *)out.data, ") \"");
	if (p && p[3] && p[4] == '"')
		m->separator = p[3];
	else if (!rc)
		rc = rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: the IMAP server has no mailboxes below others",
			m->net.base.url);
	rj_buf_free(&out);
	return rc;
}

static char *mailbox_of(
	const struct imap *m, const char *folder, char out[RJ_NET_PATH])
{
	char *p;

	rj_net_path(&m->net, folder, NULL, out);
	for (p = out; *p; p++)
		if (*p == '/')
			*p = m->separator;
	return out;
}

/* The last word of a "* LIST (...) "." name" line, without quotes. */
static bool parse_list_line(
	const char *line, size_t len, char *name, size_t size)
{
	const char *end = line + len, *p;

	while (end > line && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	if (end - line < 10 || strncasecmp(line, "* LIST ", 7))
		return false;
	if (end[-1] == '"') {
		end--;
		p = memrchr(line, '"', (size_t)(end - line));
	} else {
		p = memrchr(line, ' ', (size_t)(end - line));
	}
	if (!p || (size_t)(end - p) > size)
		return false;
	snprintf(name, size, "%.*s", (int)(end - p - 1), p + 1);
	return true;
}

/* Hand the mailboxes that PATTERN shows to FN, under their last names. */
static int list_mailboxes(struct imap *m, const char *pattern,
	rj_tree_list_fn fn, void *arg, struct rj_error *err)
{
	char text[RJ_NET_PATH + 32], name[RJ_NET_PATH], *last;
	const char *p, *end, *eol;
	struct rj_buf out = {0};
	CURLcode code;
	int rc;

	snprintf(text, sizeof(text), "LIST \"\" \"%s\"", pattern);
	rc = command_list(m, NULL, text, pattern, &out, &code, err);
	if (!rc && code)
		rc = fail(m, code, err);
	p = (const char *)out.data;
	end = p + out.len;
	for (; !rc && p < end; p = eol + 1) {
		eol = memchr(p, '\n', (size_t)(end - p));
		if (!eol)
			eol = end;
		if (!parse_list_line(p, (size_t)(eol - p), name, sizeof(name)))
			continue;
		last = strrchr(name, m->separator);
		rc = fn(arg, last ? last + 1 : name, 0, true);
	}
	rj_buf_free(&out);
	return rc;
}

static int note_shown(void *arg, const char *name, uint64_t bytes, bool folder)
{
	*(bool *)arg = true;
	return 0;
}

static int is_there(
	struct imap *m, const char *mailbox, bool *there, struct rj_error *err)
{
	*there = false;
	return list_mailboxes(m, mailbox, note_shown, there, err);
}

static int imap_make(struct rj_tree *t, const char *folder, struct rj_error *err)
{
	struct imap *m = imap_of(t);
	char mailbox[RJ_NET_PATH], text[RJ_NET_PATH + 16], why[200];
	CURLcode code;
	bool there;
	int rc;

	rc = ask_separator(m, err);
	if (rc)
		return rc;
	/* libcurl hangs up after a command that the server refuses: to ask
	 * first saves a latecomer a login for each try */
	rc = is_there(m, mailbox_of(m, folder, mailbox), &there, err);
	if (!rc && there)
		rc = rj_fail(err, RJ_E_EXISTS, "%s: %s is there already",
			t->url, folder);
	if (rc)
		return rc;
	snprintf(text, sizeof(text), "CREATE %s", mailbox);
	rj_tree_meet(t);
	rc = command(m, NULL, text, NULL, &code, err);
	if (rc || !code)
		return rc;
	if (code != CURLE_QUOTE_ERROR)
		return fail(m, code, err);
	snprintf(why, sizeof(why), "%s", m->answer);
	rc = is_there(m, mailbox, &there, err);
	if (rc)
		return rc;
	if (there || strcasestr(why, "[ALREADYEXISTS]"))
		return rj_fail(err, RJ_E_EXISTS, "%s: %s is there already",
			t->url, folder);
	return rj_fail(err, RJ_E_DENIED,
		"%s: the IMAP server does not let us create %s: %s", t->url,
		mailbox, why);
}

static int imap_put(struct rj_tree *t, const char *folder, const char *name,
	const void *data, size_t len, struct rj_error *err)
{
	struct imap *m = imap_of(t);
	char mailbox[RJ_NET_PATH], url[RJ_NET_URL];
	struct rj_buf mail = {0};
	struct rj_net_call c = {
		.url = url, .upload = true, .line = on_line, .arg = m};
	CURLcode code = CURLE_OK;
	int rc;

	rc = ask_separator(m, err);
	if (rc)
		return rc;
	snprintf(url, sizeof(url), "%s%.700s", m->net.origin,
		mailbox_of(m, folder, mailbox));
	if (rj_mail_write(name, data, len, &mail)) {
		rj_buf_free(&mail);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	c.body = mail.data;
	c.body_len = mail.len;
	m->answer[0] = '\0';
	m->folder[0] = '\0'; /* its list is an older one */
	rc = rj_net_perform(&m->net, &c, &code, err);
	rj_buf_free(&mail);
	if (rc || !code)
		return rc;
	if (answered(m, "[TRYCREATE]"))
		return rj_fail(err, RJ_E_NOTFOUND, "%s: %s: no such folder",
			t->url, folder);
	return fail(m, code, err);
}

/* ---- reading ---- */

static int keep_mails(struct imap *m, const struct rj_buf *text)
{
	const char *p = (const char *)text->data, *end = p + text->len, *eol;
	struct rj_mail mail;

	m->mails.len = 0;
	for (; p < end; p = eol + 1) {
		eol = memchr(p, '\n', (size_t)(end - p));
		if (!eol)
			eol = end;
		if (*p == '*' && rj_mail_parse_line(p, (size_t)(eol - p), &mail) &&
			rj_buf_append(&m->mails, &mail, sizeof(mail)))
			return -RJ_E_NOMEM;
	}
	return 0;
}

/* Select failed: is there no such mailbox? */
static int no_mailbox(struct imap *m, const char *folder, const char *mailbox,
	CURLcode code, struct rj_error *err)
{
	bool there;
	int rc;

	if (code != CURLE_LOGIN_DENIED || !m->answer[0])
		return fail(m, code, err);
	rc = is_there(m, mailbox, &there, err);
	if (rc)
		return rc;
	if (!there)
		return rj_fail(err, RJ_E_NOTFOUND, "%s: %s: no such folder",
			m->net.base.url, folder);
	return rj_fail(err, RJ_E_DENIED,
		"%s: the IMAP server does not let us read %s: %s",
		m->net.base.url, mailbox, m->answer);
}

/* The mails of FOLDER into m->mails. */
static int list_mails(struct imap *m, const char *folder, struct rj_error *err)
{
	char mailbox[RJ_NET_PATH];
	struct rj_buf out = {0};
	CURLcode code;
	int rc;

	m->folder[0] = '\0';
	rc = ask_separator(m, err);
	if (rc)
		return rc;
	mailbox_of(m, folder, mailbox);
	/* a session hears of mails that others brought after a NOOP */
	rc = command(m, mailbox, "NOOP", NULL, &code, err);
	if (!rc && !code)
		rc = command_list(m, mailbox, "UID FETCH 1:* (UID ENVELOPE)", mailbox,
			&out, &code, err);
	if (!rc && code)
		rc = no_mailbox(m, folder, mailbox, code, err);
	if (!rc && keep_mails(m, &out))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory for a listing");
	if (!rc)
		snprintf(m->folder, sizeof(m->folder), "%s", folder);
	rj_buf_free(&out);
	return rc;
}

static int imap_list(struct rj_tree *t, const char *folder, rj_tree_list_fn fn,
	void *arg, struct rj_error *err)
{
	struct imap *m = imap_of(t);
	char pattern[RJ_NET_PATH + 4], mailbox[RJ_NET_PATH];
	struct rj_mail mail;
	bool there = true;
	size_t i;
	int rc;

	if (rj_net_holds_objects(folder)) {
		rc = list_mails(m, folder, err);
		for (i = 0; !rc && i < m->mails.len; i += sizeof(mail)) {
			memcpy(&mail, m->mails.data + i, sizeof(mail));
			rc = fn(arg, mail.name, mail.bytes, false);
		}
		return rc;
	}
	rc = ask_separator(m, err);
	if (rc)
		return rc;
	mailbox_of(m, folder, mailbox);
	if (*mailbox)
		snprintf(pattern, sizeof(pattern), "%s%c%%", mailbox,
			m->separator);
	else
		snprintf(pattern, sizeof(pattern), "%%");
	rc = list_mailboxes(m, pattern, fn, arg, err);
	if (!rc && *folder)
		rc = is_there(m, mailbox, &there, err);
	if (!rc && !there)
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: %s: no such folder",
			t->url, folder);
	return rc;
}

enum which { THIS_LIST, NEW_LIST, ANY_LIST /* a new one if this one does not show it */ };

/* The mail of NAME, or NULL: none (or RC says why). */
static const struct rj_mail *find_mail(struct imap *m, const char *folder,
	const char *name, enum which which, int *rc, struct rj_error *err)
{
	const struct rj_mail *mail;
	size_t i, count;

	*rc = 0;
	if (which == NEW_LIST || strcmp(m->folder, folder)) {
		which = NEW_LIST;
		*rc = list_mails(m, folder, err);
	}
	if (*rc == -RJ_E_NOTFOUND)
		*rc = 0, m->mails.len = 0;
	if (*rc)
		return NULL;
	mail = (const void *)m->mails.data;
	count = m->mails.len / sizeof(*mail);
	for (i = 0; i < count; i++)
		if (!strcmp(mail[i].name, name))
			return &mail[i];
	return which == ANY_LIST ? find_mail(m, folder, name, NEW_LIST, rc, err) : NULL;
}

static void forget_mail(struct imap *m, const struct rj_mail *mail)
{
	size_t at = (size_t)((const uint8_t *)mail - m->mails.data);

	m->mails.len -= sizeof(*mail);
	memmove(m->mails.data + at, m->mails.data + at + sizeof(*mail), m->mails.len - at);
}

static int no_object(struct imap *m, const char *folder, const char *name,
	struct rj_error *err)
{
	return rj_fail(err, RJ_E_NOTFOUND, "%s: %s/%s: no such object",
		m->net.base.url, folder, name);
}

static int fetch_mail(struct imap *m, const char *folder, uint32_t uid,
	size_t max, struct rj_buf *out, CURLcode *code, struct rj_error *err)
{
	char url[RJ_NET_URL + 32], mailbox[RJ_NET_PATH];
	struct rj_net_call c = {
		.url = url,
		.out = out,
		.max = rj_mail_most(max),
		.line = on_line,
		.arg = m,
	};

	snprintf(url, sizeof(url), "%s%.700s/;UID=%u", m->net.origin,
		mailbox_of(m, folder, mailbox), uid);
	m->answer[0] = '\0';
	return rj_net_perform(&m->net, &c, code, err);
}

static int imap_get(struct rj_tree *t, const char *folder, const char *name,
	size_t max, struct rj_buf *out, struct rj_error *err)
{
	struct imap *m = imap_of(t);
	const struct rj_mail *mail;
	struct rj_buf text = {0};
	CURLcode code;
	int rc;

	mail = find_mail(m, folder, name, ANY_LIST, &rc, err);
	if (rc)
		return rc;
	if (!mail)
		return no_object(m, folder, name, err);
	if (mail->bytes > max)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: %s/%s: longer than the %zu bytes that make sense",
			t->url, folder, name, max);
	rc = fetch_mail(m, folder, mail->uid, max, &text, &code, err);
	if (!rc && code)
		m->folder[0] = '\0';
	if (!rc && code == CURLE_REMOTE_FILE_NOT_FOUND)
		rc = no_object(m, folder, name, err);
	else if (!rc && code)
		rc = fail(m, code, err);
	if (!rc) {
		rc = rj_mail_read(&text, name, max, out);
		if (rc)
			rj_fail(err, (enum rj_code)-rc,
				"%s: %s/%s: the mail is damaged", t->url,
				folder, name);
	}
	rj_buf_free(&text);
	return rc;
}

static int imap_remove(struct rj_tree *t, const char *folder, const char *name,
	struct rj_error *err)
{
	struct imap *m = imap_of(t);
	char mailbox[RJ_NET_PATH], text[80];
	const struct rj_mail *mail;
	CURLcode code;
	int rc = 0, removed;

	/* until it is not in the list: it may be there twice */
	for (removed = 0; !rc; removed++) {
		mail = find_mail(m, folder, name, !removed ? ANY_LIST : THIS_LIST, &rc, err);
		if (rc)
			return rc;
		if (!mail)
			break;
		snprintf(text, sizeof(text),
			"UID STORE %u +FLAGS.SILENT (\\Deleted)", mail->uid);
		mailbox_of(m, folder, mailbox);
		rc = command(m, mailbox, text, NULL, &code, err);
		if (!rc && !code)
			rc = command(m, mailbox, "EXPUNGE", NULL, &code, err);
		if (!rc && code)
			rc = fail(m, code, err);
		if (!rc)
			forget_mail(m, mail);
	}
	if (rc)
		m->folder[0] = '\0';
	return !rc && !removed ? no_object(m, folder, name, err) : rc;
}

/* ---- opening ---- */

static void imap_close(struct rj_tree *t)
{
	struct imap *m = imap_of(t);

	rj_net_fini(&m->net);
	rj_buf_free(&m->mails);
	free(m);
}

/* The mails of the folder last listed, too: threads that fetch need no list of their own. */
static int imap_dup(struct rj_tree *t, struct rj_tree **out, struct rj_error *err)
{
	const struct imap *m = imap_of(t);
	struct imap *d;
	int rc = rj_net_dup(t, out, err);

	if (rc)
		return rc;
	d = imap_of(*out);
	d->separator = m->separator;
	if (!rj_buf_append(&d->mails, m->mails.data, m->mails.len))
		memcpy(d->folder, m->folder, sizeof(d->folder));
	return 0;
}

static const struct rj_tree_ops imap_ops = {
	.make = imap_make,
	.put = imap_put,
	.get = imap_get,
	.list = imap_list,
	.remove = imap_remove,
	.dup = imap_dup,
	.close = imap_close,
};

static const struct rj_net_kind imap_kind = {
	.plain = "imap",
	.tls = "imaps",
	.plain_port = 143,
	.tls_port = 993,
	.protocols = "imap,imaps",
	.peer = "IMAP server",
	.starttls = true,
	.box = "mailbox",
	.tagged = true,
	.ops = &imap_ops,
	.bytes = sizeof(struct imap),
};

int rj_store_imap_open(const struct rj_url *url,
	const struct rj_store_opts *opts, struct rj_store **out,
	struct rj_error *err)
{
	return rj_net_open_store(&imap_kind, url, opts, out, err);
}
