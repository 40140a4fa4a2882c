// SPDX-License-Identifier: GPL-2.0-or-later
#include "xfs.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/floor/floor-all.h"
#include "log/log.h"
#include "log/raw-log.h"
#include "log/sealing.h"
#include "os/proc.h"
#include "os/rundir.h"
#include "tools/start/log-url.h"
#include "tools/start/raw-daemon.h"
#include "xfs/xfs.h"

struct job {
	const struct options *o;
	const char *url;
	struct rj_xfs_facts facts;
	struct rj_log_summary sum;
	struct rj_xfs_log log;
};

/* ---- the log, read and checked; nothing is changed ---- */

static int read_log(struct job *j, struct rj_store *store, const struct rj_log_id *id,
	struct rj_error *err)
{
	struct rj_raw_reading r = {0};
	struct rj_floor_answer answer;
	struct rj_floors floors;
	struct rj_log_read_opts read = {
		.seen = &floors.seen,
		.seen_by = floors.by,
		.seen_advice = RJ_XFS_LOST,
	};
	char uuid[RJ_UUID_TEXT];
	int rc;

	rj_floors_ask(&floors, j->o->device, true, j->url, id, 0, 0, &answer);
	rc = rj_log_read(store, id, &read, rj_raw_take, &r, &j->sum, err);
	if (rc == -RJ_E_NOTFOUND || (!rc && !r.ring))
		rc = rj_fail(err, RJ_E_NOTFOUND,
			"%s: there is no log of this volume (%s) at %s; " RJ_XFS_LOST,
			j->o->device, rj_uuid_text(id->journal_uuid, uuid), j->url);
	else if (!rc)
		rc = rj_xfs_log_check(j->o->device, &j->facts, j->url, r.ring->data,
			(uint64_t)r.ring->blocks * r.ring->block_size, &j->log, err);
	rj_ring_free(r.ring);
	return rc;
}

static int look_at_log(struct job *j, struct rj_error *err)
{
	struct rj_log_sealing sealing = {0};
	struct rj_store *store = NULL;
	struct rj_log_id id = {0};
	int rc = rj_log_sealing_load(j->url, NULL, NULL, &sealing, err);

	if (!rc)
		rc = rj_store_open(j->url, NULL, &store, err);
	if (!rc) {
		memcpy(id.volume_uuid, j->facts.uuid, RJ_UUID_BYTES);
		memcpy(id.journal_uuid, j->facts.uuid, RJ_UUID_BYTES);
		rj_log_sealing_use(&sealing, &id);
		rc = read_log(j, store, &id, err);
	}
	rj_store_close(store);
	rj_log_sealing_free(&sealing);
	return rc;
}

/* ---- the kernel's replay ---- */

/* In a mount namespace of its own, which keeps no mount that others end, over a directory that
 * is there; what is mounted ends with this process at the latest. Returns an errno. */
static int mount_once(const char *device, const char *loop)
{
	const char *dir = rj_rundir_root();
	char words[96];

	snprintf(words, sizeof(words), "logdev=%s", loop);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) ||
		mount(device, dir, "xfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, words))
		return errno;
	return umount2(dir, 0) ? errno : 0;
}

static int replay(const struct job *j, const char *loop, struct rj_error *err)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(mount_once(j->o->device, loop));
	while (pid != -1 && waitpid(pid, &status, 0) != pid)
		if (errno != EINTR) /* SIGINT waits until it is done */
			pid = -1;
	if (pid == -1)
		return rj_fail_errno(err, errno, "%s: fork", j->o->device);
	if (status)
		return rj_fail(err, RJ_E_IO,
			"%s: the kernel does not replay its log: %s; the kernel's log may say more",
			j->o->device,
			WIFEXITED(status) ? strerror(WEXITSTATUS(status)) : "killed");
	return 0;
}

/* xfs_repair -n. 0, or -RJ_E_CORRUPT: it finds errors. */
static int check_whole(const struct job *j, const char *loop, struct rj_error *err)
{
	const char *argv[] = {NULL, "-n", "-l", loop, j->o->device, NULL};
	struct rj_proc_result r = {0};
	struct rj_buf path = {0};
	int rc = rj_proc_find("xfs_repair", &path, err);

	argv[0] = (const char *)path.data;
	if (!rc)
		rc = rj_proc_run(argv, RJ_PROC_CAPTURE | RJ_PROC_STDIN_NULL, &r, err);
	if (!rc && r.status) {
		fputs((char *)r.out.data, stderr);
		rc = rj_fail(err, RJ_E_CORRUPT, "%s: xfs_repair -n finds errors", j->o->device);
	}
	rj_proc_release(&r);
	rj_buf_free(&path);
	return rc;
}

static int recover(struct job *j, struct rj_error *err)
{
	bool whole = j->o->verify == RJ_VERIFY_FULL;
	char *device = realpath(j->o->device, NULL), loop[64];
	struct rj_buf word = {0};
	struct rj_error e;
	int rc;

	if (!device || rj_buf_printf(&word, "--xfs=%s", device)) {
		rc = rj_fail(err, RJ_E_NOMEM, "%s: out of memory", j->o->device);
	} else {
		rc = raw_daemon_start((const char *const[2]){(char *)word.data}, j->url,
			loop, err);
		if (!rc) {
			rc = replay(j, loop, err);
			if (!rc && whole)
				rc = check_whole(j, loop, err);
			if (raw_daemon_stop(j->facts.uuid, j->o->device, &e) && !rc)
				rc = rj_fail(err, e.code, "%s", e.msg);
		}
	}
	rj_buf_free(&word);
	free(device);
	return rc;
}

static void say(const struct job *j, const char *what)
{
	if (j->o->quiet)
		return;
	printf("%s: XFS, log at %s: %llu segments, ends at %u:%u; %s\n", j->o->device, j->url,
		(unsigned long long)j->sum.segments, (uint32_t)(j->log.newest_lsn >> 32),
		(uint32_t)j->log.newest_lsn, what);
}

static int check_options(const struct options *o, struct rj_error *err)
{
	if (o->journal_device[0] || o->keyfile[0])
		return rj_fail(err, RJ_E_INVAL,
			"%s: of an XFS volume only -J remote=URL makes sense", o->device);
	if (o->json || o->undo_file || o->accept_loss)
		return rj_fail(err, RJ_E_INVAL, "%s: %s is not for XFS volumes; see rjrecover(8)",
			o->device,
			o->json		 ? "--json"
			: o->accept_loss ? "--accept-loss"
					 : "-z");
	return 0;
}

int xfs_recover(const struct options *o, int *status, struct rj_error *err)
{
	struct job j = {.o = o, .url = o->url};
	struct rj_buf url = {0};
	int rc = check_options(o, err);

	*status = rc ? RJ_FSCK_USAGE : RJ_FSCK_ERROR;
	if (!rc)
		rc = rj_xfs_look(o->device, &j.facts, err);
	if (!rc)
		rc = rj_xfs_check(o->device, &j.facts, err);
	if (!rc && !o->url[0]) {
		rc = log_url_of(o->device, &url, err);
		j.url = (char *)url.data;
	}
	if (!rc && !o->dry_run)
		rc = rj_xfs_check_unused(o->device, err);
	if (!rc)
		rc = look_at_log(&j, err);
	if (!rc && o->dry_run) {
		say(&j, j.log.closed ? "clean" : "the kernel will replay it; nothing was changed (-n)");
	} else if (!rc && j.log.closed && !o->force && o->verify != RJ_VERIFY_FULL) {
		say(&j, "clean, nothing to recover");
	} else if (!rc) {
		rc = recover(&j, err);
		if (!rc)
			say(&j, j.log.closed ? "clean, and mounted once" : "replayed by the kernel");
	}
	rj_buf_free(&url);
	*status = !rc ? 0 : rc == -RJ_E_CORRUPT ? RJ_FSCK_UNCORRECTED | RJ_FSCK_ERROR : *status;
	return rc;
}
