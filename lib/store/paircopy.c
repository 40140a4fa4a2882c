// SPDX-License-Identifier: LGPL-2.1-or-later
/* Copy from one store into the other. */
#include <string.h>

#include "store/pair.h"

/* Put BYTES, which the other store has under KEY. */
static int put_copy(struct pair *p, int to, const struct rj_key *key,
	const struct rj_buf *bytes, struct rj_error *err)
{
	int rc;

	p->side[to]->copying = true;
	rc = pair_put_side(p, to, key, bytes->data, bytes->len, err);
	p->side[to]->copying = false;
	return rc;
}

int pair_copy(struct pair *p, struct rj_store *from, int to,
	const struct rj_key *key, struct rj_error *err)
{
	struct rj_buf bytes = {0};
	int rc = rj_store_get(from, key, RJ_SEG_MAX_BYTES, &bytes, err);

	if (!rc)
		rc = put_copy(p, to, key, &bytes, err);
	rj_buf_free(&bytes);
	return rc;
}

/*
 * A bridge has the number behind END, so that it and a fence that somebody puts
 * there, who does not see us, cannot both be there. It says no more than what it
 * stands behind: whoever makes it makes the same bytes.
 */
static int put_bridge(struct pair *p, int to, const struct rj_key *at,
	struct pair_end *end, struct rj_error *err)
{
	uint8_t raw[RJ_SEG_HEADER_BYTES + RJ_SEG_BODY_HEAD] = {0};
	struct rj_key key = *at;
	struct rj_seghdr h = {.epoch = 1, .oldest = 1}, bridge;
	struct rj_buf bytes = {.data = raw, .len = sizeof(raw)};
	int rc = 0;

	key.number = end->number;
	if (end->number)
		rc = pair_read_header(p->side[to], &key, &h, err);
	if (rc)
		return rc;
	bridge = (struct rj_seghdr){.kind = RJ_SEG_BRIDGE,
		.sequence = end->number + 1,
		.epoch = h.epoch,
		.oldest = h.oldest,
		.time_ns = h.time_ns,
		.stored_bytes = RJ_SEG_BODY_HEAD,
		.raw_bytes = RJ_SEG_BODY_HEAD};
	memcpy(bridge.volume_uuid, h.volume_uuid, RJ_UUID_BYTES);
	memcpy(bridge.journal_uuid, p->journal, RJ_UUID_BYTES);
	rj_seghdr_encode(&bridge, raw);
	key.number = bridge.sequence;
	rc = put_copy(p, to, &key, &bytes, err);
	if (!rc)
		*end = (struct pair_end){key.number, true};
	return rc;
}

/* Put BYTES; over a gap behind a bridge. In mode B nobody else can put there. */
static int put_next(struct pair *p, int to, const struct rj_key *key,
	const struct rj_buf *bytes, struct pair_end *end, struct rj_error *err)
{
	int rc = 0;

	if (key->number > end->number + 1 && !end->bridge &&
		p->side[to]->caps.put_new && !(p->leave_out & RJ_PAIR_BRIDGE)) {
		rc = put_bridge(p, to, key, end, err);
		if (rc == -RJ_E_EXISTS)
			return -RJ_E_BUSY;
	}
	if (!rc)
		rc = put_copy(p, to, key, bytes, err);
	if (rc == -RJ_E_EXISTS && pair_has_bridge(p->side[to], key))
		return -RJ_E_BUSY;
	if (rc)
		return rc;
	*end = (struct pair_end){key->number, pair_is_bridge(bytes)};
	return 0;
}

int pair_copy_next(struct pair *p, struct rj_store *from, int to,
	uint64_t number, struct pair_end *end, struct rj_error *err)
{
	struct rj_key key = {.kind = RJ_KEY_LOG, .number = number};
	struct rj_buf bytes = {0};
	int rc;

	memcpy(key.journal_uuid, p->journal, RJ_UUID_BYTES);
	rc = rj_store_get(from, &key, RJ_SEG_MAX_BYTES, &bytes, err);
	if (!rc)
		rc = put_next(p, to, &key, &bytes, end, err);
	if (rc == -RJ_E_BUSY)
		rj_fail(err, RJ_E_BUSY,
			"%s: segment %llu: another writer put there at the same "
			"time: try again",
			p->url[to], (unsigned long long)number);
	rj_buf_free(&bytes);
	return rc;
}
