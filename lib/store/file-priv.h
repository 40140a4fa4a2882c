/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the backend for file:// share: file.c, file-list.c. */
#ifndef RJ_STORE_FILE_PRIV_H
#define RJ_STORE_FILE_PRIV_H

#include "store/store.h"

#define RJ_FILE_DIGITS 20 /* of a number in a key */

struct file_store {
	struct rj_store base;
	int root; /* the directory itself, held open */
	/* The directory of the last put, made and durable. */
	int dir;
	struct rj_key dir_key;
};

static inline struct file_store *file_of(struct rj_store *s)
{
	return (struct file_store *)s;
}

/* Open the directory PATH of a store, if rj.conf allows it there ([local], file_dirs): *OUT is the
 * caller's. RJ_E_REFUSED: not allowed; RJ_E_NOTFOUND: there is no such directory; RJ_E_IO; errors
 * as of rj_conf_local_load(). */
int rj_file_open_root(const char *path, int *out, struct rj_error *err);
/* At the begin of each call on a store: open the directory again by its name if the one
 * that is open was deleted. */
void rj_file_find_root(struct file_store *fs);
/*
 * Open TEXT, a path below the root, as rj_beneath_openat(): no link there leads elsewhere. Its
 * owner may be who made the volume.
 */
int rj_file_openat(const struct file_store *fs, const char *text, int flags);
/* Fail for the errno E: "URL: DOING TEXT: ...". RJ_E_DENIED: there is a link in the way. */
int rj_file_fail(const struct file_store *fs, int e, const char *doing, const char *text,
	struct rj_error *err);
/* Close the journal's directory, if it is open. */
void rj_file_forget_dir(struct file_store *fs);

/* struct rj_store_ops */
int rj_file_list(struct rj_store *s, const struct rj_key *dir, uint64_t after,
	rj_store_list_fn fn, void *arg, struct rj_error *err);
int rj_file_list_journals(struct rj_store *s, rj_store_journal_fn fn, void *arg,
	struct rj_error *err);

#endif
