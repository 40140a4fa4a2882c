/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log in a tree, pieced together from the folders of its epochs. Private to
 * mkdir-epoch.c and to what tests it.
 *
 * An object of epoch/<E>/ is named "<seq20>", or "<seq20>-<P20>" if it is the
 * first of its epoch: the fence, which follows the segments below <seq20>
 * of epoch P (0: of none). So the names say which segments are the log: those
 * of the highest epoch that has any, and before its fence those of P, and so
 * on. Whatever else is there was never acknowledged.
 */
#ifndef RJ_STORE_MKDIR_VIEW_H
#define RJ_STORE_MKDIR_VIEW_H

#include "store/tree/tree.h"

struct rj_mkdir_object {
	uint64_t number, bytes;
	uint64_t epoch;	 /* whose folder it is in */
	uint64_t behind; /* of a fence: P */
	bool fence;
};

/* The epochs that have a folder, ascending; not all of them have segments. */
struct rj_mkdir_epochs {
	struct rj_buf numbers; /* of uint64_t */
};

struct rj_mkdir_view {
	struct rj_buf objects; /* of struct rj_mkdir_object, by number */
	uint64_t after;	       /* what is below or at was perhaps left out */
};

/* Where a view begins, from its end. */
struct rj_mkdir_end {
	uint64_t epoch; /* 0: there is no segment */
	uint64_t last;	/* take none above; UINT64_MAX: all */
};

/* "<uuid>/epoch", and that of one epoch. */
void rj_mkdir_folder(
	const uint8_t journal[RJ_UUID_BYTES], uint64_t epoch, char *out);
/* An object's name. */
void rj_mkdir_name(const struct rj_mkdir_object *o, char *out);
bool rj_mkdir_parse_name(const char *name, struct rj_mkdir_object *out);

/*
 * Which epochs there are. OWN (0: none) must be among them: a list that lacks
 * it is not believed, RJ_E_UNREACHABLE.
 */
int rj_mkdir_list_epochs(struct rj_tree *t,
	const uint8_t journal[RJ_UUID_BYTES], uint64_t own,
	struct rj_mkdir_epochs *out, struct rj_error *err);
uint64_t rj_mkdir_highest(const struct rj_mkdir_epochs *e);
void rj_mkdir_epochs_free(struct rj_mkdir_epochs *e);

/*
 * The epochs between these two (0: none) had no segment when a higher one had
 * been claimed. One that comes there later is never acknowledged, and need not be
 * looked for.
 */
struct rj_mkdir_dead {
	uint64_t above, below;
};

/* The end of the log among the epochs below BELOW: the highest one with a
 * segment, and its last segment. DEAD are left out, and added to. */
int rj_mkdir_find_end(struct rj_tree *t, const uint8_t journal[RJ_UUID_BYTES],
	const struct rj_mkdir_epochs *e, uint64_t below,
	struct rj_mkdir_dead *dead, struct rj_mkdir_end *end,
	struct rj_error *err);
/* The log back from END, at least as far as the numbers above AFTER. OUT is
 * emptied first. */
int rj_mkdir_view_build(struct rj_tree *t, const uint8_t journal[RJ_UUID_BYTES],
	struct rj_mkdir_end end, uint64_t after, struct rj_mkdir_view *out,
	struct rj_error *err);
/* NULL: it is not in V. */
const struct rj_mkdir_object *rj_mkdir_view_find(
	const struct rj_mkdir_view *v, uint64_t number);
void rj_mkdir_view_free(struct rj_mkdir_view *v);

#endif
