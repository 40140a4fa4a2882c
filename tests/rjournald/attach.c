// SPDX-License-Identifier: GPL-2.0-or-later
/* attach DEVICE JOURNAL-OPTIONS: give a volume a remote journal. */
#include <stdio.h>

#include "journal/attach.h"

int main(int argc, char **argv)
{
	struct rj_journal_opts opts;
	struct rj_error err;

	if (argc != 3)
		return 2;
	if (rj_journal_opts_parse(argv[2], &opts, &err) ||
		rj_attach_remote(argv[1], &opts, &err)) {
		fprintf(stderr, "attach: %s\n", err.msg);
		return 1;
	}
	return 0;
}
