/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The local floor: a small file of this host for each journal that it serves,
 * which says what of the log was acknowledged last. A store that loses, rolls
 * back or hides the end of the log is found out with it. doc/floor.md
 *
 * It is in the directory floor_dir of rj.conf's section [local], and there no
 * link is followed.
 */
#ifndef RJ_LOG_FLOOR_FLOOR_H
#define RJ_LOG_FLOOR_FLOOR_H

#include "log/log.h"
#include "util/error.h"

struct rj_floor;

/*
 * What this host saw acknowledged last of JOURNAL, into OUT; all zero if it saw
 * nothing, or nothing that still counts: of a volume that was marked with EPOCH
 * an older floor is no more to be believed, for others went on since. Damaged or
 * unreadable: that is logged, and OUT is all zero.
 */
void rj_floor_load(const uint8_t journal[RJ_UUID_BYTES], uint64_t epoch,
	struct rj_log_tail *out);

/* The volume was recovered, and knows by itself what its log must reach. */
void rj_floor_forget(const uint8_t journal[RJ_UUID_BYTES]);

/* Open JOURNAL's file, made if there is none, for one process at a time. VOLUME
 * is the volume's device: a file on it would wait for itself, RJ_E_REFUSED.
 * RJ_E_REFUSED, too: what is there is not ours. RJ_E_NOSPACE, RJ_E_DENIED, ... */
int rj_floor_open(const uint8_t journal[RJ_UUID_BYTES], const char *volume,
	struct rj_floor **out, struct rj_error *err);
/* Durably TAIL; nothing to do if it is that already. Where it is cut off, what
 * was there before is read. */
int rj_floor_write(struct rj_floor *f, const struct rj_log_tail *tail,
	struct rj_error *err);
/* NULL-safe. REMOVE: the file is not needed any more. */
void rj_floor_close(struct rj_floor *f, bool remove);

#endif
