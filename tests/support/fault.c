// SPDX-License-Identifier: GPL-2.0-or-later
#include "support/fault.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "util/environ.h"

#define MAX_FAULTS 16

struct armed {
	struct rj_fault fault;
	unsigned long first, last; /* calls of fault.op that it strikes */
};

/* What all handles of one layer share. */
struct faults {
	pthread_mutex_t lock;
	unsigned handles;
	unsigned long calls[RJ_FAULT_ANY + 1];
	struct armed armed[MAX_FAULTS];
	unsigned count;
};

struct fault_store {
	struct rj_store base;
	struct rj_store *inner;
	struct faults *faults;
};

static struct fault_store *fault_of(struct rj_store *s)
{
	return (struct fault_store *)s;
}

static struct faults *lock(const struct rj_store *s)
{
	struct faults *faults = ((const struct fault_store *)s)->faults;

	pthread_mutex_lock(&faults->lock);
	return faults;
}

static void unlock(struct faults *faults)
{
	pthread_mutex_unlock(&faults->lock);
}

/* Count a call of OP, wait as told, and find the fault that strikes it: true,
 * and HIT is a copy. */
static bool strike(
	struct fault_store *fs, enum rj_fault_op op, struct rj_fault *hit)
{
	struct faults *all = lock(&fs->base);
	int64_t delay_us = 0;
	bool struck = false;
	unsigned i;

	all->calls[op]++;
	all->calls[RJ_FAULT_ANY]++;
	for (i = 0; i < all->count; i++) {
		const struct armed *a = &all->armed[i];
		const struct rj_fault *f = &a->fault;

		if (f->op != op && f->op != RJ_FAULT_ANY)
			continue;
		if (all->calls[f->op] < a->first || all->calls[f->op] > a->last)
			continue;
		if (f->kind == RJ_FAULT_DELAY)
			delay_us += (int64_t)f->delay_ms * 1000 + f->delay_us;
		else if (!struck)
			*hit = *f;
		struck |= f->kind != RJ_FAULT_DELAY;
	}
	unlock(all);
	if (delay_us)
		rj_sleep_ns(delay_us * 1000);
	return struck;
}

static int fail(struct fault_store *fs, const struct rj_fault *f,
	const char *verb, struct rj_error *err)
{
	static const char *const words[] = {
		[RJ_FAULT_FAIL] = "fails",
		[RJ_FAULT_LOST] = "loses its answer",
		[RJ_FAULT_PARTIAL] = "breaks half-way",
	};

	return rj_fail(err, f->code ? f->code : RJ_E_UNREACHABLE,
		"%s: injected fault: %s %s", fs->base.url, verb,
		words[f->kind]);
}

static int fault_put_new(struct rj_store *s, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	struct fault_store *fs = fault_of(s);
	struct rj_fault f;
	bool struck = strike(fs, RJ_FAULT_PUT, &f);
	struct rj_error below;

	fs->inner->copying = s->copying;
	if (!struck)
		return rj_store_put_new(fs->inner, key, data, len, err);
	if (f.kind == RJ_FAULT_LOST)
		rj_store_put_new(fs->inner, key, data, len, &below);
	return fail(fs, &f, "put", err);
}

/* The store below may take whole objects only. */
static int fault_put_parts(struct rj_store *s, const struct rj_key *key,
	const struct iovec *parts, int count, struct rj_error *err)
{
	struct rj_buf whole = {0};
	int i, rc = 0;

	for (i = 0; i < count && !rc; i++)
		rc = rj_buf_append(&whole, parts[i].iov_base, parts[i].iov_len);
	rc = rc ? rj_fail(err, RJ_E_NOMEM, "out of memory")
		: fault_put_new(s, key, whole.data, whole.len, err);
	rj_buf_free(&whole);
	return rc;
}

static int fault_get(struct rj_store *s, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	struct fault_store *fs = fault_of(s);
	struct rj_fault f;
	bool struck = strike(fs, RJ_FAULT_GET, &f);

	/* whatever breaks, the caller gets nothing: no need to ask below */
	if (struck)
		return fail(fs, &f, "get", err);
	return rj_store_get(fs->inner, key, max, out, err);
}

struct half {
	rj_store_list_fn fn;
	void *arg;
	unsigned long left;
	bool cut;
};

static int count_one(void *arg, uint64_t number, uint64_t bytes)
{
	++*(unsigned long *)arg;
	return 0;
}

static int pass_half(void *arg, uint64_t number, uint64_t bytes)
{
	struct half *h = arg;

	if (!h->left) {
		h->cut = true;
		return 1;
	}
	h->left--;
	return h->fn(h->arg, number, bytes);
}

static int list_half(struct fault_store *fs, const struct rj_key *dir,
	uint64_t after, rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	struct half h = {.fn = fn, .arg = arg};
	unsigned long count = 0;
	int rc;

	rc = rj_store_list(fs->inner, dir, after, count_one, &count, err);
	if (rc)
		return rc;
	h.left = count / 2;
	rc = rj_store_list(fs->inner, dir, after, pass_half, &h, err);
	return h.cut ? 0 : rc;
}

static int fault_list(struct rj_store *s, const struct rj_key *dir,
	uint64_t after, rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	struct fault_store *fs = fault_of(s);
	struct rj_fault f;
	bool struck = strike(fs, RJ_FAULT_LIST, &f);
	int rc;

	if (!struck)
		return rj_store_list(fs->inner, dir, after, fn, arg, err);
	if (f.kind == RJ_FAULT_PARTIAL) {
		rc = list_half(fs, dir, after, fn, arg, err);
		if (rc)
			return rc;
	}
	return fail(fs, &f, "list", err);
}

static int fault_remove(
	struct rj_store *s, const struct rj_key *key, struct rj_error *err)
{
	struct fault_store *fs = fault_of(s);
	struct rj_fault f;
	bool struck = strike(fs, RJ_FAULT_REMOVE, &f);
	struct rj_error below;

	if (!struck)
		return rj_store_remove(fs->inner, key, err);
	if (f.kind == RJ_FAULT_LOST)
		rj_store_remove(fs->inner, key, &below);
	return fail(fs, &f, "remove", err);
}

static int fault_list_journals(struct rj_store *s, rj_store_journal_fn fn,
	void *arg, struct rj_error *err)
{
	struct fault_store *fs = fault_of(s);
	struct rj_fault f;

	if (strike(fs, RJ_FAULT_LIST, &f))
		return fail(fs, &f, "list of journals", err);
	return rj_store_list_journals(fs->inner, fn, arg, err);
}

/* Another handle over INNER, which is closed on failure. */
static int new_handle(struct rj_store *inner, struct faults *faults,
	struct rj_store **out, struct rj_error *err);

static int fault_dup(
	struct rj_store *s, struct rj_store **out, struct rj_error *err)
{
	struct fault_store *fs = fault_of(s);
	struct rj_store *inner = NULL;
	int rc = rj_store_dup(fs->inner, &inner, err);

	return rc ? rc : new_handle(inner, fs->faults, out, err);
}

static int fault_adopt(struct rj_store *s, const uint8_t journal[RJ_UUID_BYTES],
	uint64_t epoch, uint64_t fence, struct rj_error *err)
{
	return rj_store_adopt(fault_of(s)->inner, journal, epoch, fence, err);
}

static void fault_close(struct rj_store *s)
{
	struct fault_store *fs = fault_of(s);
	struct faults *all = lock(s);
	bool last = !--all->handles;

	unlock(all);
	if (last) {
		pthread_mutex_destroy(&all->lock);
		free(all);
	}
	rj_store_close(fs->inner);
	free(s);
}

static const struct rj_store_ops fault_ops = {
	.put_new = fault_put_new,
	.put_parts = fault_put_parts,
	.get = fault_get,
	.list = fault_list,
	.remove = fault_remove,
	.list_journals = fault_list_journals,
	.dup = fault_dup,
	.adopt = fault_adopt,
	.close = fault_close,
};

static int new_handle(struct rj_store *inner, struct faults *faults,
	struct rj_store **out, struct rj_error *err)
{
	struct fault_store *fs = calloc(1, sizeof(*fs));

	if (!fs) {
		rj_store_close(inner);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	fs->base = *inner;
	fs->base.ops = &fault_ops;
	fs->inner = inner;
	fs->faults = faults;
	pthread_mutex_lock(&faults->lock);
	faults->handles++;
	pthread_mutex_unlock(&faults->lock);
	*out = &fs->base;
	return 0;
}

int rj_fault_open(
	struct rj_store *inner, struct rj_store **out, struct rj_error *err)
{
	struct faults *faults = calloc(1, sizeof(*faults));
	int rc;

	if (!faults) {
		rj_store_close(inner);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	pthread_mutex_init(&faults->lock, NULL);
	rc = new_handle(inner, faults, out, err);
	if (rc) {
		pthread_mutex_destroy(&faults->lock);
		free(faults);
	}
	return rc;
}

int rj_fault_add(struct rj_store *s, const struct rj_fault *fault)
{
	struct faults *all = lock(s);
	struct armed *a = &all->armed[all->count];
	int rc = 0;

	if (all->count == MAX_FAULTS) {
		rc = -RJ_E_NOSPACE;
		goto out;
	}
	all->count++;
	a->fault = *fault;
	a->first = all->calls[fault->op] + (fault->nth ? fault->nth : 1);
	a->last = fault->times ? a->first + fault->times - 1 : ~0ul;
out:
	unlock(all);
	return rc;
}

void rj_fault_clear(struct rj_store *s)
{
	struct faults *all = lock(s);

	all->count = 0;
	unlock(all);
}

unsigned long rj_fault_calls(const struct rj_store *s, enum rj_fault_op op)
{
	struct faults *all = lock(s);
	unsigned long calls = all->calls[op];

	unlock(all);
	return calls;
}
