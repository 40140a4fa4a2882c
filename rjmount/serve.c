// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "os/proc.h"
#include "os/rundir.h"
#include "tools/start/said.h"
#include "tools/start/sibling.h"

#define ARGS_MAX 24

/* Of all that rjournald said, the line with the device; the rest is shown. */
static bool take_answer(char *text, char *loop, size_t size)
{
	bool got = false;
	char *line, *save = NULL;

	for (line = strtok_r(text, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "/dev/", 5) == 0 && !strchr(line, ' ')) {
			snprintf(loop, size, "%s", line);
			got = true;
		} else {
			fprintf(stderr, "%s\n", line);
		}
	}
	return got;
}

/* rjournald ended, and this is what it said. */
static int not_served(const char *device, char *text, struct rj_error *err)
{
	const char *why = rj_said(text, "rjournald", device);

	return why ? rj_fail(err, RJ_E_IO, "%s: not mounted: %s", device, why)
		   : rj_fail(err, RJ_E_IO,
			     "%s: not mounted, since rjournald could not serve its journal",
			     device);
}

/*
 * Begin ARGV with a command that runs the rest of it in a scope. The scope has
 * no order against shutdown.target and is not killed: it ends with the daemon,
 * that is after the unmount. Returns the number of words, 0 without systemd.
 */
static unsigned in_scope(const char **argv, struct rj_buf *program,
	struct rj_buf *name, const char *uuid)
{
	static const char *const words[] = {"--scope", "--quiet", "--collect",
		"--slice=system.slice", "--property=DefaultDependencies=no",
		"--property=RefuseManualStop=yes", "--property=SendSIGKILL=no"};
	struct rj_error err;
	unsigned n = 0, i;

	/* sd_booted(3) */
	if (access("/run/systemd/system", F_OK) ||
		rj_proc_find("systemd-run", program, &err) ||
		rj_buf_printf(name, "--unit=rjournald-%s-%d.scope", uuid,
			(int)getpid()))
		return 0;
	argv[n++] = (char *)program->data;
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		argv[n++] = words[i];
	argv[n++] = (char *)name->data;
	argv[n++] = "--";
	return n;
}

/* Did systemd-run fail before rjournald ran? */
static bool no_scope(const struct rj_proc_result *r)
{
	return r->status && !strstr((char *)r->out.data, "rjournald: ");
}

/*
 * A pipe whose end for writing this process holds, and no child of it, until it
 * ends itself. Returns the end for reading, which each child inherits.
 */
static int open_lifeline(struct rj_error *err)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) == -1)
		return rj_fail_errno(err, errno, "pipe");
	if (fcntl(fd[0], F_SETFD, 0) == -1)
		return rj_fail_errno(err, errno, "pipe");
	return fd[0];
}

/* An XFS volume: its log is named to the daemon, and the volume as it is when that has
 * left its directory. Returns the operand; NULL: out of memory. */
static const char *add_xfs(const struct rj_mount_options *o, const char **argv, unsigned *n,
	struct rj_buf *word)
{
	char *device = realpath(o->device, NULL);
	int rc = rj_buf_printf(word, "--xfs=%s", device ? device : o->device);

	free(device);
	if (rc)
		return NULL;
	argv[(*n)++] = "--raw";
	argv[(*n)++] = (char *)word->data;
	return (char *)o->log_url.data;
}

/* What the mount says to the daemon. Space in ARGV: three words. */
static int add_options(const struct rj_mount_options *o, int lifeline,
	const char **argv, unsigned *n, struct rj_buf words[3])
{
	struct rj_buf *helper = &words[0], *timeout = &words[1];
	struct rj_buf *metrics = &words[2];

	if (rj_buf_printf(helper, "--mount-helper=%d", lifeline))
		return -RJ_E_NOMEM;
	argv[(*n)++] = (char *)helper->data;
	if (o->stop_timeout) {
		if (rj_buf_printf(timeout, "--stop-timeout=%u", o->stop_timeout))
			return -RJ_E_NOMEM;
		argv[(*n)++] = (char *)timeout->data;
	}
	if (o->metrics.len) {
		if (rj_buf_printf(metrics, "--metrics=%s", (char *)o->metrics.data))
			return -RJ_E_NOMEM;
		argv[(*n)++] = (char *)metrics->data;
	}
	return 0;
}

int rj_serve_until_unmount(const struct rj_mount_options *o,
	const uint8_t uuid[RJ_UUID_BYTES], char *loop, size_t size,
	struct rj_error *err)
{
	const char *argv[ARGS_MAX], *const *daemon;
	struct rj_buf path = {0}, run = {0}, name = {0};
	struct rj_buf words[4] = {0};
	const char *what = o->device;
	struct rj_proc_result r = {0};
	char text[RJ_UUID_TEXT];
	int lifeline = open_lifeline(err), rc;
	unsigned n;

	rj_uuid_text(uuid, text);
	n = in_scope(argv, &run, &name, text);
	daemon = argv + n;
	rc = lifeline < 0 ? lifeline : rj_sibling_find("rjournald", &path, err);
	if (!rc) {
		argv[n++] = (char *)path.data;
		argv[n++] = "--until-unmount";
		argv[n++] = "-q";
		if (add_options(o, lifeline, argv, &n, words))
			rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	if (!rc && o->log_url.len) {
		what = add_xfs(o, argv, &n, &words[3]);
		if (!what)
			rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	if (!rc) {
		argv[n++] = "--";
		argv[n++] = what;
		argv[n] = NULL;
		rc = rj_proc_run(
			argv, RJ_PROC_CAPTURE | RJ_PROC_STDIN_NULL, &r, err);
	}
	if (!rc && daemon != argv && no_scope(&r)) {
		fputs((char *)r.out.data, stderr);
		rj_proc_release(&r);
		rc = rj_proc_run(
			daemon, RJ_PROC_CAPTURE | RJ_PROC_STDIN_NULL, &r, err);
	}
	if (!rc && (r.status || !take_answer((char *)r.out.data, loop, size)))
		rc = rj_fail_cause(not_served(o->device, (char *)r.out.data, err),
			rj_proc_exit_status(&r) == RJ_SERVE_RECOVER ? RJ_CAUSE_RECOVER
								   : RJ_CAUSE_CODE,
			err);
	rj_proc_release(&r);
	for (n = 0; n < 4; n++)
		rj_buf_free(&words[n]);
	if (lifeline >= 0)
		close(lifeline);
	rj_buf_free(&name);
	rj_buf_free(&run);
	rj_buf_free(&path);
	return rc;
}
