// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/start/raw-daemon.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "os/proc.h"
#include "os/rundir.h"
#include "tools/start/said.h"
#include "tools/start/sibling.h"
#include "util/environ.h"

#define ASK_MS	  5000
#define STOP_NS	  120000000000LL
#define STOP_TICK 20000000LL

/* The last line of what the daemon said is the device's name. */
static bool take_device(char *text, char loop[64])
{
	char *line;
	size_t len = strlen(text);

	while (len && text[len - 1] == '\n')
		text[--len] = 0;
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	if (strncmp(line, "/dev/", 5) != 0 || strlen(line) >= 64)
		return false;
	strcpy(loop, line);
	*line = 0;
	fputs(text, stderr);
	return true;
}

int raw_daemon_start(const char *const words[2], const char *url, char loop[64],
	struct rj_error *err)
{
	const char *argv[8], *why;
	struct rj_proc_result r = {0};
	struct rj_buf path = {0};
	int rc = rj_sibling_find("rjournald", &path, err);
	unsigned n = 0, i;

	if (!rc) {
		argv[n++] = (char *)path.data;
		argv[n++] = "-q";
		argv[n++] = "--raw";
		for (i = 0; i < 2 && words[i]; i++)
			argv[n++] = words[i];
		argv[n++] = "--";
		argv[n++] = url;
		argv[n] = NULL;
		fflush(NULL);
		rc = rj_proc_run(argv, RJ_PROC_CAPTURE | RJ_PROC_STDIN_NULL, &r, err);
	}
	if (!rc && (r.status || !take_device((char *)r.out.data, loop))) {
		why = rj_said((char *)r.out.data, "rjournald", "");
		rc = rj_fail(err, RJ_E_IO, "%s",
			why ? why : "rjournald could not serve the log");
	}
	rj_proc_release(&r);
	rj_buf_free(&path);
	return rc;
}

int raw_daemon_stop(const uint8_t uuid[RJ_UUID_BYTES], const char *device,
	struct rj_error *err)
{
	int64_t end = rj_monotonic_ns() + STOP_NS, asked = 0;
	struct rj_buf answer = {0};

	while (rj_rundir_served(uuid)) {
		/* until it obeys: a device that udev looks at counts as in use */
		if (!asked && !rj_rundir_ask(uuid, "stop", ASK_MS, &answer, NULL))
			asked = !strncmp((char *)answer.data, "ok", 2);
		answer.len = 0;
		if (rj_monotonic_ns() > end) {
			rj_buf_free(&answer);
			return rj_fail(err, RJ_E_BUSY,
				"%s: rjournald still serves its log; see 'rjctl status'",
				device);
		}
		rj_sleep_ns(STOP_TICK);
	}
	rj_buf_free(&answer);
	return 0;
}
