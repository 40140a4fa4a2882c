// SPDX-License-Identifier: GPL-2.0-or-later
/* -o: a word of the superblock, no journal is touched. */
#include <stdio.h>

#include "ext4/volume.h"
#include "rjtune.h"

static int write_words(const struct options *o, struct result *r)
{
	struct rj_error *err = &r->err;
	struct rj_volume_patch p = {.set_mount_opts = true};
	struct rj_volume *v = NULL;
	char line[256], words[160];
	int rc, rc2;

	rc = rj_volume_open(o->device, o->dry_run ? 0 : RJ_VOLUME_WRITE, NULL,
		&v, err);
	if (rc)
		return rc;
	p.mount_opts = rj_volume_facts(v)->mount_opts;
	rc = rj_move_check_settled(o->device, rj_volume_facts(v), &r->move, err);
	if (!rc)
		rc = rj_mount_opts_edit(&p.mount_opts, o->mount_words, err);
	if (!rc && p.mount_opts != rj_volume_facts(v)->mount_opts) {
		snprintf(line, sizeof(line),
			"write the superblocks: default mount options %s",
			rj_mount_opts_text(p.mount_opts, words, sizeof(words)));
		say_step((void *)o, line);
		if (!o->dry_run)
			rc = rj_volume_patch(v, &p, err);
	}
	rc2 = rj_volume_close(v, rc ? NULL : err);
	return rc ? rc : rc2;
}

void change_mount_words(const struct options *o, struct result *r)
{
	int rc = run_recovered(o, r, write_words);

	r->failed = rc != 0;
	r->status = move_status(&r->move, rc);
}
