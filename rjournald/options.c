// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "options.h"

#include "metrics.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum { OPT_HELP = 256, OPT_UNTIL_UNMOUNT, OPT_TAKE_OVER, OPT_METRICS };

static const struct option longs[] = {
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, 'V'},
	{"foreground", no_argument, NULL, 'f'},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"until-unmount", no_argument, NULL, OPT_UNTIL_UNMOUNT},
	{"take-over", required_argument, NULL, OPT_TAKE_OVER}, /* not for people */
	{"metrics", required_argument, NULL, OPT_METRICS},
	{NULL, 0, NULL, 0},
};

static void help(void)
{
	printf("Usage: rjournald [-f] [-q] [-v] [--until-unmount]\n"
	       "                 [--metrics=ADDR] DEVICE\n"
	       "Serve the remote journal of the ext3 or ext4 volume DEVICE as "
	       "a\n"
	       "block device, and print that device's name when it is ready.\n"
	       "\n"
	       "  -f, --foreground     stay in the foreground, log to stderr\n"
	       "  -q, --quiet          log only warnings and errors\n"
	       "  -v, --verbose        log more\n"
	       "      --until-unmount  stop when the volume, once mounted, is\n"
	       "                       unmounted (or is not mounted within 60 "
	       "s)\n"
	       "      --metrics=ADDR   metrics for Prometheus, at a unix "
	       "socket's\n"
	       "                       path or at 127.0.0.1:PORT\n"
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

enum rj_options_result rj_options_parse(
	int argc, char **argv, struct rj_options *out)
{
	struct rj_options o = {0};
	int c;

	opterr = 0;
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
		case OPT_METRICS:
			if (!rj_metrics_addr_valid(optarg))
				return bad("--metrics takes a path or "
					   "127.0.0.1:PORT, not ",
					optarg);
			o.metrics = optarg;
			break;
		case OPT_HELP:
			help();
			return RJ_OPTIONS_DONE;
		case 'V':
			printf("rjournald (%s) %s\n", PACKAGE_NAME,
				PACKAGE_VERSION);
			return RJ_OPTIONS_DONE;
		default:
			return bad("unknown option ", argv[optind - 1]);
		}
	}
	if (optind == argc)
		return bad("which volume? DEVICE is missing", "");
	if (argc - optind > 1)
		return bad("unexpected argument ", argv[optind + 1]);
	o.device = argv[optind];
	*out = o;
	return RJ_OPTIONS_RUN;
}
