// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The checksums of log blocks: jbd2_descriptor_block_csum_verify(),
 * jbd2_block_tag_csum_verify(), jbd2_commit_block_csum_verify() and its
 * partial form of the kernel's fs/jbd2/recovery.c.
 */
#include "jbd2/jbd2-priv.h"
#include "util/crc32c.h"

static const uint8_t zeros[512];

bool jbd2_tail_good(const struct jbd2_dialect *d, const uint8_t *block)
{
	uint32_t crc;

	if (d->checksum < 2)
		return true;
	crc = rj_crc32c(d->seed, block, d->payload);
	crc = rj_crc32c(crc, zeros, JBD2_TAIL_BYTES);
	return crc == rj_get_be32(block + d->payload);
}

bool jbd2_tag_good(const struct jbd2_dialect *d, uint32_t checksum,
	uint32_t tid, const uint8_t *data)
{
	uint8_t seq[4];
	uint32_t crc;

	if (d->checksum < 2)
		return true;
	rj_put_be32(seq, tid);
	crc = rj_crc32c(d->seed, seq, sizeof(seq));
	crc = rj_crc32c(crc, data, d->block_size);
	return d->checksum == 3 ? crc == checksum : (crc & 0xFFFF) == checksum;
}

bool jbd2_commit_good(const struct jbd2_dialect *d, const uint8_t *block)
{
	uint32_t want = rj_get_be32(block + JBD2_COMMIT_CHECKSUM);
	uint32_t rest = JBD2_COMMIT_HEADER_BYTES, head, crc, n;

	if (d->checksum < 2)
		return true;
	head = rj_crc32c(d->seed, block, JBD2_COMMIT_CHECKSUM);
	head = rj_crc32c(head, zeros, 4);
	head = rj_crc32c(head, block + JBD2_COMMIT_CHECKSUM + 4,
		JBD2_COMMIT_HEADER_BYTES - JBD2_COMMIT_CHECKSUM - 4);
	crc = rj_crc32c(head, block + rest, d->block_size - rest);
	if (crc == want)
		return true;
	/* Only the sector with the header need have reached the disk: the
	 * rest of a commit block is zeros. */
	for (crc = head; rest < d->block_size; rest += n) {
		n = d->block_size - rest;
		if (n > sizeof(zeros))
			n = sizeof(zeros);
		crc = rj_crc32c(crc, zeros, n);
	}
	return crc == want;
}

bool jbd2_commit_sum_good(const uint8_t *block, uint32_t sum)
{
	uint32_t found = rj_get_be32(block + JBD2_COMMIT_CHECKSUM);
	uint8_t type = block[12], size = block[13];

	if (type == JBD2_CHECKSUM_CRC32 && size == 4 && found == sum)
		return true;
	return type == 0 && size == 0 && found == 0; /* not used */
}
