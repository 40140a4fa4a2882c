// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read an XFS superblock, and the headers of the allocation groups. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fileio.h"
#include "os/holder.h"
#include "os/mountinfo.h"
#include "util/bytes.h"
#include "util/crc32c.h"
#include "util/environ.h"
#include "xfs/xfs.h"

/* struct xfs_dsb, xfs_agf and xfs_agi of the kernel's fs/xfs/libxfs/xfs_format.h */
#define SB_MAGIC    0x58465342u /* XFSB */
#define SB_BLOCK    4
#define SB_UUID	    32
#define SB_LOGSTART 48
#define SB_AGBLOCKS 84
#define SB_AGCOUNT  88
#define SB_LOGBLOCKS 96
#define SB_VERSION  100
#define SB_SECTOR   102
#define SB_CRC	    224
#define SB_LSN	    240
#define SB_BYTES    264 /* up to the end of what is read here */

#define AGF_MAGIC 0x58414746u /* XAGF */
#define AGF_LSN	  208
#define AGF_CRC	  216
#define AGI_MAGIC 0x58414749u /* XAGI */
#define AGI_CRC	  312
#define AGI_LSN	  320

#define VERSION_MASK	   0xf
#define VERSION_CHECKSUMS  5
#define SECTOR_MIN	   512u
#define SECTOR_MAX	   32768u
#define BLOCK_MAX	   65536u
#define LSN_NONE	   UINT64_MAX /* NULLCOMMITLSN */
#define BUSY_NS		   10000000000LL
#define BUSY_TICK	   50000000LL

struct geometry {
	uint32_t sector, block, ag_blocks, ag_count;
};

static bool sound(const uint8_t *sector, uint32_t bytes, uint32_t crc_at)
{
	static const uint8_t none[4];
	uint32_t crc = rj_crc32c(~0u, sector, crc_at);

	crc = rj_crc32c(crc, none, sizeof(none));
	crc = rj_crc32c(crc, sector + crc_at + 4, bytes - crc_at - 4);
	return ~crc == rj_get_le32(sector + crc_at);
}

static void take_lsn(struct rj_xfs_facts *f, uint64_t lsn)
{
	if (lsn != LSN_NONE && lsn > f->newest_lsn)
		f->newest_lsn = lsn;
}

static bool power_of_two(uint32_t n, uint32_t least, uint32_t most)
{
	return n >= least && n <= most && !(n & (n - 1));
}

static int parse_super(const char *device, const uint8_t *sb, struct geometry *g,
	struct rj_xfs_facts *f, struct rj_error *err)
{
	g->sector = rj_get_be16(sb + SB_SECTOR);
	g->block = rj_get_be32(sb + SB_BLOCK);
	g->ag_blocks = rj_get_be32(sb + SB_AGBLOCKS);
	g->ag_count = rj_get_be32(sb + SB_AGCOUNT);
	if (!power_of_two(g->sector, SECTOR_MIN, SECTOR_MAX) ||
		!power_of_two(g->block, SECTOR_MIN, BLOCK_MAX) || !g->ag_blocks ||
		!g->ag_count)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: the sizes in its XFS superblock are impossible; see xfs_repair(8)",
			device);
	memcpy(f->uuid, sb + SB_UUID, RJ_UUID_BYTES);
	f->checksums = (rj_get_be16(sb + SB_VERSION) & VERSION_MASK) == VERSION_CHECKSUMS;
	f->external_log = !rj_get_be64(sb + SB_LOGSTART);
	f->log_bytes = (uint64_t)rj_get_be32(sb + SB_LOGBLOCKS) * g->block;
	return 0;
}

/* A header in sector NUMBER of each allocation group. */
static int read_headers(int fd, const char *device, const struct geometry *g, uint32_t number,
	uint32_t magic, uint32_t crc_at, uint32_t lsn_at, struct rj_xfs_facts *f,
	struct rj_error *err)
{
	uint8_t sector[SECTOR_MAX];
	uint64_t at;
	uint32_t i;
	int rc;

	for (i = 0; i < g->ag_count; i++) {
		at = (uint64_t)i * g->ag_blocks * g->block + (uint64_t)number * g->sector;
		rc = rj_pread_all(fd, sector, g->sector, at, device, err);
		if (rc)
			return rc;
		if (rj_get_be32(sector) == magic && sound(sector, g->sector, crc_at))
			take_lsn(f, rj_get_be64(sector + lsn_at));
	}
	return 0;
}

static int read_super(int fd, const char *device, struct geometry *g, struct rj_xfs_facts *f,
	struct rj_error *err)
{
	uint8_t sb[SECTOR_MAX];
	ssize_t n = pread(fd, sb, SB_BYTES, 0);
	int rc;

	if (n == -1)
		return rj_fail_errno(err, errno, "%s", device);
	if (n < SB_BYTES || rj_get_be32(sb) != SB_MAGIC)
		return rj_fail(err, RJ_E_NOTRJ, "%s: there is no XFS volume", device);
	rc = parse_super(device, sb, g, f, err);
	if (rc || !f->checksums)
		return rc;
	rc = rj_pread_all(fd, sb, g->sector, 0, device, err);
	if (!rc && !sound(sb, g->sector, SB_CRC))
		rc = rj_fail(err, RJ_E_CORRUPT,
			"%s: the checksum of its XFS superblock is wrong; see xfs_repair(8)",
			device);
	if (!rc)
		take_lsn(f, rj_get_be64(sb + SB_LSN));
	return rc;
}

int rj_xfs_look(const char *device, struct rj_xfs_facts *out, struct rj_error *err)
{
	int fd = open(device, O_RDONLY | O_NONBLOCK | O_CLOEXEC), rc;
	struct rj_xfs_facts f = {0};
	struct geometry g;

	if (fd == -1)
		return rj_fail_errno(err, errno, "%s", device);
	rc = read_super(fd, device, &g, &f, err);
	if (!rc && f.checksums)
		rc = read_headers(fd, device, &g, 1, AGF_MAGIC, AGF_CRC, AGF_LSN, &f, err);
	if (!rc && f.checksums)
		rc = read_headers(fd, device, &g, 2, AGI_MAGIC, AGI_CRC, AGI_LSN, &f, err);
	close(fd);
	if (!rc)
		*out = f;
	return rc;
}

bool rj_xfs_uuid(const char *device, uint8_t uuid[RJ_UUID_BYTES])
{
	int fd = open(device, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	uint8_t sb[SB_BYTES];
	bool is;

	if (fd == -1)
		return false;
	is = pread(fd, sb, sizeof(sb), 0) == sizeof(sb) && rj_get_be32(sb) == SB_MAGIC;
	close(fd);
	if (is)
		memcpy(uuid, sb + SB_UUID, RJ_UUID_BYTES);
	return is;
}

int rj_xfs_check(const char *device, const struct rj_xfs_facts *f, struct rj_error *err)
{
	if (!f->external_log)
		return rj_fail(err, RJ_E_INVAL,
			"%s: the log of this XFS volume is inside; mount it without -t rj (mkrjfs -t xfs makes one with a remote log)",
			device);
	if (!f->checksums)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: an XFS volume without checksums (-m crc=0) does not tell how far its log must go; a remote log needs one with them",
			device);
	return 0;
}

/* The kernel lets no other have DEVICE exclusively. */
static int held(const char *device, struct rj_error *err)
{
	char dir[PATH_MAX], text[RJ_HOLDER_TEXT];
	struct rj_holder h;
	dev_t dev;

	if (rj_mountinfo_of_volume(device, dir, sizeof(dir), &dev))
		return rj_fail(err, RJ_E_BUSY, "%s: is mounted on %s", device, dir);
	if (rj_holder_find(device, &h))
		return rj_fail(err, RJ_E_BUSY, "%s: is %s", device, rj_holder_text(&h, text));
	return rj_fail(err, RJ_E_BUSY, "%s: is in use by another program", device);
}

int rj_xfs_check_unused(const char *device, struct rj_error *err)
{
	int64_t end = rj_monotonic_ns() + BUSY_NS;
	char dir[PATH_MAX];
	struct stat st;
	dev_t dev;
	int fd;

	if (stat(device, &st))
		return rj_fail_errno(err, errno, "%s", device);
	if (!S_ISBLK(st.st_mode))
		return rj_fail(err, RJ_E_INVAL,
			"%s: not a block device; 'losetup -f --show FILE' makes one of an image",
			device);
	/* programs such as blkid and e2fsck hold every device of a machine for a moment */
	while ((fd = open(device, O_RDONLY | O_EXCL | O_CLOEXEC)) == -1 && errno == EBUSY &&
		!rj_mountinfo_of_volume(device, dir, sizeof(dir), &dev) && rj_monotonic_ns() < end)
		rj_sleep_ns(BUSY_TICK);
	if (fd == -1 && errno == EBUSY)
		return held(device, err);
	if (fd == -1)
		return rj_fail_errno(err, errno, "%s", device);
	close(fd);
	return 0;
}
