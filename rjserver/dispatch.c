// SPDX-License-Identifier: GPL-2.0-or-later
/* Authenticate and admit each request, then hand it to what answers it. */
#include "dispatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/object-key.h"
#include "handlers.h"
#include "rjserver/access/access.h"
#include "rjserver/access/admit.h"
#include "rjserver/access/authenticate.h"
#include "rjserver/page/page.h"
#include "rjserver/status/status.h"
#include "rjserver/store/commit.h"
#include "util/environ.h"

/* Of one request until it is answered. */
struct pass {
	enum http_method method;
	int64_t began_ns;
	struct admission admission; /* of a PUT that was let in */
	struct okey okey;	    /* its object */
	char peer[USAGE_PEER], account[NAME_BYTES];
	bool refused; /* at the end of its body: that is counted */
};

static void answer(struct http_exchange *x, int status, const char *text)
{
	struct http_reply reply = {.status = status, .text = text};

	if (status == 401) {
		reply.header = "WWW-Authenticate";
		reply.value = "Basic realm=\"rjserver\"";
	}
	http_answer(x, &reply);
}

/* A stranger hears the same whatever there is. */
static void deny(struct access_control *g, const struct http_request *req,
	enum refusal why, const struct account *x, const char *what)
{
	access_refuse(g, why, http_peer(req), x ? x->name : NULL, what);
	answer(req->exchange, x ? 403 : 401, "not allowed");
}

/* The key's name and journal, as far as PATH has them. */
static bool split(const char *path, struct okey *okey, bool *epoch)
{
	const char *slash = *path == '/' ? strchr(path + 1, '/') : NULL;
	size_t len = slash ? (size_t)(slash - path - 1) : 0;

	memset(okey, 0, sizeof(*okey));
	*epoch = false;
	if (!slash || !rj_key_name_valid(path + 1, len))
		return false;
	memcpy(okey->name, path + 1, len);
	if (rj_key_parse(slash + 1, strlen(slash + 1), &okey->key))
		*epoch = okey->key.kind == RJ_KEY_EPOCH;
	return true;
}

/* Is the PUT to be stored? Else answers. */
static bool admit(struct access_control *g, const struct http_request *req,
	const struct account *x, const struct okey *okey, struct pass *pass)
{
	const char *progress = http_header(req, "RJ-Progress");
	struct admit_ask ask = {
		.who = x,
		.okey = okey,
		.body_bytes = req->body_bytes,
		.progress = progress && !strcmp(progress, "1"),
	};
	struct rj_error err = {0};
	int rc;

	rc = admit_put(g, &ask, &pass->admission, &err);
	if (!rc) {
		http_set_more(req->exchange, pass->admission.more);
		return true;
	}
	if (rc == -RJ_E_NOMEM) {
		answer(req->exchange, 500, err.msg);
		return false;
	}
	access_refuse(g, pass->admission.why, http_peer(req), x->name, err.msg);
	answer(req->exchange, rc == -RJ_E_NOSPACE ? 507 : 409, err.msg);
	return false;
}

/* May the objects be deleted yet? Else answers. A deletion of many names the
 * number below which all are meant; the youngest of them decides, and one whose
 * age cannot be told is young. A hold, a named mark and a drill may always go: the segments
 * have an age of their own. A piece of a base is as old as its manifest; without one, which
 * is put last, the base was cut off, and is in the way. */
static bool old_enough(struct access_control *g, const struct http_request *req,
	const struct account *x, const struct okey *okey)
{
	const struct volume_rule *rule = settings_rule(g->set, okey->name);
	int64_t now = rj_realtime_ns();
	struct okey decides = *okey;
	uint64_t time_ns;
	char text[100];
	int rc;

	if (okey->key.kind == RJ_KEY_BASE)
		decides.key.number -= okey->key.number % RJ_BASE_PLACES;
	else if (rj_key_unclaimed(okey->key.kind))
		return true;
	if (!rule || !rule->keep_s)
		return true;
	rc = store_newest(g->store, &decides, req->query, &time_ns);
	if (rc == -RJ_E_NOTFOUND ||
		(!rc && (int64_t)time_ns + (int64_t)rule->keep_s * 1000000000 <
				now))
		return true;
	snprintf(text, sizeof(text), "kept for %llu seconds: %s",
		(unsigned long long)rule->keep_s,
		rc ? "the age of one cannot be read" : "too young to go");
	access_refuse(g, REFUSED_KEPT, http_peer(req), x->name, text);
	answer(req->exchange, 409, text);
	return false;
}

/* Epochs are what keeps an old writer out: as long as there is a log. */
static unsigned right_to_delete(
	const struct access_control *g, const struct okey *okey, bool epoch)
{
	struct okey log = *okey;

	if (!epoch)
		return RIGHT_TRIM;
	log.key.kind = RJ_KEY_LOG;
	log.key.number = 0;
	return idx_last(g->store->index, &log) ? RIGHT_ADMIN : RIGHT_TRIM;
}

/* A request for something below NAME. True: it is a PUT whose body is wanted. */
static bool object(struct access_control *g, const struct http_request *req,
	const struct account *x, struct pass *pass)
{
	struct okey okey;
	unsigned need;
	bool epoch, put;

	if (!split(req->path, &okey, &epoch)) {
		handle_request(g->store, req); /* 400, whatever the method */
		return false;
	}
	put = req->method == HTTP_METHOD_PUT && okey.key.number;
	if (req->method == HTTP_METHOD_PUT)
		need = RIGHT_APPEND;
	else if (req->method == HTTP_METHOD_DELETE)
		need = right_to_delete(g, &okey, epoch);
	else
		need = RIGHT_READ;
	if (!account_covers(x, okey.name)) {
		deny(g, req, REFUSED_VOLUME, x, "a volume of others");
		return false;
	}
	if (!(x->rights & (need | RIGHT_ADMIN))) {
		deny(g, req, REFUSED_RIGHT, x, "a right that it does not have");
		return false;
	}
	if (put) {
		pass->okey = okey;
		return handle_put_head(req) && admit(g, req, x, &okey, pass);
	}
	if (req->method == HTTP_METHOD_DELETE && !old_enough(g, req, x, &okey))
		return false;
	handle_request(g->store, req);
	return false;
}

static void show(struct access_control *g, const struct http_request *req,
	const struct account *x,
	int (*print)(struct access_control *, const struct account *,
		struct rj_buf *),
	const char *type)
{
	static const char *const more[] = {"Cache-Control", "no-store", NULL};
	struct rj_buf body = {0};
	struct http_reply reply = {
		.status = 200, .body = &body, .type = type, .more = more};

	if (req->method != HTTP_METHOD_GET && req->method != HTTP_METHOD_HEAD)
		answer(req->exchange, 405, "only GET or HEAD here");
	else if (req->query)
		answer(req->exchange, 400, "no query here");
	else if (print(g, x, &body))
		answer(req->exchange, 500, "out of memory");
	else
		http_answer(req->exchange, &reply);
	rj_buf_free(&body);
}

static bool route(struct access_control *g, const struct http_request *req,
	const struct account *x, struct pass *pass)
{
	bool metrics = !strcmp(req->path, "/metrics");
	bool status = !strcmp(req->path, "/status");
	bool names = !strcmp(req->path, "/names");
	bool watches = x->rights & (RIGHT_WATCH | RIGHT_READ | RIGHT_ADMIN);

	if (!metrics && !status && !names && !page_has(req))
		return object(g, req, x, pass);
	if (!watches)
		deny(g, req, REFUSED_RIGHT, x, "a right that it does not have");
	else if (metrics)
		show(g, req, x, status_metrics,
			"text/plain; version=0.0.4; charset=utf-8");
	else if (status)
		show(g, req, x, status_json, "application/json");
	else if (names)
		show(g, req, x, status_names, "text/plain");
	else
		page_answer(req);
	return false;
}

bool dispatch_request(void *arg, const struct http_request *req)
{
	struct access_control *g = arg;
	struct pass *pass = calloc(1, sizeof(*pass));
	const struct account *x;
	bool shown = false;

	if (!pass) {
		answer(req->exchange, 503, "out of memory");
		return false;
	}
	pass->method = req->method;
	pass->began_ns = rj_monotonic_ns();
	snprintf(pass->peer, sizeof(pass->peer), "%s", http_peer(req));
	http_set_tag(req->exchange, pass);
	x = g->open ? &g->everybody : authenticate(&g->accounts, req, &shown);
	if (!x) {
		deny(g, req, shown ? REFUSED_UNKNOWN : REFUSED_NOBODY, NULL,
			shown ? "unknown credentials" : "no credentials");
		return false;
	}
	strcpy(pass->account, x->name);
	http_let_in(req->exchange, x->name);
	return route(g, req, x, pass);
}

void dispatch_body(void *arg, struct http_exchange *x, void *tag,
	struct record_buffer *buffer, size_t len, uint32_t crc)
{
	struct access_control *g = arg;
	struct pass *pass = tag;
	struct rj_error err = {0};
	bool exists = commit_entry(g->store->commit, &pass->okey);

	g->metrics.in_bytes += len;
	if (!pass->admission.volume && !exists) {
		answer(x, 503, "it was deleted during the request; send it again");
		return;
	}
	if (!exists && admit_body(g, &pass->admission, &err)) {
		pass->refused = true;
		access_refuse(g, REFUSED_SPACE, pass->peer, pass->account,
			err.msg);
		answer(x, 507, err.msg);
		return;
	}
	handle_put(g->store, x, &pass->okey, buffer, len, crc);
}

void dispatch_done(void *arg, void *tag, int status, uint64_t sent)
{
	struct access_control *g = arg;
	struct pass *pass = tag;
	struct volume *v;
	uint64_t ns;

	if (!pass)
		return;
	v = pass->admission.volume;
	ns = (uint64_t)(rj_monotonic_ns() - pass->began_ns);
	if (status)
		metrics_request(&g->metrics, pass->method, status);
	g->metrics.out_bytes += sent;
	if (v && status == 201) {
		metrics_commit(&g->metrics, ns);
		v->last_commit_ns = (uint64_t)rj_realtime_ns();
		v->wait_ns = ns;
		strcpy(v->last_peer, pass->peer);
		strcpy(v->last_account, pass->account);
	}
	if (v && status == 507 && !pass->refused)
		g->metrics.refused[REFUSED_SPACE]++;
	admit_done(g, &pass->admission, status == 201);
	free(pass);
}
