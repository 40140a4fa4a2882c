// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "ext4/volume.h"
#include "os/mountinfo.h"
#include "os/rundir.h"

int volume_uuid(
	const char *volume, uint8_t uuid[RJ_UUID_BYTES], struct rj_error *err)
{
	struct rj_volume *v = NULL;
	char source[4096];
	struct stat st;
	int rc;

	if (stat(volume, &st) == 0 && S_ISDIR(st.st_mode)) {
		if (!rj_mountinfo_source(volume, source, sizeof(source)))
			return rj_fail(err, RJ_E_NOTFOUND,
				"%s: nothing is mounted there", volume);
		volume = source;
	}
	rc = rj_volume_open(volume, 0, NULL, &v, err);
	if (rc)
		return rc;
	memcpy(uuid, rj_volume_facts(v)->uuid, RJ_UUID_BYTES);
	return rj_volume_close(v, err);
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

bool volume_held(
	const uint8_t uuid[RJ_UUID_BYTES], struct rj_holder *out)
{
	char device[PATH_MAX];
	long pid;

	return rj_rundir_left(uuid, &pid, device, sizeof(device)) &&
	       rj_holder_find(device, out);
}
