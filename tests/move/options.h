/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJ_TEST_MOVE_OPTIONS_H
#define RJ_TEST_MOVE_OPTIONS_H

#include <stdbool.h>

struct options {
	const char *dir;
	const char *tool;
	const char *features; /* comma separated; NULL: all */
	const char *from, *to; /* NULL: any */
	unsigned long seed;
	unsigned long states; /* at most about so many of each move; 0: all */
	unsigned long again; /* cut the resume too in every Nth; 0: never */
	unsigned long again_states; /* at most so many of each of those */
	const char *aged; /* the volumes are: a kind of tests/support/aged-volume */
	unsigned long mount; /* kernel mount of every Nth that is new; 0: none */
	bool uuid_and_size;
	bool verbose;
};

/* False: print the usage and give up. */
bool options_parse(int argc, char **argv, struct options *o);
bool options_has_feature(const struct options *o, const char *name);

#endif
