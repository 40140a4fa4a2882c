// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line that mount(8) gives mount.rj. */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "util/badopt.h"
#include "util/error.h"

enum { OPT_HELP = 256 };

static const struct option longs[] = {
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static void help(void)
{
	printf("Usage: mount.rj DEVICE DIR [-sfnv] [-N namespace] [-o "
	       "options]\n"
	       "                [-t type]\n"
	       "Mount the ext3 or ext4 volume DEVICE, whose journal is remote, "
	       "at\n"
	       "DIR; recover it first if needed. mount(8) runs this for\n"
	       "'mount -t rj'.\n"
	       "\n"
	       "  -o options    mount options of ext4(5) or xfs(5), comma separated;\n"
	       "                logdev=URL is where the log of an XFS volume is\n"
	       "  -s            tolerate options that the filesystem lacks\n"
	       "  -f            fake: only look whether it could be done\n"
	       "  -n            do not note the mount in the mount table\n"
	       "  -v            say what is done\n"
	       "  -N namespace  mount in this namespace\n"
	       "  -t type       for mount(8); taken and not looked at\n"
	       "      --help    show this and exit\n"
	       "  -V            show the version and exit (also --version)\n"
	       "\n"
	       "See mount.rj(8).\n");
}

static int bad(const char *why, const char *what)
{
	fprintf(stderr, "mount.rj: %s%s; try 'mount.rj --help'\n", why, what);
	return RJ_MOUNT_USAGE;
}

static void pass_on(struct rj_mount_options *o, const char *word)
{
	/* a word given often enough to run out of space says nothing new */
	if (o->pass_count < RJ_PASS_MAX)
		o->pass[o->pass_count++] = word;
}

/* -1: go on. */
static int take(struct rj_mount_options *o, int c, char **argv)
{
	char why[128];

	switch (c) {
	case 's':
		pass_on(o, "-s");
		break;
	case 'n':
		pass_on(o, "-n");
		break;
	case 'f':
		o->fake = true;
		break;
	case 'v':
		if (!o->verbose)
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
	case 'o':
		switch (rj_mount_words(o, optarg)) {
		case 0:
			break;
		case -RJ_E_INVAL:
			return bad(RJ_STOP_TIMEOUT_WORD, " needs seconds");
		default:
			return bad("out of memory", "");
		}
		break;
	case OPT_HELP:
		help();
		return RJ_MOUNT_OK;
	case 'V':
		printf("mount.rj (%s) %s\n", PACKAGE_NAME, PACKAGE_VERSION);
		return RJ_MOUNT_OK;
	default:
		return bad(rj_badopt(c, argv, longs, why, sizeof(why)), "");
	}
	return -1;
}

int rj_mount_options_parse(int argc, char **argv, struct rj_mount_options *out)
{
	int c, status;

	memset(out, 0, sizeof(*out));
	while ((c = getopt_long(argc, argv, ":sfnvVN:o:t:", longs, NULL)) !=
		-1) {
		status = take(out, c, argv);
		if (status != -1)
			return status;
	}
	if (argc - optind < 2)
		return bad("DEVICE and DIR are needed", "");
	if (argc - optind > 2)
		return bad("unexpected argument ", argv[optind + 2]);
	out->device = argv[optind];
	out->dir = argv[optind + 1];
	switch (rj_mount_fstab(out)) {
	case 0:
		return -1;
	case -RJ_E_INVAL:
		return bad(RJ_STOP_TIMEOUT_WORD, " in fstab needs seconds");
	default:
		return bad("out of memory", "");
	}
}
