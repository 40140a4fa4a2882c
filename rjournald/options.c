// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line of rjournald. */
#include "config.h"

#include "options.h"

#include "metrics.h"

#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "log/raw-log.h"

#define STOP_TIMEOUT_MAX 86400

static const char help_text[] =
	"Usage: rjournald [-f] [-q] [-v] [--until-unmount]\n"
	"                 [--metrics=ADDR] [--stop-timeout=S] DEVICE\n"
	"       rjournald --raw [--size=MB] [--xfs=DEVICE] [-f] [-q] [-v] URL\n"
	"Serve the remote journal of the ext3 or ext4 volume DEVICE as a\n"
	"block device, and print that device's name when it is ready.\n"
	"\n"
	"  -f, --foreground     stay in the foreground, log to stderr\n"
	"  -q, --quiet          only warnings and errors on stderr\n"
	"  -v, --verbose        log more\n"
	"      --until-unmount  stop when the volume, once mounted, is\n"
	"                       unmounted (or is not mounted within 60 s)\n"
	"      --metrics=ADDR   metrics for Prometheus, at a unix socket's\n"
	"                       path or at 127.0.0.1:PORT, or none\n"
	"      --stop-timeout=S while the machine shuts down, wait S seconds\n"
	"                       for a store that cannot be reached\n"
	"      --raw            serve the log at URL as a block device for\n"
	"                       any use: a journal that is not ext3's or\n"
	"                       ext4's\n"
	"      --size=MB        with --raw: begin that log, so large\n"
	"      --xfs=DEVICE     with --raw: the log of this XFS volume\n"
	"      --help           show this and exit\n"
	"  -V, --version        show the version and exit\n"
	"\n"
	"See rjournald(8).\n";

static const struct tool tool;

/* 1 to MAX. */
static bool parse_number(const char *text, unsigned long max, unsigned *out)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*out = (unsigned)n;
	return end != text && !*end && n >= 1 && n <= max;
}

static enum options_verdict take_metrics(void *to, const char *value)
{
	if (strcmp(value, RJ_METRICS_NONE) != 0 && !rj_metrics_addr_valid(value))
		return tool_bad(&tool, "--metrics takes none, a path or 127.0.0.1:PORT, not %s",
			value);
	((struct rj_options *)to)->metrics = value;
	return OPTIONS_RUN;
}

static enum options_verdict take_size(void *to, const char *value)
{
	if (!parse_number(value, RJ_RAW_MIB, &((struct rj_options *)to)->size_mb))
		return tool_bad(&tool, "--size takes 1 to 4096 (MiB), not %s", value);
	return OPTIONS_RUN;
}

static enum options_verdict take_stop_timeout(void *to, const char *value)
{
	if (!parse_number(value, STOP_TIMEOUT_MAX, &((struct rj_options *)to)->stop_timeout))
		return tool_bad(&tool, "--stop-timeout takes 1 to 86400 (seconds), not %s", value);
	return OPTIONS_RUN;
}

static enum options_verdict take_xfs(void *to, const char *value)
{
	if (value[0] != '/') /* the daemon leaves its directory */
		return tool_bad(&tool, "--xfs takes an absolute path, not %s", value);
	((struct rj_options *)to)->xfs = value;
	return OPTIONS_RUN;
}

static enum options_verdict take_uuid(void *to, const char *value)
{
	uint8_t uuid[RJ_UUID_BYTES];

	if (!rj_uuid_parse(value, uuid))
		return tool_bad(&tool, "--uuid takes a UUID, not %s", value);
	((struct rj_options *)to)->uuid = value;
	return OPTIONS_RUN;
}

/* What is not a descriptor of ours counts as not given. */
static enum options_verdict take_mount_helper(void *to, const char *value)
{
	unsigned fd;

	if (parse_number(value, INT_MAX, &fd) && fd > 2 &&
		fcntl((int)fd, F_SETFD, FD_CLOEXEC) != -1)
		((struct rj_options *)to)->helper_fd = (int)fd;
	return OPTIONS_RUN;
}

#define SET(field) OPTION_SET(struct rj_options, field)
static const struct tool tool = {
	.name = "rjournald",
	.help = help_text,
	.hint = "; try 'rjournald --help'",
	.in_order = true,
	.options = (const struct tool_option[]){
		{'f', "foreground", SET(foreground)},
		{'q', "quiet", SET(quiet)},
		{'v', "verbose", SET(verbose)},
		{0, "until-unmount", SET(until_unmount)},
		{0, "take-over", SET(take_over)}, /* not for people */
		{0, "mount-helper", OPTION_TAKE, .take = take_mount_helper}, /* mount.rj's */
		{0, "metrics", OPTION_TAKE, .take = take_metrics},
		{0, "raw", SET(raw)},
		{0, "stop-timeout", OPTION_TAKE, .take = take_stop_timeout},
		{0, "size", OPTION_TAKE, .take = take_size},
		{0, "uuid", OPTION_TAKE, .take = take_uuid}, /* mkrjfs's */
		{0, "xfs", OPTION_TAKE, .take = take_xfs},
		{0},
	},
};

/* Refuse options that do not go together, and all but one of COUNT operands. */
static enum options_verdict check(const struct rj_options *o, int count, char **operands)
{
	if (o->size_mb && !o->raw)
		return tool_bad(&tool, "--size is only for --raw");
	if ((o->xfs || o->uuid) && !o->raw)
		return tool_bad(&tool, "--%s is only for --raw", o->xfs ? "xfs" : "uuid");
	if (o->xfs && o->uuid)
		return tool_bad(&tool, "--xfs and --uuid do not go together");
	if (o->raw && o->until_unmount && !o->xfs)
		return tool_bad(&tool, "--raw and --until-unmount need --xfs=DEVICE");
	if (!count)
		return tool_bad(&tool, "which volume? DEVICE is missing");
	if (count > 1)
		return tool_bad(&tool, "unexpected argument %s", operands[1]);
	return OPTIONS_RUN;
}

enum options_verdict rj_options_parse(int argc, char **argv, struct rj_options *out)
{
	struct rj_options o = {.stop_timeout = RJ_STOP_TIMEOUT, .helper_fd = -1};
	enum options_verdict v = tool_parse(&tool, argc, argv, &o);

	if (v == OPTIONS_RUN)
		v = check(&o, argc - optind, argv + optind);
	if (v != OPTIONS_RUN)
		return v;
	/* the descriptor was the first program's */
	if (o.take_over)
		o.helper_fd = -1;
	o.device = argv[optind];
	*out = o;
	return OPTIONS_RUN;
}
