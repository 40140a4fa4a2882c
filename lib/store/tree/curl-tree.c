// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/tree/curl-tree.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/conf.h"
#include "store/curl/curl.h"
#include "util/environ.h"

#define POLL_MS 2

/* ---- the connection ---- */

static size_t on_line(char *line, size_t one, size_t len, void *arg)
{
	struct rj_net *n = arg;
	size_t l = len;

	while (l && (line[l - 1] == '\r' || line[l - 1] == '\n'))
		l--;
	if (n->call && n->call->line)
		n->call->line(n->call->arg, line, l);
	return len;
}

static size_t on_body(char *data, size_t one, size_t len, void *arg)
{
	struct rj_net *n = arg;
	struct rj_buf *out = n->call ? n->call->out : NULL;

	if (!out)
		return len;
	if (len > n->call->max - (out->len - n->start)) {
		n->too_long = true;
		return 0;
	}
	if (rj_buf_append(out, data, len)) {
		n->no_memory = true;
		return 0;
	}
	return len;
}

static size_t on_send(char *to, size_t one, size_t space, void *arg)
{
	struct rj_net *n = arg;
	size_t left = n->call->body_len - n->sent;

	if (space > left)
		space = left;
	if (space)
		memcpy(to, (const char *)n->call->body + n->sent, space);
	n->sent += space;
	return space;
}

/* Sent again on a fresh connection. */
static int on_seek(void *arg, curl_off_t offset, int origin)
{
	struct rj_net *n = arg;

	if (origin != SEEK_SET || offset < 0 ||
		(size_t)offset > n->call->body_len)
		return CURL_SEEKFUNC_FAIL;
	n->sent = (size_t)offset;
	return CURL_SEEKFUNC_OK;
}

/* libcurl says "login denied" also when the server closed the connection during the login. */
static int on_close(void *arg, curl_socket_t fd)
{
	struct rj_net *n = arg;
	char c;

	n->gone |= recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
	return close(fd);
}

/* A password goes only over a connection that is encrypted, unless rj.conf says
 * insecure=yes; then encryption is taken where it is offered. */
static CURLcode set_login(struct rj_net *n, CURL *e)
{
	const struct rj_conf *c = n->opts.conf;
	CURLcode code = 0;

	if (n->kind->starttls)
		code = curl_easy_setopt(e, CURLOPT_USE_SSL,
			(long)(c->insecure ? CURLUSESSL_TRY : CURLUSESSL_ALL));
	if (!code && c->user)
		code = curl_easy_setopt(e, CURLOPT_USERNAME, c->user);
	if (!code && c->password)
		code = curl_easy_setopt(e, CURLOPT_PASSWORD, c->password);
	return code;
}

int rj_net_handle(struct rj_net *n, CURL **out, struct rj_error *err)
{
	CURL *e;
	int rc;

	rc = rj_curl_new(n->base.url, &n->opts, n->kind->protocols, n->detail, out, err);
	if (rc)
		return rc;
	e = *out;
	/* FTP by requests to a proxy would send the password there in clear */
	curl_easy_setopt(e, CURLOPT_HTTPPROXYTUNNEL, 1L);
	curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_line);
	curl_easy_setopt(e, CURLOPT_HEADERDATA, n);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, n);
	curl_easy_setopt(e, CURLOPT_READFUNCTION, on_send);
	curl_easy_setopt(e, CURLOPT_READDATA, n);
	curl_easy_setopt(e, CURLOPT_SEEKFUNCTION, on_seek);
	curl_easy_setopt(e, CURLOPT_SEEKDATA, n);
	curl_easy_setopt(e, CURLOPT_CLOSESOCKETFUNCTION, on_close);
	curl_easy_setopt(e, CURLOPT_CLOSESOCKETDATA, n);
	if (set_login(n, e))
		return rj_fail(err, RJ_E_INVAL,
			"%s: this machine's libcurl cannot log in there",
			n->base.url);
	if (n->kind->set_options && n->kind->set_options(e, n->opts.conf))
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: this machine's libcurl cannot speak to an %s",
			n->base.url, n->kind->peer);
	return 0;
}

static int set_up(struct rj_net *n, struct rj_error *err)
{
	int rc = rj_net_handle(n, &n->easy, err);

	if (rc || !n->kind->short_poll)
		return rc;
	n->multi = curl_multi_init();
	if (!n->multi)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	return 0;
}

static int check_url(const struct rj_net_kind *kind, const struct rj_url *url,
	struct rj_error *err)
{
	const char *p;

	if (!url->host[0])
		return rj_fail(err, RJ_E_INVAL,
			"%s: no host; write %s://host/folder", url->text,
			url->scheme);
	/* it becomes part of commands and URLs unchanged */
	for (p = url->path; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("/._~-", *p))
			break;
	if (*p || strstr(url->path, "/../"))
		return rj_fail(err, RJ_E_INVAL,
			"%s: the path may have letters, digits, / . _ ~ and -",
			url->text);
	if (kind->box && strspn(url->path, "/") == strlen(url->path))
		return rj_fail(err, RJ_E_INVAL,
			"%s: no %s; write %s://host/%s", url->text, kind->box,
			url->scheme, kind->box);
	return 0;
}

/* Fill N. URL was checked. rj_net_fini() is called also after a failure. */
static int init(struct rj_net *n, const struct rj_net_kind *kind,
	const struct rj_url *url, const struct rj_store_opts *opts,
	struct rj_error *err)
{
	bool tls = kind->tls && !strcmp(url->scheme, kind->tls);
	unsigned port = url->port;
	size_t len;

	if (!port)
		port = tls ? kind->tls_port : kind->plain_port;
	n->kind = kind;
	n->base.ops = kind->ops;
	n->url = *url;
	n->opts = *opts;
	n->opts.conf = rj_conf_ref(opts->conf);
	n->base.durability = opts->conf->durable == RJ_CONF_YES ? RJ_DURABLE
								: RJ_RECEIVED;
	snprintf(n->origin, sizeof(n->origin), "%s://%.255s:%u/", url->scheme,
		url->host, port);
	snprintf(n->root, sizeof(n->root), "%s",
		url->path[0] ? url->path + 1 : "");
	for (len = strlen(n->root); len && n->root[len - 1] == '/'; len--)
		n->root[len - 1] = '\0';
	snprintf(n->base.url, sizeof(n->base.url), "%s%.*s", n->origin,
		(int)(sizeof(n->base.url) - sizeof(n->origin)), n->root);
	if (rj_random_bytes(&n->salt, sizeof(n->salt)))
		return rj_fail(err, RJ_E_IO, "%s: no random bytes",
			n->base.url);
	return set_up(n, err);
}

static void hang_up(struct rj_net *n)
{
	struct rj_sigpipe hold;

	rj_sigpipe_block(&hold);
	if (n->easy)
		curl_easy_cleanup(n->easy);
	if (n->multi)
		curl_multi_cleanup(n->multi);
	rj_sigpipe_restore(&hold);
	n->easy = NULL;
	n->multi = NULL;
}

void rj_net_lines_close(struct rj_net *n)
{
	if (n->lines)
		rj_curl_cleanup(n->lines->easy);
	free(n->lines);
	n->lines = NULL;
}

void rj_net_fini(struct rj_net *n)
{
	hang_up(n);
	rj_net_lines_close(n);
	rj_conf_release(n->opts.conf);
}

/* After a failure: what rj.conf says may be new. */
static int renew(struct rj_net *n, struct rj_error *err)
{
	int rc;

	if (n->failed && rj_conf_renew(&n->opts.conf, &n->looked_ns)) {
		rj_net_lines_close(n);
		n->fresh = true;
	}
	if (n->fresh)
		hang_up(n);
	n->fresh = false;
	if (n->easy)
		return 0;
	rc = set_up(n, err);
	if (rc)
		hang_up(n);
	return rc;
}

/*
 * libcurl 7.88's own loop sometimes sleeps a second after an FTP server's
 * answer to EPSV although there is something to do. This one looks again soon.
 */
static CURLcode perform_short(struct rj_net *n)
{
	CURLcode result = CURLE_OUT_OF_MEMORY;
	struct rj_sigpipe hold;
	int running = 1, left;
	CURLMsg *m;

	rj_sigpipe_block(&hold);
	if (curl_multi_add_handle(n->multi, n->easy))
		running = 0;
	while (running) {
		if (curl_multi_perform(n->multi, &running))
			break;
		if (running &&
			curl_multi_poll(n->multi, NULL, 0, POLL_MS, NULL))
			break;
	}
	while ((m = curl_multi_info_read(n->multi, &left)))
		if (m->msg == CURLMSG_DONE)
			result = m->data.result;
	curl_multi_remove_handle(n->multi, n->easy);
	rj_sigpipe_restore(&hold);
	return result;
}

static bool slist(struct curl_slist **list, const char *const *commands)
{
	struct curl_slist *more;
	int i;

	for (i = 0; i < 4 && commands[i]; i++) {
		more = curl_slist_append(*list, commands[i]);
		if (!more)
			return false;
		*list = more;
	}
	return true;
}

static void set_call(struct rj_net *n, const struct rj_net_call *c,
	struct curl_slist *before, struct curl_slist *after)
{
	CURL *e = n->easy;

	curl_easy_setopt(e, CURLOPT_URL, c->url);
	curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, c->custom);
	curl_easy_setopt(e, CURLOPT_UPLOAD, c->upload ? 1L : 0L);
	curl_easy_setopt(e, CURLOPT_NOBODY, c->nobody ? 1L : 0L);
	curl_easy_setopt(e, CURLOPT_INFILESIZE_LARGE,
		c->upload ? (curl_off_t)c->body_len : (curl_off_t)-1);
	curl_easy_setopt(e, CURLOPT_QUOTE, before);
	curl_easy_setopt(e, CURLOPT_POSTQUOTE, after);
}

int rj_net_perform(struct rj_net *n, struct rj_net_call *call, CURLcode *code,
	struct rj_error *err)
{
	struct curl_slist *before = NULL, *after = NULL;
	curl_socket_t socket = -1;
	long reply = 0;
	int rc;

	*code = CURLE_OUT_OF_MEMORY;
	rc = renew(n, err);
	if (rc)
		return rc;
	n->call = call;
	n->sent = 0;
	n->start = call->out ? call->out->len : 0;
	n->too_long = n->no_memory = n->gone = false;
	n->detail[0] = '\0';
	if (slist(&before, call->quote) && slist(&after, call->after)) {
		set_call(n, call, before, after);
		*code = n->multi ? perform_short(n) : rj_curl_perform(n->easy);
		curl_easy_getinfo(n->easy, CURLINFO_RESPONSE_CODE, &reply);
		curl_easy_getinfo(n->easy, CURLINFO_ACTIVESOCKET, &socket);
		n->base.socket = socket;
		curl_easy_setopt(n->easy, CURLOPT_QUOTE, NULL);
		curl_easy_setopt(n->easy, CURLOPT_POSTQUOTE, NULL);
	}
	call->reply = (int)reply;
	curl_slist_free_all(before);
	curl_slist_free_all(after);
	if (n->too_long)
		rc = rj_fail(err, RJ_E_CORRUPT,
			"%s: longer than the %zu bytes that make sense",
			n->base.url, call->max);
	else if (n->no_memory || *code == CURLE_OUT_OF_MEMORY)
		rc = rj_fail(err, RJ_E_NOMEM, "%s: out of memory", n->base.url);
	if ((rc || *code) && call->out)
		call->out->len = n->start;
	n->call = NULL;
	n->failed = rc || *code;
	n->fresh |= rj_net_cut(*code);
	return rc;
}

int rj_net_fail_lost(struct rj_net *n, const char *doing, struct rj_error *err)
{
	return rj_fail(err, RJ_E_UNREACHABLE,
		"%s: lost the connection to the %s: %s", n->base.url,
		n->kind->peer, doing);
}

#define TOO_LARGE 100 /* CURLE_TOO_LARGE, of 8.6.0 and later; before: CURLE_RECV_ERROR */

bool rj_net_cut(CURLcode code)
{
	return code == CURLE_RECV_ERROR || code == CURLE_WEIRD_SERVER_REPLY ||
	       (int)code == TOO_LARGE;
}

int rj_net_fail(struct rj_net *n, CURLcode code, struct rj_error *err)
{
	return rj_net_fail_on(n, n->easy, code, err);
}

int rj_net_fail_on(struct rj_net *n, CURL *e, CURLcode code, struct rj_error *err)
{
	/* libcurl keeps a connection on which the reply to a command after an upload
	 * (RNTO) came too late, and would read it as that to the next command */
	n->fresh = true;
	if (code == CURLE_LOGIN_DENIED && n->gone)
		return rj_net_fail_lost(n, "during the login", err);
	switch (code) {
	case CURLE_REMOTE_DISK_FULL:
		return rj_fail(err, RJ_E_NOSPACE, "%s: the %s is full",
			n->base.url, n->kind->peer);
	case CURLE_USE_SSL_FAILED:
		return rj_fail(err, RJ_E_DENIED,
			"%s: the %s does not encrypt (rj.conf: insecure=yes "
			"goes without)",
			n->base.url, n->kind->peer);
	default:
		return rj_curl_fail(
			e, code, n->base.url, n->kind->peer, n->detail, &n->opts, err);
	}
}

/* ---- opening and closing ---- */

static int open_tree(const struct rj_net_kind *kind, const struct rj_url *url,
	const struct rj_store_opts *opts, struct rj_tree **out, struct rj_error *err)
{
	struct rj_net *n = calloc(1, kind->bytes);
	int rc;

	if (!n)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	rc = init(n, kind, url, opts, err);
	if (rc)
		kind->ops->close(&n->base);
	else
		*out = &n->base;
	return rc;
}

int rj_net_dup(struct rj_tree *t, struct rj_tree **out, struct rj_error *err)
{
	const struct rj_net *n = (const struct rj_net *)t;

	return open_tree(n->kind, &n->url, &n->opts, out, err);
}

void rj_net_close(struct rj_tree *t)
{
	rj_net_fini((struct rj_net *)t);
	free(t);
}

int rj_net_open_store(const struct rj_net_kind *kind, const struct rj_url *url,
	const struct rj_store_opts *opts, struct rj_store **out,
	struct rj_error *err)
{
	struct rj_tree *t;
	int rc;

	rc = check_url(kind, url, err);
	if (rc || !out)
		return rc;
	rc = open_tree(kind, url, opts, &t, err);
	return rc ? rc : rj_mkdir_epoch_open(t, out, err);
}

/* ---- names ---- */

char *rj_net_path(const struct rj_net *n, const char *folder, const char *name,
	char out[RJ_NET_PATH])
{
	snprintf(out, RJ_NET_PATH, "%s%s%s%s%s", n->root,
		n->root[0] && folder[0] ? "/" : "", folder,
		name && (n->root[0] || folder[0]) ? "/" : "", name ? name : "");
	return out;
}

char *rj_net_url(const struct rj_net *n, const char *folder, const char *name,
	bool slash, char out[RJ_NET_URL])
{
	char path[RJ_NET_PATH];

	rj_net_path(n, folder, name, path);
	snprintf(out, RJ_NET_URL, "%s%.700s%s", n->origin, path,
		slash && path[0] ? "/" : "");
	return out;
}

bool rj_net_holds_objects(const char *folder)
{
	int slashes = 0;

	for (; *folder; folder++)
		slashes += *folder == '/';
	return slashes >= 2;
}

char *rj_net_temporary(
	struct rj_net *n, const char *name, char out[RJ_TREE_NAME + 64])
{
	snprintf(out, RJ_TREE_NAME + 64, "%.63s.%016llx.%llu", name,
		(unsigned long long)n->salt,
		(unsigned long long)++n->attempts);
	return out;
}
