// SPDX-License-Identifier: GPL-2.0-or-later
#include "dead-daemon.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ext4/check.h"
#include "ext4/volume.h"
#include "os/mountinfo.h"
#include "os/rundir.h"
#include "recover/saved.h"
#include "tools/json.h"
#include "volume.h"

#define WHY_BYTES (PATH_MAX + RJ_ERROR_BYTES)

/* DEVICE could not be opened as a volume: has the volume left it? */
static bool has_left(const char *device, const struct rj_error *err)
{
	bool absent = err->sys_errno == ENOENT || err->sys_errno == ENXIO;

	return (absent || err->code == RJ_E_INVAL) &&
	       !rj_mountinfo_mounted(device);
}

/* What the volume on DEVICE needs, in words. False: nothing. */
static bool look_at(const char *device, const uint8_t uuid[RJ_UUID_BYTES],
	char why[WHY_BYTES], const char **next)
{
	struct rj_volume_facts f = {0};
	struct rj_volume *v = NULL;
	char dir[PATH_MAX], saved[RJ_SAVE_DIR_BYTES + 1] = "";
	struct rj_error err = {0};
	dev_t dev;
	bool other, mounted;
	enum rj_verdict_kind kind = RJ_VERDICT_CLEAN;
	int rc = rj_volume_open(device, RJ_VOLUME_SALVAGE, NULL, &v, &err);

	if (!rc) {
		f = *rj_volume_facts(v);
		kind = rj_volume_verdict(&f);
		rc = rj_volume_close(v, &err);
	}
	mounted = rj_mountinfo_of_volume(device, dir, sizeof(dir), &dev);
	/* another one is told of under its own UUID, if a daemon serves it */
	other = memcmp(f.uuid, uuid, RJ_UUID_BYTES) != 0;
	if (!rc && (!volume_is_remote(&f) ||
			   (other && (!mounted || rj_rundir_served(f.uuid)))))
		return false;
	if (mounted) {
		snprintf(why, WHY_BYTES, "it is mounted on %s without its journal",
			dir);
		*next = "unmount it, then rjrecover -p, or mount it again";
	} else if (rc) {
		snprintf(why, WHY_BYTES, "%s", err.msg);
		*next = "see rjrecover(8), then mount it again";
		return !has_left(device, &err);
	} else if (kind != RJ_VERDICT_CLEAN && kind != RJ_VERDICT_CHECK) {
		snprintf(why, WHY_BYTES, "it needs recovery%s%s",
			rj_recover_saved(&f, saved) ? "; its journal was saved to " : "",
			saved);
		*next = saved[0] ? "rjrecover -p, or mount it again, when its store is there; else rjrecover -p --from= with that directory"
				 : "rjrecover -p, or mount it again";
	} else {
		return false;
	}
	return true;
}

/* The disk may have come back under another name, which udev knows. DEVICE gets that. */
static bool has_moved(const uint8_t uuid[RJ_UUID_BYTES], char device[PATH_MAX])
{
	char link[PATH_MAX], text[RJ_UUID_TEXT], now[PATH_MAX];
	bool absent = access(device, F_OK) != 0;

	snprintf(link, sizeof(link), "/dev/disk/by-uuid/%s", rj_uuid_text(uuid, text));
	if (!absent || !realpath(link, now))
		return false;
	memcpy(device, now, sizeof(now));
	return true;
}

struct json_object *dead_status(const uint8_t uuid[RJ_UUID_BYTES])
{
	char device[PATH_MAX], why[WHY_BYTES], text[RJ_UUID_TEXT];
	struct json_object *o = NULL;
	const char *next;
	long pid;

	if (rj_rundir_served(uuid) ||
		!rj_rundir_left(uuid, &pid, device, sizeof(device)) ||
		(!look_at(device, uuid, why, &next) &&
			!(has_moved(uuid, device) &&
				look_at(device, uuid, why, &next))))
		return NULL;
	o = json_object_new_object();
	if (!o)
		return NULL;
	add_text(o, "state", "dead");
	add_text(o, "mode", "dead");
	add_text(o, "why", why);
	add_text(o, "next", next);
	add_text(o, "device", device);
	add_text(o, "volume_uuid", rj_uuid_text(uuid, text));
	add_i64(o, "pid", pid);
	return o;
}

static const char *text_of(struct json_object *o, const char *key)
{
	return json_object_get_string(json_object_object_get(o, key));
}

void dead_print(struct json_object *o)
{
	printf("%s: dead, rjournald (process %s) ended without stopping\n",
		text_of(o, "device"), text_of(o, "pid"));
	printf("  mode          dead\n");
	printf("  because       %s\n", text_of(o, "why"));
	printf("  next          %s\n", text_of(o, "next"));
	printf("  volume uuid   %s\n", text_of(o, "volume_uuid"));
}
