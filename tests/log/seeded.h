/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A world without a clock and without chance: what a seed gives. */
#ifndef RJ_TEST_LOG_SEEDED_H
#define RJ_TEST_LOG_SEEDED_H

#include <stddef.h>
#include <stdint.h>

/* Nanoseconds; each look at either clock takes one microsecond. */
extern int64_t seeded_now_ns;

/* The library's random bytes are RND(256) from now on, its clocks the above,
 * until rj_environ_set(NULL). */
void seeded_environ(uint32_t (*rnd)(uint32_t below));
/* LEN such bytes; 0. */
int seeded_bytes(void *arg, void *out, size_t len);

#endif
