// SPDX-License-Identifier: LGPL-2.1-or-later
/* Find the newest record of an XFS log, and hold it against the volume. */
#include <string.h>

#include "util/bytes.h"
#include "xfs/xfs.h"

/* struct xlog_rec_header, xlog_op_header: the kernel's fs/xfs/libxfs/xfs_log_format.h */
#define BB	     512u
#define REC_MAGIC    0xfeedbabeu /* no cycle number has it, so nothing else begins so */
#define REC_CYCLE    4
#define REC_VERSION  8
#define REC_LSN	     16
#define REC_OPS	     40
#define REC_UUID     304
#define REC_SIZE     320
#define VERSION_LARGE 2 /* a record may have more than one block of headers */
#define HEADER_FOR   32768u
#define OP_FLAGS     9
#define OP_UNMOUNT   0x20

static uint32_t cycle(uint64_t lsn)
{
	return (uint32_t)(lsn >> 32);
}

/* The LSN of the record that begins with block B, if one does; else 0. */
static uint64_t record_lsn(const uint8_t *block, uint64_t b)
{
	uint64_t lsn = rj_get_be64(block + REC_LSN);
	uint32_t version = rj_get_be32(block + REC_VERSION);

	if (rj_get_be32(block) != REC_MAGIC || !version || version > VERSION_LARGE ||
		(lsn & UINT32_MAX) != b || cycle(lsn) != rj_get_be32(block + REC_CYCLE))
		return 0;
	return lsn;
}

/* As xlog_check_unmount_rec(). */
static bool is_unmount(const uint8_t *log, uint64_t blocks, uint64_t at)
{
	const uint8_t *rec = log + at * BB;
	uint32_t size = rj_get_be32(rec + REC_SIZE), headers = 1;

	if (rj_get_be32(rec + REC_VERSION) == VERSION_LARGE && size > HEADER_FOR)
		headers = (size + HEADER_FOR - 1) / HEADER_FOR;
	at = (at + headers) % blocks;
	return rj_get_be32(rec + REC_OPS) == 1 && (log[at * BB + OP_FLAGS] & OP_UNMOUNT);
}

/* Find the newest record of the volume UUID in LOG, the content of a log of BYTES bytes. */
static void look(const uint8_t *log, uint64_t bytes, const uint8_t uuid[RJ_UUID_BYTES],
	struct rj_xfs_log *out)
{
	uint64_t blocks = bytes / BB, b, lsn, at = 0;
	bool others = false;

	memset(out, 0, sizeof(*out));
	for (b = 0; b < blocks; b++) {
		lsn = record_lsn(log + b * BB, b);
		if (lsn && !rj_uuid_equal(log + b * BB + REC_UUID, uuid)) {
			others = true;
		} else if (lsn > out->newest_lsn) {
			out->newest_lsn = lsn;
			at = b;
		}
	}
	out->foreign = others && !out->newest_lsn;
	out->closed = out->newest_lsn && is_unmount(log, blocks, at);
}

int rj_xfs_log_check(const char *device, const struct rj_xfs_facts *f, const char *url,
	const uint8_t *log, uint64_t bytes, struct rj_xfs_log *out, struct rj_error *err)
{
	uint64_t want = f->newest_lsn;

	if (bytes < f->log_bytes)
		return rj_fail(err, RJ_E_INVAL,
			"%s: its log has %llu bytes, and the log at %s is of a device of %llu",
			device, (unsigned long long)f->log_bytes, url,
			(unsigned long long)bytes);
	look(log, f->log_bytes, f->uuid, out);
	if (out->foreign)
		return rj_fail(err, RJ_E_FOREIGN,
			"%s: the log at %s has records of another XFS volume only", device, url);
	if (!out->newest_lsn)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: the log at %s has no record of this volume: it was lost, or given up; " RJ_XFS_LOST,
			device, url);
	if (out->newest_lsn < want)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: the log at %s ends at %u:%u, and the volume has metadata of %u:%u: the log lost its end, or is an older one; " RJ_XFS_LOST,
			device, url, cycle(out->newest_lsn), (uint32_t)out->newest_lsn,
			cycle(want), (uint32_t)want);
	return 0;
}
