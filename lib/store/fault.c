// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/fault.h"

#include <stdlib.h>
#include <string.h>

#include "util/environ.h"

#define MAX_FAULTS 16

struct armed {
	struct rj_fault fault;
	unsigned long first, last; /* calls of fault.op that it strikes */
};

struct fault_store {
	struct rj_store base;
	struct rj_store *inner;
	unsigned long calls[RJ_FAULT_ANY + 1];
	struct armed armed[MAX_FAULTS];
	unsigned count;
};

static struct fault_store *fault_of(struct rj_store *s)
{
	return (struct fault_store *)s;
}

/* Count a call of OP, wait as told, and find the fault that strikes it. */
static const struct rj_fault *strike(
	struct fault_store *fs, enum rj_fault_op op)
{
	const struct rj_fault *hit = NULL;
	unsigned i;

	fs->calls[op]++;
	fs->calls[RJ_FAULT_ANY]++;
	for (i = 0; i < fs->count; i++) {
		const struct armed *a = &fs->armed[i];
		const struct rj_fault *f = &a->fault;

		if (f->op != op && f->op != RJ_FAULT_ANY)
			continue;
		if (fs->calls[f->op] < a->first || fs->calls[f->op] > a->last)
			continue;
		if (f->kind == RJ_FAULT_DELAY)
			rj_sleep_ns((int64_t)f->delay_ms * 1000000);
		else if (!hit)
			hit = f;
	}
	return hit;
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
	const struct rj_fault *f = strike(fs, RJ_FAULT_PUT);
	struct rj_error below;

	if (!f)
		return rj_store_put_new(fs->inner, key, data, len, err);
	if (f->kind == RJ_FAULT_LOST)
		rj_store_put_new(fs->inner, key, data, len, &below);
	return fail(fs, f, "put", err);
}

static int fault_get(struct rj_store *s, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	struct fault_store *fs = fault_of(s);
	const struct rj_fault *f = strike(fs, RJ_FAULT_GET);

	/* whatever breaks, the caller gets nothing: no need to ask below */
	if (f)
		return fail(fs, f, "get", err);
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
	const struct rj_fault *f = strike(fs, RJ_FAULT_LIST);
	int rc;

	if (!f)
		return rj_store_list(fs->inner, dir, after, fn, arg, err);
	if (f->kind == RJ_FAULT_PARTIAL) {
		rc = list_half(fs, dir, after, fn, arg, err);
		if (rc)
			return rc;
	}
	return fail(fs, f, "list", err);
}

static int fault_remove(
	struct rj_store *s, const struct rj_key *key, struct rj_error *err)
{
	struct fault_store *fs = fault_of(s);
	const struct rj_fault *f = strike(fs, RJ_FAULT_REMOVE);
	struct rj_error below;

	if (!f)
		return rj_store_remove(fs->inner, key, err);
	if (f->kind == RJ_FAULT_LOST)
		rj_store_remove(fs->inner, key, &below);
	return fail(fs, f, "remove", err);
}

static void fault_close(struct rj_store *s)
{
	rj_store_close(fault_of(s)->inner);
	free(s);
}

static const struct rj_store_ops fault_ops = {
	.put_new = fault_put_new,
	.get = fault_get,
	.list = fault_list,
	.remove = fault_remove,
	.close = fault_close,
};

int rj_fault_open(
	struct rj_store *inner, struct rj_store **out, struct rj_error *err)
{
	struct fault_store *fs = calloc(1, sizeof(*fs));

	if (!fs) {
		rj_store_close(inner);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	fs->base = *inner;
	fs->base.ops = &fault_ops;
	fs->inner = inner;
	*out = &fs->base;
	return 0;
}

int rj_fault_add(struct rj_store *s, const struct rj_fault *fault)
{
	struct fault_store *fs = fault_of(s);
	struct armed *a = &fs->armed[fs->count];

	if (fs->count == MAX_FAULTS)
		return -RJ_E_NOSPACE;
	fs->count++;
	a->fault = *fault;
	a->first = fs->calls[fault->op] + (fault->nth ? fault->nth : 1);
	a->last = fault->times ? a->first + fault->times - 1 : ~0ul;
	return 0;
}

void rj_fault_clear(struct rj_store *s)
{
	fault_of(s)->count = 0;
}

unsigned long rj_fault_calls(const struct rj_store *s, enum rj_fault_op op)
{
	return ((const struct fault_store *)s)->calls[op];
}
