// SPDX-License-Identifier: GPL-2.0-or-later
#include "gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "format/key.h"
#include "gate_who.h"
#include "handlers.h"
#include "page.h"
#include "say.h"
#include "status.h"
#include "util/environ.h"

#define SPACE_NS    200000000ll   /* how old a look at the disk may be */
#define SAY_NS      10000000000ll /* at most SAY_MOST refusals said in that */
#define SAY_MOST    20
#define DEFAULT_FREE (1ull << 30)

/* Of one request until it is answered. */
struct pass {
	enum http_method method;
	int64_t began_ns;
	size_t body_bytes;
	struct volume *volume; /* of a PUT that was let in */
	char peer[USAGE_PEER], account[NAME_BYTES];
};

int gate_start(struct gate *g, struct store *store, const struct settings *set,
	struct accounts *accounts, struct rj_error *err)
{
	int rc;

	*g = (struct gate){
		.store = store,
		.set = set,
		.open = set->insecure,
		.started_ns = rj_monotonic_ns(),
		.everybody = {
			.rights = RIGHT_APPEND | RIGHT_READ | RIGHT_TRIM |
				  RIGHT_WATCH | RIGHT_ADMIN,
			.volume_count = 1,
			.volumes = {"*"},
		},
	};
	rc = usage_start(&g->usage, store, err);
	return rc ? rc : gate_reload(g, accounts, err);
}

int gate_reload(struct gate *g, struct accounts *accounts, struct rj_error *err)
{
	accounts_free(&g->accounts);
	g->accounts = *accounts;
	*accounts = (struct accounts){0};
	return usage_bind(&g->usage, &g->accounts, err);
}

void gate_free(struct gate *g)
{
	usage_free(&g->usage);
	accounts_free(&g->accounts);
}

void gate_refuse(struct gate *g, enum refusal why, const char *peer,
	const char *who, const char *what)
{
	int64_t now = rj_monotonic_ns();

	if (who && !*who)
		who = NULL; /* everybody */
	g->metrics.refused[why]++;
	if (!g->said_since_ns || now - g->said_since_ns > SAY_NS) {
		if (g->unsaid)
			say_warning("refused: %u more", g->unsaid);
		g->said_since_ns = now;
		g->said = g->unsaid = 0;
	}
	if (g->said++ < SAY_MOST)
		say_warning("refused: %s%s%s: %s", peer, who ? ", account " : "",
			who ? who : "", what);
	else
		g->unsaid++;
}

void gate_refused_tls(void *arg, const char *peer, const char *why)
{
	gate_refuse(arg, REFUSED_TLS, peer, NULL, why);
}

void gate_look_at_disk(struct gate *g)
{
	int64_t now = rj_monotonic_ns();
	struct statvfs st;

	if (g->space_ns && now - g->space_ns < SPACE_NS)
		return;
	g->space_ns = now;
	if (statvfs(g->store->dir, &st))
		return; /* the write itself will say what is wrong */
	g->free_bytes = (uint64_t)st.f_bavail * st.f_frsize +
			store_spare(g->store);
	g->disk_bytes = (uint64_t)st.f_blocks * st.f_frsize;
}

uint64_t gate_min_free(const struct gate *g)
{
	uint64_t least = g->disk_bytes / 100;

	if (g->set->min_free_set)
		return g->set->min_free;
	return least < DEFAULT_FREE ? least : DEFAULT_FREE;
}

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
static void deny(struct gate *g, const struct http_request *req,
	enum refusal why, const struct account *x, const char *what)
{
	gate_refuse(g, why, http_peer(req), x ? x->name : NULL, what);
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

/* Is there room for the PUT? Reserves it, or answers. */
static bool admit(struct gate *g, const struct http_request *req,
	const struct account *x, const struct okey *okey, struct pass *pass)
{
	const struct volume_rule *rule = settings_rule(g->set, okey->name);
	struct rj_error err = {0};
	struct volume *v;

	if (!okey->key.number)
		return true; /* no object: the handler says so */
	gate_look_at_disk(g);
	if (g->disk_bytes && g->free_bytes < gate_min_free(g)) {
		gate_refuse(g, REFUSED_SPACE, http_peer(req), x->name,
			"the disk of the store is almost full");
		answer(req->exchange, 507,
			"the disk of the store is almost full: nothing new is "
			"taken");
		return false;
	}
	v = usage_volume(&g->usage, okey);
	if (!v) {
		answer(req->exchange, 500, "out of memory");
		return false;
	}
	if (rule && rule->max_bytes &&
		v->bytes + v->reserved_bytes + req->body_bytes >
			rule->max_bytes)
		rj_fail(&err, RJ_E_NOSPACE,
			"the limit of %llu bytes of this volume is reached",
			(unsigned long long)rule->max_bytes);
	else
		usage_admit(x, v, req->body_bytes, &err);
	if (err.code) {
		gate_refuse(g, REFUSED_LIMIT, http_peer(req), x->name, err.msg);
		answer(req->exchange, 507, err.msg);
		return false;
	}
	usage_reserve(&g->usage, v, req->body_bytes);
	pass->volume = v;
	return true;
}

/* May the objects be deleted yet? Else answers. A deletion of many names the
 * number below which all are meant; the youngest of them decides. */
static bool old_enough(struct gate *g, const struct http_request *req,
	const struct account *x, const struct okey *okey)
{
	const struct volume_rule *rule = settings_rule(g->set, okey->name);
	uint64_t time_ns = 0;
	int64_t now = rj_realtime_ns();
	char text[100];

	if (!rule || !rule->keep_s ||
		store_newest(g->store, okey, req->query, &time_ns))
		return true;
	if ((int64_t)time_ns + (int64_t)rule->keep_s * 1000000000 < now)
		return true;
	snprintf(text, sizeof(text), "kept for %llu seconds: too young to go",
		(unsigned long long)rule->keep_s);
	gate_refuse(g, REFUSED_KEPT, http_peer(req), x->name, text);
	answer(req->exchange, 409, text);
	return false;
}

/* Epochs are what keeps an old writer out: as long as there is a log. */
static unsigned right_to_delete(
	const struct gate *g, const struct okey *okey, bool epoch)
{
	struct okey log = *okey;
	size_t count = 0;

	if (!epoch)
		return RIGHT_TRIM;
	log.key.kind = RJ_KEY_LOG;
	log.key.number = 0;
	idx_list(g->store->index, &log, 0, &count);
	return count ? RIGHT_ADMIN : RIGHT_TRIM;
}

/* A request for something below NAME. */
static void object(struct gate *g, const struct http_request *req,
	const struct account *x, struct pass *pass)
{
	struct okey okey;
	unsigned need;
	bool epoch;

	if (!split(req->path, &okey, &epoch)) {
		handle_request(g->store, req); /* 400, whatever the method */
		return;
	}
	if (req->method == HTTP_METHOD_PUT)
		need = RIGHT_APPEND;
	else if (req->method == HTTP_METHOD_DELETE)
		need = right_to_delete(g, &okey, epoch);
	else
		need = RIGHT_READ;
	if (!account_covers(x, okey.name)) {
		deny(g, req, REFUSED_VOLUME, x, "a volume of others");
		return;
	}
	if (!(x->rights & (need | RIGHT_ADMIN))) {
		deny(g, req, REFUSED_RIGHT, x, "a right that it does not have");
		return;
	}
	if (req->method == HTTP_METHOD_PUT && !admit(g, req, x, &okey, pass))
		return;
	if (req->method == HTTP_METHOD_DELETE &&
		!old_enough(g, req, x, &okey))
		return;
	handle_request(g->store, req);
}

static void show(struct gate *g, const struct http_request *req,
	const struct account *x,
	int (*print)(struct gate *, const struct account *, struct rj_buf *),
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

static void route(struct gate *g, const struct http_request *req,
	const struct account *x, struct pass *pass)
{
	bool metrics = !strcmp(req->path, "/metrics");
	bool status = !strcmp(req->path, "/status");
	bool watches = x->rights & (RIGHT_WATCH | RIGHT_READ | RIGHT_ADMIN);

	if (!metrics && !status && !page_has(req)) {
		object(g, req, x, pass);
		return;
	}
	if (!watches)
		deny(g, req, REFUSED_RIGHT, x, "a right that it does not have");
	else if (metrics)
		show(g, req, x, status_metrics,
			"text/plain; version=0.0.4; charset=utf-8");
	else if (status)
		show(g, req, x, status_json, "application/json");
	else
		page_answer(req);
}

void gate_request(void *arg, const struct http_request *req)
{
	struct gate *g = arg;
	struct pass *pass = calloc(1, sizeof(*pass));
	const struct account *x;
	bool shown = false;

	if (!pass) {
		answer(req->exchange, 503, "out of memory");
		return;
	}
	pass->method = req->method;
	pass->began_ns = rj_monotonic_ns();
	pass->body_bytes = req->body_bytes;
	snprintf(pass->peer, sizeof(pass->peer), "%s", http_peer(req));
	http_set_tag(req->exchange, pass);
	x = g->open ? &g->everybody : gate_who(&g->accounts, req, &shown);
	if (!x) {
		deny(g, req, shown ? REFUSED_UNKNOWN : REFUSED_NOBODY, NULL,
			shown ? "credentials of nobody" : "no credentials");
		return;
	}
	strcpy(pass->account, x->name);
	route(g, req, x, pass);
}

void gate_done(void *arg, void *tag, int status, uint64_t sent)
{
	struct gate *g = arg;
	struct pass *pass = tag;
	struct volume *v;
	uint64_t ns;

	if (!pass)
		return;
	v = pass->volume;
	ns = (uint64_t)(rj_monotonic_ns() - pass->began_ns);
	metrics_request(&g->metrics, pass->method, status);
	g->metrics.in_bytes += pass->body_bytes;
	g->metrics.out_bytes += sent;
	if (v)
		usage_release(&g->usage, v, pass->body_bytes);
	if (v && status == 201) {
		metrics_commit(&g->metrics, ns);
		v->last_commit_ns = (uint64_t)rj_realtime_ns();
		v->wait_ns = ns;
		strcpy(v->last_peer, pass->peer);
		strcpy(v->last_account, pass->account);
	}
	free(pass);
}
