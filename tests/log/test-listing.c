// SPDX-License-Identifier: GPL-2.0-or-later
/* A listing that a store does not end, by the word of the store alone: what a reader does. */
#include <string.h>

#include "log/listing.h"
#include "support/rjtest.h"
#include "util/environ.h"

/* A store whose list has each STEP-th number, and takes TAKES_NS for each. */
struct endless {
	struct rj_store base;
	uint64_t step, listed;
	int64_t takes_ns;
};

static int64_t now_ns;

static int64_t fake_now(void *arg)
{
	(void)arg;
	return now_ns;
}

static int list(struct rj_store *s, const struct rj_key *dir, uint64_t after,
	rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	struct endless *e = (struct endless *)s;
	uint64_t number;
	int rc = 0;

	(void)dir;
	(void)err;
	e->listed = 0;
	for (number = after + e->step; !rc; number += e->step) {
		now_ns += e->takes_ns;
		e->listed++;
		rc = fn(arg, number, 100);
	}
	return rc;
}

static const struct rj_store_ops ops = {.list = list};
static const struct rj_log_id id;
static struct rj_error err;

static struct endless store(uint64_t step, int64_t takes_ns)
{
	struct endless e = {
		.base = {.ops = &ops, .url = "test:"}, .step = step, .takes_ns = takes_ns};

	return e;
}

static void holes_have_an_end(void)
{
	struct endless e = store(2, 0);
	struct rj_listing l = {0};

	CU_ASSERT_EQUAL(rj_listing_log(&e.base, &id, 0, 0, &l, &err), -RJ_E_PROTOCOL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "holes, which no log has"));
	CU_ASSERT_EQUAL(e.listed, RJ_LISTING_RANGES + 1);
	CU_ASSERT_EQUAL(l.last, 0);
	rj_listing_free(&l);
}

static void time_has_an_end(void)
{
	const struct rj_environ fake = {.monotonic_ns = fake_now};
	struct endless e = store(1, 1000000000);
	struct rj_listing l = {0};
	uint64_t highest = 1;

	rj_environ_set(&fake);
	CU_ASSERT_EQUAL(rj_listing_log(&e.base, &id, 0, 0, &l, &err), -RJ_E_PROTOCOL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "has not ended after an hour, at number 3604"));
	CU_ASSERT_EQUAL(l.last, 0);
	CU_ASSERT_EQUAL(rj_listing_epoch(&e.base, &id, 0, &highest, &err), -RJ_E_PROTOCOL);
	CU_ASSERT_EQUAL(highest, 0);
	rj_environ_set(NULL);
	rj_listing_free(&l);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(holes_have_an_end),
		RJTEST(time_has_an_end),
	};

	return RJTEST_RUN("listing", tests);
}
