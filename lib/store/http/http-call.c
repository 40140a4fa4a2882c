// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/http/http-call.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "store/conf.h"

bool rj_http_header_is(const char *line, size_t len, const char *name,
	char *value, size_t size)
{
	size_t n = strlen(name);

	if (len <= n || line[n] != ':' || strncasecmp(line, name, n))
		return false;
	line += n + 1;
	len -= n + 1;
	while (len && (*line == ' ' || *line == '\t')) {
		line++;
		len--;
	}
	snprintf(value, size, "%.*s", (int)len, line);
	return true;
}

/* Is HOST (as in a URL) this machine itself: localhost, 127.x, [::1]? */
static bool is_loopback(const char *host)
{
	return !strcasecmp(host, "localhost") || !strcmp(host, "[::1]") ||
	       (!strncmp(host, "127.", 4) &&
		       strspn(host, "0123456789.") == strlen(host));
}

size_t rj_http_call_body_bytes(const struct rj_http_call *c)
{
	size_t len = c->body_len;
	int i;

	for (i = 0; i < c->rest_count; i++)
		len += c->rest[i].iov_len;
	return len;
}

/* Get seconds since 1970. timegm() would read the file of the time zone. */
static int64_t seconds_of(const struct tm *t)
{
	/* March is the first month: the leap day is a year's last one */
	int64_t year = t->tm_year + 1900 - (t->tm_mon < 2), month = (t->tm_mon + 10) % 12;
	int64_t days = 365 * year + year / 4 - year / 100 + year / 400 +
		       (153 * month + 2) / 5 + t->tm_mday - 1 - 719468;

	return ((days * 24 + t->tm_hour) * 60 + t->tm_min) * 60 + t->tm_sec;
}

void rj_http_call_line(struct rj_http_call *c, const char *line, size_t len)
{
	struct tm tm = {0};
	char value[64];

	/* RFC 9110, 5.6.7: always GMT. Not of puts, which commits wait for. */
	if (!c->has_body && rj_http_header_is(line, len, "Date", value, sizeof(value)) &&
		strptime(value, "%a, %d %b %Y %H:%M:%S", &tm))
		c->date_s = seconds_of(&tm);
	if (c->header)
		c->header(c->arg, line, len);
}

void rj_http_call_begin(struct rj_http_call *c)
{
	c->status = 0;
	c->date_s = 0;
	memset(c->text, 0, sizeof(c->text));
	memset(c->error, 0, sizeof(c->error));
}

void rj_http_call_end(struct rj_http_call *c, size_t len)
{
	size_t i;

	for (i = 0; i < len && i < RJ_HTTP_TEXT - 1; i++) {
		if (c->error[i] == '\n')
			break;
		c->text[i] = c->error[i] >= 0x20 && c->error[i] < 0x7f
				     ? c->error[i]
				     : '?';
	}
}

void rj_http_peer_init(struct rj_http_peer *p, const struct rj_http_setup *setup)
{
	p->setup = *setup;
	p->opts = *setup->opts;
	rj_conf_ref(p->opts.conf);
	p->setup.opts = &p->opts;
	snprintf(p->name, sizeof(p->name), "%s", setup->name);
	p->setup.name = p->name;
	snprintf(p->host, sizeof(p->host), "%s", setup->host);
	p->setup.host = p->host;
	snprintf(p->region, sizeof(p->region), "%s",
		setup->region ? setup->region : "");
	p->setup.region = p->region;
}

void rj_http_peer_release(struct rj_http_peer *p)
{
	rj_conf_release(p->opts.conf);
}

bool rj_http_peer_stays_here(const struct rj_http_peer *p)
{
	const char *proxy = p->opts.conf->proxy;

	return is_loopback(p->host) && !(proxy && *proxy);
}

int rj_http_peer_check(const struct rj_http_peer *p, struct rj_error *err)
{
	const struct rj_conf *c = p->opts.conf;

	if (p->setup.tls || c->insecure || p->setup.auth == RJ_HTTP_SIGV4 ||
		!(c->token || c->password) || rj_http_peer_stays_here(p))
		return 0;
	return rj_fail_cause(
		rj_fail(err, RJ_E_REFUSED,
			"%s: a password or token would travel unencrypted: use "
			"TLS, or say insecure=yes in rj.conf",
			p->name),
		RJ_CAUSE_SETTINGS, err);
}

bool rj_http_peer_renew(struct rj_http_peer *p)
{
	return p->failed && rj_conf_renew(&p->opts.conf, &p->looked_ns);
}

bool rj_http_is_success(int status)
{
	return status >= 200 && status < 300;
}

bool rj_http_means_something(int status)
{
	return status < 300 || status == 404 || status == 409 || status == 412;
}

/* Get the cause that STATUS, of an answer that means failure, points to. */
static enum rj_cause cause_of(int status)
{
	switch (status) {
	case 401:
		return RJ_CAUSE_TOKEN;
	case 403:
		return RJ_CAUSE_RIGHTS;
	case 404:
	case 410:
		return RJ_CAUSE_NOTFOUND;
	case 407:
		return RJ_CAUSE_LOGIN;
	default:
		return status >= 300 && status < 400 ? RJ_CAUSE_REDIRECT
						     : RJ_CAUSE_CODE;
	}
}

bool rj_http_needs_end(int status)
{
	return status != 204 && status != 401 && status != 403 &&
	       status != 407 && status != 408 && status != 429 && status < 500;
}

int rj_http_fail_early(const struct rj_http_peer *p, struct rj_error *err)
{
	return rj_fail(err, RJ_E_UNREACHABLE,
		"%s: the %s answered before all of the request was sent",
		p->name, p->setup.peer);
}

int rj_http_fail_alien(const struct rj_http_peer *p, struct rj_error *err)
{
	return rj_fail(err, RJ_E_PROTOCOL,
		"%s: the answer is not HTTP: is a %s listening there?", p->name,
		p->setup.peer);
}

int rj_http_fail_endless(
	const struct rj_http_peer *p, int status, struct rj_error *err)
{
	return rj_fail_cause(
		rj_fail(err, RJ_E_PROTOCOL,
			"%s: an HTTP answer without a length (status %d): is a "
			"%s listening there?",
			p->name, status, p->setup.peer),
		cause_of(status), err);
}

int rj_http_fail_long(
	const struct rj_http_peer *p, size_t max, struct rj_error *err)
{
	return rj_fail(err, RJ_E_CORRUPT,
		"%s: the answer is longer than the %zu bytes that make sense",
		p->name, max);
}

int rj_http_fail_cut(const struct rj_http_peer *p, struct rj_error *err)
{
	return rj_fail(err, RJ_E_UNREACHABLE, "%s: the %s's answer was cut short",
		p->name, p->setup.peer);
}

/* What of rj.conf a store that answers 401 did not take, or misses. */
static const char *not_taken(const struct rj_http_peer *p, int status)
{
	const struct rj_conf *c = p->opts.conf;

	if (status != 401 || c->withheld || p->setup.auth == RJ_HTTP_SIGV4)
		return "";
	if (c->token)
		return "; it does not take the token of rj.conf";
	if (c->user)
		return "; it does not take the user and password of rj.conf";
	if (c->cert)
		return "; rj.conf has no token for this URL, and the certificate is not enough";
	return "; rj.conf has no token or user for this URL";
}

int rj_http_fail_status(const struct rj_http_peer *p, const struct rj_http_call *c,
	const char *doing, const char *why, struct rj_error *err)
{
	enum rj_cause cause = cause_of(c->status);
	enum rj_code code = RJ_E_PROTOCOL;
	const char *what = "gave an invalid answer";
	int shown = (int)strlen(doing);

	if (!why)
		why = c->text[0] == '<' ? "" : c->text; /* HTML is no message */
	if (c->status == 401 || c->status == 403) {
		code = RJ_E_DENIED;
		what = p->opts.conf->withheld
			? "refuses us, without the secret of [*] in rj.conf, which goes only to hosts that a section of its own names"
			: "refuses us";
	} else if (c->status == 407) {
		code = RJ_E_DENIED;
		what = "cannot be reached: the proxy wants a password";
	} else if (c->status == 507) {
		code = RJ_E_NOSPACE;
		what = "is full";
	} else if (c->status == 413 || c->status == 414) {
		code = RJ_E_INVAL;
		what = "does not take an object that large";
	} else if (c->status >= 500 || c->status == 408 || c->status == 423 ||
		   c->status == 425 || c->status == 429) {
		code = RJ_E_UNREACHABLE;
		what = "cannot do it now";
	}
	/* it is the account that matters, or what may be done, and no object */
	if (c->status == 401)
		shown = 0;
	else if (c->status == 403)
		shown = (int)strcspn(doing, " ");
	if (code == RJ_E_INVAL) /* by something in between, perhaps */
		cause = RJ_CAUSE_RIGHTS;
	if (cause == RJ_CAUSE_TOKEN && p->opts.conf->user)
		cause = RJ_CAUSE_LOGIN;
	return rj_fail_cause(
		rj_fail(err, code, "%s: %.*s%sthe %s %s (status %d%s%s)%s",
			p->name, shown, doing, shown ? ": " : "",
			p->setup.peer, what, c->status, *why ? ": " : "", why,
			not_taken(p, c->status)),
		cause, err);
}
