// SPDX-License-Identifier: GPL-2.0-or-later
/* Ask for a move of a log, and wait until its daemon says how that ended. */
#include "move.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/mountinfo.h"
#include "os/rundir.h"
#include "tools/ask-daemon.h"
#include "util/environ.h"

#define STATUS_MS 5000
#define TICK_NS	  20000000LL
#define SAY_NS	  10000000000LL

static const char *word(struct json_object *status, const char *name)
{
	const char *text = json_object_get_string(json_object_object_get(status, name));

	return text ? text : "";
}

/* Append to LINE the last part of the URL that the log is at by STATUS, with its slash. */
static int append_name(struct json_object *status, struct rj_buf *line, struct rj_error *err)
{
	const char *name = strrchr(word(status, "store"), '/');

	return name && rj_buf_printf(line, "%s", name + (line->data[line->len - 1] == '/'))
		       ? rj_fail(err, RJ_E_NOMEM, "out of memory")
		       : 0;
}

/* The superblock that is to name the new place may wait in the kernel for a commit, which waits for
 * the move: have it written before. Not of a volume that waits for its store. */
static void sync_before(const uint8_t volume[RJ_UUID_BYTES], struct json_object *status)
{
	char device[PATH_MAX] = "", dir[PATH_MAX];
	dev_t dev;
	long pid;
	int fd;

	if (strcmp(word(status, "mode"), "online") != 0 ||
		!rj_rundir_left(volume, &pid, device, sizeof(device)) ||
		!rj_mountinfo_of_volume(device, dir, sizeof(dir), &dev))
		return;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		return;
	syncfs(fd); /* if it fails, the move says why */
	close(fd);
}

int move_request(const struct rj_ctl_options *o, const uint8_t volume[RJ_UUID_BYTES],
	struct rj_buf *line, struct rj_error *err)
{
	struct json_object *status;
	int rc;

	if (rj_buf_printf(line, "%s%s%s", o->command, o->to ? " " : "", o->to ? o->to : ""))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (!o->to)
		return 0;
	rc = daemon_status(volume, STATUS_MS, &status, err);
	sync_before(volume, status);
	if (!rc && o->all)
		rc = append_name(status, line, err);
	json_object_put(status);
	return o->all ? rc : 0;
}

/* What the volume waits for, if the move takes long. */
static void say_waiting(const uint8_t volume[RJ_UUID_BYTES])
{
	struct json_object *status;
	const char *why;

	daemon_status(volume, STATUS_MS, &status, NULL);
	why = word(status, "why");
	fprintf(stderr, "rjctl: the move is still under way%s%s; it goes on without rjctl, too\n",
		*why ? ": " : "", why);
	json_object_put(status);
}

int move_wait(const uint8_t volume[RJ_UUID_BYTES], struct rj_error *err)
{
	int64_t say_at = rj_monotonic_ns() + SAY_NS;
	char path[RJ_RUNDIR_PATH], why[RJ_ERROR_BYTES] = "";
	int rc = rj_rundir_path(volume, "moved", path, err);
	bool said = false;
	FILE *f;

	if (rc)
		return rc;
	while (!(f = fopen(path, "re"))) {
		if (!rj_rundir_served(volume))
			return rj_fail(err, RJ_E_NOTFOUND,
				"rjournald ended before the log was moved; see the system's log");
		if (!said && rj_monotonic_ns() > say_at) {
			say_waiting(volume);
			said = true;
		}
		rj_sleep_ns(TICK_NS);
	}
	if (!fgets(why, sizeof(why), f))
		snprintf(why, sizeof(why), "%s: cannot be read", path);
	fclose(f);
	unlink(path);
	return strcmp(why, "ok") ? rj_fail(err, RJ_E_REFUSED, "%s", why) : 0;
}
