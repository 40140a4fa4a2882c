// SPDX-License-Identifier: GPL-2.0-or-later
/* What one worker leaves the next one gets: every member of every record, and
 * nothing at all from a release whose memory has another version. */
#include <string.h>
#include <unistd.h>

#include "rjournald/handover/shm-records.h"
#include "rjournald/handover/worker-shm.h"
#include "support/rjtest.h"

static size_t zeros(const void *data, size_t len)
{
	const uint8_t *p = data;
	size_t n = 0;

	while (len--)
		n += !p[len];
	return n;
}

/*
 * FROM is all ones, bytewise, which is a value that bool and enum can have. What
 * is zero in what was loaded was left out: PADDING bytes, and no member. A new
 * member belongs into the record's list, or into PADDING with a reason.
 */
#define ROUND(name, type, padding)                                             \
	do {                                                                   \
		struct type from, to;                                          \
		struct rj_shm_##name left;                                     \
                                                                               \
		memset(&from, 1, sizeof(from));                                \
		rj_shm_save_##name(&left, &from);                              \
		rj_shm_load_##name(&to, &left);                                \
		CU_ASSERT_EQUAL(zeros(&to, sizeof(to)), padding);              \
	} while (0)

static void nothing_is_left_out(void)
{
	ROUND(error, rj_error, 0);
	ROUND(track, rj_track, 9);
	ROUND(writer, rj_log_writer_state, 6);
	/* sbx_error and space are of no use to a worker that takes over */
	ROUND(facts, rj_volume_facts, sizeof(struct rj_error) + sizeof(uint64_t) + 38);
}

static void another_release_is_refused(void)
{
	struct rj_worker_map m, again;
	struct rj_error err;
	int fd;

	CU_ASSERT_EQUAL_FATAL(rj_worker_shm_create(1024, 64, &m, &err), 0);
	fd = dup(m.fd);
	CU_ASSERT_EQUAL_FATAL(rj_worker_shm_attach(fd, &again, &err), 0);
	rj_worker_shm_release(&again);
	m.shm->version++;
	CU_ASSERT_EQUAL(
		rj_worker_shm_attach(m.fd, &again, &err), -RJ_E_UNSUPPORTED);
	m.shm->version--;
	m.shm->header_bytes += 8;
	CU_ASSERT_EQUAL(
		rj_worker_shm_attach(m.fd, &again, &err), -RJ_E_UNSUPPORTED);
	rj_worker_shm_release(&m);
}

static const struct rjtest tests[] = {
	RJTEST(nothing_is_left_out),
	RJTEST(another_release_is_refused),
};

int main(void)
{
	return RJTEST_RUN("shm-records", tests);
}
