// SPDX-License-Identifier: GPL-2.0-or-later
/* How serving ends: what asks for it, and through which phases it goes. */
#include "daemon-priv.h"

#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "os/thread.h"
#include "save.h"
#include "util/environ.h"
#include "util/log.h"

/* --until-unmount: how long to wait for the mount. */
#define MOUNT_WAIT_NS 60000000000LL

/* rjctl restart: how long to wait for a request that is being answered. */
#define LOCK_MS 500

static void *drain(void *arg)
{
	struct rj_daemon *d = arg;
	char answer[RJ_ERROR_BYTES + 16] = "ok";
	struct rj_error err;
	uint64_t one = 1;

	d->drain_rc = rj_front_drain(d->front, &err);
	if (d->drain_rc)
		snprintf(answer, sizeof(answer), "error: %s", err.msg);
	if (d->drain_client != -1)
		rj_control_answer(d->drain_client, answer);
	d->drained = true;
	if (write(d->event_fd, &one, sizeof(one)) == -1)
		return NULL; /* full: it is awake anyway */
	return NULL;
}

bool rj_daemon_drain(struct rj_daemon *d, int client)
{
	int e;

	if (d->draining)
		return false;
	d->drain_client = client;
	d->drained = false;
	e = rj_thread_start(&d->drainer, drain, d);
	if (e) {
		rj_log(RJ_LOG_ERROR, "cannot start a thread: %s", strerror(e));
		return false;
	}
	d->draining = true;
	return true;
}

/* Remembered for the next worker. */
static void set_phase(struct rj_daemon *d, enum rj_phase phase)
{
	d->phase = phase;
	d->loaded.memory.shm->phase = phase;
}

static void let_go(struct rj_daemon *d)
{
	if (d->phase != RJ_PHASE_ATTACHED)
		return;
	set_phase(d, RJ_PHASE_LEAVING);
	rj_front_let_go(d->front);
	rj_supervisor_tell(d->post, RJ_WORD_LET_GO);
}

bool rj_daemon_in_use(struct rj_daemon *d)
{
	return d->phase <= RJ_PHASE_LEAVING && rj_front_exclusive(d->front);
}

void rj_daemon_stop(struct rj_daemon *d)
{
	if (rj_daemon_in_use(d)) {
		rj_log(RJ_LOG_WARNING,
			"%s is mounted: unmount it; then rjournald stops",
			d->loaded.device);
		rj_daemon_drain(d, -1);
	}
	let_go(d);
}

void rj_daemon_mounted(struct rj_daemon *d)
{
	rj_zeroout_look(d->zeroout);
	if (rj_zeroout_off(d->zeroout))
		rj_mount_notes_mounted(d->loaded.notes);
	if (d->opts.until_unmount)
		let_go(d);
}

void rj_daemon_force(struct rj_daemon *d)
{
	rj_log(RJ_LOG_ERROR, "told to stop at once");
	d->forced = true;
	d->status = 1;
	rj_supervisor_tell(d->post, RJ_WORD_FINAL);
	rj_takeover_cancel(&d->takeover);
	rj_pipeline_abandon(d->pipeline);
}

void rj_daemon_give_up(struct rj_daemon *d)
{
	char path[RJ_SAVE_DIR_BYTES + 1];
	bool save = rj_save_needed(d);
	struct rj_error err;

	if (save && rj_save_prepare(d, NULL, path, &err)) {
		rj_log(RJ_LOG_ERROR, "the journal of %s cannot be saved: %s", d->loaded.device,
			err.msg);
		save = false;
	}
	rj_daemon_force(d);
	if (save)
		rj_save(d, path, &err); /* which logs its failure */
}

bool rj_daemon_restart(struct rj_daemon *d, int client)
{
	if (!rj_front_can_resume(d->front))
		return false;
	/* it makes no difference to the kernel, but for a request less to be
	 * handed out again */
	rj_front_lock_for(d->front, LOCK_MS);
	rj_control_answer(client, "ok");
	rj_supervisor_tell(d->post, RJ_WORD_RESTART);
	_exit(0);
}

/* The first signal asks; another one, when the store is lost, insists. */
void rj_daemon_signal(struct rj_daemon *d)
{
	struct signalfd_siginfo info;
	struct rj_pipeline_stat st;

	if (read(d->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	rj_pipeline_stat(d->pipeline, &st);
	if (atomic_exchange(&d->loaded.memory.shm->signalled, 1) &&
		(st.state == RJ_STATE_WAITING || st.state == RJ_STATE_FULL))
		rj_daemon_give_up(d);
	else
		rj_daemon_stop(d);
}

void rj_daemon_step(struct rj_daemon *d)
{
	int64_t waited =
		rj_monotonic_ns() - d->loaded.memory.shm->started_ns;

	if (d->draining && d->drained) {
		pthread_join(d->drainer, NULL);
		d->draining = false;
		if (d->phase == RJ_PHASE_DRAINING) {
			set_phase(d, RJ_PHASE_DONE);
			if (d->drain_rc)
				d->status = 1;
		}
	}
	/* of a raw one mount.rj says it */
	if (d->phase == RJ_PHASE_ATTACHED && d->opts.until_unmount &&
		((!d->opts.raw && rj_front_mounted(d->front)) || waited > MOUNT_WAIT_NS))
		let_go(d);
	if (rj_front_ended(d->front) && d->phase < RJ_PHASE_DRAINING) {
		rj_log(RJ_LOG_ERROR, "%s: taken away by another process",
			rj_front_path(d->front));
		d->status = 1;
		let_go(d);
		set_phase(d, RJ_PHASE_DRAINING);
		rj_daemon_drain(d, -1);
	}
	if (d->phase == RJ_PHASE_LEAVING && !rj_front_used(d->front))
		set_phase(d, RJ_PHASE_DRAINING);
	if (d->phase == RJ_PHASE_DRAINING && !d->draining &&
		!rj_daemon_drain(d, -1))
		set_phase(d, RJ_PHASE_DONE); /* no thread: give up */
}

/* Told to stop at once: threads may hang in the store or hold the pipeline.
 * With the process goes /dev/fuse, and the kernel fails what still waits. */
void rj_daemon_exit_now(struct rj_daemon *d)
{
	rj_front_last_word(d->front);
	umount2(d->loaded.dir.mnt, MNT_DETACH);
	/* of a mounted volume it stays, as after a death: rjctl shows that the journal is gone */
	if (!rj_front_mounted(d->front))
		rj_release_dir(&d->loaded.dir);
	rj_supervisor_tell(d->post, RJ_WORD_BYE);
	_exit(d->status);
}
