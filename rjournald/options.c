// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line of rjournald. */
#include "config.h"

#include "options.h"

#include "metrics.h"

#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/raw-log.h"
#include "util/badopt.h"

enum { OPT_HELP = 256, OPT_UNTIL_UNMOUNT, OPT_TAKE_OVER, OPT_METRICS, OPT_MOUNT_HELPER,
	OPT_RAW, OPT_SIZE, OPT_STOP_TIMEOUT };

#define STOP_TIMEOUT_MAX 86400

static const struct option longs[] = {
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, 'V'},
	{"foreground", no_argument, NULL, 'f'},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"until-unmount", no_argument, NULL, OPT_UNTIL_UNMOUNT},
	{"take-over", required_argument, NULL, OPT_TAKE_OVER}, /* not for people */
	{"mount-helper", required_argument, NULL, OPT_MOUNT_HELPER}, /* mount.rj's */
	{"metrics", required_argument, NULL, OPT_METRICS},
	{"raw", no_argument, NULL, OPT_RAW},
	{"stop-timeout", required_argument, NULL, OPT_STOP_TIMEOUT},
	{"size", required_argument, NULL, OPT_SIZE},
	{NULL, 0, NULL, 0},
};

static void help(void)
{
	printf("Usage: rjournald [-f] [-q] [-v] [--until-unmount]\n"
	       "                 [--metrics=ADDR] [--stop-timeout=S] DEVICE\n"
	       "       rjournald --raw [--size=MB] [-f] [-q] [-v] URL\n"
	       "Serve the remote journal of the ext3 or ext4 volume DEVICE as "
	       "a\n"
	       "block device, and print that device's name when it is ready.\n"
	       "\n"
	       "  -f, --foreground     stay in the foreground, log to stderr\n"
	       "  -q, --quiet          only warnings and errors on stderr\n"
	       "  -v, --verbose        log more\n"
	       "      --until-unmount  stop when the volume, once mounted, is\n"
	       "                       unmounted (or is not mounted within 60 "
	       "s)\n"
	       "      --metrics=ADDR   metrics for Prometheus, at a unix "
	       "socket's\n"
	       "                       path or at 127.0.0.1:PORT, or none\n"
	       "      --stop-timeout=S while the machine shuts down, wait S seconds\n"
	       "                       for a store that cannot be reached\n"
	       "      --raw            serve the log at URL as a block device for\n"
	       "                       any use: a journal that is not ext3's or\n"
	       "                       ext4's\n"
	       "      --size=MB        with --raw: begin that log, so large\n"
	       "      --help           show this and exit\n"
	       "  -V, --version        show the version and exit\n"
	       "\n"
	       "See rjournald(8).\n");
}

static enum rj_options_result bad(const char *why, const char *what)
{
	fprintf(stderr, "rjournald: %s%s; try 'rjournald --help'\n", why, what);
	return RJ_OPTIONS_BAD;
}

/* 1 to MAX. */
static bool parse_number(const char *text, unsigned long max, unsigned *out)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*out = (unsigned)n;
	return end != text && !*end && n >= 1 && n <= max;
}

/* -1: not a descriptor of ours. */
static int parse_fd(const char *text)
{
	unsigned fd;

	return parse_number(text, INT_MAX, &fd) && fd > 2 &&
			       fcntl((int)fd, F_SETFD, FD_CLOEXEC) != -1
		       ? (int)fd
		       : -1;
}

/* Refuse options that do not go together, and all but one of COUNT operands. */
static enum rj_options_result check(
	const struct rj_options *o, int count, char **operands)
{
	if (o->size_mb && !o->raw)
		return bad("--size is only for --raw", "");
	if (o->raw && o->until_unmount)
		return bad("--raw and --until-unmount do not go together", "");
	if (!count)
		return bad("which volume? DEVICE is missing", "");
	if (count > 1)
		return bad("unexpected argument ", operands[1]);
	return RJ_OPTIONS_RUN;
}

enum rj_options_result rj_options_parse(
	int argc, char **argv, struct rj_options *out)
{
	struct rj_options o = {
		.stop_timeout = RJ_STOP_TIMEOUT, .helper_fd = -1};
	char why[128];
	int c;

	while ((c = getopt_long(argc, argv, "+:fqvV", longs, NULL)) != -1) {
		switch (c) {
		case 'f':
			o.foreground = true;
			break;
		case 'q':
			o.quiet = true;
			break;
		case 'v':
			o.verbose = true;
			break;
		case OPT_UNTIL_UNMOUNT:
			o.until_unmount = true;
			break;
		case OPT_TAKE_OVER:
			o.take_over = optarg;
			break;
		case OPT_MOUNT_HELPER:
			o.helper_fd = parse_fd(optarg);
			break;
		case OPT_METRICS:
			if (strcmp(optarg, RJ_METRICS_NONE) != 0 &&
				!rj_metrics_addr_valid(optarg))
				return bad("--metrics takes none, a path or "
					   "127.0.0.1:PORT, not ",
					optarg);
			o.metrics = optarg;
			break;
		case OPT_RAW:
			o.raw = true;
			break;
		case OPT_SIZE:
			if (!parse_number(optarg, RJ_RAW_MIB, &o.size_mb))
				return bad("--size takes 1 to 4096 (MiB), not ",
					optarg);
			break;
		case OPT_STOP_TIMEOUT:
			if (!parse_number(optarg, STOP_TIMEOUT_MAX,
				    &o.stop_timeout))
				return bad("--stop-timeout takes 1 to 86400 "
					   "(seconds), not ",
					optarg);
			break;
		case OPT_HELP:
			help();
			return RJ_OPTIONS_DONE;
		case 'V':
			printf("rjournald (%s) %s\n", PACKAGE_NAME,
				PACKAGE_VERSION);
			return RJ_OPTIONS_DONE;
		default:
			return bad(rj_badopt(c, argv, longs, why, sizeof(why)),
				"");
		}
	}
	if (check(&o, argc - optind, argv + optind) != RJ_OPTIONS_RUN)
		return RJ_OPTIONS_BAD;
	/* the descriptor was the first program's */
	if (o.take_over)
		o.helper_fd = -1;
	o.device = argv[optind];
	*out = o;
	return RJ_OPTIONS_RUN;
}
