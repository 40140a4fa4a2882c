// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line of rjctl. */
#include "config.h"

#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "store/conf.h"
#include "util/badopt.h"

enum { OPT_HELP = 256, OPT_JSON, OPT_FORCE };

static const struct option longs[] = {
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, 'V'},
	{"json", no_argument, NULL, OPT_JSON},
	{"force", no_argument, NULL, OPT_FORCE},
	{"quiet", no_argument, NULL, 'q'},
	{NULL, 0, NULL, 0},
};

static void help(void)
{
	printf("Usage: rjctl status [--json] [DEVICE|DIR]\n"
	       "       rjctl check [DEVICE|DIR]...\n"
	       "       rjctl metrics [DEVICE|DIR]\n"
	       "       rjctl flush [-q] [DEVICE|DIR]\n"
	       "       rjctl prefer [-q] remote|local|power [DEVICE|DIR]\n"
	       "       rjctl restart [-q] [DEVICE|DIR]\n"
	       "       rjctl stop [-q] [--force] [DEVICE|DIR]\n"
	       "Ask or tell the rjournald that serves the volume DEVICE, or "
	       "the\n"
	       "volume mounted at DIR; without that, every one that runs.\n"
	       "\n"
	       "  status       what it serves, from where, and how it is\n"
	       "  check        one line for a monitoring system; exit status 0 well,\n"
	       "               1 warning, 2 critical, 3 unknown\n"
	       "  metrics      the same in numbers, for Prometheus\n"
	       "  flush        ship all that is pending, and wait for it\n"
	       "  prefer       which way the journal goes while both the store and\n"
	       "               the fallback file could take it\n"
	       "  restart      go on with the program as it is installed now;\n"
	       "               the volume stays mounted and in use\n"
	       "  stop         end; refused while the volume is mounted\n"
	       "      --force  stop: at once; the kernel aborts the journal\n"
	       "      --json   status: as JSON, one object per line\n"
	       "  -q, --quiet  print nothing but errors\n"
	       "      --help   show this and exit\n"
	       "  -V           show the version and exit (also --version)\n"
	       "\n"
	       "See rjctl(8).\n");
}

static int bad(const char *why, const char *what)
{
	fprintf(stderr, "rjctl: %s%s; try 'rjctl --help'\n", why, what);
	return 2;
}

int rj_ctl_options_parse(int argc, char **argv, struct rj_ctl_options *out)
{
	struct rj_ctl_options o = {0};
	char why[128];
	int c;

	while ((c = getopt_long(argc, argv, ":qV", longs, NULL)) != -1) {
		switch (c) {
		case 'q':
			o.quiet = true;
			break;
		case OPT_JSON:
			o.json = true;
			break;
		case OPT_FORCE:
			o.force = true;
			break;
		case OPT_HELP:
			help();
			return 0;
		case 'V':
			printf("rjctl (%s) %s\n", PACKAGE_NAME,
				PACKAGE_VERSION);
			return 0;
		default:
			return bad(rj_badopt(c, argv, longs, why, sizeof(why)),
				"");
		}
	}
	if (optind == argc)
		return bad("say status, check, metrics, flush, prefer, restart or stop",
			"");
	o.command = argv[optind];
	if (strcmp(o.command, "status") != 0 &&
		strcmp(o.command, "check") != 0 &&
		strcmp(o.command, "metrics") != 0 &&
		strcmp(o.command, "flush") != 0 &&
		strcmp(o.command, "prefer") != 0 &&
		strcmp(o.command, "restart") != 0 &&
		strcmp(o.command, "stop") != 0)
		return bad("unknown command ", o.command);
	if (!strcmp(o.command, "prefer")) {
		if (++optind == argc ||
			rj_prefer_parse(argv[optind]) == RJ_PREFER_UNSET)
			return bad("prefer remote, local or power", "");
		o.prefer = argv[optind];
	}
	o.volumes = argv + optind + 1;
	o.count = argc - optind - 1;
	if (argc - optind > 2 && strcmp(o.command, "check") != 0)
		return bad("unexpected argument ", argv[optind + 2]);
	if (argc - optind == 2)
		o.volume = argv[optind + 1];
	if (o.force && strcmp(o.command, "stop") != 0)
		return bad("--force is only for stop", "");
	*out = o;
	return -1;
}
