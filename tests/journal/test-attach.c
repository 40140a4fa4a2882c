// SPDX-License-Identifier: GPL-2.0-or-later
/* The empty journal that is put at the head of a log. */
#include <string.h>

#include "jbd2/jbd2.h"
#include "journal/attach.h"
#include "log/log.h"
#include "support/fault.h"
#include "support/memstore.h"
#include "support/rjtest.h"
#include "util/bytes.h"
#include "util/environ.h"

static const struct rj_log_id id = {
	.volume_uuid = "volume-uuid-15b",
	.journal_uuid = "journal-uuid-15",
};

struct seen {
	unsigned segments;
	uint32_t flags, block_size, blocks, tid;
	uint64_t block_count;
	bool device_super, user;
};

static int look(void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	uint32_t bs = seg->body.block_size, sb = rj_jbd2_device_sb_block(bs);
	struct seen *s = arg;
	struct rj_jbd2_sb jsb;
	int rc;

	if (seg->header.kind != RJ_SEG_DATA)
		return 0;
	s->segments++;
	s->flags = seg->header.flags;
	s->block_size = bs;
	s->blocks = seg->body.journal_blocks;
	s->block_count = seg->block_count;
	s->device_super = rj_get_le16(seg->blocks + 1024 + 0x38) == 0xEF53 &&
			  !memcmp(seg->blocks + 1024 + 0x68, id.journal_uuid,
				  RJ_UUID_BYTES);
	rc = rj_jbd2_sb_decode(seg->blocks + (size_t)sb * bs, &jsb, err);
	if (rc)
		return rc;
	s->tid = jsb.sequence;
	s->user = jsb.nr_users == 1 &&
		  rj_uuid_equal(jsb.users[0], id.volume_uuid) &&
		  rj_uuid_equal(jsb.uuid, id.journal_uuid) && !jsb.start &&
		  jsb.first == sb + 1 && jsb.maxlen == seg->body.journal_blocks;
	return 0;
}

static struct seen read_log(struct rj_store *store)
{
	struct rj_log_read_opts opts = {0};
	struct rj_log_summary sum;
	struct seen s = {0};
	struct rj_error err;

	CU_ASSERT_EQUAL(
		rj_log_read(store, &id, &opts, look, &s, &sum, &err), 0);
	return s;
}

static int put(struct rj_log_writer *w, uint32_t bs, uint32_t tid)
{
	struct rj_error err;

	return rj_journal_put_empty(
		w, bs, 2048, id.journal_uuid, id.volume_uuid, tid, &err);
}

static void first_and_after_a_recovery(void)
{
	static const uint32_t sizes[] = {1024, 2048, 4096, 65536};
	struct rj_log_claim_opts new_log = {.new_log = true}, again = {0};
	struct rj_log_writer *w;
	struct memshelf *shelf;
	struct rj_store *store;
	struct rj_error err;
	struct seen s;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		shelf = memshelf_new();
		store = memstore_open(shelf);
		CU_ASSERT_EQUAL_FATAL(
			rj_log_claim(store, &id, &new_log, &w, &err), 0);
		CU_ASSERT_EQUAL(put(w, sizes[i], 1), 0);
		CU_ASSERT_EQUAL(rj_log_writer_tail(w)->sequence, 2);
		rj_log_writer_free(w);
		s = read_log(store);
		CU_ASSERT_EQUAL(s.segments, 1);
		CU_ASSERT_EQUAL(s.flags, RJ_SEG_F_BASE);
		CU_ASSERT_EQUAL(s.block_size, sizes[i]);
		CU_ASSERT_EQUAL(s.blocks, 2048);
		CU_ASSERT_EQUAL(s.block_count, sizes[i] == 1024 ? 3 : 2);
		CU_ASSERT_EQUAL(s.tid, 1);
		CU_ASSERT_TRUE(s.device_super && s.user);
		CU_ASSERT_EQUAL_FATAL(
			rj_log_claim(store, &id, &again, &w, &err), 0);
		CU_ASSERT_EQUAL(put(w, sizes[i], 77), 0);
		rj_log_writer_free(w);
		s = read_log(store);
		CU_ASSERT_EQUAL(s.flags, RJ_SEG_F_BASE | RJ_SEG_F_RECOVERED);
		CU_ASSERT_EQUAL(s.tid, 77);
		rj_store_close(store);
		memshelf_free(shelf);
	}
}

/* ---- a store that does not answer ---- */

static int64_t now_ns;

static int64_t fake_clock(void *arg)
{
	return now_ns;
}

static void fake_sleep(void *arg, int64_t ns)
{
	now_ns += ns;
}

static int fake_random(void *arg, void *out, size_t len)
{
	memset(out, 7, len);
	return 0;
}

static int put_with(const struct rj_fault *fault, unsigned *segments)
{
	const struct rj_environ env = {
		.realtime_ns = fake_clock,
		.monotonic_ns = fake_clock,
		.sleep_ns = fake_sleep,
		.random_bytes = fake_random,
	};
	struct rj_log_claim_opts opts = {.new_log = true};
	struct memshelf *shelf = memshelf_new();
	struct rj_store *store;
	struct rj_log_writer *w;
	struct rj_error err;
	int rc;

	now_ns = 1000000000;
	rj_environ_set(&env);
	CU_ASSERT_EQUAL_FATAL(
		rj_fault_open(memstore_open(shelf), &store, &err), 0);
	CU_ASSERT_EQUAL_FATAL(rj_log_claim(store, &id, &opts, &w, &err), 0);
	rj_fault_add(store, fault);
	rc = put(w, 4096, 1);
	rj_fault_clear(store);
	rj_environ_set(NULL);
	rj_log_writer_free(w);
	*segments = rc ? 0 : read_log(store).segments;
	rj_store_close(store);
	memshelf_free(shelf);
	return rc;
}

static void tried_again(void)
{
	struct rj_fault f = {.op = RJ_FAULT_PUT, .times = 3};
	unsigned segments;

	f.kind = RJ_FAULT_FAIL;
	CU_ASSERT_EQUAL(put_with(&f, &segments), 0);
	CU_ASSERT_EQUAL(segments, 1);
	f.kind = RJ_FAULT_LOST;
	f.times = 1;
	CU_ASSERT_EQUAL(put_with(&f, &segments), 0);
	CU_ASSERT_EQUAL(segments, 1);
	f.times = 0;
	f.kind = RJ_FAULT_FAIL;
	CU_ASSERT_EQUAL(put_with(&f, &segments), -RJ_E_UNREACHABLE);
	CU_ASSERT(now_ns > 10000000000 && now_ns < 20000000000);
	f.code = RJ_E_NOSPACE; /* no sense in trying again */
	CU_ASSERT_EQUAL(put_with(&f, &segments), -RJ_E_NOSPACE);
	CU_ASSERT_EQUAL(now_ns, 1000000000);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(first_and_after_a_recovery),
		RJTEST(tried_again),
	};

	return RJTEST_RUN("journal attach", tests);
}
