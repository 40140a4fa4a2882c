/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fallback file's inside. Private to fallback-log.c (writes records), -read.c (opens
 * and reads), -file.c (makes and removes the file), -path.c (finds it) and -ship.c (ships
 * records to the store).
 */
#ifndef RJ_LOG_FALLBACK_LOG_PRIV_H
#define RJ_LOG_FALLBACK_LOG_PRIV_H

#include <sys/stat.h>

#include "log/fallback/fallback-log.h"

/*
 * The file that PATH (absolute) means for ID's journal: PATH itself, or in an
 * existing folder PATH/<journal uuid>.rjfallback. The caller closes OUT->dir.
 * RJ_E_REFUSED: rj.conf does not allow it. RJ_E_NOTFOUND: no such folder.
 */
int rj_fallback_path_find(const char *path, const struct rj_log_id *id,
	struct rj_fallback_path *out, struct rj_error *err);
/* Also of a zeroed one, and twice. */
void rj_fallback_path_close(struct rj_fallback_path *p);
/* openat(2); -1 and errno. */
int rj_fallback_path_open(const struct rj_fallback_path *p, int flags);
/* fstatat(2) */
int rj_fallback_path_stat(const struct rj_fallback_path *p, struct stat *st);
/* fsync its directory. */
int rj_fallback_path_sync(
	const struct rj_fallback_path *p, struct rj_error *err);

struct rj_fallback_entry {
	uint64_t position;
	uint32_t bytes;
};

struct rj_fallback {
	struct rj_bio *bio;	  /* the caller's */
	struct rj_fallback_header h; /* as on disk */
	bool unsure; /* a write of it failed: the disk may say otherwise */
	bool only_seen; /* it was read; its writer may have died before that
			 * was durable */
	/* Newer than that: */
	uint64_t next;	/* first segment that was not shipped */
	uint64_t last;	/* last record; next - 1 or more */
	uint64_t first; /* first record that was not written over */
	uint64_t tail;	/* position after the last record */
	uint64_t oldest; /* of the last segment; 0: none */
	uint64_t backlog; /* bytes of next..last */
	/* Of segment n at n % entry_count: a record takes at least one block,
	 * so there are never more records than these. */
	struct rj_fallback_entry *entries;
	uint64_t entry_count;
	uint8_t *out; /* what is being written, aligned */
	size_t out_bytes;
};

struct rj_fallback_entry *rj_fallback_entry(
	const struct rj_fallback *s, uint64_t sequence);
/* The byte of the file at which POSITION is. */
uint64_t rj_fallback_place_of(const struct rj_fallback *s, uint64_t position);
/* Record SEQUENCE of BYTES is at POSITION, after all others. */
void rj_fallback_took(struct rj_fallback *s, uint64_t sequence,
	uint64_t position, uint32_t bytes);

#endif
