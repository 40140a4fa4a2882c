// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the volume that an argument of rjctl means, and the volumes served here. */
#include "volume.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ext4/volume.h"
#include "os/mountinfo.h"
#include "os/rundir.h"
#include "tools/start/device.h"
#include "xfs/xfs.h"

bool volume_is_remote(const struct rj_volume_facts *f)
{
	return f->has_sbx ? f->sbx.placement == RJ_PLACE_REMOTE
			  : f->sbx_error.code != RJ_E_NOTRJ;
}

/* No daemon is to be expected for VOLUME. */
static int not_remote(const char *volume, const struct rj_volume_facts *f,
	struct rj_error *err)
{
	return rj_fail(err, RJ_E_INVAL,
		"%s: no rjournald serves it, as %s", volume,
		!f->has_journal	     ? "it has no journal"
		: f->journal_inode ? "its journal is internal"
				     : "its journal is on a device of this machine");
}

int volume_uuid(
	const char *volume, uint8_t uuid[RJ_UUID_BYTES], struct rj_error *err)
{
	const struct rj_volume_facts *f;
	struct rj_volume *v = NULL;
	char source[4096];
	struct stat st;
	int rc = tool_device(volume, &volume, err), rc2;

	if (rc)
		return rc;
	if (stat(volume, &st) == 0 && S_ISDIR(st.st_mode)) {
		if (!rj_mountinfo_source(volume, source, sizeof(source)))
			return rj_fail(err, RJ_E_NOTFOUND,
				"%s: nothing is mounted there", volume);
		volume = source;
	}
	if (rj_xfs_uuid(volume, uuid)) /* where its log is, it does not know */
		return rj_rundir_served(uuid)
			       ? 0
			       : rj_fail(err, RJ_E_INVAL,
					 "%s: no rjournald serves the log of this XFS volume",
					 volume);
	rc = rj_volume_open(volume, 0, NULL, &v, err);
	if (rc)
		return rc;
	f = rj_volume_facts(v);
	memcpy(uuid, f->uuid, RJ_UUID_BYTES);
	if (!rj_rundir_of(volume, uuid, uuid) && !volume_is_remote(f))
		rc = not_remote(volume, f, err);
	rc2 = rj_volume_close(v, rc ? NULL : err);
	return rc ? rc : rc2;
}

void volumes_here(void (*each)(void *arg, const uint8_t uuid[RJ_UUID_BYTES]),
	void *arg)
{
	DIR *dir = opendir(rj_rundir_root());
	uint8_t uuid[RJ_UUID_BYTES];
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (rj_uuid_parse(e->d_name, uuid))
			each(arg, uuid);
	if (dir)
		closedir(dir);
}

int volumes_none(struct rj_error *err)
{
	return rj_fail(err, RJ_E_NOTFOUND, "%s",
		geteuid() ? "only root can ask rjournald" : "no rjournald is running");
}

bool volume_held(
	const uint8_t uuid[RJ_UUID_BYTES], struct rj_holder *out)
{
	char device[PATH_MAX];
	long pid;

	return rj_rundir_left(uuid, &pid, device, sizeof(device)) &&
	       rj_holder_find(device, out);
}
