/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A world without a clock and without chance: what a seed gives. */
#ifndef RJ_TEST_LOG_SEEDED_H
#define RJ_TEST_LOG_SEEDED_H

#include <stdint.h>

/* The library's random bytes are RND(256) from now on, and each look at either of its
 * clocks takes one microsecond, until rj_environ_set(NULL). */
void seeded_environ(uint32_t (*rnd)(uint32_t below));

#endif
