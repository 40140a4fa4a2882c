// SPDX-License-Identifier: GPL-2.0-or-later
/* Create, map and settle the memory that outlives a worker. */
#include "worker-shm.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC	  "RJKEPT\n"
#define PAGE	  4096u
#define WORD_BITS 64u

/* Of another release it is the same, or RJ_WORKER_SHM_VERSION is not. */
#define LOG_AT(member, at)                                                     \
	_Static_assert(offsetof(struct rj_worker_shm_log, member) == (at), #member)
#define SHM_AT(member, at)                                                     \
	_Static_assert(offsetof(struct rj_worker_shm, member) == (at), #member)
LOG_AT(at, 0);
LOG_AT(bytes, 304);
LOG_AT(turn, 312);
LOG_AT(fence, 320);
LOG_AT(in_file, 328);
LOG_AT(shipped, 336);
LOG_AT(prefer, 344);
_Static_assert(sizeof(struct rj_worker_shm_log) == 352, "size");
SHM_AT(magic, 0);
SHM_AT(version, 8);
SHM_AT(header_bytes, 12);
SHM_AT(blocks, 16);
SHM_AT(block_size, 20);
SHM_AT(acked, 24);
SHM_AT(oldest, 32);
SHM_AT(early_bytes, 40);
SHM_AT(writing_at, 48);
SHM_AT(writing_bytes, 56);
SHM_AT(track, 64);
SHM_AT(track_turn, 144);
SHM_AT(failed, 148);
SHM_AT(failure, 152);
SHM_AT(remote_tid, 1192);
SHM_AT(remote_ns, 1200);
SHM_AT(log, 1208);
SHM_AT(facts, 1560);
SHM_AT(epoch, 2104);
SHM_AT(nonce, 2112);
SHM_AT(served_since, 2128);
SHM_AT(init, 2136);
SHM_AT(init_bytes, 2392);
SHM_AT(opens, 2400);
SHM_AT(phase, 2912);
SHM_AT(signalled, 2916);
SHM_AT(restarts, 2920);
SHM_AT(confirmed_s, 2924);
SHM_AT(started_ns, 2928);
SHM_AT(device_path, 2936);
SHM_AT(ublk, 2968);
SHM_AT(begun, 2972);
_Static_assert(sizeof(struct rj_worker_shm) == 2976, "size");

static size_t pages(uint64_t bytes)
{
	return (size_t)((bytes + PAGE - 1) / PAGE * PAGE);
}

static size_t bits_bytes(uint32_t blocks)
{
	return ((size_t)blocks + WORD_BITS - 1) / WORD_BITS * sizeof(uint64_t);
}

static size_t all_bytes(uint32_t block_size, uint32_t blocks)
{
	return pages(sizeof(struct rj_worker_shm)) +
	       pages((uint64_t)block_size * blocks) +
	       pages((uint64_t)blocks * sizeof(uint64_t)) +
	       pages(bits_bytes(blocks)) + pages(RJ_SEG_MAX_BYTES);
}

static int map(int fd, size_t bytes, struct rj_worker_map *m,
	struct rj_error *err)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (p == MAP_FAILED)
		return rj_fail_errno(
			err, errno, "cannot map %zu bytes of memory", bytes);
	m->shm = p;
	m->bytes = bytes;
	m->fd = fd;
	return 0;
}

static void find_pieces(struct rj_worker_map *m)
{
	const struct rj_worker_shm *k = m->shm;
	uint8_t *p = (uint8_t *)m->shm + pages(sizeof(*k));

	m->data = p;
	p += pages((uint64_t)k->block_size * k->blocks);
	m->seq = (uint64_t *)p;
	p += pages((uint64_t)k->blocks * sizeof(*m->seq));
	m->bits = (uint64_t *)p;
	p += pages(bits_bytes(k->blocks));
	m->outbox = p;
}

int rj_worker_shm_create(uint32_t block_size, uint32_t blocks,
	struct rj_worker_map *out, struct rj_error *err)
{
	struct rj_worker_map m = {0};
	size_t bytes = all_bytes(block_size, blocks);
	int fd = memfd_create("rjournald", MFD_CLOEXEC), rc;

	if (fd == -1)
		return rj_fail_errno(err, errno, "memfd_create");
	if (ftruncate(fd, (off_t)bytes) == -1)
		rc = rj_fail_errno(err, errno,
			"cannot get %zu bytes of memory for the journal",
			bytes);
	else
		rc = map(fd, bytes, &m, err);
	if (rc) {
		close(fd);
		return rc;
	}
	memcpy(m.shm->magic, MAGIC, sizeof(m.shm->magic));
	m.shm->version = RJ_WORKER_SHM_VERSION;
	m.shm->header_bytes = sizeof(*m.shm);
	m.shm->block_size = block_size;
	m.shm->blocks = blocks;
	find_pieces(&m);
	*out = m;
	return 0;
}

int rj_worker_shm_attach(
	int fd, struct rj_worker_map *out, struct rj_error *err)
{
	struct rj_worker_map m = {0};
	const struct rj_worker_shm *k;
	struct stat st;
	int rc;

	if (fstat(fd, &st) == -1)
		return rj_fail_errno(err, errno, "the supervisor's memory");
	if (st.st_size < (off_t)PAGE)
		return rj_fail(err, RJ_E_CORRUPT, "the supervisor's memory is empty");
	rc = map(fd, (size_t)st.st_size, &m, err);
	if (rc)
		return rc;
	k = m.shm;
	if (memcmp(k->magic, MAGIC, sizeof(k->magic)) != 0)
		rc = rj_fail(err, RJ_E_CORRUPT,
			"the supervisor's memory holds something else");
	else if (k->version != RJ_WORKER_SHM_VERSION ||
		 k->header_bytes != sizeof(*k))
		rc = rj_fail(err, RJ_E_UNSUPPORTED,
			"the rjournald that is running is of a release that this one cannot take over from: stop it and start this one");
	else if (m.bytes != all_bytes(k->block_size, k->blocks))
		rc = rj_fail(err, RJ_E_CORRUPT,
			"the supervisor's memory has %zu bytes, not those of %u blocks",
			m.bytes, k->blocks);
	if (rc) {
		munmap(m.shm, m.bytes);
		return rc;
	}
	find_pieces(&m);
	*out = m;
	return 0;
}

void rj_worker_shm_release(struct rj_worker_map *m)
{
	if (!m->shm)
		return;
	munmap(m->shm, m->bytes);
	close(m->fd);
	memset(m, 0, sizeof(*m));
}

/* Stores to atomics are sequentially consistent: what is said first is there
 * first, for the worker that looks after our death. */
void rj_worker_shm_begin(struct rj_worker_shm *k, uint64_t at, uint64_t bytes)
{
	k->writing_at = at;
	k->writing_bytes = bytes;
}

void rj_worker_shm_end(struct rj_worker_shm *k, const struct rj_track *track)
{
	uint32_t next = !k->track_turn;

	rj_shm_save_track(&k->track[next], track);
	k->track_turn = next;
	k->writing_bytes = 0;
}

void rj_worker_shm_settle(struct rj_worker_map *m)
{
	struct rj_worker_shm *k = m->shm;
	uint64_t acked = k->acked, at = k->writing_at;
	uint32_t b, end;

	for (b = 0; b < k->blocks; b++)
		if (m->seq[b] > acked)
			m->bits[b / WORD_BITS] |= 1ULL << (b % WORD_BITS);
	if (!k->writing_bytes)
		return;
	end = (uint32_t)((at + k->writing_bytes + k->block_size - 1) /
			 k->block_size);
	for (b = (uint32_t)(at / k->block_size); b < end && b < k->blocks; b++) {
		m->bits[b / WORD_BITS] &= ~(1ULL << (b % WORD_BITS));
		/* so that another death does not bring it back */
		if (m->seq[b] > acked)
			m->seq[b] = acked;
	}
}
