// SPDX-License-Identifier: GPL-2.0-or-later
#include "mkrjfs/served.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ext4/journal.h"
#include "ext4/volume.h"
#include "os/rundir.h"
#include "xfs/xfs.h"

/* What is not there, or cannot be read, is left to mke2fs. */
static int check_fallback(const char *device, struct rj_error *err)
{
	int fd = open(device, O_RDONLY | O_NONBLOCK | O_CLOEXEC), rc;

	if (fd < 0)
		return 0;
	rc = rj_check_no_fallback(fd, device, err);
	close(fd); /* only read */
	return rc == -RJ_E_EXISTS ? rj_fail_suffix(err, "; -F overwrites it") : 0;
}

/* The daemon does not have the device open exclusively. */
int check_served(const char *device, bool force, struct left *left, struct rj_error *err)
{
	const struct rj_volume_facts *f;
	struct rj_volume *v = NULL;
	uint8_t uuid[RJ_UUID_BYTES];
	bool served;

	left->url[0] = '\0';
	if (!force && check_fallback(device, err))
		return -(int)err->code;
	if (rj_xfs_uuid(device, uuid)) {
		served = rj_rundir_of(device, uuid, NULL);
	} else if (rj_volume_open(device, 0, NULL, &v, NULL)) {
		return 0; /* nothing there that could be served */
	} else {
		f = rj_volume_facts(v);
		served = rj_rundir_of(device, f->uuid, NULL);
		if (f->has_sbx && f->sbx.placement == RJ_PLACE_REMOTE) {
			memcpy(left->url, f->sbx.url, sizeof(left->url));
			rj_uuid_text(f->sbx.journal_uuid, left->uuid);
		}
		rj_volume_close(v, NULL);
	}
	if (!served)
		return 0;
	return rj_fail(err, RJ_E_BUSY,
		"%s: an rjournald serves the journal of the filesystem that is there; 'rjctl stop %s' ends it",
		device, device);
}
