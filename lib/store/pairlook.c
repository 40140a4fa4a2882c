// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the two stores hold, and which of them counts. */
#include <string.h>

#include "store/pair.h"

uint32_t pair_flag(int side)
{
	return side == 0 ? RJ_SEG_F_ALONE_1 : side == 1 ? RJ_SEG_F_ALONE_2 : 0;
}

int pair_alone(uint32_t flags)
{
	return flags & RJ_SEG_F_ALONE_1   ? 0
	       : flags & RJ_SEG_F_ALONE_2 ? 1
					  : RJ_PAIR_BOTH;
}

void pair_view_free(struct pair_view *v)
{
	rj_buf_free(&v->objects);
	memset(v, 0, sizeof(*v));
}

static int add_object(void *arg, uint64_t number, uint64_t bytes)
{
	struct pair_view *v = arg;
	struct pair_object o = {number, bytes};

	if (rj_buf_append(&v->objects, &o, sizeof(o)))
		return rj_fail(
			&v->why, RJ_E_NOMEM, "out of memory for a listing");
	v->last = number;
	return 0;
}

int pair_read_header(struct rj_store *s, const struct rj_key *key,
	struct rj_seghdr *h, struct rj_error *err)
{
	struct rj_buf bytes = {0};
	int rc = rj_store_get(s, key, RJ_SEG_MAX_BYTES, &bytes, err);

	if (!rc && bytes.len < RJ_SEG_HEADER_BYTES)
		rc = rj_fail(err, RJ_E_CORRUPT,
			"%s: segment %llu is shorter than a header", s->url,
			(unsigned long long)key->number);
	else if (!rc && rj_seghdr_decode(bytes.data, h, err))
		rc = rj_fail_prefix(err, "%s: segment %llu", s->url,
			(unsigned long long)key->number);
	rj_buf_free(&bytes);
	return rc;
}

void pair_look_at(struct rj_store *s, const uint8_t journal[RJ_UUID_BYTES],
	struct pair_view *v)
{
	struct rj_key key = {.kind = RJ_KEY_LOG};
	struct rj_seghdr h = {0};
	int rc;

	v->objects.len = 0;
	v->last = 0;
	v->given_up = false;
	memcpy(key.journal_uuid, journal, RJ_UUID_BYTES);
	rc = rj_store_list(s, &key, 0, add_object, v, &v->why);
	key.number = v->last;
	if (!rc && v->last)
		rc = pair_read_header(s, &key, &h, &v->why);
	v->flags = h.flags;
	v->epoch = h.epoch;
	v->bridge = h.kind == RJ_SEG_BRIDGE;
	v->away = rc != 0;
}

/* The highest number of V that is not above LIMIT; 0: none. */
static uint64_t highest_upto(const struct pair_view *v, uint64_t limit)
{
	const struct pair_object *o = (const void *)v->objects.data;
	size_t low = 0, high = v->objects.len / sizeof(*o), mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (o[mid].number <= limit)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? o[low - 1].number : 0;
}

bool pair_is_bridge(const struct rj_buf *bytes)
{
	struct rj_seghdr h;

	return bytes->len >= RJ_SEG_HEADER_BYTES &&
	       !rj_seghdr_decode(bytes->data, &h, NULL) &&
	       h.kind == RJ_SEG_BRIDGE;
}

bool pair_has_bridge(struct rj_store *s, const struct rj_key *key)
{
	struct rj_seghdr h;

	return !pair_read_header(s, key, &h, NULL) && h.kind == RJ_SEG_BRIDGE;
}

/* The segment KEY, or the highest one of V before it if that is a bridge. */
static int get_segment(struct rj_store *s, const struct pair_view *v,
	struct rj_key *key, struct rj_buf *out, struct rj_error *err)
{
	int rc = rj_store_get(s, key, RJ_SEG_MAX_BYTES, out, err);

	while (!rc && pair_is_bridge(out) && key->number > 1) {
		key->number = highest_upto(v, key->number - 1);
		out->len = 0;
		rc = key->number ? rj_store_get(s, key, RJ_SEG_MAX_BYTES, out,
					   err)
				 : -RJ_E_NOTFOUND;
	}
	return rc;
}

/*
 * Compare the highest segment that LONGER still has and SHORTER may have. It
 * is SHORTER's last, unless that was trimmed away; then it is a fence, because
 * everything else below was trimmed with it, and a log that parted from
 * SHORTER's before its end would have parted with a fence, which is never
 * trimmed. SHORTER may be the one that parted with a fence: then its last one is
 * of a later epoch than the highest that they share. Bridges are passed over: the
 * one has them, and the other not.
 */
int pair_is_prefix(struct rj_store *shorter, const struct pair_view *sv,
	struct rj_store *longer, const struct pair_view *lv,
	const uint8_t journal[RJ_UUID_BYTES], bool *prefix,
	struct rj_error *err)
{
	struct rj_key key = {.kind = RJ_KEY_LOG};
	struct rj_buf a = {0}, b = {0};
	struct rj_seghdr h;
	int rc;

	*prefix = !sv->last;
	key.number = highest_upto(lv, sv->last - sv->bridge);
	if (!sv->last || !key.number)
		return 0;
	memcpy(key.journal_uuid, journal, RJ_UUID_BYTES);
	rc = get_segment(longer, lv, &key, &a, err);
	if (!rc)
		rc = rj_store_get(shorter, &key, RJ_SEG_MAX_BYTES, &b, err);
	if (!rc)
		*prefix = a.len == b.len && !memcmp(a.data, b.data, a.len) &&
			  a.len >= RJ_SEG_HEADER_BYTES &&
			  !rj_seghdr_decode(a.data, &h, NULL) &&
			  h.epoch == sv->epoch;
	else if (rc == -RJ_E_NOTFOUND)
		rc = 0;
	rj_buf_free(&a);
	rj_buf_free(&b);
	return rc;
}

/*
 * Does side I's log lack what the volume saw in its log? Then somebody was told
 * to go on without it, whatever it says of itself. The segment that the volume
 * was marked with may be trimmed; then the highest one before it that is left
 * is its epoch's fence, or of that epoch, because no fence is ever trimmed.
 */
static int judge_given_up(struct pair *p, int i, struct rj_error *err)
{
	struct pair_view *v = &p->view[i];
	struct rj_key key = {.kind = RJ_KEY_LOG,
		.number = highest_upto(v, p->opts.floor)};
	struct rj_seghdr h = {0};
	int rc;

	v->given_up = false;
	if (v->away || p->leave_out & RJ_PAIR_GIVEN_UP)
		return 0;
	v->given_up = v->epoch < p->opts.marked_epoch ||
		      v->last < p->opts.floor;
	if (v->given_up || !key.number)
		return 0;
	memcpy(key.journal_uuid, p->journal, RJ_UUID_BYTES);
	rc = pair_read_header(p->side[i], &key, &h, err);
	if (!rc)
		v->given_up = h.epoch != p->opts.marked_epoch;
	return rc == -RJ_E_NOTFOUND ? 0 : rc;
}

/* Does side I's log end with "I am alone"? Then it has all that counts. */
static bool speaks_for_itself(const struct pair *p, int i)
{
	int alone = pair_alone(p->view[i].flags);

	if (p->view[i].away || !p->view[i].last || p->view[i].given_up)
		return false;
	return alone == i ||
	       (alone != RJ_PAIR_BOTH && p->leave_out & RJ_PAIR_WHO);
}

/* Only side I answers. */
static int decide_one(struct pair *p, int i, struct rj_error *err)
{
	const struct pair_view *other = &p->view[!i];
	int rc = judge_given_up(p, i, err);

	if (rc)
		return rc;
	if (p->view[i].bridge)
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%.300s; and the log at %.200s was only being caught up "
			"from there, over segments that were deleted by then, "
			"so it is none before that is through: wait for the "
			"other",
			other->why.msg, p->url[i]);
	if (speaks_for_itself(p, i) ||
		(((p->opts.accept_loss && !p->answered[!i]) ||
			 p->leave_out & RJ_PAIR_PROOF) &&
			p->view[i].last)) {
		p->source = i;
		p->shared->need = i;
		return 0;
	}
	if (p->view[i].given_up)
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%.300s; and the log at %.200s ends before what the "
			"volume saw acknowledged, so it was gone on without: "
			"wait for the other, or use this one all the same with "
			"rjrecover --accept-loss",
			other->why.msg, p->url[i]);
	return rj_fail(err, RJ_E_UNREACHABLE,
		"%.300s; and the log at %.200s does not say that it went on "
		"alone, so acknowledged segments may be missing there: wait for "
		"the other, or accept their loss with rjrecover --accept-loss",
		other->why.msg, p->url[i]);
}

/* The logs differ. Which was not given up counts, who went on alone, else the
 * higher epoch. */
static void decide_rivals(struct pair *p)
{
	bool speaks[2] = {speaks_for_itself(p, 0), speaks_for_itself(p, 1)};
	int i;

	if (p->view[0].given_up != p->view[1].given_up)
		i = p->view[0].given_up;
	else if (speaks[0] != speaks[1])
		i = speaks[1];
	else if (p->shared->diverged)
		i = p->source; /* we have fenced the other meanwhile */
	else if (p->view[0].epoch != p->view[1].epoch)
		i = p->view[1].epoch > p->view[0].epoch;
	else
		i = p->view[1].last > p->view[0].last;
	p->source = i;
	p->shared->need = i;
	p->shared->diverged = true;
	if (speaks[i])
		p->fenced = true;
}

static int decide_two(struct pair *p, struct rj_error *err)
{
	const struct pair_view *v = p->view;
	int longer = v[1].last > v[0].last ||
		     (v[1].last == v[0].last && speaks_for_itself(p, 1));
	bool prefix;
	int rc;

	rc = pair_is_prefix(p->side[!longer], &v[!longer], p->side[longer],
		&v[longer], p->journal, &prefix, err);
	if (rc)
		return rc;
	if (!prefix) {
		rc = judge_given_up(p, 0, err);
		if (!rc)
			rc = judge_given_up(p, 1, err);
		if (!rc)
			decide_rivals(p);
		return rc;
	}
	p->source = longer;
	p->shared->need = speaks_for_itself(p, longer) ? longer : RJ_PAIR_BOTH;
	p->shared->diverged = false;
	return 0;
}

/* What the one that is not needed lacks, if it answered. */
static void note_lack(struct pair *p)
{
	int x = p->shared->need, y = !x;
	const struct pair_view *v = p->view;
	const struct pair_object *o;
	uint64_t bytes = 0;
	size_t i;

	p->shared->known = x != RJ_PAIR_BOTH && !v[y].away;
	if (!p->shared->known)
		return;
	o = (const void *)v[x].objects.data;
	for (i = 0; i < v[x].objects.len / sizeof(*o); i++)
		if (o[i].number > v[y].last)
			bytes += o[i].bytes;
	p->shared->behind_segments =
		v[x].last > v[y].last ? v[x].last - v[y].last : 0;
	p->shared->behind_bytes = bytes;
}

int pair_look(struct pair *p, struct rj_error *err)
{
	int i, rc;

	pair_hand_rest(p);
	for (i = 0; i < 2; i++) {
		if (p->side[i]) {
			pair_look_at(p->side[i], p->journal, &p->view[i]);
		} else {
			p->view[i].away = true;
			p->view[i].why = p->open_err[i];
		}
		p->answered[i] |= !p->view[i].away;
	}
	p->looked = false;
	if (p->view[0].away && p->view[1].away) {
		if (err)
			*err = p->view[0].why;
		return -(int)p->view[0].why.code;
	}
	if (p->view[0].away || p->view[1].away)
		rc = decide_one(p, p->view[0].away, err);
	else
		rc = decide_two(p, err);
	if (!rc && p->view[p->source].bridge)
		rc = rj_fail(err, RJ_E_GAP,
			"%.200s: it was being caught up when segment %llu was "
			"written, and the other store has nothing that follows",
			p->url[p->source],
			(unsigned long long)p->view[p->source].last);
	if (rc)
		return rc;
	p->end[0] = p->view[0].last;
	p->end[1] = p->view[1].last;
	note_lack(p);
	p->settled = p->mark_due = false;
	p->rejoining = false;
	p->looked = true;
	return 0;
}
