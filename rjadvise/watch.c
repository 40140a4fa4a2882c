// SPDX-License-Identifier: GPL-2.0-or-later
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/environ.h"
#include "util/printable.h"

#define READ_BYTES (64u << 10)
/* exportfs of ext4: inode number and generation, 32 bits each */
#define HANDLE_INO32_GEN 1
/* What an event costs the program that writes, measured by bench/advise-load on a slow processor,
 * and a write that trace.c counts; the part of a processor that both may cost, and for how
 * long more than that. */
#define EVENT_NS  2500
#define WRITE_NS  500
#define PART	  100
#define CREDIT_NS 20000000LL
#define OPEN_NS	  5000000LL

static bool mark(struct watch *w, unsigned how)
{
	return !fanotify_mark(w->fan, how | FAN_MARK_FILESYSTEM, FAN_MODIFY | FAN_CLOSE_WRITE,
		w->mount, NULL);
}

int watch_begin(struct watch *w, const char *dir, struct rj_error *err)
{
	*w = (struct watch){.fan = -1,
		.mount = -1,
		.begun_ns = rj_realtime_ns(),
		.turn_ns = rj_monotonic_ns(),
		.credit_ns = CREDIT_NS};
	if (!table_init(&w->table))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	w->mount = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->mount < 0)
		return rj_fail_errno(err, errno, "%s", dir);
	w->fan = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | FAN_REPORT_FID |
				       FAN_REPORT_DIR_FID,
		O_RDONLY | O_CLOEXEC);
	if (w->fan < 0)
		return errno == EINVAL || errno == ENOSYS
			       ? rj_fail(err, RJ_E_UNSUPPORTED,
					 "this kernel's fanotify cannot tell files by handles (that is in Linux 5.9)")
			       : rj_fail_errno(err, errno, "fanotify: cannot begin%s",
					 errno == EPERM ? " (this needs root)" : "");
	w->on = mark(w, FAN_MARK_ADD);
	if (!w->on)
		return rj_fail_errno(err, errno, "%s: cannot be watched", dir);
	return 0;
}


static int open_key(const struct watch *w, struct handle_key key)
{
	union {
		struct file_handle head;
		unsigned char space[sizeof(struct file_handle) + sizeof(key)];
	} h = {.head = {.handle_bytes = sizeof(key), .handle_type = HANDLE_INO32_GEN}};

	memcpy(h.space + sizeof(struct file_handle), &key, sizeof(key));
	return open_by_handle_at(w->mount, &h.head, O_PATH | O_CLOEXEC);
}

/* The handle in a record of an event; false: not one of ext4. */
static bool take_key(const struct fanotify_event_info_fid *fid, size_t len, struct handle_key *out)
{
	struct file_handle head;

	if (len < sizeof(*fid) + sizeof(head) + sizeof(*out))
		return false;
	memcpy(&head, fid->handle, sizeof(head));
	if (head.handle_type != HANDLE_INO32_GEN || head.handle_bytes != sizeof(*out))
		return false;
	memcpy(out, fid->handle + sizeof(head), sizeof(*out));
	return out->inode != 0;
}

static void take_event(struct watch *w, const struct fanotify_event_metadata *e)
{
	const char *at = (const char *)e + e->metadata_len, *end = (const char *)e + e->event_len;
	struct handle_key file = {0}, dir = {0};
	struct fanotify_event_info_header h;

	if (e->mask & FAN_Q_OVERFLOW) {
		w->overflows++;
		return;
	}
	w->events++;
	for (; at + sizeof(h) <= end; at += h.len) {
		memcpy(&h, at, sizeof(h));
		if (h.len < sizeof(h) || at + h.len > end)
			break;
		if (h.info_type == FAN_EVENT_INFO_TYPE_FID)
			take_key((const void *)at, h.len, &file);
		else if (h.info_type == FAN_EVENT_INFO_TYPE_DFID)
			take_key((const void *)at, h.len, &dir);
	}
	if (file.inode && !(e->mask & FAN_ONDIR))
		table_write(&w->table, file, dir, e->mask & FAN_MODIFY);
}

static void read_events(struct watch *w)
{
	static char buf[READ_BYTES]
		__attribute__((aligned(__alignof__(struct fanotify_event_metadata))));
	const struct fanotify_event_metadata *e;
	ssize_t n;

	while ((n = read(w->fan, buf, sizeof(buf))) > 0)
		for (e = (const void *)buf; FAN_EVENT_OK(e, n); e = FAN_EVENT_NEXT(e, n))
			take_event(w, e);
}

static void look(struct watch *w, struct table_file *f)
{
	struct statx sx;
	int fd = open_key(w, f->key);
	bool born;

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			      STATX_SIZE | STATX_BTIME, &sx)) {
		table_gone(&w->table, f);
	} else {
		born = sx.stx_mask & STATX_BTIME &&
		       sx.stx_btime.tv_sec * 1000000000LL + sx.stx_btime.tv_nsec >= w->begun_ns;
		table_looked(&w->table, f, sx.stx_size, born);
	}
	if (fd >= 0)
		close(fd);
}

/* Close the window when it has cost too much, and open it again later. */
static void limit(struct watch *w, uint64_t events, uint64_t writes)
{
	int64_t now = rj_monotonic_ns();

	if (w->on)
		w->watched_ns += now - w->turn_ns;
	w->credit_ns += (now - w->turn_ns) / PART -
			(int64_t)(events * EVENT_NS + writes * WRITE_NS);
	if (w->credit_ns > CREDIT_NS)
		w->credit_ns = CREDIT_NS;
	w->turn_ns = now;
	if (w->on && w->credit_ns < 0) {
		w->on = !mark(w, FAN_MARK_REMOVE);
	} else if (!w->on && w->credit_ns >= OPEN_NS) {
		w->begun_ns = rj_realtime_ns();
		w->table.window++;
		w->on = mark(w, FAN_MARK_ADD);
	}
}

void watch_turn(struct watch *w, unsigned looks, uint64_t writes)
{
	uint64_t before = w->events;
	struct table_file *f;

	read_events(w);
	limit(w, w->events - before, writes);
	while (looks-- && (f = table_next_dirty(&w->table)))
		look(w, f);
}

void watch_path(const struct watch *w, struct handle_key key, char *out, size_t size)
{
	int fd = open_key(w, key);
	char link[64];
	ssize_t n = -1;

	if (fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, out, size - 1);
		close(fd);
	}
	if (n > 0)
		out[n] = 0;
	else
		snprintf(out, size, "inode %u (removed)", key.inode);
	rj_make_printable(out);
}

void watch_end(struct watch *w)
{
	if (w->fan >= 0)
		close(w->fan);
	if (w->mount >= 0)
		close(w->mount);
	w->fan = w->mount = -1;
	table_free(&w->table);
}
