// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * compare GOOD FOUND: two images of one volume that is not mounted; every block that GOOD's
 * bitmaps show as in use. Prints counts. 1: a block differs that must not; 2: cannot tell.
 */
#include <stdio.h>

#include "blocks.h"

int main(int argc, char **argv)
{
	struct blocks_result r;

	if (argc != 3) {
		fprintf(stderr, "usage: compare GOOD FOUND\n");
		return 2;
	}
	if (blocks_compare(argv[1], argv[2], &r)) {
		fprintf(stderr, "compare: %s\n", r.why);
		return 2;
	}
	blocks_print(&r);
	if (r.wrong)
		printf("first: %s\n", r.why);
	return r.wrong ? 1 : 0;
}
