// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's texts, as Linux 6.18 and older ones wrote them. */
#include <string.h>

#include "rjadvise/model/proc-text.h"
#include "support/rjtest.h"

static const char jbd2[] =
	"3714 transactions (3700 requested), each up to 21845 blocks\n"
	"average: \n"
	"  1ms waiting for transaction\n"
	"  2ms request delay\n"
	"  3032ms running transaction\n"
	"  0ms transaction was being locked\n"
	"  7ms flushing data (in ordered mode)\n"
	"  4ms logging transaction\n"
	"  5398us average transaction commit time\n"
	"  11 handles per transaction\n"
	"  3 blocks per transaction\n"
	"  5 logged blocks per transaction\n";

static void test_jbd2(void)
{
	struct jbd2_text t = {0};

	CU_ASSERT(parse_jbd2_info(jbd2, &t));
	CU_ASSERT_EQUAL(t.transactions, 3714);
	CU_ASSERT_EQUAL(t.requested, 3700);
	CU_ASSERT_EQUAL(t.max_blocks, 21845);
	CU_ASSERT_EQUAL(t.flushing_ms, 7);
	CU_ASSERT_EQUAL(t.logging_ms, 4);
	CU_ASSERT_EQUAL(t.commit_us, 5398);
	CU_ASSERT_EQUAL(t.handles, 11);
	CU_ASSERT_EQUAL(t.blocks, 3);
	CU_ASSERT_EQUAL(t.logged, 5);
}

/* A mount without a transaction shows the first line alone. */
static void test_jbd2_fresh(void)
{
	struct jbd2_text t = {0};

	CU_ASSERT(parse_jbd2_info("0 transactions (0 requested), each up to 1024 blocks\n", &t));
	CU_ASSERT_EQUAL(t.transactions, 0);
	CU_ASSERT_EQUAL(t.max_blocks, 1024);
}

static void test_jbd2_bad(void)
{
	struct jbd2_text t = {.blocks = 77};
	char cut[sizeof(jbd2)];

	CU_ASSERT_FALSE(parse_jbd2_info("", &t));
	CU_ASSERT_FALSE(parse_jbd2_info("0-0:0/0\n", &t));
	/* a text that ends early is no text with zeros */
	strcpy(cut, jbd2);
	*strstr(cut, "  5 logged") = 0;
	CU_ASSERT_FALSE(parse_jbd2_info(cut, &t));
	CU_ASSERT_EQUAL(t.blocks, 77);
}

static void test_stat(void)
{
	struct disk_text t = {0};

	CU_ASSERT(parse_disk_stat("  218400    25639 160006134   165629    68554    42473 166306520   "
				  "695434        0   103416   873350    11680       20 147958816    "
				  "12154     3992      133\n",
		&t));
	CU_ASSERT_EQUAL(t.writes, 68554);
	CU_ASSERT_EQUAL(t.write_sectors, 166306520);
	CU_ASSERT_EQUAL(t.write_ms, 695434);
	CU_ASSERT_EQUAL(t.busy_ms, 103416);
	CU_ASSERT(t.has_flushes);
	CU_ASSERT_EQUAL(t.flushes, 3992);
	CU_ASSERT_EQUAL(t.flush_ms, 133);
}

static void test_stat_old(void)
{
	struct disk_text t = {.writes = 77};

	/* before Linux 5.5 there were no flushes, before 4.18 no discards */
	CU_ASSERT(parse_disk_stat("1 2 3 4 5 6 7 8 9 10 11\n", &t));
	CU_ASSERT_EQUAL(t.writes, 5);
	CU_ASSERT_FALSE(t.has_flushes);
	CU_ASSERT(parse_disk_stat("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n", &t));
	CU_ASSERT_FALSE(t.has_flushes);
	t.writes = 77;
	CU_ASSERT_FALSE(parse_disk_stat("1 2 3 4 5 6 7 8 9 10\n", &t));
	CU_ASSERT_FALSE(parse_disk_stat("", &t));
	CU_ASSERT_FALSE(parse_disk_stat("nothing of the kind", &t));
	CU_ASSERT_EQUAL(t.writes, 77);
}

static void test_options(void)
{
	struct mount_text t = {0};

	CU_ASSERT(parse_ext4_options("rw\nbsddf\nnodelalloc\nbarrier\nauto_da_alloc\ncommit=15\n"
				     "data=journal\ninode_readahead_blks=64\n",
		&t));
	CU_ASSERT(t.has_mode);
	CU_ASSERT_EQUAL(t.mode, MODE_JOURNAL);
	CU_ASSERT_FALSE(t.delalloc);
	CU_ASSERT(t.barrier);
	CU_ASSERT_EQUAL(t.commit_s, 15);
	CU_ASSERT_EQUAL(t.readahead_blocks, 64);
	CU_ASSERT(parse_ext4_options("delalloc\nnobarrier\ndata=writeback", &t));
	CU_ASSERT_EQUAL(t.mode, MODE_WRITEBACK);
	CU_ASSERT(t.delalloc);
	CU_ASSERT_FALSE(t.barrier);
	CU_ASSERT_EQUAL(t.commit_s, 5);
	/* without a journal there is no data= */
	CU_ASSERT(parse_ext4_options("rw\ndelalloc\ncommit=5\n", &t));
	CU_ASSERT_FALSE(t.has_mode);
	CU_ASSERT_FALSE(parse_ext4_options("", &t));
	CU_ASSERT_FALSE(parse_ext4_options("rw\nrelatime\n", &t));
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(test_jbd2),
		RJTEST(test_jbd2_fresh),
		RJTEST(test_jbd2_bad),
		RJTEST(test_stat),
		RJTEST(test_stat_old),
		RJTEST(test_options),
	};

	return RJTEST_RUN("text", tests);
}
