// SPDX-License-Identifier: GPL-2.0-or-later
/* The steps of one command, in their order. */
#include "ext4/journal.h"
#include "rjtune.h"

void change(const struct options *o, struct result *r)
{
	/* which opening for writing finds out in the run itself */
	if (o->dry_run && rj_journal_device_unused(o->device, &r->err)) {
		r->failed = true;
		r->status = move_status(NULL, -(int)r->err.code);
	}
	if (o->resume && !r->failed)
		change_resume(o, r);
	/* in the order of how much they change; the first failure ends it */
	if (o->mount_words && !r->failed)
		change_mount_words(o, r);
	if (o->uuid_given && !r->failed)
		change_uuid(o, r);
	if (o->journal_given && !r->failed)
		change_journal(o, r);
}
