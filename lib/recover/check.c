// SPDX-License-Identifier: LGPL-2.1-or-later
/* Is the volume sound: a quick look of our own, or e2fsck. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ext4/change/orphans.h"
#include "ext4/check.h"
#include "os/fileio.h"
#include "os/proc.h"
#include "recover/session.h"
#include "util/log.h"

#define STAND_IN_BLOCKS 4096

/*
 * e2fsck insists on seeing the external journal of a volume that has one. Give
 * it an empty one with the right UUIDs, in memory, through an inherited file
 * descriptor: nothing to clean up, and it cannot touch the real log.
 */
static int make_stand_in(struct rj_recovery *r, int *out, struct rj_error *err)
{
	uint32_t bs = r->facts.block_size;
	/* any size will do where the extension has none to tell */
	uint32_t blocks = r->report->placement == RJ_PLACE_REMOTE
				  ? r->facts.sbx.journal_blocks
				  : STAND_IN_BLOCKS;
	uint32_t tid = r->report->have_plan ? r->report->plan.next_tid : 1;
	uint8_t raw[RJ_JBD2_SB_BYTES];
	int fd, rc;

	fd = memfd_create("empty-journal", 0);
	if (fd < 0)
		return rj_fail_errno(err, errno, "cannot make a memory file");
	rc = ftruncate(fd, (off_t)blocks * bs)
		     ? rj_fail_errno(err, errno, "cannot size a memory file")
		     : 0;
	if (!rc) {
		rj_journal_device_super(raw, bs, blocks, r->facts.journal_uuid);
		rc = rj_pwrite_all(
			fd, raw, sizeof(raw), 1024, "empty journal", err);
	}
	if (!rc) {
		rj_jbd2_sb_format_external(raw, bs, blocks,
			r->facts.journal_uuid, r->facts.uuid, tid);
		rc = rj_pwrite_all(fd, raw, sizeof(raw),
			(uint64_t)rj_jbd2_device_sb_block(bs) * bs,
			"empty journal", err);
	}
	if (rc) {
		close(fd);
		return rc;
	}
	*out = fd;
	return 0;
}

/* Hand e2fsck's captured output to the log callback, line by line. */
static void log_lines(const struct rj_buf *out)
{
	const char *p = (const char *)out->data;
	const char *end = p + out->len, *nl;

	for (; p < end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl)
			nl = end;
		if (nl > p)
			rj_log(RJ_LOG_NOTICE, "e2fsck: %.*s", (int)(nl - p), p);
	}
}

int rj_recovery_e2fsck(struct rj_recovery *r, const char *const *args,
	bool capture, int *status, struct rj_error *err)
{
	struct rj_proc_result res = {0};
	struct rj_buf path = {0}, env = {0};
	struct rj_blkid_tab tab = {{0}};
	char journal[64], blkid_file[sizeof(tab.dir) + 32];
	const char *argv[20] = {0};
	bool internal = r->report->placement == RJ_PLACE_INTERNAL;
	int fd = -1, n = 0, rc;

	rc = rj_proc_find("e2fsck", &path, err);
	if (!rc && !internal)
		rc = make_stand_in(r, &fd, err);
	if (rc)
		goto out;
	snprintf(journal, sizeof(journal), "/proc/self/fd/%d", fd);
	/* without it e2fsck only takes longer, if all devices answer */
	if (r->report->placement == RJ_PLACE_REMOTE &&
		!rj_proc_find("env", &env, err) &&
		rj_blkid_tab_make(&tab, r->facts.journal_uuid)) {
		snprintf(blkid_file, sizeof(blkid_file), "BLKID_FILE=%s/tab",
			tab.dir);
		argv[n++] = (const char *)env.data;
		argv[n++] = blkid_file;
	}
	argv[n++] = (const char *)path.data;
	while (*args && n < 14)
		argv[n++] = *args++;
	if (!internal) {
		argv[n++] = "-j";
		argv[n++] = journal;
	}
	argv[n++] = "--";
	argv[n++] = r->device;
	rc = rj_proc_run(argv,
		capture ? RJ_PROC_CAPTURE | RJ_PROC_STDIN_NULL : 0, &res, err);
	if (rc)
		goto out;
	if (capture)
		log_lines(&res.out);
	if (WIFEXITED(res.status))
		*status = WEXITSTATUS(res.status);
	else
		rc = rj_fail(err, RJ_E_IO, "e2fsck was killed by signal %d",
			WTERMSIG(res.status));
out:
	if (fd >= 0)
		close(fd); /* memory of ours, nothing to lose */
	rj_blkid_tab_remove(&tab);
	rj_proc_release(&res);
	rj_buf_free(&path);
	rj_buf_free(&env);
	return rc;
}

int rj_recovery_judge(const struct rj_recovery *r, const char *command, int status,
	struct rj_error *err)
{
	if (!status)
		return 0;
	if (status & RJ_FSCK_UNCORRECTED)
		return rj_fail(err, RJ_E_CORRUPT, "%s: %s finds errors (status %d)", r->device,
			command, status);
	return rj_fail(err, RJ_E_IO, "%s: %s could not check it: %s (status %d)", r->device, command,
		status & RJ_FSCK_CANCELLED ? "it was cancelled"
		: status & RJ_FSCK_USAGE   ? "it does not know one of its options"
		: status & RJ_FSCK_ERROR   ? "an operational error"
		: status & RJ_FSCK_LIBRARY ? "a shared library is missing"
					   : "an unknown status",
		status);
}

/* e2fsck -p, with another option. */
static int preen(struct rj_recovery *r, const char *option, bool capture, int *status,
	struct rj_error *err)
{
	const char *undo = r->opts->undo_file;
	const char *const args[] = {"-p", option, undo ? "-z" : NULL, undo, NULL};
	int rc = rj_recovery_e2fsck(r, args, capture, status, err);

	return rc ? rc
		  : rj_recovery_judge(r, "e2fsck -p",
			    *status & ~(RJ_FSCK_CORRECTED | RJ_FSCK_REBOOT), err);
}

int rj_recovery_orphans(struct rj_recovery *r, struct rj_orphan_attrs *hidden,
	struct rj_error *err)
{
	const char *undo = r->opts->undo_file;
	int status, rc;

	/* e2fsck looks at them before it ends, without a check */
	rc = rj_volume_orphans(r->device, undo, false, hidden, err);
	r->report->orphans_left = rc == -RJ_E_REFUSED;
	if (!rc)
		rc = preen(r, "-Ejournal_only", true, &status, err);
	if (rc) {
		rj_fail_prefix(err, hidden ? "cannot release orphan inodes"
					   : "orphan inodes are left to the next mount");
		return rc;
	}
	rc = rj_volume_orphans(r->device, undo, true, hidden, err);
	if (rc)
		rj_fail_prefix(err, hidden ? "cannot clear the orphan file"
					   : "the orphan file is not cleared, run e2fsck -f");
	return rc;
}

int rj_recovery_patch(
	struct rj_recovery *r, const struct rj_volume_patch *p, struct rj_error *err)
{
	struct rj_volume *v = NULL;
	int rc, rc2;

	rc = rj_volume_open(r->device, RJ_VOLUME_WRITE, r->opts->undo_file, &v, err);
	if (!rc)
		rc = rj_volume_patch(v, p, err);
	rc2 = rj_volume_close(v, rc ? NULL : err);
	return rc ? rc : rc2;
}

void rj_recovery_damaged(struct rj_recovery *r)
{
	const struct rj_volume_patch p = {.set_error_flag = true, .primary_only = true};
	struct rj_error err;

	r->report->fsck_status |= RJ_FSCK_UNCORRECTED;
	if (rj_recovery_patch(r, &p, &err))
		rj_recovery_say(r, "the volume is damaged, and cannot be marked so: %s", err.msg);
}

static int check_progress(void *arg, uint64_t done, uint64_t total)
{
	struct rj_recovery *r = arg;

	if (!r->opts->progress)
		return 0;
	return r->opts->progress(r->opts->arg, RJ_PHASE_CHECK, done, total);
}

const char *rj_recovery_why_check(const struct rj_recovery *r)
{
	return r->facts.has_errors || r->facts.clean
		       ? "its error flag is set"
		       : "it was written to without its journal, and not unmounted (noload, or another program)";
}

/* What fsck does at boot. An orphan list e2fsck forgets here, and finds its inodes. */
static int check_flagged(struct rj_recovery *r, struct rj_error *err)
{
	int status = 0, rc;

	rj_recovery_say(r, "%s: checking the whole volume with e2fsck -p",
		rj_recovery_why_check(r));
	rc = preen(r, "-f", r->opts->quiet, &status, err);
	r->report->fsck_status |= status & (RJ_FSCK_CORRECTED | RJ_FSCK_REBOOT);
	return rc;
}

static bool replay_wrote(void *plan, uint64_t block)
{
	return rj_jbd2_plan_where(plan, block) != 0;
}

int rj_recovery_check(struct rj_recovery *r, struct rj_error *err)
{
	const char *const full[] = {"-fn", NULL};
	const struct rj_changed replayed = {replay_wrote, r->plan};
	/* releasing orphans frees blocks in any group */
	bool all = r->report->outcome != RJ_OUTCOME_REPLAYED || !r->plan ||
		   (r->orphans && !r->report->orphans_left);
	int status, rc;

	if (r->check_all && r->opts->verify != RJ_VERIFY_NONE)
		return check_flagged(r, err);
	switch (r->opts->verify) {
	case RJ_VERIFY_NONE:
		return 0;
	case RJ_VERIFY_QUICK:
		return rj_volume_check_quick(
			r->device, all ? NULL : &replayed, check_progress, r, err);
	case RJ_VERIFY_FULL:
		break;
	}
	if (r->report->orphans_left) {
		rj_recovery_say(r,
			"not checked with e2fsck -fn, which takes orphan inodes for damage: mount the volume once first");
		return 0;
	}
	rc = rj_recovery_e2fsck(r, full, true, &status, err);
	return rc ? rc : rj_recovery_judge(r, "e2fsck -fn", status, err);
}
