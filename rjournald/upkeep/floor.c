// SPDX-License-Identifier: GPL-2.0-or-later
/* The threads that note what was acknowledged. */
#include "floor.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "log/floor/floor.h"
#include "log/floor/floor-url.h"
#include "store/url.h"
#include "util/environ.h"
#include "util/log.h"
#include "os/thread.h"

#define PERIOD_NS 1000000000LL

struct rj_floor_recorder {
	struct rj_log_writer *writer;
	struct rj_fallback_sink
		*fallback_sink; /* has the fallback file; NULL: none */
	struct rj_floor *file;
	struct rj_floor_url *store;
	struct rj_log_id id; /* for STORE */
	char *url;
	struct rj_ticker near, far; /* of this host; of STORE */
	bool near_runs, far_runs;
	bool file_fails, header_fails, far_fails; /* the last note, and it was said */
	pthread_mutex_t lock;	       /* of what follows, about STORE */
	int64_t whole_ns; /* monotonic: when it last had everything, or the start */
	bool ever;	  /* it has had everything */
	uint64_t sequence;
	char why[RJ_ERROR_BYTES];
};

/* A note ended with RC: say that once. */
static void told(int rc, bool *fails, const struct rj_error *err)
{
	if (rc && !*fails)
		rj_log(RJ_LOG_WARNING, "%s (tried again each second)",
			err->msg);
	*fails = rc != 0;
}

/* What the writer has seen acknowledged, into TAIL: by the store, or does a part of
 * it stand in the fallback file alone? Then the store does not lack what it never
 * had, and the header of that file knows more. What that header says of itself does not
 * count: its disk may take no writes, and then the floors are all that knows better. */
static bool stored(struct rj_floor_recorder *k, struct rj_log_tail *tail)
{
	struct rj_fallback_sink_stat s;

	rj_log_writer_seen(k->writer, tail);
	if (!k->fallback_sink)
		return true;
	rj_fallback_sink_stat(
		k->fallback_sink, &s); /* after the tail was taken */
	return s.fallback.last < s.fallback.next;
}

static void note_near(void *arg)
{
	struct rj_floor_recorder *k = arg;
	struct rj_log_tail tail;
	struct rj_error err;

	if (stored(k, &tail) && k->file)
		told(rj_floor_write(k->file, &tail, &err), &k->file_fails,
			&err);
	if (k->fallback_sink)
		told(rj_fallback_sink_note_tail(k->fallback_sink, &tail, &err),
			&k->header_fails, &err);
}

static void note_far(void *arg)
{
	struct rj_floor_recorder *k = arg;
	int64_t asked = rj_monotonic_ns();
	struct rj_log_tail tail;
	struct rj_error err;
	int rc;

	if (!stored(k, &tail)) {
		pthread_mutex_lock(&k->lock);
		snprintf(k->why, sizeof(k->why),
			"the store does not have all yet that the fallback file has");
		pthread_mutex_unlock(&k->lock);
		return;
	}
	rc = rj_floor_url_write(k->store, &tail, &err);
	if (rc)
		rj_fail_prefix(&err, "no floor is kept at %s", k->url);
	pthread_mutex_lock(&k->lock);
	snprintf(k->why, sizeof(k->why), "%s",
		rc ? err.msg : rj_floor_url_untrimmed(k->store));
	if (!rc) {
		k->whole_ns = asked;
		k->ever = true;
		k->sequence = tail.sequence;
	}
	pthread_mutex_unlock(&k->lock);
	if (k->far_fails && !rc)
		rj_log(RJ_LOG_NOTICE, "the floor is kept at %s again", k->url);
	told(rc, &k->far_fails, &err);
}

static void no_floor(const char *which, const struct rj_error *err)
{
	rj_log(RJ_LOG_WARNING, "no %s is kept: %s", which, err->msg);
}

static int start_thread(struct rj_ticker *t, void (*fn)(void *arg),
	struct rj_floor_recorder *k, struct rj_error *err)
{
	int e = rj_ticker_start(t, PERIOD_NS, fn, k);

	return e ? rj_fail_errno(err, e, "cannot start a thread") : 0;
}

static void start_near(struct rj_floor_recorder *k, const struct rj_loaded *l)
{
	struct rj_error err;

	k->fallback_sink = l->fallback_sink;
	if (rj_floor_open(l->facts.sbx.journal_uuid, l->device, &k->file, &err))
		no_floor("local floor", &err);
	if (!k->file && !k->fallback_sink)
		return;
	note_near(k);
	k->near_runs = !start_thread(&k->near, note_near, k, &err);
	if (!k->near_runs)
		no_floor("local floor", &err);
}

/* One machine: an intruder there has both. A directory has no host. */
static void warn_same_server(const char *log, const char *floor)
{
	struct rj_url a, b;

	if (!rj_url_parse(log, &a, NULL) && !rj_url_parse(floor, &b, NULL) &&
		a.host[0] && !strcmp(a.scheme, b.scheme) &&
		!strcasecmp(a.host, b.host) && rj_url_port(&a) == rj_url_port(&b))
		rj_log(RJ_LOG_WARNING,
			"floor = %s: on the server of the log itself, which may lose both: name another one",
			floor);
}

static void start_far(struct rj_floor_recorder *k, const struct rj_loaded *l)
{
	struct rj_error err;
	int rc = rj_floor_url_find(l->facts.sbx.url, &k->url, &err);

	rj_load_log_id(l, &k->id);
	k->whole_ns = rj_monotonic_ns();
	if (!rc && !k->url)
		return;
	if (!rc)
		warn_same_server(l->facts.sbx.url, k->url);
	if (!rc)
		rc = rj_floor_url_new(k->url, &k->id, &k->store, &err);
	if (!rc)
		rc = start_thread(&k->far, note_far, k, &err);
	k->far_runs = !rc;
	if (rc) {
		snprintf(k->why, sizeof(k->why), "%s", err.msg);
		no_floor("floor at a second store", &err);
	}
}

void rj_floor_recorder_start(
	struct rj_loaded *l, struct rj_floor_recorder **out)
{
	struct rj_floor_recorder *k = calloc(1, sizeof(*k));

	*out = k;
	if (!k) {
		rj_log(RJ_LOG_WARNING, "no floor is kept: out of memory");
		return;
	}
	k->writer = l->writer;
	pthread_mutex_init(&k->lock, NULL);
	start_near(k, l);
	start_far(k, l);
}

void rj_floor_recorder_stop(struct rj_floor_recorder *k, bool remove)
{
	if (!k)
		return;
	if (k->far_runs) {
		rj_floor_url_stop(k->store);
		rj_ticker_stop(&k->far);
	}
	if (k->near_runs)
		rj_ticker_stop(&k->near);
	note_near(k);
	rj_floor_close(k->file, remove);
	rj_floor_url_free(k->store);
	pthread_mutex_destroy(&k->lock);
	free(k->url);
	free(k);
}

void rj_floor_recorder_stat(
	struct rj_floor_recorder *k, struct rj_floor_stat *out)
{
	*out = (struct rj_floor_stat){0};
	if (!k || (!k->url && !k->why[0]))
		return;
	out->url = k->url ? k->url : "";
	pthread_mutex_lock(&k->lock);
	out->ever = k->ever;
	out->sequence = k->sequence;
	out->age_s = (uint64_t)((rj_monotonic_ns() - k->whole_ns) / PERIOD_NS);
	memcpy(out->why, k->why, sizeof(out->why));
	pthread_mutex_unlock(&k->lock);
}
