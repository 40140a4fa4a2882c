// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lists that are too long for libcurl: over a connection that libcurl opens, encrypts and logs
 * in (CURLOPT_CONNECT_ONLY), and whose lines are read here.
 */
#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/curl/curl.h"
#include "store/tree/curl-tree.h"
#include "util/environ.h"

#define TAG        "r " /* one command at a time needs but one */
#define LOOK_MS    1000 /* how soon give_up is seen */
#define NS_PER_MS  1000000LL
#define SHORT_BYTES 4096 /* that much libcurl takes of every server */

static int connect_lines(struct rj_net *n, struct rj_error *err)
{
	struct rj_net_lines *l = calloc(1, sizeof(*l));
	CURLcode code;
	int rc;

	if (!l)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	n->lines = l;
	rc = rj_net_handle(n, &l->easy, err);
	if (rc)
		return rc;
	n->gone = false;
	n->detail[0] = '\0';
	curl_easy_setopt(l->easy, CURLOPT_URL, n->origin);
	curl_easy_setopt(l->easy, CURLOPT_CONNECT_ONLY, 1L);
	code = rj_curl_perform(l->easy);
	return code ? rj_net_fail_on(n, l->easy, code, err) : 0;
}

/* Wait until the connection can be read, or written. */
static int wait_for(struct rj_net *n, short events, struct rj_error *err)
{
	int64_t left = (n->lines->until_ns - rj_monotonic_ns()) / NS_PER_MS;
	struct pollfd p = {.events = events};
	curl_socket_t fd = CURL_SOCKET_BAD;

	if (left <= 0)
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: no answer from the %s: timed out after %d ms", n->base.url,
			n->kind->peer, n->opts.request_timeout_ms);
	if (n->opts.give_up && *n->opts.give_up)
		return rj_fail(err, RJ_E_UNREACHABLE, "%s: the request to the %s was given up",
			n->base.url, n->kind->peer);
	curl_easy_getinfo(n->lines->easy, CURLINFO_ACTIVESOCKET, &fd);
	p.fd = fd;
	poll(&p, 1, left < LOOK_MS ? (int)left : LOOK_MS);
	return 0;
}

static int send_all(struct rj_net *n, const char *text, size_t len, struct rj_error *err)
{
	struct rj_sigpipe hold;
	size_t sent;
	CURLcode code;
	int rc = 0;

	while (len && !rc) {
		sent = 0;
		rj_sigpipe_block(&hold);
		code = curl_easy_send(n->lines->easy, text, len, &sent);
		rj_sigpipe_restore(&hold);
		text += sent;
		len -= sent;
		if (code == CURLE_AGAIN)
			rc = wait_for(n, POLLOUT, err);
		else if (code)
			rc = rj_net_fail_lost(n, "while a list was asked for", err);
	}
	return rc;
}

/* Append to l->text what has come. */
static int receive(struct rj_net *n, struct rj_error *err)
{
	struct rj_net_lines *l = n->lines;
	struct rj_sigpipe hold;
	size_t got = 0;
	CURLcode code;
	int rc = 0;

	l->len -= l->at;
	memmove(l->text, l->text + l->at, l->len);
	l->at = 0;
	if (l->len == sizeof(l->text))
		return rj_fail(err, RJ_E_PROTOCOL, "%s: the %s sends a line of more than %d bytes",
			n->base.url, n->kind->peer, RJ_NET_LINE);
	do {
		rj_sigpipe_block(&hold);
		code = curl_easy_recv(
			l->easy, l->text + l->len, sizeof(l->text) - l->len, &got);
		rj_sigpipe_restore(&hold);
		if (code == CURLE_AGAIN)
			rc = wait_for(n, POLLIN, err);
	} while (code == CURLE_AGAIN && !rc);
	if (!rc && (code || !got))
		rc = rj_net_fail_lost(n, "during a list", err);
	l->len += got;
	return rc;
}

/* The next line without its end, up to the next call. */
static int next_line(struct rj_net *n, const char **line, size_t *len, struct rj_error *err)
{
	struct rj_net_lines *l = n->lines;
	char *eol;
	int rc;

	while (!(eol = memchr(l->text + l->at, '\n', l->len - l->at))) {
		rc = receive(n, err);
		if (rc)
			return rc;
	}
	*line = l->text + l->at;
	*len = (size_t)(eol - *line);
	l->at += *len + 1;
	if (*len && eol[-1] == '\r')
		--*len;
	return 0;
}

/* The bytes of a literal, "{12}" at the end of LINE, are skipped. */
static int skip_literal(struct rj_net *n, const char *line, size_t len, struct rj_error *err)
{
	struct rj_net_lines *l = n->lines;
	const char *open = len && line[len - 1] == '}' ? memrchr(line, '{', len) : NULL;
	unsigned long long bytes = open ? strtoull(open + 1, NULL, 10) : 0;
	size_t have;
	int rc = 0;

	while (bytes && !rc) {
		have = l->len - l->at < bytes ? l->len - l->at : (size_t)bytes;
		l->at += have;
		bytes -= have;
		if (bytes)
			rc = receive(n, err);
	}
	return rc;
}

/* FTP: "213-" begins an answer of several lines, and "213 " is the last; some servers' lines
 * between have no code. */
static bool is_last(const struct rj_net *n, const char *line, size_t len, const char *code)
{
	if (n->kind->tagged)
		return len >= strlen(TAG) && !memcmp(line, TAG, strlen(TAG));
	return len >= 4 && line[3] == ' ' && isdigit((unsigned char)*line) &&
	       (!*code || !memcmp(line, code, 3));
}

static int converse(struct rj_net *n, const char *command,
	void (*line)(void *arg, const char *line, size_t len), void *arg, struct rj_error *err)
{
	char text[2 * RJ_NET_PATH], code[4] = "";
	const char *p = NULL;
	size_t len = 0;
	int rc;

	n->lines->until_ns = rj_monotonic_ns() + n->opts.request_timeout_ms * NS_PER_MS;
	snprintf(text, sizeof(text), "%s%s\r\n", n->kind->tagged ? TAG : "", command);
	rc = send_all(n, text, strlen(text), err);
	for (;;) {
		if (!rc)
			rc = next_line(n, &p, &len, err);
		if (rc || is_last(n, p, len, code))
			break;
		if (!n->kind->tagged && !*code && len >= 4 && p[3] == '-')
			memcpy(code, p, 3);
		line(arg, p, len);
		if (n->kind->tagged)
			rc = skip_literal(n, p, len, err);
	}
	if (!rc)
		snprintf(n->answer, sizeof(n->answer), "%.*s", (int)len, p);
	return rc;
}

int rj_net_ask(struct rj_net *n, const char *command,
	void (*line)(void *arg, const char *line, size_t len), void *arg, struct rj_error *err)
{
	int rc = n->lines ? 0 : connect_lines(n, err);

	if (!rc)
		rc = converse(n, command, line, arg, err);
	if (rc) {
		rj_net_lines_close(n);
		n->large[0] = '\0'; /* next time by libcurl, with what rj.conf says by then */
	}
	n->failed = rc != 0;
	return rc;
}

void rj_net_asked(struct rj_net *n, const char *what, size_t bytes, bool often)
{
	bool large = bytes >= SHORT_BYTES;

	snprintf(n->large, sizeof(n->large), "%s", large ? what : "");
	/* servers count connections */
	if (!large || !often)
		rj_net_lines_close(n);
}
