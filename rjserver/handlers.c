// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the path of a request, and get, put or delete the object. */
#include "handlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "format/seghdr.h"
#include "rjserver/http/object-answer.h"
#include "rjserver/http/pieces.h"
#include "rjserver/http/stream.h"
#include "rjserver/record/record-buffer.h"
#include "rjserver/store/commit.h"
#include "rjserver/store/store-read.h"

#define LIST_MOST 10000

static void answer(struct http_exchange *x, int status, const char *text)
{
	struct http_reply reply = {.status = status, .text = text};

	if (status == 405) {
		reply.header = "Allow";
		reply.value = "GET, HEAD, PUT, DELETE";
	}
	http_answer(x, &reply);
}

static void answer_body(
	struct http_exchange *x, struct rj_buf *body, const char *type)
{
	struct http_reply reply = {.status = 200, .body = body, .type = type};

	http_answer(x, &reply);
}

static void answer_error(
	struct http_exchange *x, int rc, const struct rj_error *err)
{
	struct http_reply damaged = {
		.status = 500,
		.text = err->msg,
		.header = "RJ-Damaged",
		.value = "1",
	};

	switch (-rc) {
	case RJ_E_NOTFOUND:
		answer(x, 404, "no such object");
		break;
	case RJ_E_EXISTS:
		answer(x, 412, "the object exists");
		break;
	case RJ_E_NOSPACE:
		answer(x, 507, "the disk of the store is full");
		break;
	case RJ_E_REFUSED:
		answer(x, 503,
			"a write to the store failed: no writes until restart");
		break;
	case RJ_E_CORRUPT:
		http_answer(x, &damaged);
		break;
	default:
		answer(x, 500, "the server failed; its log says more");
	}
}

static void created(void *arg, int rc, const struct rj_error *err)
{
	if (rc)
		answer_error(arg, rc, err);
	else
		answer(arg, 201, NULL); /* it is the answer to each commit */
}

static void deleted(void *arg, int rc, const struct rj_error *err)
{
	if (rc)
		answer_error(arg, rc, err);
	else
		answer(arg, 204, NULL);
}

bool handle_put_head(const struct http_request *req)
{
	if (req->query)
		answer(req->exchange, 400, "an object takes no query");
	else if (!req->has_length)
		answer(req->exchange, 411, "a PUT needs its Content-Length");
	else if (req->body_bytes > RJ_SEG_MAX_BYTES)
		answer(req->exchange, 413, "larger than 16777216 bytes");
	else
		return true;
	return false;
}

void handle_put(struct store *s, struct http_exchange *x,
	const struct okey *okey, struct record_buffer *buffer, size_t len,
	uint32_t crc)
{
	struct rj_error err = {0};
	struct commit_body body = {
		buffer->mem + BUFFER_BODY, (uint32_t)len, crc, true};
	int rc = commit_put(s->commit, okey, &body, created, x, &err);

	if (rc)
		answer_error(x, rc, &err);
}

static void got(
	void *arg, int rc, struct rj_buf *body, const struct rj_error *err)
{
	if (rc)
		answer_error(arg, rc, err);
	else
		answer_body(arg, body, "application/octet-stream");
}

static void get(struct store *s, const struct http_request *req,
	const struct okey *okey)
{
	struct rj_error err = {0};
	struct rj_buf body = {0};
	int rc;

	commit_entry(s->commit, okey); /* one that is pending is written */
	if (req->method == HTTP_METHOD_GET && pieces_wanted(s, okey)) {
		object_answer(s, req->exchange, okey, answer_error);
		return;
	}
	rc = reader_get(s, okey, &body, got, req->exchange, NULL, &err);
	if (rc != -RJ_E_BUSY)
		got(req->exchange, rc, &body, &err);
	rj_buf_free(&body);
}

static void handle_object(struct store *s, const struct http_request *req,
	const struct okey *okey)
{
	struct rj_error err = {0};
	int rc;

	if (req->query) {
		answer(req->exchange, 400, "an object takes no query");
		return;
	}
	switch (req->method) {
	case HTTP_METHOD_GET:
	case HTTP_METHOD_HEAD:
		get(s, req, okey);
		break;
	case HTTP_METHOD_DELETE:
		rc = commit_delete(
			s->commit, okey, deleted, req->exchange, &err);
		if (rc)
			answer_error(req->exchange, rc, &err);
		break;
	default:
		answer(req->exchange, 405, "GET, HEAD, PUT or DELETE");
	}
}

/* NAME=<decimal> of LEN bytes at TEXT. */
static bool parameter(
	const char *text, size_t len, const char *name, uint64_t *out)
{
	size_t skip = strlen(name), i;
	uint64_t n = 0;

	if (len <= skip || memcmp(text, name, skip))
		return false;
	for (i = skip; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' ||
			__builtin_mul_overflow(n, 10, &n) ||
			__builtin_add_overflow(
				n, (uint64_t)(text[i] - '0'), &n))
			return false;
	}
	*out = n;
	return true;
}

static bool list_query(const char *query, uint64_t *after, uint64_t *limit)
{
	size_t len;

	*after = 0;
	*limit = LIST_MOST;
	while (query && *query) {
		len = strcspn(query, "&");
		if (!parameter(query, len, "after=", after) &&
			!parameter(query, len, "limit=", limit))
			return false;
		query += len;
		query += *query == '&';
	}
	if (*limit > LIST_MOST)
		*limit = LIST_MOST;
	return *limit > 0;
}

/* The lines of a list. MORE: there are others; LOST: that one is not there says nothing. */
static void answer_list(
	struct http_exchange *x, struct rj_buf *body, bool more, bool lost)
{
	static const char *const damaged[] = {"RJ-Damaged", "1", NULL};
	struct http_reply reply = {.status = 200,
		.body = body,
		.type = "text/plain",
		.more = lost ? damaged : NULL};

	if (more) {
		reply.header = "RJ-More";
		reply.value = "1";
	}
	http_answer(x, &reply);
}

static void list(struct store *s, const struct http_request *req,
	const struct okey *okey)
{
	const struct idx_entry *e;
	struct rj_buf body = {0};
	uint64_t after, limit, from;
	struct rj_error err;
	int rc = 0;

	if (req->method == HTTP_METHOD_GET && req->query &&
		parameter(req->query, strlen(req->query), "from=", &from)) {
		stream_objects(s, req->exchange, okey, from);
		return;
	}
	if (!list_query(req->query, &after, &limit)) {
		answer(req->exchange, 400,
			"a list takes after=N and limit=N, limit 1 or more; a "
			"stream takes from=N, and GET");
		return;
	}
	commit_flush(s->commit); /* a list shows what is stored, no less */
	if (rj_key_unclaimed(okey->key.kind) && s->lost) {
		rj_fail(&err, RJ_E_CORRUPT,
			"this store lost records whose keys are not known: a hold or a mark may be one of them");
		answer_error(req->exchange, -RJ_E_CORRUPT, &err);
		return;
	}
	for (; (e = idx_next(s->index, okey, after)) && limit && !rc; limit--) {
		rc = rj_buf_printf(&body, "%020llu %u\n",
			(unsigned long long)e->number, e->length);
		after = e->number;
	}
	if (rc)
		answer(req->exchange, 500, "out of memory");
	else
		answer_list(req->exchange, &body, e != NULL, s->lost);
	rj_buf_free(&body);
}

static int add_uuid(void *arg, const uint8_t *uuid)
{
	char text[RJ_UUID_TEXT];

	return rj_buf_printf(arg, "%s\n", rj_uuid_text(uuid, text));
}

/* Until the answer. */
struct deletion {
	struct http_exchange *exchange;
	size_t count;
};

static void deleted_below(void *arg, int rc, const struct rj_error *err)
{
	struct deletion *d = arg;
	struct http_reply reply = {.status = 204, .header = "RJ-Deleted"};
	char text[24];

	snprintf(text, sizeof(text), "%zu", d->count);
	reply.value = text;
	if (rc)
		answer_error(d->exchange, rc, err);
	else
		http_answer(d->exchange, &reply);
	free(d);
}

static bool delete_query(const char *query, uint64_t *below, uint64_t *least)
{
	bool have = false;
	size_t len;

	*least = 0;
	while (query && *query) {
		len = strcspn(query, "&");
		if (parameter(query, len, "below=", below))
			have = true;
		else if (!parameter(query, len, "least=", least))
			return false;
		query += len;
		query += *query == '&';
	}
	return have && *least <= UINT32_MAX;
}

static void delete_below(struct store *s, const struct http_request *req,
	const struct okey *okey)
{
	struct rj_error err = {0};
	struct deletion *d;
	uint64_t below, least;
	int rc;

	if (!delete_query(req->query, &below, &least)) {
		answer(req->exchange, 400,
			"DELETE of a directory takes below=N, and deletes the "
			"objects with lower numbers; least=BYTES keeps the "
			"smaller ones");
		return;
	}
	d = calloc(1, sizeof(*d));
	if (!d) {
		answer(req->exchange, 500, "out of memory");
		return;
	}
	d->exchange = req->exchange;
	rc = commit_delete_below(s->commit, okey, below, (uint32_t)least,
		&d->count, deleted_below, d, &err);
	if (rc)
		deleted_below(d, rc == -RJ_E_NOTFOUND ? 0 : rc, &err);
}

static void list_journals(struct store *s, const struct http_request *req,
	const struct okey *okey)
{
	struct rj_buf body = {0};
	int rc;

	commit_flush(s->commit);
	rc = idx_journals(s->index, okey->name, add_uuid, &body);
	if (rc)
		answer(req->exchange, 500, "out of memory");
	else
		answer_body(req->exchange, &body, "text/plain");
	rj_buf_free(&body);
}

enum place {
	AT_NOTHING,
	AT_ROOT,
	AT_NAME,
	AT_DIRECTORY,
	AT_OBJECT,
};

/* Only the exact spelling of a key is one: "%", "..", "//" never are. */
static enum place parse_path(const char *path, struct okey *okey)
{
	const char *slash;
	size_t len;

	if (!strcmp(path, "/"))
		return AT_ROOT;
	if (*path++ != '/')
		return AT_NOTHING;
	slash = strchr(path, '/');
	if (!slash)
		return AT_NOTHING;
	len = (size_t)(slash - path);
	if (!rj_key_name_valid(path, len))
		return AT_NOTHING;
	memset(okey, 0, sizeof(*okey));
	memcpy(okey->name, path, len);
	if (!slash[1])
		return AT_NAME;
	if (!rj_key_parse(slash + 1, strlen(slash + 1), &okey->key))
		return AT_NOTHING;
	return okey->key.number ? AT_OBJECT : AT_DIRECTORY;
}

void handle_request(struct store *s, const struct http_request *req)
{
	struct okey okey;
	enum place place = parse_path(req->path, &okey);

	if (place == AT_NOTHING) {
		answer(req->exchange, 400, "not a key of this server");
	} else if (place == AT_OBJECT) {
		handle_object(s, req, &okey);
	} else if (place == AT_DIRECTORY && req->method == HTTP_METHOD_DELETE) {
		delete_below(s, req, &okey);
	} else if (req->method != HTTP_METHOD_GET &&
		   req->method != HTTP_METHOD_HEAD) {
		answer(req->exchange, 405, "only GET or HEAD here");
	} else if (place == AT_DIRECTORY) {
		list(s, req, &okey);
	} else if (req->query) {
		answer(req->exchange, 400, "no query here");
	} else if (place == AT_NAME) {
		list_journals(s, req, &okey);
	} else {
		answer(req->exchange, 200, "rjserver " PACKAGE_VERSION);
	}
}
