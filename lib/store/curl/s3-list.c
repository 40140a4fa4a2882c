// SPDX-License-Identifier: LGPL-2.1-or-later
/* Listings of S3 (ListObjectsV2), and deletions by the thousand. */
#include <ctype.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/curl/s3.h"
#include "store/curl/xml.h"

#define PAGE_OBJECTS 1000
#define PAGE_BYTES   (4u << 20)
#define DIGITS	     20

static const char *const delete_headers[] = {
	RJ_S3_UNSIGNED,
	"Content-Type: application/xml",
	NULL,
};

/* One page of a listing, taken apart. */
struct page {
	const char *prefix; /* what each key begins with */
	bool keys;	    /* collect keys, else common prefixes */
	bool more;
	bool listing; /* it is one */
	struct rj_buf found; /* struct entry */
	char key[RJ_URL_BYTES + RJ_KEY_TEXT];
	uint64_t size;
	bool in_prefixes;
};

struct entry {
	char tail[RJ_UUID_TEXT + 1]; /* after the prefix, if that short */
	uint64_t size;
};

static int add_entry(struct page *p, const char *key)
{
	size_t len = strlen(p->prefix);
	struct entry e = {.size = p->size};

	/* other names below our prefix are none of ours */
	if (strncmp(key, p->prefix, len) || strlen(key + len) >= sizeof(e.tail))
		return 0;
	strcpy(e.tail, key + len);
	return rj_buf_append(&p->found, &e, sizeof(e));
}

static int on_start(void *arg, const char *name)
{
	struct page *p = arg;

	if (!strcmp(name, "ListBucketResult")) {
		p->listing = true;
	} else if (!strcmp(name, "Contents")) {
		p->key[0] = '\0';
		p->size = 0;
	} else if (!strcmp(name, "CommonPrefixes")) {
		p->in_prefixes = true;
	}
	return 0;
}

static int on_end(void *arg, const char *name, const char *text)
{
	struct page *p = arg;

	if (!strcmp(name, "Key"))
		snprintf(p->key, sizeof(p->key), "%s", text);
	else if (!strcmp(name, "Size"))
		p->size = strtoull(text, NULL, 10);
	else if (!strcmp(name, "IsTruncated"))
		p->more = !strcmp(text, "true");
	else if (!strcmp(name, "Contents") && p->keys)
		return add_entry(p, p->key);
	else if (!strcmp(name, "Prefix") && p->in_prefixes && !p->keys)
		return add_entry(p, text);
	else if (!strcmp(name, "CommonPrefixes"))
		p->in_prefixes = false;
	return 0;
}

/* Append TEXT to URL as a query, and the signature of one, want it: all but
 * what RFC 3986 calls unreserved is percent-encoded. */
static int encode(struct rj_buf *url, const char *text)
{
	int rc = 0;

	for (; *text && !rc; text++) {
		if (isalnum((unsigned char)*text) || strchr("-._~", *text))
			rc = rj_buf_append(url, text, 1);
		else
			rc = rj_buf_printf(
				url, "%%%02X", (unsigned char)*text);
	}
	return rc ? rc : rj_buf_printf(url, "%s", ""); /* the NUL */
}

/* Set S's URL to the query for a page. */
static int set_query(struct rj_s3 *s, const struct page *p, const char *after,
	struct rj_error *err)
{
	char query[80];
	int rc;

	snprintf(query, sizeof(query), "?%slist-type=2&max-keys=%d&prefix=",
		p->keys ? "" : "delimiter=%2F&", PAGE_OBJECTS);
	rc = rj_s3_set_url(s, query, err);
	if (rc)
		return rc;
	rc = encode(&s->url, p->prefix);
	if (!rc && after)
		rc = rj_buf_printf(&s->url, "&start-after=");
	if (!rc && after)
		rc = encode(&s->url, after);
	return rc ? rj_fail(err, RJ_E_NOMEM, "%s: out of memory", s->base.url)
		  : 0;
}

/* The page of what begins with PREFIX and follows AFTER (NULL: from the
 * first). */
static int get_page(struct rj_s3 *s, struct page *p, const char *what,
	const char *after, struct rj_error *err)
{
	const struct rj_xml handlers = {on_start, on_end, p};
	struct rj_buf body = {0};
	struct rj_http_call c = {
		.method = "GET",
		.headers = rj_s3_plain_headers,
		.out = &body,
		.max = PAGE_BYTES,
	};
	int rc;

	p->found.len = 0;
	p->more = p->listing = false;
	rc = set_query(s, p, after, err);
	if (!rc)
		rc = rj_s3_perform(s, &c, err);
	if (rc == -RJ_E_CORRUPT)
		rc = rj_fail(err, RJ_E_PROTOCOL,
			"%s: list of %s: a page longer than %u bytes",
			s->base.url, what, PAGE_BYTES);
	else if (!rc && c.status != 200)
		rc = rj_s3_fail(s, &c, "list of", what, err);
	if (!rc)
		rc = rj_xml_parse(s->base.url, body.data, body.len, &handlers,
			err);
	if (rc == -RJ_E_NOMEM)
		rj_fail(err, RJ_E_NOMEM, "%s: out of memory", s->base.url);
	/* a proxy's page would be a listing of nothing */
	if (!rc && !p->listing)
		rc = rj_fail(err, RJ_E_PROTOCOL,
			"%s: list of %s: the answer is not one of S3",
			s->base.url, what);
	rj_buf_free(&body);
	return rc;
}

/* The number that TAIL is, in DIR's listing. False: not a name of ours. */
static bool number_of(
	const char *dir, const char *tail, struct rj_key *out)
{
	char text[RJ_KEY_TEXT + RJ_UUID_TEXT];

	snprintf(text, sizeof(text), "%s%s", dir, tail);
	return strlen(tail) == DIGITS &&
	       rj_key_parse(text, strlen(text), out);
}

/* Get a page of DIR's objects after number AFTER. */
static int get_numbers(struct rj_s3 *s, struct page *p, const char *dir,
	const char *after, struct rj_error *err)
{
	char start[sizeof(p->key)];

	snprintf(start, sizeof(start), "%s%s", p->prefix, after);
	return get_page(s, p, dir, start, err);
}

/* Call FN for P's entries after *AFTER, which moves along. */
static int hand_over(struct rj_s3 *s, const struct page *p, const char *dir,
	char *after, rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	const struct entry *e = (const void *)p->found.data;
	size_t count = p->found.len / sizeof(*e), i;
	struct rj_key key;
	int rc;

	for (i = 0; i < count; i++) {
		if (strcmp(e[i].tail, after) <= 0)
			return rj_fail(err, RJ_E_PROTOCOL,
				"%s: list of %s: not in order after %s",
				s->base.url, dir, after);
		strcpy(after, e[i].tail);
		if (!number_of(dir, e[i].tail, &key))
			continue;
		rc = fn(arg, key.number, e[i].size);
		if (rc)
			return rc;
	}
	if (p->more && !count)
		return rj_fail(err, RJ_E_PROTOCOL,
			"%s: list of %s: an empty page that promises more",
			s->base.url, dir);
	return 0;
}

int rj_s3_list(struct rj_store *store, const struct rj_key *dir, uint64_t from,
	rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	struct rj_s3 *s = (struct rj_s3 *)store;
	char text[RJ_KEY_TEXT], prefix[RJ_URL_BYTES + RJ_KEY_TEXT];
	char after[RJ_UUID_TEXT + 1];
	struct page p = {.prefix = prefix, .keys = true, .more = true};
	int rc = 0;

	rj_key_text(dir, text);
	snprintf(prefix, sizeof(prefix), "%s%s", s->prefix, text);
	snprintf(after, sizeof(after), "%020llu", (unsigned long long)from);
	while (!rc && p.more) {
		rc = get_numbers(s, &p, text, after, err);
		if (!rc)
			rc = hand_over(s, &p, text, after, fn, arg, err);
	}
	rj_buf_free(&p.found);
	return rc;
}

int rj_s3_list_journals(struct rj_store *store, rj_store_journal_fn fn,
	void *arg, struct rj_error *err)
{
	struct rj_s3 *s = (struct rj_s3 *)store;
	char after[RJ_URL_BYTES + RJ_KEY_TEXT] = "", tail[RJ_UUID_TEXT];
	struct page p = {.prefix = s->prefix, .more = true};
	const struct entry *e;
	char last[sizeof(e->tail)] = "";
	uint8_t uuid[RJ_UUID_BYTES];
	size_t i;
	int rc = 0;

	while (!rc && p.more) {
		rc = get_page(s, &p, "journals", *after ? after : NULL, err);
		e = (const void *)p.found.data;
		for (i = 0; !rc && i < p.found.len / sizeof(*e); i++) {
			if (strcmp(e[i].tail, last) <= 0) {
				rc = rj_fail(err, RJ_E_PROTOCOL,
					"%s: list of journals: not in order after %s",
					s->base.url, last);
				break;
			}
			strcpy(last, e[i].tail);
			/* "/" ends each; the next page begins after all that
			 * is below it */
			snprintf(after, sizeof(after), "%s%s~", s->prefix,
				e[i].tail);
			snprintf(tail, sizeof(tail), "%.*s", RJ_UUID_TEXT - 1,
				e[i].tail);
			if (strlen(e[i].tail) == RJ_UUID_TEXT &&
				rj_uuid_parse(tail, uuid))
				rc = fn(arg, uuid);
		}
		if (!rc && p.more && !p.found.len)
			rc = rj_fail(err, RJ_E_PROTOCOL,
				"%s: list of journals: an empty page that "
				"promises more",
				s->base.url);
	}
	rj_buf_free(&p.found);
	return rc;
}

/* What DeleteObjects says of single objects that it did not delete. */
static int on_delete_end(void *arg, const char *name, const char *text)
{
	char *code = arg;

	if (!strcmp(name, "Code") && strcmp(text, "NoSuchKey") && !*code)
		snprintf(code, 64, "%s", text);
	return 0;
}

static bool md5_header(const struct rj_buf *body, char *out, size_t size)
{
	unsigned char md[EVP_MAX_MD_SIZE], text[2 * EVP_MAX_MD_SIZE];
	unsigned len;

	if (!EVP_Digest(body->data, body->len, md, &len, EVP_md5(), NULL))
		return false; /* where that is forbidden, some stores refuse */
	EVP_EncodeBlock(text, md, (int)len);
	snprintf(out, size, "Content-MD5: %.32s", (char *)text);
	return true;
}

static int delete_objects(struct rj_s3 *s, const char *dir,
	const struct rj_buf *body, struct rj_error *err)
{
	char md5[64], code[64] = "";
	const struct rj_xml handlers = {.end = on_delete_end, .arg = code};
	struct rj_buf answer = {0};
	struct rj_http_call c = {
		.method = "POST",
		.headers = delete_headers,
		.has_body = true,
		.body = body->data,
		.body_len = body->len,
		.out = &answer,
		.max = PAGE_BYTES,
	};
	int rc;

	if (md5_header(body, md5, sizeof(md5)))
		c.extra[0] = md5;
	rc = rj_s3_set_url(s, "?delete=", err);
	if (!rc)
		rc = rj_s3_perform(s, &c, err);
	if (!rc && c.status != 200)
		rc = rj_s3_fail(s, &c, "remove from", dir, err);
	if (!rc)
		rc = rj_xml_parse(s->base.url, answer.data, answer.len,
			&handlers, err);
	if (!rc && *code)
		rc = rj_fail(err,
			strcmp(code, "AccessDenied") ? RJ_E_UNREACHABLE
						     : RJ_E_DENIED,
			"%s: remove from %s: the store did not delete all (%s)",
			s->base.url, dir, code);
	rj_buf_free(&answer);
	return rc;
}

/* Those of P that are below BELOW and have LEAST bytes, as the request's body.
 * AFTER gets the last one seen below BELOW. */
static int build_delete(struct rj_s3 *s, const struct page *p, const char *dir,
	uint64_t below, uint64_t least, struct rj_buf *body, uint64_t *count,
	char *after, struct rj_error *err)
{
	const struct entry *e = (const void *)p->found.data;
	struct rj_key key;
	size_t i;
	int rc;

	body->len = 0;
	*count = 0;
	rc = rj_buf_printf(body, "<Delete><Quiet>true</Quiet>");
	for (i = 0; !rc && i < p->found.len / sizeof(*e); i++) {
		if (!number_of(dir, e[i].tail, &key))
			continue;
		if (key.number >= below)
			break;
		strcpy(after, e[i].tail);
		if (e[i].size < least)
			continue;
		rc = rj_buf_printf(body, "<Object><Key>%s%s</Key></Object>",
			p->prefix, e[i].tail);
		++*count;
	}
	if (!rc)
		rc = rj_buf_printf(body, "</Delete>");
	if (rc)
		rj_fail(err, RJ_E_NOMEM, "%s: out of memory", s->base.url);
	return rc;
}

int rj_s3_remove_below(struct rj_store *store, const struct rj_key *dir,
	uint64_t below, uint64_t least, uint64_t *removed, struct rj_error *err)
{
	struct rj_s3 *s = (struct rj_s3 *)store;
	char text[RJ_KEY_TEXT], prefix[RJ_URL_BYTES + RJ_KEY_TEXT];
	struct page p = {.prefix = prefix, .keys = true};
	struct rj_buf body = {0};
	char after[RJ_UUID_TEXT + 1] = "0", before[RJ_UUID_TEXT + 1] = "";
	uint64_t count = 0, all = 0;
	int rc = 0;

	rj_key_text(dir, text);
	snprintf(prefix, sizeof(prefix), "%s%s", s->prefix, text);
	/* a page on which nothing was below is the last one */
	while (!rc && strcmp(before, after)) {
		strcpy(before, after);
		rc = get_numbers(s, &p, text, after, err);
		if (!rc)
			rc = build_delete(s, &p, text, below, least, &body,
				&count, after, err);
		if (!rc && count)
			rc = delete_objects(s, text, &body, err);
		if (!rc)
			all += count;
		if (!p.more)
			break;
	}
	if (removed)
		*removed = all;
	rj_buf_free(&p.found);
	rj_buf_free(&body);
	return rc;
}
