// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/download.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ext4/renew.h"
#include "format/claim-text.h"
#include "history/base/stored.h"
#include "history/overlay.h"
#include "log/sealing.h"
#include "os/fileio.h"

#define SUPER_AT 1024u

struct rj_download {
	struct rj_stored_base base;
	struct rj_base_manifest m;
	struct rj_log_sealing sealing;
	uint64_t wanted; /* number; 0: the last one */
	uint64_t time;	 /* of the one that was chosen up to now */
	bool locked;	 /* there is one that could not be read */
};

static int take_uuid(void *arg, const uint8_t uuid[RJ_UUID_BYTES])
{
	return rj_buf_append(arg, uuid, RJ_UUID_BYTES);
}

static int choose_of(struct rj_download *d, const uint8_t *uuid, struct rj_error *err)
{
	struct rj_log_id id = {.key = d->sealing.key};
	struct rj_buf all = {0};
	struct rj_stored_seen s;
	size_t i;
	int rc;

	memcpy(id.journal_uuid, uuid, RJ_UUID_BYTES);
	rc = rj_stored_list(d->base.store, &id, &all, err);
	for (i = 0; !rc && i < all.len; i += sizeof(s)) {
		memcpy(&s, all.data + i, sizeof(s));
		if (!s.finished || (d->wanted && s.number != d->wanted))
			continue;
		d->locked |= !s.known;
		/* one that is asked for by its number is taken, to say what is wrong with it */
		if ((s.known && s.time >= d->time) || (d->wanted && !d->base.number)) {
			d->base.number = s.number;
			d->base.id = id;
			d->time = s.time;
		}
	}
	rj_buf_free(&all);
	return rc;
}

static int choose(struct rj_download *d, const char *url, struct rj_error *err)
{
	struct rj_buf uuids = {0};
	size_t i;
	int rc = rj_store_list_journals(d->base.store, take_uuid, &uuids, err);

	for (i = 0; !rc && i < uuids.len; i += RJ_UUID_BYTES)
		rc = choose_of(d, uuids.data + i, err);
	rj_buf_free(&uuids);
	if (rc || d->base.number)
		return rc;
	if (d->locked)
		return rj_fail(err, RJ_E_KEY,
			"%s: the bases there cannot be read: name the log's key (--key)", url);
	return rj_fail(err, RJ_E_NOTFOUND,
		"%s: there is no such base that was finished (rjbackup ls lists them)", url);
}

static int tell(const struct rj_download *d, struct rj_base_facts *f, struct rj_error *err)
{
	const uint8_t *super = d->m.head + SUPER_AT;
	int rc = rj_sbx_base_get(super + RJ_SBX_OFFSET, &f->record, &f->sbx, err);

	if (!rc && (!rj_super_whole(super) || f->record.from != d->m.record.from ||
			   f->record.whole != d->m.record.whole))
		rc = rj_fail(err, RJ_E_CORRUPT, "its superblock contradicts its manifest");
	if (rc)
		return rj_fail_prefix(err, "%s: base %" PRIu64, d->base.store->url,
			d->base.number);
	memcpy(f->uuid, d->base.id.volume_uuid, RJ_UUID_BYTES);
	f->block_size = d->m.block_size;
	f->blocks = d->m.blocks;
	f->number = d->base.number;
	return 0;
}

/* "URL#N" is two things. */
static int split(const char *text, char *url, size_t size, uint64_t *number,
	struct rj_error *err)
{
	const char *hash = strrchr(text, '#');
	size_t len = hash ? (size_t)(hash - text) : strlen(text);

	if (len >= size || (hash && !rj_claim_number(hash + 1, number)))
		return rj_fail(err, RJ_E_INVAL,
			"%s: not URL, nor URL#NUMBER with the number of a base", text);
	memcpy(url, text, len);
	url[len] = 0;
	return 0;
}

int rj_download_open(const char *url, const char *keyfile, struct rj_base_facts *f,
	struct rj_download **out, struct rj_error *err)
{
	struct rj_download *d = calloc(1, sizeof(*d));
	char at[512];
	int rc;

	if (!d)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	rc = split(url, at, sizeof(at), &d->wanted, err);
	if (!rc)
		rc = rj_log_sealing_load(at, keyfile, NULL, &d->sealing, err);
	if (!rc)
		rc = rj_store_open(at, NULL, &d->base.store, err);
	if (!rc)
		rc = choose(d, url, err);
	if (!rc)
		rc = rj_stored_get_manifest(&d->base, false, &d->m, err);
	if (!rc)
		rc = tell(d, f, err);
	if (rc)
		rj_download_free(d);
	else
		*out = d;
	return rc;
}

int rj_base_or_download(const char *base, const char *keyfile, struct rj_base_facts *facts,
	int *from, struct rj_download **down, struct rj_error *err)
{
	int rc;

	if (rj_base_is_url(base))
		return rj_download_open(base, keyfile, facts, down, err);
	rc = rj_base_open(base, false, from, err);
	return rc ? rc : rj_base_look(base, facts, err);
}

const uint8_t *rj_download_head(const struct rj_download *d)
{
	return d->m.head;
}

int rj_download_copy(const struct rj_download *d, int fd, const char *to,
	int (*progress)(void *arg, uint64_t done, uint64_t total), void *arg,
	struct rj_error *err)
{
	return rj_stored_fetch(&d->base, &d->m, fd, to, progress, arg, err);
}

int rj_download_scratch(const struct rj_download *d, const struct rj_base_facts *f, int scratch,
	int (*progress)(void *arg, uint64_t done, uint64_t total), void *arg,
	struct rj_error *err)
{
	int rc;

	if (ftruncate(scratch, (off_t)(f->blocks * f->block_size)))
		return rj_fail_errno(err, errno, "%s: cannot size", RJ_SCRATCH_NAME);
	rc = rj_pwrite_all(scratch, d->m.head, sizeof(d->m.head), 0, RJ_SCRATCH_NAME, err);
	return rc ? rc : rj_download_copy(d, scratch, RJ_SCRATCH_NAME, progress, arg, err);
}

void rj_download_free(struct rj_download *d)
{
	if (!d)
		return;
	rj_store_close(d->base.store);
	rj_base_manifest_free(&d->m);
	rj_log_sealing_free(&d->sealing);
	free(d);
}
