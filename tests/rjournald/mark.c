// SPDX-License-Identifier: GPL-2.0-or-later
/* mark DEVICE void|loss=block|loss=error|show: look at, or change, what the
 * superblock extension says. */
#include <stdio.h>
#include <string.h>

#include "ext4/volume.h"

int main(int argc, char **argv)
{
	struct rj_volume_patch patch = {.set_sbx = true, .primary_only = true};
	struct rj_volume *v = NULL;
	struct rj_error err = {0};
	bool show = argc == 3 && !strcmp(argv[2], "show");
	int rc;

	if (argc != 3)
		return 2;
	rc = rj_volume_open(
		argv[1], show ? 0 : RJ_VOLUME_WRITE, NULL, &v, &err);
	if (rc)
		goto out;
	patch.sbx = rj_volume_facts(v)->sbx;
	if (show)
		printf("epoch=%llu floor=%llu\n",
			(unsigned long long)patch.sbx.epoch,
			(unsigned long long)patch.sbx.floor);
	else if (!strcmp(argv[2], "void"))
		patch.sbx.incompat |= RJ_SBX_INCOMPAT_LOG_VOID;
	else if (!strcmp(argv[2], "loss=error"))
		patch.sbx.on_loss = RJ_LOSS_ERROR;
	else if (!strcmp(argv[2], "loss=block"))
		patch.sbx.on_loss = RJ_LOSS_BLOCK;
	if (!show)
		rc = rj_volume_patch(v, &patch, &err);
	if (rc)
		rj_volume_close(v, NULL);
	else
		rc = rj_volume_close(v, &err);
out:
	if (rc)
		fprintf(stderr, "mark: %s\n", err.msg);
	return rc ? 1 : 0;
}
