// SPDX-License-Identifier: LGPL-2.1-or-later
/* Check number, chain, epoch and identity of one segment after the other. */
#include "log/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "segment/digest.h"

void rj_verify_start(struct rj_verify *v, const char *url,
	const struct rj_log_id *id, uint64_t first)
{
	memset(v, 0, sizeof(*v));
	v->url = url;
	v->id = id;
	v->next = first;
	/* before segment 1 there is nothing, and that is known */
	v->chained = first == 1;
}

void rj_verify_resume(struct rj_verify *v, const char *url,
	const struct rj_log_id *id, const struct rj_log_tail *tail)
{
	rj_verify_start(v, url, id, tail->sequence + 1);
	v->tail = *tail;
	v->chained = true;
}

/* "URL: segment N is damaged: why (the log is kept)". */
__attribute__((format(printf, 3, 4))) static int damaged(
	const struct rj_verify *v, struct rj_error *err, const char *fmt, ...)
{
	char why[RJ_ERROR_BYTES / 2];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return rj_fail(err, RJ_E_CORRUPT,
		"%s: segment %llu is damaged: %s (the log is kept)", v->url,
		(unsigned long long)v->next, why);
}

static int foreign(const struct rj_verify *v, const char *what,
	const uint8_t *theirs, const uint8_t *ours, struct rj_error *err)
{
	char a[RJ_UUID_TEXT], b[RJ_UUID_TEXT];

	return rj_fail(err, RJ_E_FOREIGN,
		"%s: segment %llu belongs to another %s: its UUID there is %s, "
		"ours is %s",
		v->url, (unsigned long long)v->next, what,
		rj_uuid_text(theirs, a), rj_uuid_text(ours, b));
}

static int foreign_volume(const struct rj_verify *v, const struct rj_seghdr *h,
	struct rj_error *err)
{
	int rc = foreign(v, "volume", h->volume_uuid, v->id->volume_uuid, err);

	if (!rj_uuid_equal(h->journal_uuid, v->id->journal_uuid))
		return rc;
	rj_fail_suffix(err, RJ_RENAMED_VOLUME);
	return rj_fail_cause(rc, RJ_CAUSE_RECOVER, err);
}

/* What the segment says of itself. */
static int check_alone(const struct rj_verify *v, const struct rj_seghdr *h,
	struct rj_error *err)
{
	if (!rj_uuid_equal(h->volume_uuid, v->id->volume_uuid))
		return foreign_volume(v, h, err);
	if (!rj_uuid_equal(h->journal_uuid, v->id->journal_uuid))
		return foreign(v, "journal", h->journal_uuid,
			v->id->journal_uuid, err);
	if (h->sequence != v->next)
		return damaged(v, err, "it is segment %llu, in a wrong place",
			(unsigned long long)h->sequence);
	return 0;
}

/* How it must follow from the one before. */
static int check_chain(const struct rj_verify *v, const struct rj_seghdr *h,
	struct rj_error *err)
{
	bool is_break = h->flags & RJ_SEG_F_BREAK;

	if (v->need_base && !is_break && !(h->flags & RJ_SEG_F_BASE))
		return damaged(v, err,
			"the log was broken off at segment %llu, and this is "
			"no base",
			(unsigned long long)v->tail.sequence);
	if (!v->chained)
		return 0;
	if (h->epoch < v->tail.epoch)
		return damaged(v, err,
			"it is of epoch %llu, but epoch %llu had begun",
			(unsigned long long)h->epoch,
			(unsigned long long)v->tail.epoch);
	if (h->epoch > v->tail.epoch && h->kind != RJ_SEG_FENCE)
		return damaged(v, err,
			"epoch %llu begins with it, and it is no fence",
			(unsigned long long)h->epoch);
	if (h->epoch == v->tail.epoch && h->kind == RJ_SEG_FENCE)
		return damaged(v, err, "a fence in the middle of epoch %llu",
			(unsigned long long)h->epoch);
	if (h->epoch == v->tail.epoch && v->know_nonce &&
		memcmp(h->nonce, v->nonce, sizeof(v->nonce)))
		return damaged(v, err, "epoch %llu has two writers",
			(unsigned long long)h->epoch);
	/* of segment 1 the header's own check demands a chain of zeros */
	if (!is_break &&
		memcmp(h->prev_chain, v->tail.chain, sizeof(h->prev_chain)))
		return damaged(v, err,
			"it does not follow from segment %llu: the chain of "
			"hashes breaks",
			(unsigned long long)v->tail.sequence);
	return 0;
}

int rj_verify_next(struct rj_verify *v, const uint8_t *data, size_t len,
	struct rj_segment *seg, struct rj_error *err)
{
	struct rj_error why = {0};
	int rc = rj_segment_open_with(data, len, v->id->key, seg, &why);

	return rj_verify_opened(v, rc, &why, seg, err);
}

int rj_verify_opened(struct rj_verify *v, int opened,
	const struct rj_error *why, struct rj_segment *seg,
	struct rj_error *err)
{
	const struct rj_seghdr *h = &seg->header;
	int rc;

	if (opened == -RJ_E_CORRUPT)
		return damaged(v, err, "%.400s", why->msg);
	if (opened)
		return rj_fail(err, why->code, "%s: segment %llu: %.400s",
			v->url, (unsigned long long)v->next, why->msg);
	rc = check_alone(v, h, err);
	if (!rc)
		rc = check_chain(v, h, err);
	if (rc) {
		rj_segment_release(seg);
		return rc;
	}
	if (h->flags & RJ_SEG_F_BREAK)
		v->need_base = true;
	else if (h->flags & RJ_SEG_F_BASE)
		v->need_base = false;
	v->tail.sequence = h->sequence;
	v->tail.epoch = h->epoch;
	v->tail.oldest = h->oldest;
	memcpy(v->tail.chain, seg->chain, sizeof(v->tail.chain));
	memcpy(v->nonce, h->nonce, sizeof(v->nonce));
	v->know_nonce = true;
	v->chained = true;
	v->next = h->sequence + 1;
	return 0;
}

int rj_verify_header(struct rj_verify *v, const uint8_t *data, size_t len,
	struct rj_segment *seg, struct rj_error *err)
{
	struct rj_error why = {0};
	int rc = 0;

	memset(seg, 0, sizeof(*seg));
	if (len < RJ_SEG_HEADER_BYTES)
		rc = rj_fail(&why, RJ_E_CORRUPT, "it is shorter than a header");
	if (!rc)
		rc = rj_seghdr_decode(data, &seg->header, &why);
	if (!rc)
		rc = rj_digest(data, RJ_SEG_HEADER_BYTES, NULL, 0, seg->chain,
			&why);
	return rj_verify_opened(v, rc, &why, seg, err);
}

int rj_verify_end(const struct rj_verify *v, struct rj_error *err)
{
	if (!v->need_base)
		return 0;
	return rj_fail(err, RJ_E_CORRUPT,
		"%s: segment %llu breaks the log off and no base follows it: "
		"there is nothing to replay (the log is kept)",
		v->url, (unsigned long long)v->tail.sequence);
}
