// SPDX-License-Identifier: GPL-2.0-or-later
/* attach-tool DEVICE JOURNAL-OPTIONS: rj_attach_remote() for shell tests. Exit
 * status 0, or the rj_code with the message on stderr. */
#include <stdio.h>

#include "journal/attach.h"

int main(int argc, char **argv)
{
	struct rj_journal_opts opts;
	struct rj_error err;

	if (argc != 3)
		return 99;
	if (rj_journal_opts_parse(argv[2], &opts, &err) ||
		rj_attach_check(&opts, false, &err) ||
		rj_attach_remote(argv[1], &opts, NULL, &err)) {
		fprintf(stderr, "%s: %s\n", rj_code_name(err.code), err.msg);
		return err.code;
	}
	return 0;
}
