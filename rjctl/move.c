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

/* The last part of the URL that VOLUME's log is at now, with its slash, appended to LINE. */
static int append_name(
	const uint8_t volume[RJ_UUID_BYTES], struct rj_buf *line, struct rj_error *err)
{
	struct json_object *status;
	const char *url, *name;
	int rc = daemon_status(volume, STATUS_MS, &status, err);

	if (rc)
		return rc;
	url = json_object_get_string(json_object_object_get(status, "store"));
	name = url ? strrchr(url, '/') : NULL;
	rc = name && rj_buf_printf(line, "%s", name + (line->data[line->len - 1] == '/'))
		     ? rj_fail(err, RJ_E_NOMEM, "out of memory")
		     : 0;
	json_object_put(status);
	return rc;
}

/* The superblock that is to name the new place may wait in the kernel for a commit, which waits for
 * the move: have it written before. Not of a volume that waits for its store. */
static void sync_before(const uint8_t volume[RJ_UUID_BYTES])
{
	char device[PATH_MAX] = "", dir[PATH_MAX];
	struct json_object *status = NULL;
	bool online;
	dev_t dev;
	long pid;
	int fd;

	if (daemon_status(volume, STATUS_MS, &status, NULL))
		return;
	online = !strcmp("online",
		json_object_get_string(json_object_object_get(status, "mode")) ?: "");
	json_object_put(status);
	if (!online || !rj_rundir_left(volume, &pid, device, sizeof(device)) ||
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
	if (rj_buf_printf(line, "%s%s%s", o->command, o->to ? " " : "", o->to ? o->to : ""))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	sync_before(volume);
	return o->to && o->all ? append_name(volume, line, err) : 0;
}

/* What the volume waits for, if the move takes long. */
static void say_waiting(const uint8_t volume[RJ_UUID_BYTES])
{
	struct json_object *status;
	const char *why = NULL;

	if (!daemon_status(volume, STATUS_MS, &status, NULL))
		why = json_object_get_string(json_object_object_get(status, "why"));
	fprintf(stderr, "rjctl: the move is still under way%s%s; it goes on without rjctl, too\n",
		why ? ": " : "", why ? why : "");
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
				"rjournald has ended before the log was moved; see the system's log");
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
