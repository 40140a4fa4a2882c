/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines "word value", as the texts of an epoch claim and of a hold are made of. */
#ifndef RJ_FORMAT_CLAIM_TEXT_H
#define RJ_FORMAT_CLAIM_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#define RJ_CLAIM_VALUE 80 /* longest value, with the NUL */
#define RJ_CLAIM_HOST  65 /* longest host or program, with the NUL */

/* Take the line that begins with WORD and a blank, at *P; *P is after it then. */
bool rj_claim_line(const char **p, const char *end, const char *word,
	char value[RJ_CLAIM_VALUE]);
/* Decimal, 1 and above, without zeros in front. */
bool rj_claim_number(const char *value, uint64_t *out);
/* Visible ASCII without blanks. */
bool rj_claim_host(const char *value, char out[RJ_CLAIM_HOST]);
/* Seconds since 1970, 0 and above, from UTC in the one form that is written. */
bool rj_claim_time(const char *value, int64_t *out);
/* Write that form into OUT; returns OUT. */
const char *rj_claim_time_text(int64_t time, char out[RJ_CLAIM_VALUE]);

#endif
