// SPDX-License-Identifier: GPL-2.0-or-later
#include "kept.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC	  "RJKEPT\n"
#define PAGE	  4096u
#define WORD_BITS 64u

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
	return pages(sizeof(struct rj_kept)) +
	       pages((uint64_t)block_size * blocks) +
	       pages((uint64_t)blocks * sizeof(uint64_t)) +
	       pages(bits_bytes(blocks)) + pages(RJ_SEG_MAX_BYTES);
}

static int map(int fd, size_t bytes, struct rj_kept_map *m,
	struct rj_error *err)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (p == MAP_FAILED)
		return rj_fail_errno(
			err, errno, "cannot map %zu bytes of memory", bytes);
	m->kept = p;
	m->bytes = bytes;
	m->fd = fd;
	return 0;
}

static void find_pieces(struct rj_kept_map *m)
{
	const struct rj_kept *k = m->kept;
	uint8_t *p = (uint8_t *)m->kept + pages(sizeof(*k));

	m->data = p;
	p += pages((uint64_t)k->block_size * k->blocks);
	m->seq = (uint64_t *)p;
	p += pages((uint64_t)k->blocks * sizeof(*m->seq));
	m->bits = (uint64_t *)p;
	p += pages(bits_bytes(k->blocks));
	m->outbox = p;
}

int rj_kept_create(uint32_t block_size, uint32_t blocks,
	struct rj_kept_map *out, struct rj_error *err)
{
	struct rj_kept_map m = {0};
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
	memcpy(m.kept->magic, MAGIC, sizeof(m.kept->magic));
	m.kept->version = RJ_KEPT_VERSION;
	m.kept->header_bytes = sizeof(*m.kept);
	m.kept->block_size = block_size;
	m.kept->blocks = blocks;
	find_pieces(&m);
	*out = m;
	return 0;
}

int rj_kept_attach(int fd, struct rj_kept_map *out, struct rj_error *err)
{
	struct rj_kept_map m = {0};
	const struct rj_kept *k;
	struct stat st;
	int rc;

	if (fstat(fd, &st) == -1)
		return rj_fail_errno(err, errno, "the keeper's memory");
	if (st.st_size < (off_t)PAGE)
		return rj_fail(err, RJ_E_CORRUPT, "the keeper's memory is empty");
	rc = map(fd, (size_t)st.st_size, &m, err);
	if (rc)
		return rc;
	k = m.kept;
	if (memcmp(k->magic, MAGIC, sizeof(k->magic)) != 0)
		rc = rj_fail(err, RJ_E_CORRUPT,
			"the keeper's memory holds something else");
	else if (k->version != RJ_KEPT_VERSION ||
		 k->header_bytes != sizeof(*k))
		rc = rj_fail(err, RJ_E_UNSUPPORTED,
			"the rjournald that is running is of a release that this one cannot take over from: stop it and start this one");
	else if (m.bytes != all_bytes(k->block_size, k->blocks))
		rc = rj_fail(err, RJ_E_CORRUPT,
			"the keeper's memory has %zu bytes, not those of %u blocks",
			m.bytes, k->blocks);
	if (rc) {
		munmap(m.kept, m.bytes);
		return rc;
	}
	find_pieces(&m);
	*out = m;
	return 0;
}

void rj_kept_release(struct rj_kept_map *m)
{
	if (!m->kept)
		return;
	munmap(m->kept, m->bytes);
	close(m->fd);
	memset(m, 0, sizeof(*m));
}

/* Stores to atomics are sequentially consistent: what is said first is there
 * first, for whoever looks after our death. */
void rj_kept_begin(struct rj_kept *k, uint64_t at, uint64_t bytes)
{
	k->writing_at = at;
	k->writing_bytes = bytes;
}

void rj_kept_end(struct rj_kept *k, const struct rj_track *track)
{
	uint32_t next = !k->track_turn;

	k->track[next] = *track;
	k->track_turn = next;
	k->writing_bytes = 0;
}

void rj_kept_settle(struct rj_kept_map *m)
{
	struct rj_kept *k = m->kept;
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
