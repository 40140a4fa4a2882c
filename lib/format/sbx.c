// SPDX-License-Identifier: LGPL-2.1-or-later
/* Encode and decode the bytes of the superblock's extension; lib/ext4/super-write.c writes
 * them. */
#include "format/sbx.h"

#include <stdio.h>
#include <string.h>

#include "format/sbx-raw.h"
#include "util/bytes.h"
#include "util/crc32c.h"

static const char *const placement_names[] = {
	[RJ_PLACE_NONE] = "none",
	[RJ_PLACE_INTERNAL] = "internal",
	[RJ_PLACE_DEVICE] = "device",
	[RJ_PLACE_REMOTE] = "remote",
};

const char *rj_placement_name(enum rj_placement p)
{
	if ((unsigned)p > RJ_PLACE_REMOTE)
		return "unknown";
	return placement_names[p];
}

static uint32_t crc_of(const struct rj_sbx_raw *raw)
{
	return rj_crc32c(~0u, raw, offsetof(struct rj_sbx_raw, crc));
}

/* A password has no place in a superblock that every user of the image sees:
 * scheme://user:password@host. */
static bool url_has_password(const char *url)
{
	const char *host = strstr(url, "://");
	const char *end, *at, *colon;

	if (!host)
		return false;
	host += 3;
	end = host + strcspn(host, "/?#");
	/* the last one: an unescaped '@' may be part of a password */
	at = memrchr(host, '@', (size_t)(end - host));
	colon = at ? memchr(host, ':', (size_t)(at - host)) : NULL;
	return colon != NULL;
}

bool rj_sbx_url_valid(const char *url, struct rj_error *err)
{
	size_t len = strlen(url), i;

	if (len >= RJ_SBX_URL_BYTES) {
		rj_fail(err, RJ_E_INVAL,
			"URL of %zu characters: the superblock has space for "
			"%d; "
			"use a shorter name",
			len, RJ_SBX_URL_BYTES - 1);
		return false;
	}
	for (i = 0; i < len; i++) {
		if (url[i] <= ' ' || url[i] > '~') {
			rj_fail(err, RJ_E_INVAL,
				"URL has a blank, control or non-ASCII "
				"character "
				"at position %zu; write it as %%XX",
				i + 1);
			return false;
		}
	}
	if (url_has_password(url)) {
		rj_fail(err, RJ_E_INVAL,
			"URL holds a password, which would be readable in the "
			"superblock; put it in the configuration file");
		return false;
	}
	return true;
}

bool rj_sbx_fallback_valid(
	const char *url, const char *path, struct rj_error *err)
{
	size_t len = strlen(path), i, space = RJ_SBX_URL_BYTES - 2 - strlen(url);

	if (path[0] != '/') {
		rj_fail(err, RJ_E_INVAL,
			"fallback \"%s\": give the whole path, beginning with /",
			path);
		return false;
	}
	if (strlen(url) > RJ_SBX_URL_BYTES - 2 || len > space) {
		rj_fail(err, RJ_E_INVAL,
			"fallback: a path of %zu characters and a URL of %zu are too long together; the superblock has space for %d",
			len, strlen(url), RJ_SBX_URL_BYTES - 2);
		return false;
	}
	for (i = 0; i < len; i++) {
		if (path[i] < ' ' || path[i] > '~') {
			rj_fail(err, RJ_E_INVAL,
				"fallback: its path has a control or non-ASCII character at position %zu",
				i + 1);
			return false;
		}
	}
	return true;
}

static int bad(struct rj_error *err, enum rj_code code, const char *what,
	unsigned long long value)
{
	return rj_fail(
		err, code, "superblock extension: %s (%llu)", what, value);
}

/* Rules that both directions share. CODE says whose fault it would be. */
static int check_fields(
	const struct rj_sbx *s, enum rj_code code, struct rj_error *err)
{
	if ((unsigned)s->placement > RJ_PLACE_REMOTE)
		return bad(err, code, "unknown placement", s->placement);
	if ((unsigned)s->on_loss > RJ_LOSS_LOCAL)
		return bad(err, code, "unknown on_loss", s->on_loss);
	if (s->intent_placement > RJ_PLACE_REMOTE)
		return bad(err, code, "unknown placement of the move",
			s->intent_placement);
	if ((unsigned)s->moved_from > RJ_PLACE_REMOTE)
		return bad(err, code, "unknown placement before the last move",
			s->moved_from);
	if ((unsigned)s->moved_to > RJ_PLACE_REMOTE)
		return bad(err, code, "unknown placement of the last move",
			s->moved_to);
	if (s->placement == RJ_PLACE_REMOTE) {
		if (!s->url[0])
			return bad(
				err, code, "remote journal without a URL", 0);
		if (rj_uuid_is_null(s->journal_uuid))
			return bad(
				err, code, "remote journal without a UUID", 0);
		if (!s->journal_blocks)
			return bad(
				err, code, "remote journal without a size", 0);
	} else if (s->url[0] && !s->intent_op) {
		return bad(err, code, "a URL, but no remote journal",
			s->placement);
	}
	return 0;
}

/* Where the string at P ends, before END; NULL: nowhere. */
static const uint8_t *end_of(const uint8_t *p, const uint8_t *end)
{
	return p < end ? memchr(p, 0, (size_t)(end - p)) : NULL;
}

static int damaged(struct rj_error *err)
{
	if (err)
		err->code = RJ_E_CORRUPT;
	rj_fail_prefix(err, "superblock extension");
	return -RJ_E_CORRUPT;
}

/* The URL, and with RJ_SBX_INCOMPAT_FALLBACK a path after it. */
static int decode_url(
	const struct rj_sbx_raw *raw, struct rj_sbx *s, struct rj_error *err)
{
	const uint8_t *last = raw->url + sizeof(raw->url), *path, *p;
	const uint8_t *end = end_of(raw->url, last);

	if (!end)
		return bad(err, RJ_E_CORRUPT, "URL without an end", 0);
	memcpy(s->url, raw->url, (size_t)(end - raw->url));
	if (s->incompat & RJ_SBX_INCOMPAT_FALLBACK) {
		path = end + 1;
		end = end_of(path, last);
		if (!end)
			return bad(err, RJ_E_CORRUPT,
				"fallback path without an end", 0);
		memcpy(s->fallback, path, (size_t)(end - path));
	}
	for (p = end; p < last; p++)
		if (*p)
			return bad(
				err, RJ_E_CORRUPT, "bytes after the URL", *p);
	if (!rj_sbx_url_valid(s->url, err))
		return damaged(err);
	if (s->incompat & RJ_SBX_INCOMPAT_FALLBACK &&
		!rj_sbx_fallback_valid(s->url, s->fallback, err))
		return damaged(err);
	return 0;
}

int rj_sbx_decode(const uint8_t raw[RJ_SBX_BYTES], struct rj_sbx *out,
	struct rj_error *err)
{
	const struct rj_sbx_raw *r = (const struct rj_sbx_raw *)raw;
	struct rj_sbx s = {0};
	int rc;

	if (memcmp(r->magic, RJ_SBX_MAGIC, sizeof(r->magic)))
		return rj_fail(err, RJ_E_NOTRJ,
			"the superblock has no rjprogs extension");
	/* In every version the CRC is here and covers all before it, so
	 * that a damaged version number is not taken for a newer one. */
	if (rj_get_le32(r->crc) != crc_of(r))
		return rj_fail(err, RJ_E_CORRUPT,
			"superblock extension: wrong checksum (%08x, should be "
			"%08x)",
			rj_get_le32(r->crc), crc_of(r));
	if (rj_get_le16(r->version) != RJ_SBX_VERSION ||
		rj_get_le16(r->size) != RJ_SBX_BYTES)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"superblock extension: version %u of %u bytes; this "
			"program knows version %d: use a newer one",
			rj_get_le16(r->version), rj_get_le16(r->size),
			RJ_SBX_VERSION);
	s.incompat = rj_get_le32(r->incompat);
	if (s.incompat & RJ_SBX_INCOMPAT_TWO_STORES)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"superblock extension: two stores for one log, which "
			"this version does not serve: move the journal with "
			"the version that made it (rjtune -J remote=URL, or "
			"-O ^has_journal)");
	if (s.incompat & RJ_SBX_INCOMPAT_BASE)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"superblock extension: this is a base of rjbackup, or a file that it has not finished, and not a volume: rjbackup restore makes a volume from a base");
	if (s.incompat & ~(uint32_t)RJ_SBX_INCOMPAT_KNOWN)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"superblock extension: unknown feature 0x%x: use a "
			"newer "
			"program",
			s.incompat & ~(uint32_t)RJ_SBX_INCOMPAT_KNOWN);
	s.ro_compat = rj_get_le32(r->ro_compat);
	s.compat = rj_get_le32(r->compat);
	s.generation = rj_get_le32(r->generation);
	s.placement = r->placement[0];
	s.on_loss = r->on_loss[0];
	if (r->flags[0] & ~RJ_SBX_FLAGS_KNOWN)
		return bad(err, RJ_E_CORRUPT, "unknown flags", r->flags[0]);
	s.ack_received = r->flags[0] & RJ_SBX_FLAG_ACK_RECEIVED;
	s.fallback_empty = r->flags[0] & RJ_SBX_FLAG_FALLBACK_EMPTY;
	s.intent_op = r->intent_op[0];
	s.intent_state = r->intent_state[0];
	s.intent_placement = r->intent_placement[0];
	memcpy(s.journal_uuid, r->journal_uuid, sizeof(s.journal_uuid));
	s.epoch = rj_get_le64(r->epoch);
	s.floor = rj_get_le64(r->floor);
	s.journal_blocks = rj_get_le32(r->journal_blocks);
	s.intent_blocks = rj_get_le32(r->intent_blocks);
	memcpy(s.intent_uuid, r->intent_uuid, sizeof(s.intent_uuid));
	s.redo_block = rj_get_le64(r->redo_block);
	s.moved_at = rj_get_le64(r->moved_at);
	s.probed = r->probed[0] & RJ_SBX_PROBED_KNOWN;
	s.probed_day = rj_get_le16(r->probed_day);
	s.moved_from = r->moved_from[0];
	s.moved_to = r->moved_to[0];
	memcpy(s.key_fingerprint, r->key_fingerprint,
		sizeof(s.key_fingerprint));
	rc = decode_url(r, &s, err);
	if (!rc)
		rc = check_fields(&s, RJ_E_CORRUPT, err);
	if (!rc)
		*out = s;
	return rc;
}

int rj_sbx_encode(const struct rj_sbx *sbx, uint8_t raw[RJ_SBX_BYTES],
	struct rj_error *err)
{
	struct rj_sbx_raw r = {0};
	int rc;

	if (sbx->incompat & ~(uint32_t)RJ_SBX_INCOMPAT_KNOWN ||
		sbx->ro_compat & ~(uint32_t)RJ_SBX_RO_COMPAT_KNOWN)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"superblock extension: unknown feature (0x%x, 0x%x): "
			"cannot be rewritten by this program",
			sbx->incompat, sbx->ro_compat);
	if (strnlen(sbx->url, sizeof(sbx->url)) == sizeof(sbx->url))
		return bad(err, RJ_E_INVAL, "URL without an end", 0);
	if (!rj_sbx_url_valid(sbx->url, err))
		return -RJ_E_INVAL;
	if (sbx->fallback[0] &&
		!rj_sbx_fallback_valid(sbx->url, sbx->fallback, err))
		return -RJ_E_INVAL;
	rc = check_fields(sbx, RJ_E_INVAL, err);
	if (rc)
		return rc;
	memcpy(r.magic, RJ_SBX_MAGIC, sizeof(r.magic));
	rj_put_le16(r.version, RJ_SBX_VERSION);
	rj_put_le16(r.size, RJ_SBX_BYTES);
	rj_put_le32(r.incompat,
		(sbx->incompat & ~(uint32_t)RJ_SBX_INCOMPAT_FALLBACK) |
			(sbx->fallback[0] ? RJ_SBX_INCOMPAT_FALLBACK : 0));
	rj_put_le32(r.ro_compat, sbx->ro_compat);
	/* what an unknown compatible feature keeps elsewhere in the 256 bytes
	 * is lost by this write, so its bit goes too */
	rj_put_le32(r.compat, sbx->compat & RJ_SBX_COMPAT_KNOWN);
	rj_put_le32(r.generation, sbx->generation);
	r.placement[0] = (uint8_t)sbx->placement;
	r.on_loss[0] = (uint8_t)sbx->on_loss;
	r.flags[0] = (uint8_t)((sbx->ack_received ? RJ_SBX_FLAG_ACK_RECEIVED : 0) |
		(sbx->fallback[0] && sbx->fallback_empty
			? RJ_SBX_FLAG_FALLBACK_EMPTY
			: 0));
	r.intent_op[0] = sbx->intent_op;
	r.intent_state[0] = sbx->intent_state;
	r.intent_placement[0] = sbx->intent_placement;
	memcpy(r.journal_uuid, sbx->journal_uuid, sizeof(r.journal_uuid));
	rj_put_le64(r.epoch, sbx->epoch);
	rj_put_le64(r.floor, sbx->floor);
	rj_put_le32(r.journal_blocks, sbx->journal_blocks);
	rj_put_le32(r.intent_blocks, sbx->intent_blocks);
	memcpy(r.intent_uuid, sbx->intent_uuid, sizeof(r.intent_uuid));
	rj_put_le64(r.redo_block, sbx->redo_block);
	rj_put_le64(r.moved_at, sbx->moved_at);
	r.probed[0] = sbx->probed & RJ_SBX_PROBED_KNOWN;
	rj_put_le16(r.probed_day, sbx->probed_day);
	r.moved_from[0] = (uint8_t)sbx->moved_from;
	r.moved_to[0] = (uint8_t)sbx->moved_to;
	memcpy(r.key_fingerprint, sbx->key_fingerprint,
		sizeof(r.key_fingerprint));
	memcpy(r.url, sbx->url, strlen(sbx->url));
	if (sbx->fallback[0])
		memcpy(r.url + strlen(sbx->url) + 1, sbx->fallback,
		strlen(sbx->fallback));
	rj_put_le32(r.crc, crc_of(&r));
	memcpy(raw, &r, sizeof(r));
	return 0;
}
