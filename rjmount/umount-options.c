// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line that umount(8) gives umount.rj. */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "util/badopt.h"

enum { OPT_HELP = 256 };

static const struct option longs[] = {
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static void help(void)
{
	printf("Usage: umount.rj DIR [-flnrv] [-N namespace] [-t type]\n"
	       "Unmount DIR, and wait until the last of its journal is at the\n"
	       "store and rjournald has ended. umount(8) runs this for what\n"
	       "mount.rj mounted.\n"
	       "\n"
	       "  -f            force, as in umount(8)\n"
	       "  -l            lazy: do not wait for rjournald either\n"
	       "  -n            do not note it in the mount table\n"
	       "  -r            if it cannot be unmounted, remount it "
	       "read-only\n"
	       "  -v            say what is done\n"
	       "  -N namespace  unmount in this namespace\n"
	       "  -t type       for umount(8); taken and not looked at\n"
	       "      --help    show this and exit\n"
	       "  -V            show the version and exit (also --version)\n"
	       "\n"
	       "See umount.rj(8).\n");
}

static int bad(const char *why, const char *what)
{
	fprintf(stderr, "umount.rj: %s%s; try 'umount.rj --help'\n", why, what);
	return RJ_MOUNT_USAGE;
}

static void pass_on(struct rj_mount_options *o, const char *word)
{
	if (o->pass_count < RJ_PASS_MAX)
		o->pass[o->pass_count++] = word;
}

/* -1: go on. */
static int take(struct rj_mount_options *o, int c, char **argv)
{
	char why[128];

	switch (c) {
	case 'f':
		pass_on(o, "-f");
		break;
	case 'l':
		pass_on(o, "-l");
		o->lazy = true;
		break;
	case 'n':
		pass_on(o, "-n");
		break;
	case 'r':
		pass_on(o, "-r");
		break;
	case 'v':
		pass_on(o, "-v");
		o->verbose = true;
		break;
	case 'N':
		if (o->pass_count + 2 <= RJ_PASS_MAX) {
			pass_on(o, "-N");
			pass_on(o, optarg);
		}
		break;
	case 't':
		break;
	case OPT_HELP:
		help();
		return RJ_MOUNT_OK;
	case 'V':
		printf("umount.rj (%s) %s\n", PACKAGE_NAME, PACKAGE_VERSION);
		return RJ_MOUNT_OK;
	default:
		return bad(rj_badopt(c, argv, longs, why, sizeof(why)), "");
	}
	return -1;
}

int rj_umount_options_parse(int argc, char **argv, struct rj_mount_options *out)
{
	int c, status;

	memset(out, 0, sizeof(*out));
	while ((c = getopt_long(argc, argv, ":flnrvVN:t:", longs, NULL)) != -1) {
		status = take(out, c, argv);
		if (status != -1)
			return status;
	}
	if (optind == argc)
		return bad("DIR is missing", "");
	if (argc - optind > 1)
		return bad("unexpected argument ", argv[optind + 1]);
	out->dir = argv[optind];
	return -1;
}
