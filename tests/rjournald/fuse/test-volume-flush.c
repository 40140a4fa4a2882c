// SPDX-License-Identifier: GPL-2.0-or-later
/* The volume is flushed before a commit block. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rjournald/front/volume-flush.h"
#include "support/rjtest.h"
#include "util/bytes.h"

#define BLOCK 1024

static char scratch[] = "/tmp/rjvolflush.XXXXXX";
static char fifo[64], file[64];
static uint8_t blocks[4 * BLOCK];

static void header(unsigned n, uint32_t type)
{
	rj_put_be32(blocks + n * BLOCK, 0xC03B3998);
	rj_put_be32(blocks + n * BLOCK + 4, type);
	rj_put_be32(blocks + n * BLOCK + 8, 7);
}

/* a FIFO can not be flushed: that shows when it is tried */
static int before(const char *path, size_t len)
{
	struct rj_volume_flush b;
	struct rj_error err;
	int rc = rj_volume_flush_open(&b, path, BLOCK, &err);

	CU_ASSERT_EQUAL(rc, 0);
	rc = rj_volume_flush_before_commit(&b, blocks, len, &err);
	rj_volume_flush_close(&b);
	return rc;
}

static void a_commit_block_and_nothing_else(void)
{
	memset(blocks, 0, sizeof(blocks));
	CU_ASSERT_EQUAL(before(fifo, sizeof(blocks)), 0);
	header(0, 1);
	header(1, 5);
	header(2, 4);
	CU_ASSERT_EQUAL(before(fifo, sizeof(blocks)), 0);
	header(3, 2);
	CU_ASSERT_TRUE(before(fifo, sizeof(blocks)) < 0);
	CU_ASSERT_EQUAL(before(fifo, 3 * BLOCK), 0);
	CU_ASSERT_EQUAL(before(fifo, 4 * BLOCK - 512), 0);
	CU_ASSERT_EQUAL(before(file, sizeof(blocks)), 0);
}

static void not_there(void)
{
	struct rj_volume_flush b;
	struct rj_error err;

	CU_ASSERT_TRUE(rj_volume_flush_open(&b, "/nowhere/at/all", BLOCK, &err) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "/nowhere/at/all"));
	rj_volume_flush_close(&b);
}

static const struct rjtest tests[] = {
	RJTEST(a_commit_block_and_nothing_else),
	RJTEST(not_there),
};

int main(void)
{
	FILE *f;
	int rc;

	if (!mkdtemp(scratch))
		return 99;
	snprintf(fifo, sizeof(fifo), "%s/fifo", scratch);
	snprintf(file, sizeof(file), "%s/file", scratch);
	f = fopen(file, "we");
	if (mkfifo(fifo, 0600) || !f || fclose(f))
		return 99;
	rc = RJTEST_RUN("volume-flush", tests);
	unlink(fifo);
	unlink(file);
	rmdir(scratch);
	return rc;
}
