/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The same line again and again: it is said once a minute, with a count. A logger
 * that has a timer also says what was counted since, when its minute is over: of
 * two lines that alternate the log then ends with the later one.
 */
#ifndef RJ_UTIL_REPEAT_H
#define RJ_UTIL_REPEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RJ_REPEAT_NS    60000000000ll
#define RJ_REPEAT_LINES 16 /* remembered; the oldest is forgotten */
#define RJ_REPEAT_TEXT  512 /* bytes of a line for rj_repeat_late(), with the NUL */

/* All zero at first. One thread at a time. */
struct rj_repeat {
	struct {
		uint64_t hash; /* 0: none */
		int64_t said_ns, last_ns;
		unsigned more;
		char text[RJ_REPEAT_TEXT];
	} line[RJ_REPEAT_LINES];
};

/* Is TEXT to be said at NOW_NS (CLOCK_MONOTONIC)? Not if it was said less than a
 * minute before: then it is counted. MORE: how often that was since. */
bool rj_repeat_say(struct rj_repeat *r, const char *text, int64_t now_ns,
	unsigned *more);
/*
 * When NOW_NS is a minute or more after any counted line was said, or with ALL: give
 * out one of those that were counted, the one with the earliest last time, and forget
 * its count. SIZE bytes of TEXT with the NUL; MORE: how often it was counted;
 * AGO_NS: since the last time. False: there is none. Call until it returns false.
 */
bool rj_repeat_late(struct rj_repeat *r, int64_t now_ns, bool all, char *text,
	size_t size, unsigned *more, int64_t *ago_ns);

#endif
