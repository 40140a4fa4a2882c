// SPDX-License-Identifier: GPL-2.0-or-later
/* A worker takes over at a store that loses answers, hangs, or has seen the worker before
 * die: what they have begun does not fence it. And of two hosts only one goes on. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "log/common.h"
#include "rjournald/load/load.h"
#include "support/memstore.h"
#include "support/memtree.h"

#define ALWAYS 1000

static struct rig {
	struct memgrove *grove; /* mode B */
	struct memshelf *shelf; /* mode A */
	struct rj_loaded l;
	struct rj_error err;
	/* what becomes of the worker's next calls of one kind */
	enum memtree_op op;
	enum memtree_fate fate;
	int times;
	/* mode A: the first claim arrives when the next one is sent */
	struct rj_store_ops ops;
	const struct rj_store_ops *real;
	struct rj_key key;
	struct rj_buf late;
	int hangs; /* no put of that kind of key is answered; -1: all are */
	/* another host, which halts between its folder and the text */
	pthread_t thread;
	sem_t halted, go;
	int puts;
	bool first; /* it has its fence before the worker makes a folder */
	struct rj_store *theirs;
	struct rj_log_writer *w;
	struct rj_error theirs_err;
	int theirs_rc;
} r;

static void join(void)
{
	sem_post(&r.go);
	pthread_join(r.thread, NULL);
}

static enum memtree_fate judge(void *arg, enum memtree_op op)
{
	if (op == MEMTREE_MAKE && r.first) {
		r.first = false;
		join();
	}
	if (op != r.op || !r.times)
		return MEMTREE_DONE;
	r.times--;
	return r.fate;
}

static enum memtree_fate judge_theirs(void *arg, enum memtree_op op)
{
	if (op == MEMTREE_PUT && !r.puts++) {
		sem_post(&r.halted);
		sem_wait(&r.go);
	}
	return MEMTREE_DONE;
}

static int put_new(struct rj_store *s, const struct rj_key *key, const void *data,
	size_t len, struct rj_error *err)
{
	if ((int)key->kind == r.hangs) {
		if (!r.late.len)
			rj_buf_append(&r.late, data, len);
		r.key = *key;
		return rj_fail(err, RJ_E_UNREACHABLE, "no answer");
	}
	if (r.late.len && key->kind == r.key.kind) {
		r.real->put_new(s, &r.key, r.late.data, r.late.len, err);
		r.late.len = 0;
	}
	return r.real->put_new(s, key, data, len, err);
}

static struct rj_store *open_store(memtree_judge by)
{
	struct rj_store *s = NULL;

	if (r.grove) {
		rj_mkdir_epoch_open(memtree_open(r.grove, by, NULL), &s, &r.err);
		return s;
	}
	s = memstore_open(r.shelf);
	r.real = s->ops;
	r.ops = *r.real;
	r.ops.put_new = put_new;
	r.ops.put_parts = NULL;
	s->ops = &r.ops;
	return s;
}

/* A volume is served in epoch 1; then that worker dies. */
static void begin(bool mode_b)
{
	struct rj_log_writer *w = NULL;
	struct rj_log_id id = {0};

	memset(&r, 0, sizeof(r));
	r.hangs = -1;
	if (mode_b)
		r.grove = memgrove_new();
	else
		r.shelf = memshelf_new();
	r.l.device = "v";
	r.l.facts.uuid[0] = r.l.facts.sbx.journal_uuid[0] = 1;
	r.l.memory.shm = calloc(1, sizeof(*r.l.memory.shm));
	r.l.store = open_store(judge);
	rj_load_log_id(&r.l, &id);
	CU_ASSERT_EQUAL_FATAL(rj_log_claim(r.l.store, &id, NULL, &w, &r.err), 0);
	r.l.memory.shm->epoch = r.l.memory.shm->served_since = 1;
	r.l.memory.shm->acked = 1;
	rj_log_writer_free(w);
}

/* The worker dies: the next one has the memory, and a handle of its own. */
static void dies(void)
{
	rj_log_writer_free(r.l.writer);
	r.l.writer = NULL;
	rj_store_close(r.l.store);
	r.l.store = open_store(judge);
}

static void end(void)
{
	dies();
	rj_store_close(r.l.store);
	rj_log_writer_free(r.w);
	rj_store_close(r.theirs);
	memgrove_free(r.grove);
	memshelf_free(r.shelf);
	rj_buf_free(&r.late);
	free(r.l.memory.shm);
}

/* The worker's tries, as in takeover.c, up to an end; its epoch, or 0: it was fenced. */
static uint64_t takes_over(void)
{
	int i, rc;

	for (i = 0; i < 20; i++) {
		rc = rj_load_claim_again(&r.l, &r.err);
		if (!rc)
			return rj_log_writer_epoch(r.l.writer);
		if (rj_error_final(&r.err))
			break;
	}
	printf("# %s\n", r.err.msg);
	return 0;
}

static void folder_whose_answer_was_lost(void)
{
	begin(true);
	r.op = MEMTREE_MAKE;
	r.fate = MEMTREE_LOST;
	r.times = 1;
	CU_ASSERT_EQUAL(takes_over(), 3);
	dies();
	CU_ASSERT_EQUAL(takes_over(), 4);
	end();
}

/* The store goes away after the folder; then the worker dies. */
static void folder_without_a_text(void)
{
	uint8_t nonce[RJ_SEG_NONCE_BYTES];

	begin(true);
	r.op = MEMTREE_PUT;
	r.times = ALWAYS;
	r.fate = MEMTREE_FAILS;
	CU_ASSERT_EQUAL(rj_load_claim_again(&r.l, &r.err), -RJ_E_UNREACHABLE);
	memcpy(nonce, r.l.memory.shm->nonce, sizeof(nonce));
	r.times = 0;
	dies();
	CU_ASSERT_EQUAL(takes_over(), 3);
	/* nothing was sealed with it, and the claim may have arrived */
	CU_ASSERT_EQUAL(memcmp(nonce, r.l.memory.shm->nonce, sizeof(nonce)), 0);
	end();
}

static void claim_that_arrives_late(void)
{
	begin(false);
	r.hangs = RJ_KEY_EPOCH;
	CU_ASSERT_EQUAL(rj_load_claim_again(&r.l, &r.err), -RJ_E_UNREACHABLE);
	r.hangs = -1;
	CU_ASSERT_EQUAL(takes_over(), 3);
	end();
}

/* A fence was sealed: nothing else may be with the same nonce. */
static void fence_that_arrives_late(void)
{
	uint8_t nonce[RJ_SEG_NONCE_BYTES];

	begin(false);
	r.hangs = RJ_KEY_LOG;
	CU_ASSERT_EQUAL(rj_load_claim_again(&r.l, &r.err), -RJ_E_UNREACHABLE);
	memcpy(nonce, r.l.memory.shm->nonce, sizeof(nonce));
	r.hangs = -1;
	dies();
	CU_ASSERT_EQUAL(takes_over(), 3);
	CU_ASSERT_NOT_EQUAL(memcmp(nonce, r.l.memory.shm->nonce, sizeof(nonce)), 0);
	CU_ASSERT_EQUAL(rj_log_writer_tail(r.l.writer)->sequence, 3);
	end();
}

static void *claim(void *arg)
{
	struct rj_log_claim_opts o = {.retry_ms = T_PATIENCE_MS};
	struct rj_log_id id = {0};

	rj_load_log_id(&r.l, &id);
	r.theirs_rc = rj_log_claim(r.theirs, &id, &o, &r.w, &r.theirs_err);
	return NULL;
}

/* Another host has made the folder of epoch 2 when a claim of the worker's may be under way. */
static void slow_host(void)
{
	begin(true);
	r.op = MEMTREE_MAKE;
	r.fate = MEMTREE_FAILS;
	r.times = ALWAYS;
	CU_ASSERT_EQUAL(rj_load_claim_again(&r.l, &r.err), -RJ_E_UNREACHABLE);
	r.times = 0;
	r.theirs = open_store(judge_theirs);
	sem_init(&r.halted, 0, 0);
	sem_init(&r.go, 0, 0);
	pthread_create(&r.thread, NULL, claim, NULL);
	sem_wait(&r.halted);
}

static void host_that_is_slower(void)
{
	slow_host();
	CU_ASSERT_EQUAL(takes_over(), 3);
	join();
	CU_ASSERT_EQUAL(r.theirs_rc, -RJ_E_FENCED);
	end();
}

static void host_that_is_a_little_faster(void)
{
	slow_host();
	r.first = true;
	CU_ASSERT_EQUAL(takes_over(), 0);
	CU_ASSERT_EQUAL(r.err.code, RJ_E_FENCED);
	CU_ASSERT_EQUAL(r.theirs_rc, 0);
	/* nor does the next worker */
	dies();
	CU_ASSERT_EQUAL(takes_over(), 0);
	end();
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(folder_whose_answer_was_lost),
		RJTEST(folder_without_a_text),
		RJTEST(claim_that_arrives_late),
		RJTEST(fence_that_arrives_late),
		RJTEST(host_that_is_slower),
		RJTEST(host_that_is_a_little_faster),
	};

	return RJTEST_RUN("successor", tests);
}
