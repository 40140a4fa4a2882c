/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tree: what FTP, SFTP, WebDAV and IMAP servers have in common. Folders that
 * hold named objects and folders. It has no put-if-absent: making a folder is the only
 * operation in which two racers cannot both succeed. mkdir-epoch.c makes a store of
 * mode B of it (doc/log-format.md). Private to lib/store.
 *
 * FOLDER is a path below the store's own, such as "UUID/epoch/NUMBER", without
 * slashes at its ends; "" is the store's own folder. A name is 1 to 63 of
 * [A-Za-z0-9-], the first a letter or digit.
 *
 * As in store.h, a handle serves one thread, one call is one attempt bounded by
 * the time limits, and RJ_E_UNREACHABLE means that the operation may have succeeded.
 */
#ifndef RJ_STORE_TREE_H
#define RJ_STORE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"
#include "util/buf.h"
#include "util/error.h"

struct rj_tree;

#define RJ_TREE_FOLDER 128 /* longest folder, with the NUL */
#define RJ_TREE_NAME   64  /* longest name, with the NUL */

/* Called for each thing in a folder, in any order. A non-zero return ends the
 * listing and is returned. The function must not use the tree. */
typedef int (*rj_tree_list_fn)(
	void *arg, const char *name, uint64_t bytes, bool folder);

struct rj_tree_ops {
	/*
	 * Make FOLDER, and the folders above it that are missing. 0: this call, and
	 * no other one ever, made it. RJ_E_EXISTS: it was there (if the server's
	 * refusal can mean something else, a list has shown that). Never 0 in doubt.
	 */
	int (*make)(struct rj_tree *t, const char *folder,
		struct rj_error *err);
	/*
	 * Put an object into an existing folder, whole or not at all. An object of
	 * that name may be replaced or be there twice: callers only put the same
	 * bytes again. 0: every later get and list shows it.
	 */
	int (*put)(struct rj_tree *t, const char *folder, const char *name,
		const void *data, size_t len, struct rj_error *err);
	/* Append the object to OUT, as rj_store_get(): RJ_E_NOTFOUND,
	 * RJ_E_CORRUPT (longer than MAX), never a short success. */
	int (*get)(struct rj_tree *t, const char *folder, const char *name,
		size_t max, struct rj_buf *out, struct rj_error *err);
	/*
	 * List what is in FOLDER. May show things that are not ours, and temporary
	 * files under names with a dot or underscore; never a part of an
	 * object under the object's name. RJ_E_NOTFOUND: there is no such
	 * folder, and that is known, not guessed from an empty answer. FOLDER
	 * "" may be shown as empty if it does not exist.
	 */
	int (*list)(struct rj_tree *t, const char *folder, rj_tree_list_fn fn,
		void *arg, struct rj_error *err);
	/* Remove an object. RJ_E_NOTFOUND: there was none. */
	int (*remove)(struct rj_tree *t, const char *folder, const char *name,
		struct rj_error *err);
	/* Make another handle with the same options; sends no request. The caller sets its
	 * socket to -1. */
	int (*dup)(struct rj_tree *t, struct rj_tree **out,
		struct rj_error *err);
	void (*close)(struct rj_tree *t);
};

/* The head of every tree's own struct. */
struct rj_tree {
	const struct rj_tree_ops *ops;
	enum rj_durability durability; /* of what put and make acknowledge */
	char url[512];		       /* for messages */
	int socket; /* of the connection that is kept; -1: none */
	const struct rj_put_gate *gate; /* the store's, for rj_tree_meet(); NULL: none */
};

/* Called by make() before the request that makes the folder itself. */
static inline void rj_tree_meet(const struct rj_tree *t)
{
	if (t->gate)
		t->gate->wait(t->gate->arg, t->socket);
}

static inline void rj_tree_close(struct rj_tree *t)
{
	if (t)
		t->ops->close(t);
}

/*
 * Make a store of mode B on TREE, which it owns from then on, also on failure. Its
 * put_new() follows the rules of one writer: putting epoch/<E> makes that epoch's folder
 * and makes this handle its owner; only an owner can put segments, and each put is
 * acknowledged only after a list shows no newer epoch: RJ_E_FENCED if there is one.
 * RJ_E_EXISTS: an epoch that this one continues has that number.
 */
int rj_mkdir_epoch_open(
	struct rj_tree *tree, struct rj_store **out, struct rj_error *err);
/* Get the tree of a store of mode B, which still owns it: for the tests of trees. */
struct rj_tree *rj_mkdir_epoch_tree(struct rj_store *s);

#endif
