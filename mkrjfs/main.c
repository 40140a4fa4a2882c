// SPDX-License-Identifier: GPL-2.0-or-later
/* mkrjfs: mke2fs, and then a journal on another machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ext4/volume.h"
#include "journal/attach.h"
#include "mkrjfs/mke2fs.h"
#include "mkrjfs/options.h"
#include "mkrjfs/served.h"
#include "mkrjfs/xfs.h"
#include "os/fileio.h"
#include "util/log.h"

static void say_log(void *arg, enum rj_log_level level, const char *line)
{
	const bool *quiet = arg;

	if (level <= (*quiet ? RJ_LOG_WARNING : RJ_LOG_NOTICE))
		fprintf(stderr, "mkrjfs: %s\n", line);
}

static int complain(const struct rj_error *err)
{
	fprintf(stderr, "mkrjfs: %s\n", err->msg);
	return 1;
}

/* Nothing else will name it: the new filesystem has another UUID. */
static void tell_left(const struct options *o, const struct left *left)
{
	if (o->quiet || o->dry_run || !left->url[0])
		return;
	printf("The log of the filesystem before is left (rjlog rm --force %s %s/%s removes it)\n",
		left->uuid, left->url, left->uuid);
}

/* No journal of ours: mke2fs does it all. */
static int only_mke2fs(const struct options *o)
{
	struct rj_error err;
	struct left left;
	int status;

	if (check_served(o->device, o->force, &left, &err) || mke2fs_run(o, &status, &err))
		return complain(&err);
	if (!status)
		tell_left(o, &left);
	return status ? 1 : 0;
}

static void show_plan(const struct options *o, const struct mke2fs_plan *plan,
	uint32_t blocks)
{
	if (o->quiet)
		return;
	printf("%s", (char *)plan->output.data);
	printf("Remote journal: %u blocks (%llu MB) at %s\n", blocks,
		(unsigned long long)blocks * plan->block_size >> 20,
		o->journal.url);
	printf("It would be written, in this order:\n"
	       "\t%s: the filesystem, by mke2fs, without a journal\n"
	       "\t%s: a new log, with the empty journal in it\n"
	       "\t%s: where the journal is, into every superblock\n",
		o->device, o->journal.url, o->device);
}

static int attach(const struct options *o, const struct rj_sbx *seen, uint32_t blocks)
{
	const struct rj_volume_facts *f;
	struct rj_volume *v = NULL;
	char uuid[RJ_UUID_TEXT];
	struct rj_error err;

	if (!o->quiet) {
		printf("Attaching remote journal (%u blocks) at %s: ", blocks,
			o->journal.url);
		fflush(stdout);
	}
	if (rj_attach_remote(o->device, &o->journal, seen, &err)) {
		if (!o->quiet)
			printf("\n");
		fflush(stdout);
		fprintf(stderr,
			"mkrjfs: %s; the filesystem on %s is made, but has no "
			"journal: run mkrjfs again, or rjtune -J remote=%s "
			"%s\n",
			err.msg, o->device, o->journal.url, o->device);
		return 1;
	}
	if (o->quiet)
		return 0;
	/* read back: what the volume itself says now */
	if (rj_volume_open(o->device, 0, NULL, &v, &err)) {
		printf("\n");
		return complain(&err);
	}
	f = rj_volume_facts(v);
	printf("done\n");
	printf("Journal UUID: %s\n", rj_uuid_text(f->sbx.journal_uuid, uuid));
	printf("Journal size: %u blocks (%llu MB)\n", f->sbx.journal_blocks,
		(unsigned long long)f->sbx.journal_blocks * f->block_size >>
			20);
	rj_volume_close(v, NULL); /* opened for reading */
	return 0;
}

static int with_remote_journal(const struct options *o)
{
	struct mke2fs_plan plan = {0};
	struct rj_sbx seen = {0};
	struct rj_error err;
	struct left left;
	uint32_t blocks;
	int status, rc;

	/* Whatever can be refused is refused before mke2fs begins. */
	rc = check_served(o->device, o->force, &left, &err);
	if (!rc)
		rc = mke2fs_ask(o, &plan, &err);
	if (!rc)
		rc = rj_attach_check(&o->journal, o->force, &err);
	if (!rc)
		rc = rj_attach_blocks(&o->journal, plan.block_size, plan.blocks,
			&blocks, &err);
	if (!rc)
		rc = rj_attach_check_fallback(
			&o->journal, plan.block_size, blocks, &err);
	if (!rc && !o->dry_run)
		rc = rj_attach_race(&o->journal, &seen, &err);
	if (rc) {
		fprintf(stderr, "mkrjfs: %s; nothing was changed\n", err.msg);
		rc = 1;
		goto out;
	}
	if (o->dry_run) {
		show_plan(o, &plan, blocks);
		goto out;
	}
	if (mke2fs_run(o, &status, &err)) {
		rc = complain(&err);
		goto out;
	}
	/* it has said why itself */
	rc = status ? 1 : attach(o, &seen, blocks);
	if (!rc)
		tell_left(o, &left);
out:
	rj_buf_free(&plan.output);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o = {0};
	int status = 1;

	rj_fill_standard_fds();
	rj_log_set(say_log, &o.quiet);
	if (xfs_asked(argc, argv)) {
		status = xfs_make(argc, argv, &o.quiet);
		return fflush(stdout) || ferror(stdout) ? 1 : status;
	}
	switch (options_parse(&o, argc, argv)) {
	case VERDICT_RUN:
		status = o.journal.placement == RJ_PLACE_REMOTE
				 ? with_remote_journal(&o)
				 : only_mke2fs(&o);
		break;
	case VERDICT_DONE:
		status = 0;
		break;
	case VERDICT_BAD:
		break;
	}
	options_release(&o);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "mkrjfs: cannot write to standard output\n");
		status = 1;
	}
	return status;
}
