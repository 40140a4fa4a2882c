// SPDX-License-Identifier: GPL-2.0-or-later
/* Check the command line and the user, then run the daemon. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon.h"
#include "os/fileio.h"

/* Tests build a daemon with a rule of theirs that is known to be wrong, to show
 * that they would notice. */
#ifndef RJ_COMMIT_RULE
#define RJ_COMMIT_RULE rj_rule_unfinished
#else
bool RJ_COMMIT_RULE(const struct rj_rule_in *in);
#endif

int main(int argc, char **argv)
{
	struct rj_options opts;
	char *device = NULL;
	int status;

	rj_fill_standard_fds();
	switch (rj_options_parse(argc, argv, &opts)) {
	case OPTIONS_DONE:
		return fflush(stdout) ? 1 : 0;
	case OPTIONS_BAD:
		return 2;
	case OPTIONS_RUN:
		break;
	}
	if (geteuid() != 0) {
		fprintf(stderr, "rjournald: only root can serve a journal\n");
		return 1;
	}
	/* a daemon leaves this directory; and /dev/disk/by-... may move */
	device = opts.raw ? strdup(opts.device) : realpath(opts.device, NULL);
	if (!device) {
		fprintf(stderr, "rjournald: %s: %s\n", opts.device,
			strerror(errno));
		return 1;
	}
	opts.device = device;
	/* for another start from scratch, whatever the directory then is */
	argv[argc - 1] = device;
	opts.args = argv + 1;
	opts.program = realpath("/proc/self/exe", NULL);
	if (!opts.program || chdir("/") == -1) {
		perror("rjournald: /");
		status = 1;
	} else {
		status = rj_daemon_run(&opts, RJ_COMMIT_RULE);
	}
	free((char *)opts.program);
	free(device);
	return status;
}
