// SPDX-License-Identifier: LGPL-2.1-or-later
/* Look for what a device holds, before it is overwritten or taken for a damaged volume. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <blkid/blkid.h>

#include "ext4/journal.h"
#include "format/fallback-hdr.h"

int rj_check_no_fallback(int fd, const char *path, struct rj_error *err)
{
	uint8_t raw[RJ_FALLBACK_AREA] = {0}; /* a shorter file ends with zeros */
	char volume[RJ_UUID_TEXT] = "unknown";
	struct rj_fallback_header h;
	uint32_t at;

	if (pread(fd, raw, sizeof(raw), 0) < 0)
		return rj_fail_errno(err, errno, "%s: cannot read what is on it", path);
	if (!rj_fallback_is_here(raw))
		return 0;
	for (at = 0; at < RJ_FALLBACK_AREA; at += RJ_FALLBACK_ALIGN)
		if (!rj_fallback_header_decode(raw + at, &h, NULL))
			rj_uuid_text(h.volume_uuid, volume);
	return rj_fail(err, RJ_E_EXISTS,
		"%s: is the fallback of a volume (%s), and may have segments that are nowhere else: if they may go, dd if=/dev/zero of=%s bs=4096 count=2 removes it",
		path, volume, path);
}

/* What wipefs would find; its name into WHAT. More than one thing counts as one, too. */
static bool found(blkid_probe probe, char *what, size_t size)
{
	const char *name = NULL;
	int rc;

	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_enable_partitions(probe, 1);
	rc = blkid_do_safeprobe(probe);
	if (rc == 1)
		return false;
	if (rc || (blkid_probe_lookup_value(probe, "TYPE", &name, NULL) &&
			  blkid_probe_lookup_value(probe, "PTTYPE", &name, NULL)))
		name = "data of some kind";
	snprintf(what, size, "%s", name);
	return true;
}

bool rj_device_other_format(int fd, char *what, size_t size)
{
	blkid_probe probe = blkid_new_probe();
	bool other = probe && !blkid_probe_set_device(probe, fd, 0, 0) &&
		     found(probe, what, size) && strncmp(what, "ext", 3) != 0;

	blkid_free_probe(probe);
	return other;
}

int rj_check_blank(int fd, const char *path, struct rj_error *err)
{
	blkid_probe probe = blkid_new_probe();
	char what[64];
	int rc;

	if (!probe || blkid_probe_set_device(probe, fd, 0, 0))
		rc = rj_fail(err, RJ_E_IO, "%s: cannot be looked at by libblkid", path);
	else if (found(probe, what, sizeof(what)))
		rc = rj_fail(err, RJ_E_EXISTS,
			"%s: holds %s: if that may go, wipefs -a %s removes it", path, what, path);
	else
		rc = rj_check_no_fallback(fd, path, err);
	blkid_free_probe(probe);
	return rc;
}
