// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * s3+http://host[:port]/bucket[/prefix], s3+https://...: any S3.
 *
 * A put is "PUT, If-None-Match: *"; a server that does not know that header
 * must be found out by rj_probe() before it is believed. Only an answer with the
 * new object's ETag, which every S3 sends, is an acknowledgement: a proxy's page
 * has status 200, too. Requests are signed by
 * libcurl (SigV4), with "UNSIGNED-PAYLOAD": segments have a checksum of their own.
 * libcurl up to 8.x signs a query unchanged, so what we send is sorted and
 * percent-encoded; and it would sign a header that is set to nothing but not
 * send it, so there is none.
 */
#include "store/curl/s3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "store/backend.h"
#include "store/secret-file.h"
#include "store/conf.h"
#include "store/curl/xml.h"

static const char *const put_headers[] = {
	RJ_S3_UNSIGNED,
	"Content-Type: application/octet-stream",
	"If-None-Match: *",
	NULL,
};

static struct rj_s3 *s3_of(struct rj_store *s)
{
	return (struct rj_s3 *)s;
}

/* Point s->url at KEY; its text, without the prefix, into TEXT. The names in
 * both have no character that a URL would need encoded. */
static int set_object(struct rj_s3 *s, const struct rj_key *key,
	char text[RJ_KEY_TEXT], struct rj_error *err)
{
	char name[RJ_URL_BYTES + RJ_KEY_TEXT];

	snprintf(name, sizeof(name), "%s%s", s->prefix, rj_key_text(key, text));
	return rj_s3_set_url(s, name, err);
}

/* Note in ARG, a bool, whether the answer (the last one, after any 1xx) has an
 * ETag. */
static void find_etag(void *arg, const char *line, size_t len)
{
	bool *found = arg;
	char value[8];

	if (len >= 5 && !strncasecmp(line, "HTTP/", 5))
		*found = false;
	else if (rj_http_header_is(line, len, "ETag", value, sizeof(value)))
		*found = *value != '\0';
}

/* An S3 store answers a put without a body. A page of a proxy has one, and it may
 * have an ETag. */
struct put_answer {
	bool done, etag, page;
};

static int put_once(struct rj_s3 *s, const void *data, size_t len,
	struct put_answer *a, struct rj_http_call *c, struct rj_error *err)
{
	struct rj_buf body = {0};
	int rc;

	*a = (struct put_answer){0};
	*c = (struct rj_http_call){
		.method = "PUT",
		.headers = put_headers,
		.has_body = true,
		.body = data,
		.body_len = len,
		.before_last = s->base.gate,
		.header = find_etag,
		.arg = &a->etag,
		.out = &body,
		.max = RJ_HTTP_BODY,
	};
	rc = rj_s3_perform(s, c, err);
	a->done = c->status == 200 || c->status == 201;
	a->page = body.len || c->error[0];
	rj_buf_free(&body);
	return rc;
}

static int s3_put_new(struct rj_store *store, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	struct rj_s3 *s = s3_of(store);
	char text[RJ_KEY_TEXT];
	struct put_answer a = {0};
	struct rj_http_call c;
	int rc;

	rc = set_object(s, key, text, err);
	if (!rc)
		rc = put_once(s, data, len, &a, &c, err);
	/* What took the ETag away may have let the put through: a store that has the
	 * object says 412 then, and the caller compares its bytes, as after an
	 * answer that was lost. */
	if (!rc && a.done && !a.etag && !a.page)
		rc = put_once(s, data, len, &a, &c, err);
	if (rc)
		return rc;
	if (a.done && a.etag && !a.page)
		return 0;
	if (a.done)
		return rj_fail(err, RJ_E_PROTOCOL,
			"%s: put %s: status %d %s: is an S3 store listening "
			"there?",
			store->url, text, c.status,
			a.etag ? "with a page" : "without an ETag");
	if (c.status == 412)
		return rj_fail(err, RJ_E_EXISTS, "%s: %s is there already",
			store->url, text);
	if (c.status == 204)
		return rj_fail(err, RJ_E_PROTOCOL,
			"%s: put %s: the store replaced what was there, though "
			"told not to: it ignores If-None-Match",
			store->url, text);
	return rj_s3_fail(s, &c, "put", text, err);
}

static int s3_get(struct rj_store *store, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	struct rj_s3 *s = s3_of(store);
	char text[RJ_KEY_TEXT];
	struct rj_http_call c = {
		.method = "GET",
		.headers = rj_s3_plain_headers,
		.out = out,
		.max = max,
	};
	struct rj_s3_said said;
	int rc;

	rc = set_object(s, key, text, err);
	if (!rc)
		rc = rj_s3_perform(s, &c, err);
	if (rc == -RJ_E_CORRUPT)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: %s: longer than the %zu bytes that make sense",
			store->url, text, max);
	if (rc || c.status == 200)
		return rc;
	rj_s3_read_error(&c, &said);
	if (c.status == 404 && !strcmp(said.code, "NoSuchKey"))
		return rj_fail(err, RJ_E_NOTFOUND, "%s: %s: no such object",
			store->url, text);
	return rj_s3_fail(s, &c, "get", text, err);
}

/* A DELETE says 204 whether or not there was anything: ask first. */
static int s3_remove(struct rj_store *store, const struct rj_key *key,
	struct rj_error *err)
{
	struct rj_s3 *s = s3_of(store);
	char text[RJ_KEY_TEXT];
	struct rj_http_call head = {
		.method = "HEAD",
		.headers = rj_s3_plain_headers,
	};
	struct rj_http_call c = {
		.method = "DELETE",
		.headers = rj_s3_plain_headers,
	};
	int rc;

	rc = set_object(s, key, text, err);
	if (!rc)
		rc = rj_s3_perform(s, &head, err);
	if (rc)
		return rc;
	if (head.status == 404)
		return rj_fail(err, RJ_E_NOTFOUND, "%s: %s: no such object",
			store->url, text);
	if (head.status != 200)
		return rj_s3_fail(s, &head, "remove", text, err);
	rc = rj_s3_perform(s, &c, err);
	if (rc || c.status == 204 || c.status == 200)
		return rc;
	return rj_s3_fail(s, &c, "remove", text, err);
}

static void s3_close(struct rj_store *store)
{
	struct rj_s3 *s = s3_of(store);

	rj_http_free(s->http);
	rj_secret_free(s->token_header);
	rj_conf_release(s->conf);
	rj_buf_free(&s->url);
	free(s);
}

static int s3_dup(
	struct rj_store *store, struct rj_store **out, struct rj_error *err)
{
	struct rj_s3 *s = s3_of(store), *d = malloc(sizeof(*d));
	int rc;

	if (!d)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	*d = *s;
	d->token_header = NULL;
	d->http = NULL;
	d->conf = NULL;
	d->url = (struct rj_buf){0};
	if (rj_s3_take_conf(d, s->conf) ||
		rj_buf_append(&d->url, s->url.data, s->root))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	else
		rc = rj_http_dup(s->http, &d->http, err);
	if (rc) {
		s3_close(&d->base);
		return rc;
	}
	*out = &d->base;
	return 0;
}

static const struct rj_store_ops s3_ops = {
	.put_new = s3_put_new,
	.get = s3_get,
	.list = rj_s3_list,
	.remove = s3_remove,
	.list_journals = rj_s3_list_journals,
	.remove_below = rj_s3_remove_below,
	.dup = s3_dup,
	.close = s3_close,
};

/* Take "/bucket/a/b" apart. */
static int parse_path(const struct rj_url *u, char *bucket, char *prefix,
	struct rj_error *err)
{
	const char *p = u->path, *slash;
	size_t len;

	*bucket = *prefix = '\0';
	while (*p == '/') {
		slash = strchrnul(++p, '/');
		len = (size_t)(slash - p);
		if (!len && !*slash && *bucket)
			return 0; /* a slash at the end */
		if (!rj_key_name_valid(p, len))
			break;
		if (!*bucket)
			sprintf(bucket, "%.*s", (int)len, p);
		else
			sprintf(prefix + strlen(prefix), "%.*s/", (int)len, p);
		p = slash;
	}
	if (!*p && *bucket)
		return 0;
	return rj_fail(err, RJ_E_INVAL,
		"%s: write %s://host/bucket or "
		"%s://host/bucket/prefix, each part 1 to 63 letters, digits, "
		"dots, dashes or underscores",
		u->text, u->scheme, u->scheme);
}

static int check_conf(const struct rj_store *s, const struct rj_conf *c,
	struct rj_error *err)
{
	if (c->user && c->password)
		return 0;
	return rj_fail(err, RJ_E_DENIED,
		"%s: rj.conf has no %s for it (the %s key of S3)", s->url,
		c->user ? "password" : "user", c->user ? "secret" : "access");
}

static int set_up(struct rj_s3 *s, const struct rj_url *u, const char *bucket,
	const struct rj_store_opts *opts, struct rj_error *err)
{
	bool tls = !strcmp(u->scheme, "s3+https");
	bool virtual = opts->conf->style == RJ_STYLE_VIRTUAL;
	char port[8] = "";
	struct rj_http_setup setup = {
		.name = s->base.url,
		.peer = "store",
		.host = u->host,
		.tls = tls,
		.auth = RJ_HTTP_SIGV4,
		.region = opts->conf->region ? opts->conf->region : "us-east-1",
		.opts = opts,
	};

	if (u->port)
		snprintf(port, sizeof(port), ":%u", u->port);
	snprintf(s->base.url, sizeof(s->base.url), "%s://%s%s/%s%s%.*s",
		u->scheme, u->host, port, bucket, *s->prefix ? "/" : "",
		*s->prefix ? (int)strlen(s->prefix) - 1 : 0, s->prefix);
	if (rj_s3_take_conf(s, opts->conf) ||
		rj_buf_printf(&s->url, "%s://%s%s%s%s/%s%s",
			tls ? "https" : "http", virtual ? bucket : "",
			virtual ? "." : "", u->host, port,
			virtual ? "" : bucket, virtual ? "" : "/"))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	s->root = s->url.len;
	return rj_http_new(&setup, &s->http, err);
}

int rj_store_s3_open(const struct rj_url *url, const struct rj_store_opts *opts,
	struct rj_store **out, struct rj_error *err)
{
	char bucket[64];
	struct rj_s3 *s;
	int rc;

	if (!url->host[0])
		return rj_fail(err, RJ_E_INVAL,
			"%s: no host; write %s://host/bucket/prefix",
			url->text, url->scheme);
	s = calloc(1, sizeof(*s));
	if (!s)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	s->base.ops = &s3_ops;
	s->base.caps = (struct rj_store_caps){
		.put_new = true,
		.list_consistent = true,
		.list_ranged = true,
		.foreign = true,
		.durability = rj_s3_host_is_provider(url->host) ? RJ_DURABLE : RJ_RECEIVED,
	};
	rc = parse_path(url, bucket, s->prefix, err);
	if (!rc && out)
		rc = set_up(s, url, bucket, opts, err);
	if (!rc && out)
		rc = check_conf(&s->base, opts->conf, err);
	if (rc || !out) {
		s3_close(&s->base);
		return rc;
	}
	*out = &s->base;
	return 0;
}
