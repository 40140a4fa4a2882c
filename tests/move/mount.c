// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's opinion: mount a copy, read every byte, unmount. */
#include <stdio.h>

#include "judge.h"
#include "program.h"

int judge_mount(struct judge *j, const struct look *look)
{
	const struct disk *v = &j->w->disks[VOLUME], *d = &j->w->disks[DEVICE];
	bool external = look->placement == RJ_PLACE_DEVICE;
	char copy[PATH_MAX], device[PATH_MAX] = "";
	int rc;

	snprintf(copy, sizeof(copy), "%.4000s/mount-copy", j->w->dir);
	if (external)
		snprintf(device, sizeof(device), "%.4000s/mount-device",
			j->w->dir);
	if (program_write(copy, v->map, v->size) ||
		(external && program_write(device, d->map, d->size))) {
		snprintf(j->why, sizeof(j->why), "cannot write %.200s", copy);
		return -1;
	}
	j->mounts++;
	/* a mount namespace of its own: it goes when the shell does */
	rc = program_shell(j->w->dir, j->why, sizeof(j->why),
		"set -e; c='%s' d='%s' m='%s/mnt'; mkdir -p \"$m\"; j=; "
		"[ -z \"$d\" ] || j=$(losetup -f --show \"$d\"); "
		"trap '[ -z \"$j\" ] || losetup -d \"$j\"' EXIT; "
		"unshare -m sh -ec 'mount -o \"loop${3:+,journal_path=$3}\" \"$1\" "
		"\"$2\"; find \"$2\" -type f -exec cat {} + >/dev/null; "
		"umount \"$2\"' - \"$c\" \"$m\" \"$j\"",
		copy, device, j->w->dir);
	return rc ? -1 : 0;
}
