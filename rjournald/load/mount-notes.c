// SPDX-License-Identifier: GPL-2.0-or-later
/* From the service's beginning to its end: what is known of the mount in it. */
#include "mount-notes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/mountinfo.h"
#include "segment/digest.h"
#include "unmount-watch.h"
#include "util/environ.h"
#include "written.h"

#define NS_PER_S 1000000000LL
/* Between mount.rj's word and the time that the kernel notes as that of the mount. */
#define MOUNTING_S 10
/* The kernel drops its journal a moment before it lets go of the volume. */
#define LEAVE_NS (3 * NS_PER_S)

struct rj_mount_notes {
	const char *device; /* the caller's */
	struct rj_unmount_watch *watch;
	pthread_mutex_t lock; /* of what follows; never held over a request */
	int fd; /* of the volume; -1: not open (yet: a worker that took over) */
	/* the log's last note is that of an unmount, or of a recovery, which left AT_END */
	bool ended;
	uint8_t at_end[RJ_MOUNT_NOTE_HASH];
	bool before_known, served;
	uint8_t before[RJ_MOUNT_NOTE_HASH]; /* before rjournald's own patch */
	uint8_t super[RJ_RAW_SUPER_BYTES];  /* after it */
	int written; /* rj_written_watch() of a volume on a block device; -1: none */
	bool asked;	  /* mount.rj found SUPER, */
	int64_t asked_s; /* at that time (realtime, seconds) */
	bool began; /* the first transaction of the service was seen, */
	bool found; /* and the mount that it is of had found SUPER */
	bool mode;  /* it is with data=journal */
	bool put;   /* the note of the mount is in the ring */
	struct rj_mount_note note; /* the note of the mount */
	_Atomic bool due;	   /* NOTE is to be put */
	/* The superblock as the disk had it when the kernel moved the journal's tail last. */
	bool running_known;
	uint8_t running[RJ_MOUNT_NOTE_HASH];
	_Atomic bool running_due; /* the note of that, as soon as NOTE is put */
	bool agrees; /* rjournald patches what the unmount left, */
	bool left;   /* and has done so */
	uint8_t after[RJ_MOUNT_NOTE_HASH];
};

static bool hash(const uint8_t raw[RJ_RAW_SUPER_BYTES],
	uint8_t out[RJ_MOUNT_NOTE_HASH])
{
	return !rj_digest(raw, RJ_RAW_SUPER_BYTES, NULL, 0, out, NULL);
}

static bool read_super(struct rj_volume *v, uint8_t raw[RJ_RAW_SUPER_BYTES])
{
	struct rj_bio *b = rj_volume_bio(v);

	return !b->read(b, raw, RJ_RAW_SUPER_BYTES, RJ_RAW_SUPER_BYTES, NULL);
}

/* Called with the lock. */
static void look_if_due(struct rj_mount_notes *n)
{
	if (n->found && n->mode && !n->put)
		n->due = true;
}

/* Called with the lock. */
static void take_running(
	struct rj_mount_notes *n, const uint8_t now[RJ_RAW_SUPER_BYTES])
{
	uint8_t sum[RJ_MOUNT_NOTE_HASH];

	if (!hash(now, sum) ||
		(n->running_known && !memcmp(sum, n->running, sizeof(sum))))
		return;
	memcpy(n->running, sum, sizeof(sum));
	n->running_known = true;
	n->running_due = true;
}

/* Did the mount find what rjournald left? Until its first transaction was shipped the
 * superblock on the disk is as the mount wrote it: that transaction, or a later one,
 * changes it. Called with the lock. */
static void look_at_mount(struct rj_mount_notes *n)
{
	uint8_t now[RJ_RAW_SUPER_BYTES];
	struct rj_super_marks m;
	int64_t late;

	if (!n->served || !n->asked || n->began || n->found ||
		rj_written_since(n->written) ||
		!rj_super_read(n->fd, now) ||
		!rj_super_is_mount_of(n->super, now))
		return;
	rj_super_marks(now, &m);
	late = (int32_t)(m.mounted - (uint32_t)n->asked_s);
	n->found = late >= -1 && late <= MOUNTING_S;
	n->note.mounts = m.mounts;
	n->note.checked = m.checked;
	take_running(n, now);
}

/* What a crash may leave on the disk: this, or a copy that the log has from its tail on. What
 * was logged below the tail was written before the kernel moved it. Called with the lock. */
static void look_at_running(struct rj_mount_notes *n)
{
	uint8_t now[RJ_RAW_SUPER_BYTES];

	if (n->fd == -1)
		n->fd = rj_super_open(n->device);
	if (rj_super_read(n->fd, now))
		take_running(n, now);
}

/* The kernel moves its journal's tail, or (BEGINS) begins to fill an empty journal: then this
 * is the first commit of a mount, or the first one after a freeze. It waits for this write. */
static void superblock(void *arg, bool begins)
{
	struct rj_mount_notes *n = arg;

	pthread_mutex_lock(&n->lock);
	if (n->found || n->put)
		look_at_running(n);
	else if (begins)
		look_at_mount(n);
	if (begins) {
		n->began = true;
		rj_unmount_watch_end(n->watch);
	}
	look_if_due(n);
	pthread_mutex_unlock(&n->lock);
}

static void emptied(void *arg)
{
	struct rj_mount_notes *n = arg;
	bool put;

	pthread_mutex_lock(&n->lock);
	put = n->put;
	pthread_mutex_unlock(&n->lock);
	if (put)
		rj_unmount_watch_look(n->watch, true);
}

/* Called with the lock. */
static void put_running(struct rj_mount_notes *n, uint8_t raw[RJ_MOUNT_NOTES_BYTES])
{
	struct rj_mount_note note = n->note;

	note.kind = RJ_NOTE_RUNNING;
	memcpy(note.super, n->running, sizeof(note.super));
	rj_mount_note_encode(&note, raw + RJ_MOUNT_NOTE_RUNNING);
	n->running_due = false;
}

static bool take(void *arg, uint8_t raw[RJ_MOUNT_NOTES_BYTES])
{
	struct rj_mount_notes *n = arg;
	bool any;

	if (!n->due && !n->running_due)
		return false;
	pthread_mutex_lock(&n->lock);
	any = n->due || (n->put && n->running_due);
	if (n->due) {
		rj_mount_note_encode(&n->note, raw);
		n->due = false;
		n->put = true;
	}
	if (n->put && n->running_due)
		put_running(n, raw);
	pthread_mutex_unlock(&n->lock);
	return any;
}

struct rj_journal_watch rj_mount_notes_watch(struct rj_mount_notes *n)
{
	if (!n)
		return (struct rj_journal_watch){0};
	return (struct rj_journal_watch){superblock, emptied, take, n};
}

void rj_mount_notes_before(struct rj_mount_notes *n, struct rj_volume *v)
{
	uint8_t raw[RJ_RAW_SUPER_BYTES];

	if (n)
		n->before_known = read_super(v, raw) && hash(raw, n->before);
}

void rj_mount_notes_served(struct rj_mount_notes *n, struct rj_volume *v)
{
	struct stat st;

	if (!n || !n->before_known)
		return;
	n->fd = rj_super_open(n->device);
	n->served = n->fd != -1 && read_super(v, n->super);
	/* mount(8) makes the loop device of an image, and opens it for writing */
	if (!fstat(n->fd, &st) && S_ISBLK(st.st_mode))
		n->written = rj_written_watch(n->device);
	memcpy(n->note.super, n->before, sizeof(n->before));
}

void rj_mount_notes_mounting(struct rj_mount_notes *n)
{
	uint8_t now[RJ_RAW_SUPER_BYTES];
	int64_t s = rj_realtime_ns() / NS_PER_S;

	if (!n)
		return;
	pthread_mutex_lock(&n->lock);
	rj_written_forget(n->written);
	n->asked = n->served && rj_super_read(n->fd, now) &&
		   !memcmp(now, n->super, sizeof(now));
	n->asked_s = s;
	pthread_mutex_unlock(&n->lock);
}

void rj_mount_notes_mounted(struct rj_mount_notes *n)
{
	char dir[4096], name[32];
	bool mode;
	dev_t dev;

	if (!n)
		return;
	mode = rj_mountinfo_of_volume(n->device, dir, sizeof(dir), &dev) &&
	       rj_mountinfo_device_name(dev, name, sizeof(name)) &&
	       rj_mountinfo_ext4_option(name, "data=journal");
	if (mode)
		rj_unmount_watch_mounted(n->watch);
	pthread_mutex_lock(&n->lock);
	n->mode = mode;
	if (mode)
		look_at_mount(n);
	else
		n->found = n->served = false; /* no more is asked of the disk */
	look_if_due(n);
	/* perhaps nothing is written, and nothing to be emptied */
	if (n->due && !n->began)
		rj_unmount_watch_look(n->watch, false);
	pthread_mutex_unlock(&n->lock);
}

const char *rj_mount_notes_break(struct rj_mount_notes *n)
{
	const char *why = NULL;

	if (!n)
		return "rjournald could not begin to note what is mounted";
	pthread_mutex_lock(&n->lock);
	if (!n->mode)
		why = "it is not mounted with data=journal";
	else if (!n->ended)
		why = "the log does not end with an unmount, nor with a recovery that a history goes on over: it was not mounted as type rj with data=journal before, or there was such a crash, or the server could not be reached then";
	else if (!n->before_known || memcmp(n->before, n->at_end, sizeof(n->before)))
		why = "something wrote to the volume since it was unmounted";
	else if (!n->found)
		why = "it is mounted read-only, or something wrote to the volume while it was mounted";
	pthread_mutex_unlock(&n->lock);
	return why;
}

void rj_mount_notes_leave(struct rj_mount_notes *n)
{
	uint8_t raw[RJ_RAW_SUPER_BYTES];
	struct rj_super_marks m;
	bool idle;

	if (!n || !rj_unmount_watch_wait(n->watch, LEAVE_NS, raw))
		return;
	rj_super_marks(raw, &m);
	idle = n->due && !n->began && rj_super_is_idle_mount_of(n->super, raw);
	n->agrees = (n->put || idle) && m.clean &&
		    m.mounts == n->note.mounts && m.checked == n->note.checked;
	memcpy(n->super, raw, sizeof(raw));
}

void rj_mount_notes_leaving(struct rj_mount_notes *n, struct rj_volume *v)
{
	uint8_t raw[RJ_RAW_SUPER_BYTES];

	if (n && n->agrees)
		n->agrees = read_super(v, raw) &&
			    !memcmp(raw, n->super, sizeof(raw));
}

void rj_mount_notes_left(struct rj_mount_notes *n, struct rj_volume *v)
{
	uint8_t raw[RJ_RAW_SUPER_BYTES];

	if (n && n->agrees)
		n->left = read_super(v, raw) && hash(raw, n->after);
}

bool rj_mount_notes_idle(
	struct rj_mount_notes *n, uint8_t raw[RJ_MOUNT_NOTES_BYTES])
{
	return n && n->left && take(n, raw);
}

bool rj_mount_notes_unmounted(
	struct rj_mount_notes *n, uint8_t raw[RJ_MOUNT_NOTE_BYTES])
{
	struct rj_mount_note note;

	if (!n || !n->left)
		return false;
	note = n->note;
	note.kind = RJ_NOTE_UNMOUNTED;
	memcpy(note.super, n->after, sizeof(note.super));
	rj_mount_note_encode(&note, raw);
	return true;
}

/* What the worker before has noted of the mount of SINCE. */
static void take_up(struct rj_mount_notes *n, const uint8_t *raw, uint64_t since)
{
	struct rj_mount_note note;

	n->put = rj_mount_note_decode(raw, &note) && note.kind == RJ_NOTE_MOUNTED &&
		 note.epoch == since;
	if (!n->put)
		return;
	n->note = note;
	if (!rj_mount_note_decode(raw + RJ_MOUNT_NOTE_RUNNING, &note) ||
		note.kind != RJ_NOTE_RUNNING || note.epoch != since)
		return;
	memcpy(n->running, note.super, sizeof(n->running));
	n->running_known = true;
}

int rj_mount_notes_new(const char *device, const struct rj_ring *ring,
	uint64_t since, bool resumed, struct rj_mount_notes **out,
	struct rj_error *err)
{
	struct rj_mount_notes *n = calloc(1, sizeof(*n));
	struct rj_mount_note last;
	int rc;

	*out = NULL;
	if (!n)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	n->device = device;
	n->fd = n->written = -1;
	pthread_mutex_init(&n->lock, NULL);
	n->ended = !resumed && rj_mount_note_decode(ring->data, &last) &&
		   (last.kind == RJ_NOTE_UNMOUNTED || last.kind == RJ_NOTE_RECOVERED);
	if (n->ended)
		memcpy(n->at_end, last.super, sizeof(n->at_end));
	n->note = (struct rj_mount_note){
		.kind = RJ_NOTE_MOUNTED, .epoch = since};
	if (resumed)
		take_up(n, ring->data, since);
	rc = rj_unmount_watch_start(device, n->put, &n->watch, err);
	if (rc) {
		rj_mount_notes_free(n);
		return rc;
	}
	*out = n;
	return 0;
}

void rj_mount_notes_free(struct rj_mount_notes *n)
{
	if (!n)
		return;
	rj_unmount_watch_stop(n->watch);
	if (n->fd != -1)
		close(n->fd);
	if (n->written != -1)
		close(n->written);
	pthread_mutex_destroy(&n->lock);
	free(n);
}
