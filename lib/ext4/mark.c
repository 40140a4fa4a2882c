// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The mark of a volume in use, and the place of its log. The primary superblock is the mounted
 * kernel's, which writes it from memory; the backups it leaves alone but for an online
 * resize or a change of label or UUID, which drop the mark, as e2fsck and tune2fs
 * do: a mark that is not there says nothing. The place stands after the superblock in its
 * block, which the online resize alone clears.
 */
#include "ext4/ext4-priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "format/mark.h"
#include "format/sbx.h"
#include "os/fileio.h"

/* What direct I/O is aligned to, in memory and on any disk. */
#define UNIT 4096

/* Is RAW a whole superblock of F's volume? */
static bool is_ours(const struct rj_volume_facts *f, const uint8_t *raw)
{
	return rj_ext4_super_sealed(raw) && !memcmp(SB_AT(raw, s_uuid), f->uuid, RJ_UUID_BYTES);
}

static uint64_t mark_of(const struct rj_volume_facts *f, const uint8_t *raw)
{
	struct rj_mark m;

	if (!is_ours(f, raw) || !rj_mark_decode(raw + RJ_MARK_OFFSET, &m) ||
		!rj_uuid_equal(m.journal_uuid, f->journal_uuid))
		return 0;
	return m.oldest;
}

/* Is RAW an extension of the journal of SBX? OUT gets it. */
static bool same_log(const uint8_t *raw, const struct rj_sbx *sbx, struct rj_sbx *out)
{
	return !rj_sbx_decode(raw, out, NULL) && out->placement == RJ_PLACE_REMOTE &&
	       rj_uuid_equal(out->journal_uuid, sbx->journal_uuid);
}

static void take_place(struct rj_sbx *to, const struct rj_sbx *from)
{
	memcpy(to->url, from->url, sizeof(to->url));
	memcpy(to->key_fingerprint, from->key_fingerprint, sizeof(to->key_fingerprint));
	to->probed = from->probed;
	to->probed_day = from->probed_day;
}

/* Does BLOCK, that of the superblock with the mark, name the place of F's log? */
static bool names_place(const struct rj_volume_facts *f, const uint8_t *block)
{
	struct rj_sbx sbx;

	return same_log(block + RJ_PLACE_OFFSET, &f->sbx, &sbx) && !strcmp(sbx.url, f->sbx.url);
}

/* Have BLOCK name F's place, in words of SBX, the primary's, and one generation ahead of it. */
static int set_place(const struct rj_volume_facts *f, struct rj_sbx sbx, uint8_t *block,
	struct rj_error *err)
{
	take_place(&sbx, &f->sbx);
	sbx.generation++;
	return rj_sbx_encode(&sbx, block + RJ_PLACE_OFFSET, err);
}

/* A log that was moved while the volume was mounted: the primary, which is the kernel's, names
 * the place before. When that is written, BLOCK is not ahead of it any more. */
static void find_place(struct rj_volume *v, const uint8_t *block)
{
	struct rj_sbx *own = &v->facts.sbx, moved;

	if (!v->facts.has_sbx || own->placement != RJ_PLACE_REMOTE || own->intent_op ||
		!same_log(block + RJ_PLACE_OFFSET, own, &moved) ||
		moved.generation - own->generation - 1 >= INT32_MAX)
		return;
	take_place(own, &moved);
	v->facts.placed = true;
}

static void read_mark(struct rj_volume *v)
{
	uint8_t raw[UNIT];

	if (rj_pread_all(v->fd, raw, sizeof(raw), v->facts.mark_at, v->path, NULL))
		return;
	v->facts.mark = mark_of(&v->facts, raw);
	if (is_ours(&v->facts, raw))
		find_place(v, raw);
}

void rj_ext4_find_mark(struct rj_volume *v)
{
	v->facts.mark_at = v->facts.mark = 0;
	v->facts.placed = false;
	if (!v->facts.backups || v->facts.block_size < UNIT)
		return;
	v->facts.mark_at = v->backups[0].offset;
	read_mark(v);
}

const char *rj_volume_no_mark(const struct rj_volume_facts *f)
{
	if (!f->backups)
		return "it has one block group, and so no backup superblock";
	if (!f->mark_at)
		return "its blocks are smaller than 4096 bytes";
	/* a page of the kernel's cache holds another block, too, which may be in use */
	if (f->block_size < (size_t)getpagesize())
		return "its blocks are smaller than this machine's pages of memory";
	return NULL;
}

/* The superblock with the mark, past the page cache where that can be. */
static bool read_again(const char *path, const struct rj_volume_facts *f, uint8_t raw[UNIT])
{
	bool good;
	int fd;

	if (!f->mark_at)
		return false;
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd == -1 && errno == EINVAL)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	good = !rj_pread_all(fd, raw, UNIT, f->mark_at, path, NULL);
	close(fd);
	return good;
}

void rj_volume_mark_again(const char *path, struct rj_volume_facts *f)
{
	_Alignas(UNIT) uint8_t raw[UNIT];

	if (read_again(path, f, raw))
		f->mark = mark_of(f, raw);
}

bool rj_volume_names_place(const char *path, const struct rj_volume_facts *f)
{
	_Alignas(UNIT) uint8_t raw[UNIT];

	return !f->placed || !read_again(path, f, raw) || names_place(f, raw);
}

/* Is RAW the volume's superblock, with space for a mark or with one? */
static bool takes_mark(const struct rj_volume_facts *f, const uint8_t *raw)
{
	static const uint8_t none[RJ_MARK_BYTES];
	const uint8_t *at = raw + RJ_MARK_OFFSET;
	struct rj_mark m;

	return SB_LE16(raw, s_magic) == EXT2_SUPER_MAGIC && is_ours(f, raw) &&
	       (rj_mark_decode(at, &m) || !memcmp(at, none, sizeof(none)));
}

static void set_mark(
	const struct rj_volume_facts *f, uint64_t oldest, uint8_t *raw)
{
	struct rj_mark m = {.oldest = oldest};

	memcpy(m.journal_uuid, f->journal_uuid, RJ_UUID_BYTES);
	rj_mark_encode(&m, raw + RJ_MARK_OFFSET);
	rj_ext4_super_seal(raw);
}

void rj_volume_mark_copy(const struct rj_volume_facts *f, uint8_t *block)
{
	if (!takes_mark(f, block))
		return;
	if (f->placed)
		set_place(f, f->sbx, block, NULL);
	if (f->mark)
		set_mark(f, f->mark, block);
}

/* Have BLOCK, that of the superblock with the mark, say where F's log is, if it was moved. LOOK
 * reads the primary. *MOVED: BLOCK was changed. */
static int put_place(int look, const char *name, const struct rj_volume_facts *f, uint8_t *block,
	bool *moved, struct rj_error *err)
{
	uint8_t primary[RJ_SUPER_BYTES];
	struct rj_sbx sbx;
	int rc;

	*moved = false;
	if (!f->placed || names_place(f, block))
		return 0;
	rc = rj_pread_all(look, primary, sizeof(primary), RJ_SUPER_OFFSET, name, err);
	if (rc)
		return rc;
	if (!same_log(primary + RJ_SBX_OFFSET, &f->sbx, &sbx))
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: its superblock does not name the journal that is served", name);
	*moved = true;
	return set_place(f, sbx, block, err);
}

int rj_volume_mark_put(int fd, int look, const char *name,
	const struct rj_volume_facts *f, uint64_t oldest, struct rj_error *err)
{
	_Alignas(UNIT) uint8_t raw[UNIT];
	uint8_t seen[UNIT];
	uint64_t there;
	bool keep, moved;
	int rc;

	if (!f->mark_at)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: has no backup superblock for a mark", name);
	rc = rj_pread_all(fd, raw, sizeof(raw), f->mark_at, name, err);
	if (rc)
		return rc;
	rc = rj_pread_all(look, seen, sizeof(seen), f->mark_at, name, err);
	if (rc)
		return rc;
	/* the kernel's online resize, or its change of a label */
	if (memcmp(seen, raw, sizeof(seen)) != 0)
		return rj_fail(err, RJ_E_BUSY,
			"%s: its first backup superblock is being changed: try again later",
			name);
	if (!takes_mark(f, raw))
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: its first backup superblock is none, or its place for the mark is in use",
			name);
	/* ours is old: a writer on another host has raised it since F was read. One below
	 * what F says is right when the log lost its end, and was accepted so. */
	there = mark_of(f, raw);
	keep = !oldest || (there >= oldest && there != f->mark);
	rc = put_place(look, name, f, raw, &moved, err);
	if (rc || (keep && !moved))
		return rc;
	if (!keep)
		set_mark(f, oldest, raw);
	/* only the second sector changes, which has the mark and the checksum, and the third, which
	 * has the place: no cut tears one of them */
	return rj_pwrite_all(fd, raw, sizeof(raw), f->mark_at, name, err);
}
