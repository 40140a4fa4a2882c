/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times as people read and write them. All are nanoseconds since 1970-01-01 UTC. */
#ifndef RJ_TEXT_WHEN_H
#define RJ_TEXT_WHEN_H

#include <stdbool.h>
#include <stdint.h>

#define RJ_WHEN_TEXT 64
/* A certificate that ends within this time, in seconds, is to be renewed: people are told. */
#define RJ_ENDS_SOON_S (14 * 86400)

/*
 * Write TIME_NS as local time into OUT, and return OUT: "2026-11-29 13:49:05+01:00", with Z in place
 * of +00:00, and with nine digits of a fraction if there is one. rj_when_parse() reads it.
 */
const char *rj_when_text(int64_t time_ns, char out[RJ_WHEN_TEXT]);
/* The same of SECONDS since 1970. */
const char *rj_when_seconds(int64_t seconds, char out[RJ_WHEN_TEXT]);
/* Write TIME_NS in the form of RFC 3339, in UTC, for JSON: "2026-11-29T12:49:05Z". */
const char *rj_when_rfc3339(int64_t time_ns, char out[RJ_WHEN_TEXT]);

/* When does what ends END_S seconds after 1970 end? 0: not known, RJ_END_LATER. */
enum rj_end {
	RJ_END_LATER,
	RJ_END_SOON, /* within RJ_ENDS_SOON_S */
	RJ_END_OVER,
};
enum rj_end rj_when_ends(int64_t end_s);

/*
 * Read TEXT: "now"; "@SECONDS[.FRACTION]" since 1970; "-1h30m" or "10 minutes ago" (s, m, h, d, w,
 * or the words); or a day, a time of the day, or both: "2026-11-29" (its first second),
 * "yesterday", "today"; "14:05[:06[.5]]" (of today); a blank or a T between the two. After a time
 * of the day may be Z, UTC or an offset such as +01:00; without, it is local time. NOW_NS is the
 * present. False: it is no such text, or before 1970; OUT is unchanged.
 */
bool rj_when_parse(const char *text, int64_t now_ns, int64_t *out);

#endif
