/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read what a disk or a network link takes in energy, as rj.conf gives it (disk_energy,
 * link_energy; rj.conf(5)). */
#ifndef RJ_STORE_ENERGY_H
#define RJ_STORE_ENERGY_H

#include <stdbool.h>

struct rj_energy {
	bool given;	 /* false: all are 0, and say nothing */
	double wakeup_j; /* joules to wake up: a disk's spin-up, a radio's connection */
	double awake_w;	 /* watts while awake, above those asleep */
	double idle_s;	 /* seconds from the last use until it sleeps */
	double commit_j; /* joules of each segment that is written or sent */
	double mib_j;	 /* joules of each MiB of that */
};

/*
 * Parse TEXT, words such as "wakeup=90J awake=4W idle=10m commit=0.05J mib=0.02J" in any order
 * with blanks between them, into OUT. What is not named is 0. False, and OUT is unchanged: another
 * word, another unit, a word twice, no word, or a number that is not from 0 to 1000000.
 */
bool rj_energy_parse(const char *text, struct rj_energy *out);

#endif
