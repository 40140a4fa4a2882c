// SPDX-License-Identifier: GPL-2.0-or-later
/* The data file that is appended to: roll over to the next one, count what there is space for. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store-checkpoint.h"
#include "util/environ.h"

#define FILE_BYTES_MIN (4ull << 20)

/* One part in as many of a file, its end, is for tombstones alone. */
#define TOMBSTONE_PART 8

static uint64_t reserve_of(uint64_t file_bytes)
{
	return file_bytes / TOMBSTONE_PART;
}

/* Count the bytes that objects can still be written to at the end of the last file. */
static uint64_t left_in_file(const struct store *s)
{
	const struct datafile *f =
		s->file_count ? &s->files[s->file_count - 1] : NULL;
	uint64_t limit = f ? f->bytes - reserve_of(f->bytes) : 0;

	if (!f || pos_file(s->end) != f->number || pos_offset(s->end) >= limit)
		return 0;
	return limit - pos_offset(s->end);
}

/* Add to LEN bytes of objects their file's part for tombstones, so that a new file, empty, counts
 * as all of its bytes. */
static uint64_t of_disk(uint64_t len)
{
	return len + len / (TOMBSTONE_PART - 1);
}

uint64_t store_cost(const struct store *s, uint64_t len)
{
	uint64_t left = left_in_file(s);

	return of_disk(len > left ? left + len : len);
}

uint64_t store_spare(const struct store *s)
{
	uint64_t spare = of_disk(left_in_file(s));
	char path[PATH_MAX];
	struct stat st;

	store_spare_path(s, path);
	if (!stat(path, &st))
		spare += (uint64_t)st.st_blocks * 512;
	store_file_path(s, s->next_number, path);
	if (s->ahead && !stat(path, &st))
		spare += (uint64_t)st.st_blocks * 512;
	return spare;
}

/* Append to the file FD from now on. Takes over FD also when it fails. */
static int begin_file(struct store *s, int fd, const struct file_head *head,
	struct rj_error *err)
{
	char path[PATH_MAX];
	int rc;

	store_file_path(s, head->number, path);
	rc = store_file_add(s, head->number, fd, path, head->bytes, err);
	if (rc) {
		close(fd); /* it holds nothing, and is gone */
		unlink(path);
		return rc;
	}
	s->next_number = head->number + 1;
	s->end = pos_make(head->number, FILE_HEAD_BYTES);
	s->durable = s->end;
	return 0;
}

static int create_file(struct store *s, uint64_t bytes, struct rj_error *err)
{
	struct file_head head = {
		.number = s->next_number,
		.bytes = bytes,
		.store_id = s->store_id,
		.time_ns = (uint64_t)rj_realtime_ns(),
	};
	char path[PATH_MAX], spare[PATH_MAX], dir[PATH_MAX];
	int fd, rc;

	store_file_path(s, head.number, path);
	store_spare_path(s, spare);
	snprintf(dir, sizeof(dir), "%s/store", s->dir);
	rc = store_file_make(dir, path, spare, &head, &fd, err);
	return rc ? rc : begin_file(s, fd, &head, err);
}

/* A new file, as large as the disk has space for and a batch of LEN needs. */
static int roll(struct store *s, uint64_t len, struct rj_error *err)
{
	uint64_t least = FILE_HEAD_BYTES + len, bytes;
	struct file_head head;
	int rc, fd;

	least = align_up(least + reserve_of(least) * 2,
		s->file_bytes < FILE_BYTES_MIN ? s->file_bytes
					       : FILE_BYTES_MIN);
	if (store_ahead_take(s, least, &fd, &head))
		return begin_file(s, fd, &head, err);
	for (bytes = s->file_bytes;; bytes /= 2) {
		if (bytes < least)
			bytes = least;
		rc = create_file(s, bytes, err);
		if (rc != -RJ_E_NOSPACE || bytes == least)
			return rc;
	}
}

/* Make space on a full disk. */
static bool give_up_spares(struct store *s)
{
	size_t before = s->file_count;
	char spare[PATH_MAX];
	bool any;

	store_spare_path(s, spare);
	any = !unlink(spare);
	if (s->file_count > 1 && !s->files[0].live &&
		!store_checkpoint_forget(s, NULL))
		store_drop_dead(s);
	any |= !unlink(spare);
	return any || s->file_count < before;
}

uint64_t store_next_batch(const struct store *s, uint64_t end)
{
	const struct datafile *f = &s->files[s->file_count - 1];
	bool reserve = pos_offset(end) > f->bytes - reserve_of(f->bytes);

	return align_up(end, reserve ? RESERVE_ALIGN : BATCH_ALIGN);
}

int store_space(
	struct store *s, uint64_t len, bool reserve, struct rj_error *err)
{
	struct datafile *f;
	uint64_t limit, off;
	int rc;

	if (s->file_count) {
		f = &s->files[s->file_count - 1];
		off = pos_offset(s->end);
		limit = f->bytes - (reserve ? 0 : reserve_of(f->bytes));
		if (pos_file(s->end) == f->number && off + len <= limit)
			return 0;
		/* what is written must be durable before a later file is */
		rc = store_sync(s, err);
		if (rc)
			return rc;
	}
	rc = roll(s, len, err);
	if (rc == -RJ_E_NOSPACE && give_up_spares(s))
		rc = roll(s, len, err);
	if (rc == -RJ_E_NOSPACE && s->file_count == 1 && !s->files[0].live &&
		!store_checkpoint_forget(s, err)) {
		/* all that is stored was deleted: begin afresh */
		store_drop_oldest(s);
		give_up_spares(s);
		s->last = 0;
		rc = roll(s, len, err);
	}
	return rc;
}
