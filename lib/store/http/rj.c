// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * rj://host:port/name, rjs://...: an rjserver, over HTTP or HTTPS. The wire is
 * described in doc/http-protocol.md: PUT /name/KEY with If-None-Match, GET, DELETE, and
 * GET /name/DIRECTORY?after=N&limit=M for a page of a listing.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/seghdr.h"
#include "store/backend.h"
#include "store/http/http1.h"
#include "store/http/object-stream.h"
#include "store/put-throttle.h"
#include "store/store.h"

#define PAGE_OBJECTS      10000
#define PAGE_BYTES        (PAGE_OBJECTS * 48u) /* two numbers, two separators */
#define MAX_JOURNALS      1000000u
#define MAX_NAMES	  1000000u
#define REQUEST_URL_BYTES (RJ_URL_BYTES + RJ_KEY_TEXT + 64)

struct rj_rj {
	struct rj_store base;
	struct rj_http1 *http;
	const struct rj_key *putting; /* the object under way; NULL: none */
	uint64_t oldest; /* of the segment that was put last; 0: none was */
	size_t prefix; /* length of "http://host:port/name/" */
	char url[REQUEST_URL_BYTES]; /* that, then the current key */
};

/* Of an answer. */
struct marks {
	bool damaged; /* RJ-Damaged: the server says that its object is bad, or
		       * that it cannot tell what it lost */
	bool more;    /* RJ-More: the listing goes on */
	uint64_t deleted; /* RJ-Deleted: how many */
	unsigned nearly_full; /* RJ-Nearly-Full: of enum rj_nearly_full */
	uint64_t max_bytes;   /* RJ-Max-Bytes */
};

static struct rj_rj *rj_of(struct rj_store *s)
{
	return (struct rj_rj *)s;
}

static unsigned nearly_full(const char *what)
{
	return !strcmp(what, "disk")      ? RJ_FULL_DISK
	       : !strcmp(what, "volume")  ? RJ_FULL_VOLUME
	       : !strcmp(what, "account") ? RJ_FULL_ACCOUNT
					  : 0;
}

static void on_header(void *arg, const char *line, size_t len)
{
	struct marks *m = arg;
	char value[24];

	if (rj_http_header_is(line, len, "RJ-Damaged", value, sizeof(value)))
		m->damaged = !strcmp(value, "1");
	else if (rj_http_header_is(line, len, "RJ-More", value, sizeof(value)))
		m->more = !strcmp(value, "1");
	else if (rj_http_header_is(
			 line, len, "RJ-Deleted", value, sizeof(value)))
		m->deleted = strtoull(value, NULL, 10);
	else if (rj_http_header_is(
			 line, len, "RJ-Nearly-Full", value, sizeof(value)))
		m->nearly_full = nearly_full(value);
	else if (rj_http_header_is(
			 line, len, "RJ-Max-Bytes", value, sizeof(value)))
		m->max_bytes = strtoull(value, NULL, 10);
}

/* An answer that means failure whatever was asked. */
static int fail_status(struct rj_rj *r, const struct rj_http_call *c,
	const char *verb, const char *key, struct rj_error *err)
{
	const struct marks *m = c->arg;
	char doing[RJ_KEY_TEXT + 16];

	if (c->status >= 500 && c->status != 507 && m->damaged)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: %s %s: the journal server says that its store is "
			"damaged (status %d%s%s)",
			r->base.url, verb, key, c->status,
			c->text[0] ? ": " : "", c->text);
	if (c->status == 409) /* a rule of its settings */
		return rj_fail(err, RJ_E_REFUSED, "%s: %s %s: the journal server refuses it: %s",
			r->base.url, verb, key, c->text);
	snprintf(doing, sizeof(doing), "%s %s", verb, key);
	return rj_http_fail_status(
		rj_http1_peer_of(r->http), c, doing, NULL, err);
}

/* A request for what r->url says; M, which is cleared, gets what the answer says of it. */
static void begin_call(struct rj_rj *r, const char *method,
	struct rj_http_call *c, struct marks *m)
{
	*m = (struct marks){0};
	*c = (struct rj_http_call){
		.method = method,
		.url = r->url,
		.header = on_header,
		.arg = m,
	};
}

/* Send C and read its answer: rj_http1_perform(); the server's clock goes into the store. */
static int ask(struct rj_rj *r, struct rj_http_call *c, struct rj_error *err)
{
	int rc = rj_http1_perform(r->http, c, err);

	if (c->date_s)
		r->base.clock_s = c->date_s;
	if (rj_http1_cert_until(r->http))
		r->base.cert_until_s = rj_http1_cert_until(r->http);
	return rc;
}

/* GET r->url, its body into OUT: RJ_E_CORRUPT if it has more than MAX bytes. */
static int get_body(struct rj_rj *r, struct rj_buf *out, size_t max,
	struct rj_http_call *c, struct marks *m, struct rj_error *err)
{
	begin_call(r, "GET", c, m);
	c->out = out;
	c->max = max;
	return ask(r, c, err);
}

static int rj_get(struct rj_store *s, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	struct rj_rj *r = rj_of(s);
	char *text = rj_key_text(key, r->url + r->prefix);
	struct rj_http_call c;
	struct marks marks;
	int rc = get_body(r, out, max, &c, &marks, err);

	if (rc == -RJ_E_CORRUPT)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: %s: longer than the %zu bytes that make sense",
			s->url, text, max);
	if (rc)
		return rc;
	if (c.status == 200)
		return 0;
	if (c.status == 404)
		return rj_fail(err, RJ_E_NOTFOUND, "%s: %s: no such object",
			s->url, text);
	return fail_status(r, &c, "get", text, err);
}

/* Read a decimal number of at least MIN digits at *P, and move *P after it. */
static bool read_number(const char **p, const char *end, int min, uint64_t *out)
{
	const char *start = *p;
	uint64_t v = 0;

	for (; *p < end && isdigit((unsigned char)**p); (*p)++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, **p - '0', &v))
			return false;
	}
	*out = v;
	return *p - start >= min && *p - start <= 20;
}

/* Hand the lines of one page to FN. *AFTER becomes the last number. */
static int read_page(struct rj_rj *r, const struct rj_buf *page,
	const char *dir, uint64_t *after, rj_store_list_fn fn, void *arg,
	struct rj_error *err)
{
	const char *p = (const char *)page->data;
	const char *end = page->len ? p + page->len : p;
	uint64_t number, bytes;
	int rc;

	while (p < end) {
		if (!read_number(&p, end, 20, &number) || p == end ||
			*p++ != ' ' || !read_number(&p, end, 1, &bytes) ||
			p == end || *p++ != '\n' || number <= *after)
			return rj_fail(err, RJ_E_PROTOCOL,
				"%s: list of %s: malformed line after number "
				"%llu",
				r->base.url, dir, (unsigned long long)*after);
		*after = number;
		rc = fn(arg, number, bytes);
		if (rc)
			return rc;
	}
	return 0;
}

static int get_page(struct rj_rj *r, const char *dir, uint64_t after,
	unsigned limit, struct rj_buf *page, struct marks *marks,
	struct rj_error *err)
{
	struct rj_http_call c;
	int rc;

	snprintf(r->url + r->prefix, sizeof(r->url) - r->prefix,
		"%s?after=%llu&limit=%u", dir, (unsigned long long)after, limit);
	rc = get_body(r, page, PAGE_BYTES, &c, marks, err);
	if (rc == -RJ_E_CORRUPT)
		return rj_fail(err, RJ_E_PROTOCOL,
			"%s: list of %s: a page longer than %u bytes",
			r->base.url, dir, PAGE_BYTES);
	if (rc)
		return rc;
	if (c.status != 200)
		return fail_status(r, &c, "list of", dir, err);
	return 0;
}

static int rj_list(struct rj_store *s, const struct rj_key *dir, uint64_t after,
	rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	struct rj_rj *r = rj_of(s);
	struct rj_buf page = {0};
	struct marks marks = {.more = true};
	char text[RJ_KEY_TEXT];
	uint64_t from;
	int rc = 0;

	rj_key_text(dir, text);
	while (!rc && marks.more) {
		page.len = 0;
		from = after;
		rc = get_page(r, text, after, PAGE_OBJECTS, &page, &marks, err);
		if (!rc)
			rc = read_page(r, &page, text, &after, fn, arg, err);
		if (!rc && marks.damaged)
			rc = rj_fail(err, RJ_E_CORRUPT,
				"%s: list of %s: the journal server lost objects it cannot name: there may have been more",
				s->url, text);
		if (!rc && marks.more && after == from)
			rc = rj_fail(err, RJ_E_PROTOCOL,
				"%s: list of %s: an empty page that promises "
				"more",
				s->url, text);
	}
	rj_buf_free(&page);
	return rc;
}

/* A list from the one before NUMBER on. */
struct before {
	uint64_t number;
	bool there; /* another than NUMBER itself */
};

static int see(void *arg, uint64_t number, uint64_t bytes)
{
	struct before *b = arg;

	b->there |= number != b->number;
	return 0;
}

/*
 * Does the server's log reach to the segment before the one that is put? What answers over
 * a new connection may be another server, or the same one without what it had: a disk that
 * was not mounted, an old copy that was restored, a power cut that it did not write
 * through. It would take the segment, which is worth nothing without those before it.
 * RJ_E_UNREACHABLE: it does not.
 */
static int reaches(void *arg, struct rj_error *err)
{
	struct rj_rj *r = arg;
	const struct rj_key *key = r->putting;
	struct before b = {.number = key->number};
	struct rj_key dir = *key;
	struct rj_buf page = {0};
	char text[RJ_KEY_TEXT];
	uint64_t after = key->number - 2;
	struct marks marks;
	int rc;

	if (key->number < 2)
		return 0;
	dir.number = 0;
	rj_key_text(&dir, text);
	/* if it was trimmed since, later ones are there */
	rc = get_page(r, text, after, 2, &page, &marks, err);
	if (!rc)
		rc = read_page(r, &page, text, &after, see, &b, err);
	if (!rc && !b.there)
		rc = rj_fail_missing(r->base.url, "server", key->number - 1, err);
	rj_buf_free(&page);
	rj_key_text(key, r->url + r->prefix); /* the request's again */
	return rc;
}

/*
 * With such a segment the log can be trimmed, or taken over: a server that is
 * full takes it, if anything. OLDEST becomes the segment's; 0: it is none.
 */
static bool is_progress(const struct rj_rj *r, const struct rj_key *key,
	const void *data, size_t len, uint64_t *oldest)
{
	struct rj_seghdr h;

	*oldest = 0;
	if (key->kind != RJ_KEY_LOG || len < RJ_SEG_HEADER_BYTES ||
		rj_seghdr_decode(data, &h, NULL))
		return false;
	*oldest = h.oldest;
	return h.kind == RJ_SEG_FENCE || (h.flags & RJ_SEG_F_BASE) ||
	       (r->oldest && h.oldest > r->oldest);
}

static const char *const put_headers[] = {"If-None-Match: *", NULL};

static int put_parts(struct rj_store *s, const struct rj_key *key,
	const struct iovec *parts, int count, struct rj_error *err)
{
	struct rj_rj *r = rj_of(s);
	char *text = rj_key_text(key, r->url + r->prefix);
	/* (what is copied from elsewhere may begin anywhere) */
	bool checked = key->kind == RJ_KEY_LOG && !s->copying;
	struct rj_http_call c;
	struct marks marks;
	uint64_t oldest;
	int rc;

	begin_call(r, "PUT", &c, &marks);
	c.headers = put_headers;
	c.has_body = true;
	c.body = parts->iov_base;
	c.body_len = parts->iov_len;
	c.rest = parts + 1;
	c.rest_count = count - 1;
	if (is_progress(r, key, c.body, c.body_len, &oldest))
		c.extra[0] = "RJ-Progress: 1";
	r->putting = key;
	rc = rj_http1_perform_checked(
		r->http, &c, checked ? reaches : NULL, r, err);
	r->putting = NULL;
	/* another server, perhaps, or a load balancer without one */
	if (rc || (c.status != 201 && c.status != 412 && c.status < 500))
		rj_http1_hang_up(r->http);
	if (rc)
		return rc;
	if (c.status == 201 || c.status == 412) {
		s->nearly_full = marks.nearly_full;
		if (marks.max_bytes)
			s->max_bytes = marks.max_bytes;
		if (oldest)
			r->oldest = oldest;
	}
	if (c.status == 201)
		return 0;
	if (c.status == 409)
		return rj_fail(err,
			s->copying ? RJ_E_DENIED : RJ_E_UNREACHABLE,
			"%s: put %s: the journal server lacks what is before it: %s",
			s->url, text, c.text);
	if (c.status == 412)
		return rj_fail(err, RJ_E_EXISTS, "%s: %s is there already",
			s->url, text);
	return fail_status(r, &c, "put", text, err);
}

static int put(struct rj_store *s, const struct rj_key *key, const void *data,
	size_t len, struct rj_error *err)
{
	const struct iovec whole = {(void *)data, len};

	return put_parts(s, key, &whole, 1, err);
}

static int rj_remove(
	struct rj_store *s, const struct rj_key *key, struct rj_error *err)
{
	struct rj_rj *r = rj_of(s);
	char *text = rj_key_text(key, r->url + r->prefix);
	struct rj_http_call c;
	struct marks marks;
	int rc;

	begin_call(r, "DELETE", &c, &marks);
	rc = ask(r, &c, err);
	if (rc)
		return rc;
	if (c.status == 204)
		return 0;
	if (c.status == 404)
		return rj_fail(err, RJ_E_NOTFOUND, "%s: %s: no such object",
			s->url, text);
	return fail_status(r, &c, "remove", text, err);
}

static int rj_remove_below(struct rj_store *s, const struct rj_key *dir,
	uint64_t below, uint64_t least, uint64_t *removed, struct rj_error *err)
{
	struct rj_rj *r = rj_of(s);
	char text[RJ_KEY_TEXT];
	struct rj_http_call c;
	struct marks marks;
	int rc;

	rj_key_text(dir, text);
	snprintf(r->url + r->prefix, sizeof(r->url) - r->prefix,
		"%s?below=%llu&least=%llu", text, (unsigned long long)below,
		(unsigned long long)least);
	begin_call(r, "DELETE", &c, &marks);
	rc = ask(r, &c, err);
	if (removed)
		*removed = rc ? 0 : marks.deleted;
	if (!rc && c.status != 204)
		rc = fail_status(r, &c, "remove from", text, err);
	return rc;
}

/* A stream ends for its reader where the first number is missing. */
struct unbroken {
	rj_store_stream_fn fn;
	void *arg;
	uint64_t next;
	bool missing;
};

static int unbroken_object(void *arg, uint64_t number, struct rj_buf *object)
{
	struct unbroken *u = arg;

	u->missing = number != u->next;
	if (u->missing)
		return 1;
	u->next++;
	return u->fn(u->arg, number, object);
}

static int rj_stream(struct rj_store *s, const struct rj_key *dir,
	uint64_t from, size_t max, rj_store_stream_fn fn, void *arg,
	struct rj_error *err)
{
	struct rj_rj *r = rj_of(s);
	char text[RJ_KEY_TEXT], name[sizeof(s->url) + RJ_KEY_TEXT + 2];
	struct unbroken u = {.fn = fn, .arg = arg, .next = from ? from : 1};
	struct rj_objects o = {
		.name = name,
		.max = max,
		.from = from,
		.fn = unbroken_object,
		.arg = &u,
		.err = err,
	};
	struct rj_http_call c;
	struct marks marks;
	int rc;

	rj_key_text(dir, text);
	snprintf(name, sizeof(name), "%s: %s", s->url, text);
	snprintf(r->url + r->prefix, sizeof(r->url) - r->prefix,
		"%s?from=%llu", text, (unsigned long long)from);
	begin_call(r, "GET", &c, &marks);
	c.sink = rj_objects_feed;
	c.sink_arg = &o;
	rc = ask(r, &c, err);
	if (u.missing)
		rc = 0;
	else if (!rc && c.status != 200)
		rc = fail_status(r, &c, "read from", text, err);
	else if (!rc)
		rc = rj_objects_end(&o);
	rj_buf_free(&o.object);
	return rc;
}

/* Hand the lines of LIST, a UUID each, to FN. */
static int read_journals(struct rj_rj *r, const struct rj_buf *list,
	rj_store_journal_fn fn, void *arg, struct rj_error *err)
{
	const char *p = (const char *)list->data;
	const char *end = list->len ? p + list->len : p;
	uint8_t before[RJ_UUID_BYTES] = {0}, uuid[RJ_UUID_BYTES];
	char text[RJ_UUID_TEXT];
	int rc;

	for (; p < end; p += RJ_UUID_TEXT) {
		if (end - p < RJ_UUID_TEXT || p[RJ_UUID_TEXT - 1] != '\n')
			break;
		memcpy(text, p, sizeof(text));
		text[RJ_UUID_TEXT - 1] = '\0';
		if (!rj_uuid_parse(text, uuid) ||
			(p != (const char *)list->data &&
				memcmp(uuid, before, sizeof(uuid)) <= 0))
			break;
		memcpy(before, uuid, sizeof(before));
		rc = fn(arg, uuid);
		if (rc)
			return rc;
	}
	if (p < end)
		return rj_fail(err, RJ_E_PROTOCOL,
			"%s: malformed line in its list of journals",
			r->base.url);
	return 0;
}

static int rj_list_journals(struct rj_store *s, rj_store_journal_fn fn,
	void *arg, struct rj_error *err)
{
	struct rj_rj *r = rj_of(s);
	struct rj_buf list = {0};
	struct rj_http_call c;
	struct marks marks;
	int rc;

	r->url[r->prefix] = '\0';
	rc = get_body(r, &list, MAX_JOURNALS * RJ_UUID_TEXT, &c, &marks, err);
	if (rc == -RJ_E_CORRUPT)
		rc = rj_fail(err, RJ_E_PROTOCOL,
			"%s: its list has more than %u journals", s->url,
			MAX_JOURNALS);
	else if (!rc && c.status != 200)
		rc = fail_status(r, &c, "list of", "journals", err);
	if (!rc)
		rc = read_journals(r, &list, fn, arg, err);
	rj_buf_free(&list);
	return rc;
}

static int rj_list_names(
	struct rj_store *s, rj_store_name_fn fn, void *arg, struct rj_error *err)
{
	struct rj_rj *r = rj_of(s);
	struct rj_buf list = {0};
	struct rj_http_call c;
	struct marks marks;
	char *name, *save;
	int rc;

	snprintf(strchr(strstr(r->url, "://") + 3, '/'), sizeof("/names"), "/names");
	rc = get_body(r, &list, MAX_NAMES * RJ_URL_BYTES, &c, &marks, err);
	if (!rc && c.status == 400)
		rc = rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: this rjserver is older than 0.2 and cannot list its names", s->url);
	else if (!rc && c.status != 200)
		rc = fail_status(r, &c, "list of", "names", err);
	if (!rc && rj_buf_append(&list, "", 1))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	name = rc ? NULL : strtok_r((char *)list.data, "\n", &save);
	for (; !rc && name; name = strtok_r(NULL, "\n", &save))
		rc = rj_key_name_valid(name, strlen(name))
			     ? fn(arg, name)
			     : rj_fail(err, RJ_E_PROTOCOL, "%s: malformed line in its list of names",
				       s->url);
	rj_buf_free(&list);
	return rc;
}

static int rj_dup(
	struct rj_store *s, struct rj_store **out, struct rj_error *err)
{
	struct rj_rj *r = malloc(sizeof(*r));
	int rc;

	if (!r)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	*r = *rj_of(s);
	r->base.copying = false;
	r->putting = NULL;
	rc = rj_http1_dup(r->http, &r->http, err);
	if (rc) {
		free(r);
		return rc;
	}
	*out = &r->base;
	return 0;
}

static void rj_close_store(struct rj_store *s)
{
	rj_http1_free(rj_of(s)->http);
	free(s);
}

static const struct rj_store_ops rj_ops = {
	.put_new = put,
	.put_parts = put_parts,
	.get = rj_get,
	.list = rj_list,
	.remove = rj_remove,
	.stream = rj_stream,
	.remove_below = rj_remove_below,
	.list_journals = rj_list_journals,
	.list_names = rj_list_names,
	.dup = rj_dup,
	.close = rj_close_store,
};

static int check_url(const struct rj_url *url, struct rj_error *err)
{
	if (!url->host[0])
		return rj_fail(err, RJ_E_INVAL,
			"%s: no host; write %s://host:port/name", url->text,
			url->scheme);
	if (!url->path[0] ||
		!rj_key_name_valid(url->path + 1, strlen(url->path + 1)))
		return rj_fail(err, RJ_E_INVAL,
			"%s: the name after the host must be 1 to 63 "
			"letters, digits, dots, dashes or underscores; write "
			"%s://host:port/name",
			url->text, url->scheme);
	return 0;
}

int rj_store_rj_open(const struct rj_url *url, const struct rj_store_opts *opts,
	struct rj_store **out, struct rj_error *err)
{
	bool tls = !strcmp(url->scheme, "rjs");
	unsigned port = rj_url_port(url);
	struct rj_http_setup setup = {
		.peer = "journal server",
		.host = url->host,
		.tls = tls,
		.opts = opts,
	};
	char base[RJ_URL_BYTES];
	struct rj_rj *r;
	int rc;

	rc = check_url(url, err);
	if (rc || !out)
		return rc;
	r = calloc(1, sizeof(*r));
	if (!r)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	r->base.ops = &rj_ops;
	r->base.caps = (struct rj_store_caps){
		.put_new = true,
		.list_consistent = true,
		.list_ranged = true,
		.durability = RJ_DURABLE,
	};
	snprintf(r->base.url, sizeof(r->base.url), "%s://%s:%u%.64s",
		tls ? "rjs" : "rj", url->host, port, url->path);
	snprintf(base, sizeof(base), "%s://%s:%u", tls ? "https" : "http",
		url->host, port);
	r->prefix = (size_t)snprintf(
		r->url, sizeof(r->url), "%s%s/", base, url->path);
	setup.name = r->base.url;
	rc = rj_http1_new(&setup, base, &r->http, err);
	if (rc) {
		free(r);
		return rc;
	}
	*out = &r->base;
	return 0;
}
