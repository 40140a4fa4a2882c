/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An XFS volume with an external log: what its superblock and the headers of its
 * allocation groups say, and what its log says. Only read; XFS has no field for us.
 * doc/xfs.md
 *
 * A log sequence number (LSN) is a cycle (high 32 bits) and a block of 512 bytes in the
 * log. A larger one is later. XFS writes no metadata before the log is durable up to
 * the LSN that these metadata carry.
 */
#ifndef RJ_XFS_XFS_H
#define RJ_XFS_XFS_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"
#include "util/uuid.h"

struct rj_xfs_facts {
	uint8_t uuid[RJ_UUID_BYTES]; /* sb_uuid, which the log's records carry too */
	bool checksums;	     /* metadata have checksums and LSNs (-m crc=1) */
	bool external_log;
	uint64_t log_bytes;  /* of the log */
	uint64_t newest_lsn; /* the highest of the superblock and of all headers of
			      * allocation groups; 0: none has one */
};

/* Get the UUID of the XFS volume on DEVICE. False: there is none, or it cannot be read. */
bool rj_xfs_uuid(const char *device, uint8_t uuid[RJ_UUID_BYTES]);
/*
 * Read the facts of the XFS volume on DEVICE. Headers of allocation groups whose checksum
 * is wrong are passed over: the kernel says so. RJ_E_NOTRJ: there is no XFS volume.
 * RJ_E_CORRUPT: its superblock's checksum is wrong, or its sizes are impossible. RJ_E_IO, ...
 */
int rj_xfs_look(const char *device, struct rj_xfs_facts *out, struct rj_error *err);
/*
 * Refuse a volume whose log cannot be a remote one: RJ_E_INVAL for an internal log,
 * RJ_E_UNSUPPORTED for one without checksums, whose metadata do not tell how far its log
 * must go.
 */
int rj_xfs_check(const char *device, const struct rj_xfs_facts *f, struct rj_error *err);
/* Refuse DEVICE if it is mounted or held by another program (RJ_E_BUSY), or is no block
 * device (RJ_E_INVAL). Waits up to 10 seconds for a program that holds it. */
int rj_xfs_check_unused(const char *device, struct rj_error *err);

/* What a message of a log that lost something ends with. */
#define RJ_XFS_LOST "see LOST LOGS in rjrecover(8)"

struct rj_xfs_log {
	uint64_t newest_lsn; /* of the newest record of the volume; 0: there is none */
	bool closed;	     /* that record is an unmount's: there is nothing to replay */
	bool foreign;	     /* there are records of other volumes only */
};

/*
 * Check that LOG, the BYTES bytes of the device that URL's log has, is the log of F's
 * volume on DEVICE, and not older than the volume. RJ_E_REFUSED: it ends before what
 * metadata of the volume carry, or is empty. RJ_E_FOREIGN: another volume's. RJ_E_INVAL: too
 * small.
 */
int rj_xfs_log_check(const char *device, const struct rj_xfs_facts *f, const char *url,
	const uint8_t *log, uint64_t bytes, struct rj_xfs_log *out, struct rj_error *err);

#endif
