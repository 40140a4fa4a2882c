// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * ftp://host/folder and ftps://: a tree on an FTP server. ftp:// encrypts with
 * AUTH TLS, ftps:// from the first byte.
 *
 * MKD is the exclusive act. An object is stored under a temporary name and then
 * renamed: RNTO is atomic, and overwrites. A server answers 550 to whatever it
 * does not do, and some list a folder that is not there as an empty one: so
 * "not there" is believed only when the list of the folder above, which is not
 * empty or is itself known, does not show it. Some, as vsftpd, list a folder that is
 * closed to them as empty, or as a file of its name; but not with its ".".
 *
 * Folders are listed with STAT, over the control connection, and large ones over one that
 * libcurl does not read (rj_net_ask()): what LIST sends over a connection of its own has no
 * length, and one that was cut short looks whole to libcurl, also with TLS. LIST is for
 * servers that do not have STAT of a folder.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/backend.h"
#include "store/tree/curl-tree.h"

#define MAX_LIST (256u << 20)

struct ftp {
	struct rj_net net;
	bool no_stat; /* the server does not list with it */
};

static struct rj_net *net_of(struct rj_tree *t)
{
	return (struct rj_net *)t;
}

/*
 * A reply that is neither what was asked for nor a refusal. It may belong to an
 * earlier command, which libcurl had not waited for: it counts for nothing, and
 * nothing more is read from this connection.
 */
static int not_now(struct rj_net *n, const char *verb, const char *path,
	int reply, struct rj_error *err)
{
	n->fresh = true;
	return rj_fail(err, RJ_E_UNREACHABLE,
		"%s: the FTP server does not %s %s now (reply %d)", n->base.url,
		verb, path, reply);
}

/* The lines of STAT's answer that are of the listing: not "213-Status follows:"
 * and "213 End". Some servers begin each with a blank, or with "213-". */
struct stat_lines {
	struct rj_buf *out;
	bool no_memory;
};

static void on_stat_line(void *arg, const char *line, size_t len)
{
	struct stat_lines *s = arg;

	if (len > 4 && line[3] == '-' && *line == '2')
		line += 4, len -= 4;
	while (len && *line == ' ')
		line++, len--;
	if (!len || !strchr("-dl", *line))
		return;
	s->no_memory |= s->out->len > MAX_LIST ||
			rj_buf_append(s->out, line, len) ||
			rj_buf_append(s->out, "\n", 1);
}

/* STAT's answer of PATH into OUT, and its code. */
static int stat_folder(struct rj_net *n, const char *path, struct rj_buf *out, int *reply,
	struct rj_error *err)
{
	char text[RJ_NET_PATH + 16];
	struct stat_lines lines = {.out = out};
	struct rj_net_call c = {.url = n->origin,
		.nobody = true,
		.quote = {text},
		.line = on_stat_line,
		.arg = &lines};
	CURLcode code = CURLE_OK;
	bool large = !strcmp(n->large, path);
	int rc = 0;

	out->len = 0;
	snprintf(text, sizeof(text), "STAT %s", *path ? path : ".");
	if (!large) {
		rc = rj_net_perform(n, &c, &code, err);
		large = rj_net_cut(code);
		*reply = c.reply;
	}
	if (!rc && large) {
		out->len = 0;
		rc = rj_net_ask(n, text, on_stat_line, &lines, err);
		*reply = atoi(n->answer);
		code = CURLE_OK;
		if (!rc)
			rj_net_asked(n, path, out->len, false);
	}
	if (!rc && code && code != CURLE_QUOTE_ERROR)
		rc = rj_net_fail(n, code, err);
	if (!rc && lines.no_memory)
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory for a listing");
	return rc;
}

/*
 * The listing of PATH into OUT, by STAT. *DONE: that is so; else the server does
 * not have it: 211 is its own state, 5xx but 550 (as for LIST) that it refuses.
 */
static int fetch_stat(struct rj_net *n, const char *path, struct rj_buf *out,
	bool *done, struct rj_error *err)
{
	int reply = 0, rc = stat_folder(n, path, out, &reply, err);

	*done = true;
	if (rc || reply == 212 || reply == 213)
		return rc;
	out->len = 0;
	if (reply == 450 || reply == 550)
		return 0;
	*done = reply != 211 && reply / 100 != 5;
	if (!*done)
		return 0;
	return not_now(n, "list", path, reply, err);
}

/* The same by LIST. */
static int fetch_by_list(struct rj_net *n, const char *path, struct rj_buf *out,
	struct rj_error *err)
{
	char url[RJ_NET_URL];
	struct rj_net_call c = {
		.url = url, .custom = "LIST", .out = out, .max = MAX_LIST};
	CURLcode code;
	int rc;

	snprintf(url, sizeof(url), "%s%.700s%s", n->origin, path,
		*path ? "/" : "");
	out->len = 0;
	rc = rj_net_perform(n, &c, &code, err);
	if (rc)
		return rc;
	/* 450 and 550: none, or not for us */
	if (code && (c.reply == 450 || c.reply == 550)) {
		out->len = 0;
		return 0;
	}
	return code ? rj_net_fail(n, code, err) : 0;
}

/* The listing of PATH ("" is where the login leads) into OUT. */
static int fetch_list(struct rj_net *n, const char *path, struct rj_buf *out,
	struct rj_error *err)
{
	struct ftp *f = (struct ftp *)n;
	bool done;
	int rc;

	if (!f->no_stat) {
		rc = fetch_stat(n, path, out, &done, err);
		if (rc || done)
			return rc;
		f->no_stat = true;
	}
	return fetch_by_list(n, path, out, err);
}

/* What a folder's listing shows of the folder itself. */
struct shown {
	struct rj_buf list;
	bool dot;  /* its "." */
	bool open; /* that, or something in it; false: it may be closed, or missing */
};

static int show(struct rj_net *n, const char *path, struct shown *s,
	struct rj_error *err)
{
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	int rc = fetch_list(n, path, &s->list, err);

	s->dot = !rc && rj_net_in_list(&s->list, ".", NULL, NULL);
	s->open = s->dot || (!rc && s->list.len &&
				!rj_net_in_list(&s->list, last, NULL, NULL));
	return rc;
}

static int closed(struct rj_net *n, const char *path, struct rj_error *err)
{
	return rj_fail(err, RJ_E_DENIED,
		"%s: the FTP server does not list %s: give its user the permission to read it",
		n->base.url, path);
}

/*
 * Is the folder PATH there? Known, not guessed: that it is shown in the folder
 * above, or that the folder above is there and does not show it. *DOTS: the server's
 * listings show a ".".
 */
static int is_there(struct rj_net *n, const char *path, bool *there, bool *dots,
	struct rj_error *err)
{
	char up[RJ_NET_PATH], *slash;
	const char *name = path;
	struct shown s = {0};
	bool folder;
	int tries, rc = 0;

	*there = true;
	*dots = false;
	if (!*path || !strcmp(path, "/"))
		return 0;
	snprintf(up, sizeof(up), "%s", path);
	slash = strrchr(up, '/');
	if (slash) {
		slash[slash == up] = '\0'; /* "/x": above it is "/" */
		name = path + (slash - up) + 1;
	} else {
		up[0] = '\0';
	}
	/* twice: UP may have come between its own list and that of the folder above */
	for (tries = 0; tries < 2 && !rc; tries++) {
		rc = show(n, up, &s, err);
		*dots = s.dot;
		*there = !rc && rj_net_in_list(&s.list, name, &folder, NULL) &&
			 folder;
		if (rc || s.open || *there)
			break;
		rc = is_there(n, up, &folder, dots, err);
		if (rc || !folder || !*dots)
			break;
		if (tries)
			rc = closed(n, up, err);
	}
	rj_buf_free(&s.list);
	return rc;
}

static int no_folder(struct rj_net *n, const char *path, struct rj_error *err)
{
	return rj_fail(err, RJ_E_NOTFOUND, "%s: %s: no such folder",
		n->base.url, path);
}

/* The listing of a folder of ours, which is there. */
static int list_known(struct rj_net *n, const char *folder, struct rj_buf *out,
	struct rj_error *err)
{
	char path[RJ_NET_PATH];
	bool there, dots;
	int tries, rc = 0;

	rj_net_path(n, folder, NULL, path);
	/* twice: it may have come between the two lists */
	for (tries = 0; tries < 2; tries++) {
		struct shown s = {.list = *out};

		rc = show(n, path, &s, err);
		*out = s.list;
		if (rc || s.open)
			return rc;
		rc = is_there(n, path, &there, &dots, err);
		if (rc)
			return rc;
		if (!there)
			return no_folder(n, folder, err);
		if (!dots)
			return 0;
	}
	return closed(n, path, err);
}

/* VERB PATH. *DONE: the server's reply is WANT; else it refuses. */
static int command(struct rj_net *n, const char *verb, const char *path,
	int want, bool *done, struct rj_error *err)
{
	char text[RJ_NET_PATH + 16];
	struct rj_net_call c = {
		.url = n->origin, .nobody = true, .quote = {text}};
	CURLcode code;
	int rc;

	/* the star: libcurl does not hang up when the server refuses, which
	 * would cost a login; its reply tells */
	snprintf(text, sizeof(text), "*%s %s", verb, path);
	rc = rj_net_perform(n, &c, &code, err);
	if (rc)
		return rc;
	if (code)
		return rj_net_fail(n, code, err);
	*done = c.reply == want;
	if (!*done && c.reply / 100 != 5)
		return not_now(n, verb, path, c.reply, err);
	return 0;
}

/* MKD. *MADE: by us; else it may be there, or not. */
static int make_one(
	struct rj_net *n, const char *path, bool *made, struct rj_error *err)
{
	*made = false;
	return command(n, "MKD", path, 257, made, err);
}

static int make_above(struct rj_net *n, const char *path, struct rj_error *err)
{
	char up[RJ_NET_PATH], *slash;
	bool there, dots, made;
	int rc;

	snprintf(up, sizeof(up), "%s", path);
	slash = strrchr(up, '/');
	if (!slash || slash == up)
		return 0;
	*slash = '\0';
	rc = is_there(n, up, &there, &dots, err);
	if (rc || there)
		return rc;
	rc = make_above(n, up, err);
	return rc ? rc : make_one(n, up, &made, err);
}

static int ftp_make(struct rj_tree *t, const char *folder, struct rj_error *err)
{
	struct rj_net *n = net_of(t);
	char path[RJ_NET_PATH];
	bool made, there, dots;
	int rc;

	rj_net_path(n, folder, NULL, path);
	rj_tree_meet(t);
	rc = make_one(n, path, &made, err);
	if (!rc && !made) {
		rc = is_there(n, path, &there, &dots, err);
		if (!rc && there)
			return rj_fail(err, RJ_E_EXISTS,
				"%s: %s is there already", t->url, folder);
		if (!rc)
			rc = make_above(n, path, err);
		if (!rc)
			rc = make_one(n, path, &made, err);
		if (!rc && !made)
			rc = is_there(n, path, &there, &dots, err);
		if (!rc && !made && there)
			return rj_fail(err, RJ_E_EXISTS,
				"%s: %s is there already", t->url, folder);
	}
	if (!rc && !made)
		rc = rj_fail(err, RJ_E_DENIED,
			"%s: the FTP server does not let us make folder %s",
			t->url, path);
	return rc;
}

static int put_failed(struct rj_net *n, const struct rj_net_call *c,
	CURLcode code, const char *name, struct rj_error *err)
{
	enum rj_code what = RJ_E_UNREACHABLE;

	if (code != CURLE_UPLOAD_FAILED && code != CURLE_QUOTE_ERROR)
		return rj_net_fail(n, code, err);
	if (c->reply == 452 || c->reply == 552)
		return rj_net_fail(n, CURLE_REMOTE_DISK_FULL, err);
	if (c->reply == 550 || c->reply == 553 || c->reply == 532)
		what = RJ_E_DENIED;
	return rj_fail(err, what,
		"%s: put %s: the FTP server refuses (reply %d)", n->base.url,
		name, c->reply);
}

static int ftp_put(struct rj_tree *t, const char *folder, const char *name,
	const void *data, size_t len, struct rj_error *err)
{
	struct rj_net *n = net_of(t);
	char url[RJ_NET_URL], path[RJ_NET_PATH], tmp[RJ_TREE_NAME + 64];
	char from[RJ_NET_PATH + 8], to[RJ_NET_PATH + 8];
	struct rj_net_call c = {
		.url = url,
		.upload = true,
		.body = data,
		.body_len = len,
		.after = {from, to},
	};
	CURLcode code;
	int rc;

	rj_net_temporary(n, name, tmp);
	rj_net_url(n, folder, tmp, false, url);
	snprintf(from, sizeof(from), "RNFR %s",
		rj_net_path(n, folder, tmp, path));
	snprintf(to, sizeof(to), "RNTO %s", rj_net_path(n, folder, name, path));
	rc = rj_net_perform(n, &c, &code, err);
	if (rc)
		return rc;
	if (!code && c.reply != 250) /* not that of RNTO: something else's */
		return not_now(n, "rename", name, c.reply, err);
	return code ? put_failed(n, &c, code, name, err) : 0;
}

/* The server says that there is no NAME: ask the list. RJ_E_DENIED: that shows
 * it, or by now it does. */
static int missing(struct rj_net *n, const char *folder, const char *name,
	struct rj_error *err)
{
	struct rj_buf list = {0};
	bool there;
	int rc;

	rc = list_known(n, folder, &list, err);
	there = !rc && rj_net_in_list(&list, name, NULL, NULL);
	rj_buf_free(&list);
	if (rc && rc != -RJ_E_NOTFOUND)
		return rc;
	if (there)
		return rj_fail(err, RJ_E_DENIED,
			"%s: the FTP server refuses to give %s/%s", n->base.url,
			folder, name);
	return rj_fail(err, RJ_E_NOTFOUND, "%s: %s/%s: no such object",
		n->base.url, folder, name);
}

static int ftp_get(struct rj_tree *t, const char *folder, const char *name,
	size_t max, struct rj_buf *out, struct rj_error *err)
{
	struct rj_net *n = net_of(t);
	char url[RJ_NET_URL];
	struct rj_net_call c = {.url = url, .out = out, .max = max};
	CURLcode code;
	int tries, rc = 0;

	rj_net_url(n, folder, name, false, url);
	/* twice: it may have come between the answer and the list */
	for (tries = 0; tries < 2; tries++) {
		rc = rj_net_perform(n, &c, &code, err);
		if (rc || !code)
			return rc;
		if (code != CURLE_REMOTE_FILE_NOT_FOUND &&
			(code != CURLE_FTP_COULDNT_RETR_FILE || c.reply != 550))
			return rj_net_fail(n, code, err);
		rc = missing(n, folder, name, err);
		if (rc != -RJ_E_DENIED)
			return rc;
	}
	return rc;
}

static int ftp_list(struct rj_tree *t, const char *folder, rj_tree_list_fn fn,
	void *arg, struct rj_error *err)
{
	struct rj_buf list = {0};
	int rc;

	rc = list_known(net_of(t), folder, &list, err);
	if (!rc)
		rc = rj_net_parse_list(&list, fn, arg);
	rj_buf_free(&list);
	return rc;
}

static int ftp_remove(struct rj_tree *t, const char *folder, const char *name,
	struct rj_error *err)
{
	struct rj_net *n = net_of(t);
	char path[RJ_NET_PATH];
	bool done = false;
	int rc;

	rc = command(n, "DELE", rj_net_path(n, folder, name, path), 250, &done,
		err);
	if (rc || done)
		return rc;
	return missing(n, folder, name, err);
}

static const struct rj_tree_ops ftp_ops = {
	.make = ftp_make,
	.put = ftp_put,
	.get = ftp_get,
	.list = ftp_list,
	.remove = ftp_remove,
	.dup = rj_net_dup,
	.close = rj_net_close,
};

static CURLcode set_options(CURL *e, const struct rj_conf *c)
{
	(void)c;
	/* whole paths: nothing depends on where the server thinks we are */
	curl_easy_setopt(
		e, CURLOPT_FTP_FILEMETHOD, (long)CURLFTPMETHOD_NOCWD);
	/* TLS 1.3 sends session tickets on the data connection, which are
	 * not read during an upload; closing it then resets it, and the server
	 * (vsftpd: 426) has lost the end of a large object */
	return curl_easy_setopt(e, CURLOPT_SSLVERSION,
		(long)(CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_MAX_TLSv1_2));
}

static const struct rj_net_kind ftp_kind = {
	.plain = "ftp",
	.tls = "ftps",
	.plain_port = 21,
	.tls_port = 990,
	.protocols = "ftp,ftps",
	.peer = "FTP server",
	.starttls = true,
	.short_poll = true,
	.set_options = set_options,
	.ops = &ftp_ops,
	.bytes = sizeof(struct ftp),
};

int rj_store_ftp_open(const struct rj_url *url,
	const struct rj_store_opts *opts, struct rj_store **out,
	struct rj_error *err)
{
	return rj_net_open_store(&ftp_kind, url, opts, out, err);
}
