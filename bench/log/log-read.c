// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * log-read URL MIB SEGMENT_KIB [DELAY_US...]: write a log of MIB in segments of
 * SEGMENT_KIB to URL, then read it back into a ring, one segment after the
 * other and with fetches ahead; each once more with DELAY_US added to every
 * request, as a network would. And, without a delay, by one stream, if the
 * store has it. Prints a line for each. Removes the log.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "log/log.h"
#include "log/ring.h"
#include "support/fault.h"
#include "util/environ.h"

#define BLOCK  4096u
#define BLOCKS 32768u /* a ring of 128 MiB */

static int write_log(struct rj_store *s, const struct rj_log_id *id,
	struct rj_ring *ring, unsigned mib, unsigned kib, struct rj_error *err)
{
	uint32_t per = kib * 1024 / BLOCK, at = 0;
	uint64_t left = (uint64_t)mib * (1u << 20) / (per * BLOCK);
	struct rj_seg_run run = {0, 1};
	struct rj_log_append a = {
		.body = {.block_size = BLOCK, .journal_blocks = BLOCKS},
		.runs = &run,
		.run_count = 1,
		.ring = ring->data,
		.base = true,
	};
	struct rj_log_writer *w = NULL;
	int rc = rj_log_claim(s, id, NULL, &w, err);

	if (!rc)
		rc = rj_log_append(w, &a, err);
	a.base = false;
	a.oldest = 2;
	for (; !rc && left; left--) {
		run = (struct rj_seg_run){at, per};
		rc = rj_log_append(w, &a, err);
		at = at + 2 * per <= BLOCKS ? at + per : 0;
	}
	rj_log_writer_free(w);
	return rc;
}

static void remove_log(struct rj_store *s, const struct rj_log_id *id)
{
	struct rj_key key = {.kind = RJ_KEY_LOG, .number = 1};

	memcpy(key.journal_uuid, id->journal_uuid, sizeof(key.journal_uuid));
	while (!rj_store_remove(s, &key, NULL))
		key.number++;
	key.kind = RJ_KEY_EPOCH;
	key.number = 1;
	rj_store_remove(s, &key, NULL);
}

static int into_ring(
	void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	return rj_ring_apply(arg, seg, err);
}

enum way {
	ONE_BY_ONE,
	AHEAD,
	STREAM
};

static int read_log(const char *url, const struct rj_log_id *id, enum way way,
	unsigned delay_us, struct rj_error *err)
{
	struct rj_fault delay = {.op = RJ_FAULT_ANY,
		.kind = RJ_FAULT_DELAY,
		.delay_us = delay_us};
	struct rj_store *s = NULL, *inner = NULL;
	struct rj_log_summary sum;
	struct rj_ring *ring = NULL;
	struct rj_store_ops ops;
	static const char *const names[] = {"one by one", "ahead", "stream"};
	int64_t ns;
	clock_t cpu;
	int rc = rj_store_open(url, NULL, &inner, err);

	if (!rc && way == STREAM)
		s = inner;
	else if (!rc)
		rc = rj_fault_open(inner, &s, err);
	if (!rc)
		rc = rj_ring_new(BLOCK, BLOCKS, &ring, err);
	if (rc || (way == STREAM && !s->ops->stream))
		goto out;
	if (way != STREAM)
		rj_fault_add(s, &delay); /* this layer has no streams */
	ops = *s->ops;
	if (way == ONE_BY_ONE)
		ops.dup = NULL; /* but one handle: the sequential way */
	s->ops = &ops;
	cpu = clock();
	ns = rj_monotonic_ns();
	rc = rj_log_read(s, id, NULL, into_ring, ring, &sum, err);
	ns = rj_monotonic_ns() - ns;
	cpu = clock() - cpu;
	if (!rc)
		printf("%4u us, %-10s %6llu segments, %7.1f MiB: %7.3f s, "
		       "%6.0f MiB/s, %.2f s CPU\n",
			delay_us, names[way],
			(unsigned long long)sum.segments,
			(double)sum.bytes / (1 << 20), (double)ns / 1e9,
			(double)sum.bytes / (1 << 20) / ((double)ns / 1e9),
			(double)cpu / CLOCKS_PER_SEC);
	fflush(stdout);
out:
	rj_ring_free(ring);
	rj_store_close(s);
	return rc;
}

int main(int argc, char **argv)
{
	struct rj_store *s = NULL;
	struct rj_ring *ring = NULL;
	struct rj_log_id id = {0};
	struct rj_error err;
	unsigned mib, kib, delay;
	int rc, i;

	mib = argc < 4 ? 0 : (unsigned)atoi(argv[2]);
	kib = argc < 4 ? 0 : (unsigned)atoi(argv[3]);
	if (!mib || kib < 4 || kib % 4 || kib > 16000) {
		fprintf(stderr, "usage: log-read URL MIB SEGMENT_KIB "
				"[DELAY_US...]\n");
		return 2;
	}
	rc = rj_store_open(argv[1], NULL, &s, &err);
	if (!rc)
		rc = rj_ring_new(BLOCK, BLOCKS, &ring, &err);
	if (!rc && (rj_uuid_random(id.volume_uuid) ||
			   rj_uuid_random(id.journal_uuid) ||
			   rj_random_bytes(ring->data, 64u << 20)))
		rc = rj_fail(&err, RJ_E_IO, "no random bytes");
	if (!rc)
		rc = write_log(s, &id, ring, mib, kib, &err);
	for (i = 3; !rc && i < argc; i++) {
		delay = i == 3 ? 0 : (unsigned)atoi(argv[i]);
		rc = read_log(argv[1], &id, ONE_BY_ONE, delay, &err);
		if (!rc)
			rc = read_log(argv[1], &id, AHEAD, delay, &err);
		if (!rc && i == 3)
			rc = read_log(argv[1], &id, STREAM, 0, &err);
	}
	if (rc)
		fprintf(stderr, "log-read: %s\n", err.msg);
	if (s && ring)
		remove_log(s, &id);
	rj_ring_free(ring);
	rj_store_close(s);
	return rc ? 1 : 0;
}
