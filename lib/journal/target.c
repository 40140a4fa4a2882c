// SPDX-License-Identifier: LGPL-2.1-or-later
/* Where the journal is to go: everything that can be found wrong with it
 * before anything is written. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "journal/move-priv.h"
#include "journal/others.h"

#define FC_RATIO 64 /* EXT2_JOURNAL_TO_FC_BLKS_RATIO */
#define MIN_LOG	 1024

/* -J words that are mke2fs's and tune2fs's own. */
struct words {
	bool location_given, fc_given;
	uint64_t location; /* block */
	uint32_t fc_kb;
};

static int bad_word(const char *word, const char *why, struct rj_error *err)
{
	return rj_fail(err, RJ_E_INVAL, "journal option \"%s\": %s", word, why);
}

/* parse_num_blocks2(): a number of blocks, or with k, m, g, t of bytes. */
static bool parse_location(
	const char *text, uint32_t block_size, uint64_t *out)
{
	static const char units[] = "kmgt";
	const char *unit;
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 0);
	if (errno || end == text || text[0] == '-')
		return false;
	if (!*end) {
		*out = n;
		return true;
	}
	unit = strchr(units, *end | 0x20);
	if (!unit || end[1])
		return false;
	*out = n * (1024ULL << (10 * (unit - units))) / block_size;
	return true;
}

static int parse_words(struct rj_move_ctx *m, struct words *w,
	struct rj_error *err)
{
	char rest[sizeof(m->opts->to.rest)], *next = rest, *word, *value, *end;
	unsigned long kb;

	memset(w, 0, sizeof(*w));
	snprintf(rest, sizeof(rest), "%s", m->opts->to.rest);
	while ((word = strsep(&next, ","))) {
		if (!*word)
			continue;
		value = strchr(word, '=');
		if (!value || !value[1])
			return bad_word(word, "a value is missing, or it is not for an existing volume", err);
		*value++ = 0;
		if (!strcmp(word, "location")) {
			w->location_given = true;
			if (!parse_location(
				    value, m->f.block_size, &w->location))
				return bad_word(word, "not a block number or size", err);
			continue;
		}
		errno = 0;
		kb = strtoul(value, &end, 0);
		if (strcmp(word, "fast_commit_size") || errno || *end ||
			kb > UINT32_MAX)
			return bad_word(word, "not kilobytes", err);
		w->fc_given = true;
		w->fc_kb = (uint32_t)kb;
	}
	if (w->fc_given && !m->f.fast_commit)
		return bad_word("fast_commit_size", "the volume does not have the fast_commit feature", err);
	if (m->to == RJ_PLACE_REMOTE && w->location_given)
		return bad_word("location", "only an internal journal has one", err);
	return 0;
}

/* Sizes as tune2fs: with fast_commit a 65th of the default, or a 64th of the
 * given size, is for fast commits (figure_journal_size()). */
static int choose_size(struct rj_move_ctx *m, const struct words *w,
	struct rj_error *err)
{
	struct rj_journal_opts o = m->opts->to;
	int rc;

	if (m->opts->journal_stays) /* a new log for the old one */
		o = (struct rj_journal_opts){0};
	rc = rj_attach_blocks(
		&o, m->f.block_size, m->f.blocks, &m->blocks, err);
	if (rc)
		return rj_fail_prefix(err, "%s", m->path);
	if (m->to == RJ_PLACE_INTERNAL && o.size_mb)
		m->blocks = (uint32_t)(((uint64_t)o.size_mb << 20) /
				       m->f.block_size);
	if (m->to != RJ_PLACE_INTERNAL || !m->f.fast_commit)
		return 0;
	m->fc_blocks = m->blocks / FC_RATIO;
	if (w->fc_given)
		m->fc_blocks = (uint32_t)((uint64_t)w->fc_kb * 1024 /
					  m->f.block_size);
	else if (!o.size_mb)
		m->fc_blocks = m->blocks - (uint32_t)((uint64_t)m->blocks *
						      FC_RATIO /
						      (FC_RATIO + 1));
	if (!o.size_mb && m->blocks - m->fc_blocks >= MIN_LOG)
		m->blocks -= m->fc_blocks;
	return 0;
}

static int check_inode(struct rj_move_ctx *m, bool *same, struct rj_error *err)
{
	struct rj_change_opts o = {.make_inode = true,
		.drop_inode = m->from == RJ_PLACE_INTERNAL,
		.uuid = m->opts->new_uuid};
	struct words w;
	int rc;

	rc = parse_words(m, &w, err);
	if (!rc)
		rc = choose_size(m, &w, err);
	if (rc)
		return rc;
	if (m->from == RJ_PLACE_INTERNAL && !w.location_given &&
		!w.fc_given && !m->opts->new_uuid &&
		(!m->opts->to.size_mb ||
			m->report->from.blocks == m->blocks + m->fc_blocks)) {
		*same = true;
		return 0;
	}
	o.blocks = m->blocks;
	o.fc_blocks = m->fc_blocks;
	o.goal_given = w.location_given;
	o.goal = w.location;
	return rj_change_plan(m->v, &o, &m->change, err);
}

static int check_device(struct rj_move_ctx *m, bool *same, struct rj_error *err)
{
	struct words w;
	int rc;

	rc = parse_words(m, &w, err);
	if (rc)
		return rc;
	if (w.location_given)
		return bad_word("location", "only an internal journal has one", err);
	if (m->opts->to.size_mb)
		return bad_word("size", "a journal device is used as a whole", err);
	if (m->old_device.path && m->old_device.fd >= 0) {
		struct rj_jdev probe;

		rc = rj_jdev_open(&probe, m->opts->to.device, m->f.block_size,
			false, m->opts, err);
		*same = !rc && !probe.blank &&
			rj_uuid_equal(probe.uuid, m->f.journal_uuid);
		if (*same) {
			memcpy(m->new_journal, probe.uuid, RJ_UUID_BYTES);
			m->blocks = probe.sb.maxlen;
		}
		if (rj_jdev_close(&probe, rc ? NULL : err) && !rc)
			rc = -(int)err->code;
		if (rc || *same)
			return rc;
	}
	/* a dry run too: after it rjtune --accept-loss gives the old journal up */
	rc = rj_jdev_open(&m->new_device, m->opts->to.device, m->f.block_size,
		true, m->opts, err);
	if (!rc)
		rc = rj_jdev_check_free(&m->new_device, m->uuid, err);
	if (rc)
		return rc;
	m->blocks = m->new_device.blank ? rj_jdev_space(&m->new_device)
					: m->new_device.sb.maxlen;
	if (m->f.fast_commit && w.fc_given)
		m->fc_blocks = (uint32_t)((uint64_t)w.fc_kb * 1024 /
					  m->f.block_size);
	if (m->fc_blocks && (!m->new_device.blank ||
				    m->fc_blocks + MIN_LOG > m->blocks))
		return bad_word("fast_commit_size", "too large, or the journal is there already", err);
	memcpy(m->new_journal, m->new_device.uuid, RJ_UUID_BYTES);
	return 0;
}

/* Would the new log be sealed with the key that the present one has? */
static bool same_key(const struct rj_move_ctx *m)
{
	const uint8_t *have = m->f.sbx.key_fingerprint;
	const struct rj_sealkey *key = m->new_sealing.key;

	if (!key)
		return !rj_sealkey_fingerprint_set(have);
	return !memcmp(have, rj_sealkey_fingerprint(key),
		RJ_SEALKEY_FINGERPRINT_BYTES);
}

static int check_remote(struct rj_move_ctx *m, bool *same, struct rj_error *err)
{
	const struct rj_journal_opts *to = &m->opts->to;
	const char *url = m->opts->journal_stays ? m->f.sbx.url : to->url;
	struct rj_log_id own = {0};
	struct words w;
	int rc;

	rc = parse_words(m, &w, err);
	if (!rc && !m->opts->journal_stays)
		rc = rj_attach_features(m->path, &m->f, err);
	if (!rc)
		rc = choose_size(m, &w, err);
	if (!rc)
		rc = rj_log_sealing_load(url,
			m->opts->journal_stays ? m->opts->old_key
			: to->key_file[0]      ? to->key_file
					       : NULL,
			m->opts->journal_stays ? m->f.sbx.key_fingerprint
					       : NULL,
			&m->new_sealing, err);
	if (rc)
		return rc;
	if (m->opts->journal_stays) {
		m->blocks = m->f.sbx.journal_blocks;
	} else if (m->from == RJ_PLACE_REMOTE && !strcmp(url, m->f.sbx.url) &&
		   !m->opts->new_uuid && same_key(m) &&
		   (!to->size_mb || m->f.sbx.journal_blocks == m->blocks)) {
		*same = true;
		m->blocks = m->f.sbx.journal_blocks;
		memcpy(m->new_journal, m->f.journal_uuid, RJ_UUID_BYTES);
	}
	rc = rj_attach_open_store(url,
		to->ack_received || m->opts->journal_stays, m->opts,
		&m->new_store, err);
	if (rc || *same)
		return rc;
	memcpy(own.volume_uuid, m->f.uuid, RJ_UUID_BYTES);
	memcpy(own.journal_uuid, m->f.sbx.journal_uuid, RJ_UUID_BYTES);
	rc = m->opts->journal_stays
		     ? 0
		     : rj_log_others_check(m->new_store, &own, m->opts->force, "-f", err);
	if (rc)
		return rc;
	if (rj_uuid_random(m->new_journal))
		return rj_fail(err, RJ_E_IO, "cannot get random bytes");
	return m->opts->dry_run
		       ? rj_attach_probe(m->new_store, err)
		       : rj_attach_try(m->new_store, m->new_journal, &m->seen, err);
}

int rj_move_check_new(struct rj_move_ctx *m, bool *same, struct rj_error *err)
{
	struct rj_change_opts o = {.drop_inode = m->from == RJ_PLACE_INTERNAL &&
						 m->to != RJ_PLACE_INTERNAL,
		/* without a journal e2fsck takes it for damage */
		.drop_orphan_file =
			m->to == RJ_PLACE_NONE && !m->opts->journal_stays,
		.uuid = m->opts->new_uuid};
	int rc = 0;

	*same = false;
	if (m->opts->journal_stays && m->to != RJ_PLACE_REMOTE) {
		memcpy(m->new_journal, m->f.journal_uuid, RJ_UUID_BYTES);
		return rj_change_plan(m->v, &o, &m->change, err);
	}
	switch (m->to) {
	case RJ_PLACE_NONE:
		*same = m->from == RJ_PLACE_NONE;
		break;
	case RJ_PLACE_INTERNAL:
		return check_inode(m, same, err);
	case RJ_PLACE_DEVICE:
		rc = check_device(m, same, err);
		break;
	case RJ_PLACE_REMOTE:
		rc = check_remote(m, same, err);
		break;
	}
	if (!rc && !*same)
		rc = rj_change_plan(m->v, &o, &m->change, err);
	return rc;
}
