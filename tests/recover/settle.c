// SPDX-License-Identifier: GPL-2.0-or-later
/* settle DEVICE JOURNAL-BLOCKS: rj_recover_settle() with a full check. */
#include <stdio.h>
#include <stdlib.h>

#include "recover/settle.h"

int main(int argc, char **argv)
{
	struct rj_error err = {0};

	if (argc != 3)
		return 2;
	if (!rj_recover_settle(argv[1], (uint32_t)atoi(argv[2]), RJ_VERIFY_FULL,
		    &err))
		return 0;
	fprintf(stderr, "settle: %s\n", err.msg);
	return 1;
}
