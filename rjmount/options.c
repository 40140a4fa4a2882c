// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command lines that mount(8) and umount(8) give to their helpers. */
#include "options.h"

#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "text/badopt.h"
#include "util/error.h"

enum { OPT_HELP = 256 };

static const struct option longs[] = {
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static const struct helper {
	const char *name;
	const char *letters; /* for getopt_long() */
	const char *usage;
} mount_rj = {
	.name = "mount.rj",
	.letters = ":sfnvVN:o:t:",
	.usage = "Usage: mount.rj DEVICE DIR [-sfnv] [-N namespace] [-o options]\n"
		 "                [-t type]\n"
		 "Mount the ext3 or ext4 volume DEVICE, whose journal is remote, at\n"
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
		 "See mount.rj(8).\n",
}, umount_rj = {
	.name = "umount.rj",
	.letters = ":flnrvVN:t:",
	.usage = "Usage: umount.rj DIR [-flnrv] [-N namespace] [-t type]\n"
		 "Unmount DIR, and wait until the last of its journal is at the\n"
		 "store and rjournald has ended. umount(8) runs this for what\n"
		 "mount.rj mounted.\n"
		 "\n"
		 "  -f            force, as in umount(8)\n"
		 "  -l            lazy: do not wait for rjournald either\n"
		 "  -n            do not note it in the mount table\n"
		 "  -r            if it cannot be unmounted, remount it read-only\n"
		 "  -v            say what is done\n"
		 "  -N namespace  unmount in this namespace\n"
		 "  -t type       for umount(8); taken and not looked at\n"
		 "      --help    show this and exit\n"
		 "  -V            show the version and exit (also --version)\n"
		 "\n"
		 "See umount.rj(8).\n",
};

static int bad(const struct helper *h, const char *why, const char *what)
{
	fprintf(stderr, "%s: %s%s; try '%s --help'\n", h->name, why, what, h->name);
	return RJ_MOUNT_USAGE;
}

static void pass_on(struct rj_mount_options *o, const char *word)
{
	/* a word given often enough to run out of space says nothing new */
	if (o->pass_count < RJ_PASS_MAX)
		o->pass[o->pass_count++] = word;
}

/* The exit status for RC of rj_mount_words() or rj_mount_fstab(); WHERE ends the message.
 * -1: go on. */
static int words_taken(int rc, const char *where)
{
	switch (rc) {
	case 0:
		return -1;
	case -RJ_E_INVAL:
		return bad(&mount_rj, RJ_STOP_TIMEOUT_WORD, where);
	default:
		return bad(&mount_rj, "out of memory", "");
	}
}

/* -1: go on. */
static int take(const struct helper *h, struct rj_mount_options *o, int c, char **argv)
{
	char why[128];

	switch (c) {
	case 'f': /* of mount.rj: fake; of umount.rj: force */
		o->fake = h == &mount_rj;
		if (!o->fake)
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
	case 's':
		pass_on(o, "-s");
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
		return words_taken(rj_mount_words(o, optarg), " needs seconds");
	case OPT_HELP:
		fputs(h->usage, stdout);
		return RJ_MOUNT_OK;
	case 'V':
		printf("%s (%s) %s\n", h->name, PACKAGE_NAME, PACKAGE_VERSION);
		return RJ_MOUNT_OK;
	default:
		return bad(h, rj_badopt(c, argv, longs, why, sizeof(why)), "");
	}
	return -1;
}

static int take_all(const struct helper *h, int argc, char **argv, struct rj_mount_options *o)
{
	int c, status = -1;

	memset(o, 0, sizeof(*o));
	while (status == -1 && (c = getopt_long(argc, argv, h->letters, longs, NULL)) != -1)
		status = take(h, o, c, argv);
	return status;
}

int rj_mount_options_parse(int argc, char **argv, struct rj_mount_options *out)
{
	int status = take_all(&mount_rj, argc, argv, out);

	if (status != -1)
		return status;
	if (argc - optind < 2)
		return bad(&mount_rj, "DEVICE and DIR are needed", "");
	if (argc - optind > 2)
		return bad(&mount_rj, "unexpected argument ", argv[optind + 2]);
	out->device = argv[optind];
	out->dir = argv[optind + 1];
	return words_taken(rj_mount_fstab(out), " in fstab needs seconds");
}

int rj_umount_options_parse(int argc, char **argv, struct rj_mount_options *out)
{
	int status = take_all(&umount_rj, argc, argv, out);

	if (status != -1)
		return status;
	if (optind == argc)
		return bad(&umount_rj, "DIR is missing", "");
	if (argc - optind > 1)
		return bad(&umount_rj, "unexpected argument ", argv[optind + 1]);
	out->dir = argv[optind];
	return -1;
}
