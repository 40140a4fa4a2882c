/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store: objects in a log of data files below DIR. Layout and recovery
 * rules are in doc/rjserver-storage.md. One thread.
 *
 * store-file.c and store-prefetch.c keep the data files, store-load.c and
 * store-scan.c read them at start, store-damage.c sets damaged parts aside,
 * commit.c appends.
 */
#ifndef RJSERVER_STORE_H
#define RJSERVER_STORE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "rjserver/record/index.h"
#include "rjserver/record/record.h"
#include "util/buf.h"
#include "util/error.h"

struct datafile {
	uint32_t number;
	int fd;
	uint64_t bytes;    /* size */
	int direct_fd;     /* the same past the page cache; -1: not here */
	uint64_t live;     /* objects in it that were not deleted */
	uint64_t live_bytes; /* of their records */
	bool damaged;        /* to be kept aside when it is dropped */
	uint64_t data_end; /* at start: end of the last byte that is not zero */
	char path[PATH_MAX];
};

struct commit;
struct ahead;
struct checkpoint;
struct clean;
struct reader;

enum store_change {
	STORE_ADDED,
	STORE_GONE,
};

/* Called after a durable change of an object of LENGTH bytes. Not called for the objects
 * that a start finds: idx_each() has those. */
typedef void (*store_watch_fn)(void *arg, const struct okey *okey,
	enum store_change what, uint32_t length);

struct store {
	char dir[PATH_MAX - 64];
	bool received;       /* acknowledge without fdatasync */
	uint64_t file_bytes; /* of a new data file */
	int lock_fd;
	struct index *index;
	struct commit *commit;
	struct datafile *files; /* ascending; the last one is appended to */
	size_t file_count;
	uint64_t store_id;
	uint64_t end;     /* where the next batch goes (place) */
	uint64_t last;    /* the last record; 0: none */
	uint64_t durable; /* all before is on stable storage */
	uint64_t marked; /* end after the last mark; 0: none was written */
	bool dirty;       /* written, and not yet synced */
	bool failed;      /* a write or fsync failed: no writes until restart */
	unsigned lost;    /* records lost whose names are not known */
	uint32_t next_number; /* of the next data file */
	store_watch_fn watch; /* NULL: not called */
	void *watch_arg;
	uint8_t *batch;       /* the bytes of the batch that is being written */
	uint64_t batch_cap;
	bool read_only;          /* for store-check.c: nothing is changed */
	bool scan_all;           /* without checkpoints */
	uint64_t checkpoint_pos; /* of the oldest that a start may find; 0: none */
	uint64_t checkpoint_bytes;
	int64_t checkpoint_failed_ns; /* monotonic: the last one did; 0: it did not */
	uint64_t appended; /* bytes, since the last checkpoint was begun */
	struct checkpoint *checkpoint; /* being written */
	struct clean *clean;
	bool full; /* the last batch found no space on the disk */
	bool tight; /* no space for writes: what is half empty is cleaned */
	struct ahead *ahead;  /* the next data file is being made */
	uint32_t ahead_tried; /* or was not, while this one was the last */
	struct reader *reader; /* store-read.h; NULL: reads wait */
};

struct store_opts {
	const char *dir;     /* made, 0700, if missing */
	bool received;       /* acknowledge without fdatasync */
	uint64_t file_bytes; /* of a new data file; 0: by the size of the disk, at most 64 MiB */
	bool scan_all; /* read the whole log; no checkpoint is used or made */
};

/* Open or create the store and take its lock. RJ_E_BUSY: another server has
 * it. */
int store_open(const struct store_opts *opts, struct store **out,
	struct rj_error *err);
/* Finish the batch, write the clean mark and close. NULL-safe; frees S even
 * on failure. */
int store_close(struct store *s, struct rj_error *err);

/*
 * Append the object's bytes to OUT. RJ_E_NOTFOUND; RJ_E_CORRUPT: its bytes are damaged,
 * or records were lost whose names are not known, and the object may be among those;
 * RJ_E_IO: they cannot be read now.
 */
int store_get(struct store *s, const struct okey *okey, struct rj_buf *out,
	struct rj_error *err);

/* store-write.c */
/* Aligned memory for a batch of LEN bytes, and the padding after it; NULL:
 * no memory. Valid until store_batch_done(). */
uint8_t *store_batch_buffer(struct store *s, uint64_t len);
/* Write LEN bytes of DATA, aligned memory (a record buffer's too), at s->end in F.
 * Returns 0 or the errno; DONE counts what was written. */
int store_write(struct store *s, const struct datafile *f, uint8_t *data,
	uint64_t len, uint64_t *done);
void store_batch_done(struct store *s);

/* store-table.c */
struct datafile *store_file(struct store *s, uint32_t number);
/* Is there a file that is long enough for the record of E? */
bool store_there(struct store *s, const struct idx_entry *e);
/* Count the object of E as live in its file (BY 1), or no longer (-1). */
void store_count(struct store *s, const struct idx_entry *e, int by);
void store_files_free(struct store *s);
void store_file_forget_last(struct store *s);
void store_file_close(struct datafile *f);
/* Get the path of the dropped file that is kept to become the next one. */
void store_spare_path(const struct store *s, char path[PATH_MAX]);
void store_file_path(
	const struct store *s, uint32_t number, char path[PATH_MAX]);
/* Add an opened file to the list; takes over FD when it succeeds. */
int store_file_add(struct store *s, uint32_t number, int fd, const char *path,
	uint64_t bytes, struct rj_error *err);

/* store-file.c */
/*
 * Make sure that the last file has space for a batch of LEN bytes at s->end;
 * begin a new file where it has not. Each file keeps a reserve that only
 * batches of tombstones may use, so that a full disk can still be
 * emptied. RJ_E_NOSPACE.
 */
int store_space(
	struct store *s, uint64_t len, bool reserve, struct rj_error *err);
/*
 * Sync the last file, if anything was written. A failed sync may have dropped
 * the dirty pages, and asking again could only get a false yes: so it sets
 * s->failed, and there are no more writes until a scan at restart has seen
 * what is really there.
 */
int store_sync(struct store *s, struct rj_error *err);
/* Where a batch starts after one that ended at END in the last file. */
uint64_t store_next_batch(const struct store *s, uint64_t end);

/* store-drop.c */
/* Drop the oldest files in which nothing lives, as far as the checkpoint does
 * not need them. Failures are only said. */
void store_drop_dead(struct store *s);
/* Drop the oldest file, whatever it holds. */
void store_drop_oldest(struct store *s);

/* store-make.c */
/* Make the file PATH in DIR, durably, of the file SPARE if that is there and
 * of the right size: FD is open, or an error and no file. */
int store_file_make(const char *dir, const char *path, const char *spare,
	const struct file_head *head, int *fd, struct rj_error *err);

/* store-prefetch.c */
/* If the last file is half full, begin to make the next. */
void store_ahead_begin(struct store *s);
/* Wait for that file, and take it if it has at least LEAST bytes; else remove it. */
bool store_ahead_take(
	struct store *s, uint64_t least, int *fd, struct file_head *head);
void store_ahead_end(struct store *s);

/* store-newest.c */
/*
 * Find when the newest of all objects that a DELETE of OKEY means was stored, to the
 * second after: of OKEY itself, or with "below=N" in QUERY of those below N in its
 * directory (with "least=BYTES": of that size or more). For one whose clock was ahead the
 * rule of RJ_CLOCK_AHEAD_NS holds: it may be younger than now. RJ_E_NOTFOUND: none;
 * RJ_E_CORRUPT, RJ_E_IO: the age of one cannot be read.
 */
int store_newest(struct store *s, const struct okey *okey, const char *query,
	uint64_t *time_ns);

/* Count the bytes of the disk that are in data files, or in such that are made already, and still
 * free for objects. */
uint64_t store_spare(const struct store *s);
/* Count the bytes by which those and the disk's free ones become fewer if LEN bytes of records are
 * written in one batch. What is left in the last file is lost if they need another. */
uint64_t store_cost(const struct store *s, uint64_t len);

/* store-load.c: read all data files, fill the index, set end, last, durable. */
int store_scan(struct store *s, struct rj_error *err);

/* store-damage.c */
/* Copy LEN bytes of file NUMBER from OFFSET into DIR/damaged, durably; but on a disk that is
 * full without the spare, too, only say that they are given up. */
int damage_copy_aside(struct store *s, const struct datafile *f,
	uint64_t offset, const uint8_t *data, uint64_t len,
	struct rj_error *err);
/* Log that records without a name are lost at POS; counted in s->lost unless
 * DIR/damaged/accepted has the line "<file>:<offset>". */
void damage_lost(struct store *s, uint64_t pos, const char *why);
/* At POS the end of the log could not be read: RJ_E_IO, or 0 and a line of the log if
 * DIR/damaged/accepted has the line "<file>:<offset>". */
int damage_unreadable(struct store *s, uint64_t pos, struct rj_error *err);

#endif
