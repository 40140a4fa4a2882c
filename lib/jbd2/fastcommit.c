// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The fast-commit area: little-endian tag-length-value records that belong to
 * the transaction after the last full commit (ext4_fc_replay_scan() in the
 * kernel's fs/ext4/fast_commit.c). They are found, not replayed.
 */
#include "jbd2/jbd2-priv.h"
#include "util/crc32c.h"

#define FC_PAD        7
#define FC_TAIL       8
#define FC_HEAD       9
#define FC_TLV_BYTES  4
#define FC_BODY_BYTES 8 /* of head and tail, at least */

enum found {
	NOTHING, /* no head, of another tid, or cut off before its tail */
	RECORDS,
	BROKEN, /* a tail of this tid whose checksum is wrong */
};

struct fc {
	uint32_t tid, crc;
	bool begun, ended;
	enum found found;
};

static void record(struct fc *f, const uint8_t *p, uint16_t tag, uint16_t len)
{
	uint32_t covered = FC_TLV_BYTES + len;

	if (tag == FC_HEAD) {
		if (len < FC_BODY_BYTES || rj_get_le32(p + 8) != f->tid) {
			f->ended = true;
			return;
		}
		f->begun = true;
	}
	if (!f->begun || tag == 0 || tag > FC_HEAD) {
		f->ended = true;
		return;
	}
	if (tag != FC_TAIL) {
		f->crc = rj_crc32c(f->crc, p, covered);
		return;
	}
	f->ended = true; /* the first one decides */
	if (len < FC_BODY_BYTES || rj_get_le32(p + 4) != f->tid)
		return;
	f->crc = rj_crc32c(f->crc, p, FC_TLV_BYTES + 4);
	f->found = f->crc == rj_get_le32(p + 8) ? RECORDS : BROKEN;
}

static void block(struct fc *f, const uint8_t *raw, uint32_t size)
{
	uint32_t off = 0, len;

	while (!f->ended && size - off >= FC_TLV_BYTES) {
		len = rj_get_le16(raw + off + 2);
		if (len > size - off - FC_TLV_BYTES) {
			f->ended = true;
			return;
		}
		record(f, raw + off, rj_get_le16(raw + off), (uint16_t)len);
		off += FC_TLV_BYTES + len;
	}
}

static int look(
	struct jbd2_scan *s, uint32_t at, struct fc *f, struct rj_error *err)
{
	const struct rj_jbd2_sb *sb = &s->plan->info.sb;
	const uint8_t *raw;
	int rc;

	f->tid = s->expected;
	for (; at < sb->maxlen && !f->ended; at++) {
		rc = jbd2_window_get(&s->window, at, &raw, err);
		if (rc)
			return rc;
		block(f, raw, sb->block_size);
		if (!f->begun)
			break;
	}
	return 0;
}

int jbd2_fast_commits(struct jbd2_scan *s, struct rj_error *err)
{
	const struct rj_jbd2_sb *sb = &s->plan->info.sb;
	uint32_t at;
	int rc;

	/* The kernel leaves block sb->last itself unused (j_fc_first is j_last
	 * + 1); looking there too costs nothing. */
	for (at = sb->last; at <= sb->last + 1; at++) {
		struct fc f = {0};

		rc = look(s, at, &f, err);
		if (rc)
			return rc;
		if (f.found == RECORDS)
			return rj_fail(err, RJ_E_UNSUPPORTED,
				"%s: the journal holds fast commits (block %u, transaction %u), which cannot be replayed yet: mount the volume once with its journal, or run e2fsck 1.47.1 or later on it",
				s->window.bio->name, at, s->expected);
		if (f.found == BROKEN)
			jbd2_scan_damage(s, RJ_JBD2_BAD_FAST_COMMIT, at,
				s->expected,
				"the fast-commit records fail their checksum");
	}
	return 0;
}
