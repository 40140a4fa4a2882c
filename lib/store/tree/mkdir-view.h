/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Find out which objects in the folders of a tree's epochs are the log. Private to
 * mkdir-epoch.c and its tests.
 *
 * An object of epoch/<E>/ is named "<seq20>", or "<seq20>-<P20>" if it is the
 * first of its epoch: the fence, which follows the segments below <seq20>
 * of epoch P (0: of none). So the names alone tell which segments are the log: those
 * of the highest epoch that has any, and before its fence those of P, and so
 * on. All other objects were never acknowledged.
 */
#ifndef RJ_STORE_MKDIR_VIEW_H
#define RJ_STORE_MKDIR_VIEW_H

#include "store/tree/tree.h"

struct rj_mkdir_object {
	uint64_t number, bytes;
	uint64_t epoch;	 /* of the folder that it is in */
	uint64_t before; /* of a fence: P */
	bool fence;
};

/* The epochs that have a folder, ascending; not all of them have segments. */
struct rj_mkdir_epochs {
	struct rj_buf numbers; /* of uint64_t */
};

struct rj_mkdir_view {
	struct rj_buf objects; /* of struct rj_mkdir_object, by number */
	uint64_t after;	       /* numbers up to this one may be left out */
};

/* The end of the log, from which a view is built backwards. */
struct rj_mkdir_end {
	uint64_t epoch; /* 0: there is no segment */
	uint64_t last;	/* take none above; UINT64_MAX: all */
};

/* Write "<uuid>/epoch" (EPOCH 0), or the folder of one epoch, into OUT of RJ_TREE_FOLDER
 * bytes. */
void rj_mkdir_folder(
	const uint8_t journal[RJ_UUID_BYTES], uint64_t epoch, char *out);
/* Write an object's name into OUT of RJ_TREE_NAME bytes. */
void rj_mkdir_name(const struct rj_mkdir_object *o, char *out);
bool rj_mkdir_parse_name(const char *name, struct rj_mkdir_object *out);

/*
 * List the epochs that have a folder. OWN (0: none) must be among them: a list without
 * it is RJ_E_UNREACHABLE.
 */
int rj_mkdir_list_epochs(struct rj_tree *t,
	const uint8_t journal[RJ_UUID_BYTES], uint64_t own,
	struct rj_mkdir_epochs *out, struct rj_error *err);
uint64_t rj_mkdir_highest(const struct rj_mkdir_epochs *e);
void rj_mkdir_epochs_free(struct rj_mkdir_epochs *e);

/*
 * The epochs between these two (0: none) had no segment when a higher one had
 * been claimed. A segment put there later is never acknowledged, so they need not be
 * listed again.
 */
struct rj_mkdir_dead {
	uint64_t above, below;
};

/*
 * Find the end of the log among the epochs below BELOW: the highest one with a
 * segment, and its last segment. The epochs of DEAD are skipped, and DEAD is updated.
 * RJ_E_PROTOCOL: the list ends there, but the next segment is there, too; a claim would
 * put its fence in the place of that.
 */
int rj_mkdir_find_end(struct rj_tree *t, const uint8_t journal[RJ_UUID_BYTES],
	const struct rj_mkdir_epochs *e, uint64_t below,
	struct rj_mkdir_dead *dead, struct rj_mkdir_end *end,
	struct rj_error *err);
/* Build the view of the log backwards from END, at least to the numbers above AFTER. OUT
 * is emptied first. */
int rj_mkdir_view_build(struct rj_tree *t, const uint8_t journal[RJ_UUID_BYTES],
	struct rj_mkdir_end end, uint64_t after, struct rj_mkdir_view *out,
	struct rj_error *err);
/* Find the segment NUMBER in V; NULL: it is not there. */
const struct rj_mkdir_object *rj_mkdir_view_find(
	const struct rj_mkdir_view *v, uint64_t number);
/* Get the epoch that segment NUMBER is of if V, which shows later ones, lacks it; 0: it shows
 * none. */
uint64_t rj_mkdir_view_epoch(const struct rj_mkdir_view *v, uint64_t number);
void rj_mkdir_view_free(struct rj_mkdir_view *v);

#endif
