// SPDX-License-Identifier: GPL-2.0-or-later
/* The threads that wait for the disk, and what they are given to read. */
#include "store-read.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/fileio.h"
#include "os/thread.h"
#include "util/crc32c.h"

#define READERS	   4
#define AT_ONCE	   (256u << 10) /* bytes that the event loop reads and checks by itself */

struct read_job {
	TAILQ_ENTRY(read_job) link;
	struct okey okey;
	read_fn done; /* NULL: it is not wanted any more */
	void *arg;
	/* all; or LEN bytes after FROM; or a check alone, in LEN bytes of memory */
	enum wanted { ALL, PART, CHECK } wanted;
	uint32_t from, len;
	struct object_place at;
	int fd; /* of the file as it was when a thread got this */
	struct rj_buf body;
	struct rj_error err;
	int rc;
};
TAILQ_HEAD(read_jobs, read_job);

struct reader {
	struct store *s;
	struct event *wake;
	int wake_fd;
	struct read_jobs waiting; /* for a thread */
	unsigned busy, started;   /* threads */
	pthread_t threads[READERS];
	/* what threads look at */
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct read_jobs given, read;
	bool stop;
};

static void job_free(struct read_job *j)
{
	if (j->fd >= 0)
		close(j->fd); /* only read */
	rj_buf_free(&j->body);
	free(j);
}

static void wake(struct reader *r)
{
	if (eventfd_write(r->wake_fd, 1))
		return; /* it is awake: the counter is full */
}

/* Read all, a piece after the other into the same memory, for the checksum. */
static int check_bytes(struct read_job *j)
{
	uint32_t crc = ~0u, at, n;
	int rc = 0;

	for (at = 0; !rc && at < j->at.length; at += n) {
		n = j->at.length - at < j->len ? j->at.length - at : j->len;
		rc = rj_pread_all(j->fd, j->body.data, n, object_offset(&j->at) + at, "data file",
			&j->err);
		if (!rc)
			crc = rj_crc32c(crc, j->body.data, n);
	}
	return rc || crc == j->at.crc ? rc : -RJ_E_CORRUPT;
}

static int read_bytes(struct read_job *j)
{
	int rc;

	if (j->wanted == CHECK)
		return check_bytes(j);
	rc = rj_pread_all(j->fd, j->body.data, j->len, object_offset(&j->at) + j->from,
		"data file", &j->err);
	return !rc && j->wanted == ALL && !object_whole(&j->at, j->body.data) ? -RJ_E_CORRUPT : rc;
}

static void *read_jobs(void *arg)
{
	struct reader *r = arg;
	struct read_job *j;

	pthread_mutex_lock(&r->lock);
	for (;;) {
		while (!r->stop && TAILQ_EMPTY(&r->given))
			pthread_cond_wait(&r->work, &r->lock);
		if (r->stop)
			break;
		j = TAILQ_FIRST(&r->given);
		TAILQ_REMOVE(&r->given, j, link);
		pthread_mutex_unlock(&r->lock);
		j->rc = read_bytes(j);
		pthread_mutex_lock(&r->lock);
		TAILQ_INSERT_TAIL(&r->read, j, link);
		wake(r);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* What the thread shall have, as it is now. */
static int prepare(struct reader *r, struct read_job *j)
{
	int rc = object_find(r->s, &j->okey, &j->at, &j->err);

	if (rc)
		return rc;
	if (j->wanted == ALL)
		j->len = j->at.length;
	if (j->wanted == PART && (uint64_t)j->from + j->len > j->at.length)
		return rj_fail(&j->err, RJ_E_NOTFOUND, "it is another object now");
	if (rj_buf_reserve(&j->body, j->len ? j->len : 1))
		return rj_fail(&j->err, RJ_E_NOMEM, "out of memory");
	/* the store may drop the file while this is being read */
	j->fd = fcntl(j->at.f->fd, F_DUPFD_CLOEXEC, 0);
	if (j->fd < 0)
		return rj_fail_errno(&j->err, errno, "%s: cannot read",
			j->at.f->path);
	return 0;
}

/* Is there a thread for one more? One that could not be started is not missed
 * as long as there is another. */
static bool have_thread(struct reader *r)
{
	if (r->started == r->busy && r->started < READERS &&
		!rj_thread_start(&r->threads[r->started], read_jobs, r))
		r->started++;
	return r->started > 0;
}

/* Those that wait longest to the threads that have nothing to do. */
static void hand_out(struct reader *r)
{
	struct read_job *j;

	while ((j = TAILQ_FIRST(&r->waiting)) && have_thread(r) &&
		r->busy < r->started) {
		TAILQ_REMOVE(&r->waiting, j, link);
		if (!j->done) {
			job_free(j);
			continue;
		}
		j->rc = prepare(r, j);
		r->busy++;
		pthread_mutex_lock(&r->lock);
		if (j->rc) {
			TAILQ_INSERT_TAIL(&r->read, j, link);
			wake(r);
		} else {
			TAILQ_INSERT_TAIL(&r->given, j, link);
			pthread_cond_signal(&r->work);
		}
		pthread_mutex_unlock(&r->lock);
	}
}

/* The bytes were not read, or not those of the object: is it elsewhere by now (the cleaner
 * copies, and a dropped file is written again), or deleted? Then true: it is
 * looked for once more. */
static bool moved(struct reader *r, const struct read_job *j)
{
	const struct idx_entry *e = idx_find(r->s->index, &j->okey);

	return !e || e->pos != j->at.pos;
}

static void finish(struct reader *r, struct read_job *j)
{
	r->busy--;
	/* a part has no checksum that would tell */
	if (j->fd >= 0 && j->done && (j->rc || j->wanted == PART)) {
		if (moved(r, j)) {
			close(j->fd);
			j->fd = -1;
			TAILQ_INSERT_TAIL(&r->waiting, j, link);
			return;
		}
		if (j->rc)
			j->rc = j->rc == -RJ_E_CORRUPT
				? object_damaged(r->s, &j->okey, &j->at, &j->err)
				: object_unread(r->s, &j->okey, &j->at,
					  j->err.msg, &j->err);
	}
	if (!j->rc && j->wanted != CHECK)
		j->body.len = j->len;
	if (j->done)
		j->done(j->arg, j->rc, &j->body, &j->err);
	job_free(j);
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
	struct read_jobs read = TAILQ_HEAD_INITIALIZER(read);
	struct reader *r = arg;
	struct read_job *j;
	eventfd_t n;

	if (eventfd_read(r->wake_fd, &n))
		return;
	pthread_mutex_lock(&r->lock);
	TAILQ_CONCAT(&read, &r->read, link);
	pthread_mutex_unlock(&r->lock);
	while ((j = TAILQ_FIRST(&read))) {
		TAILQ_REMOVE(&read, j, link);
		finish(r, j);
	}
	hand_out(r);
}

void reader_start(struct store *s, struct event_base *base)
{
	struct reader *r = calloc(1, sizeof(*r));

	if (!r)
		return;
	r->s = s;
	TAILQ_INIT(&r->waiting);
	TAILQ_INIT(&r->given);
	TAILQ_INIT(&r->read);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->work, NULL);
	s->reader = r;
	r->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (r->wake_fd >= 0)
		r->wake = event_new(base, r->wake_fd, EV_READ | EV_PERSIST,
			on_wake, r);
	if (!r->wake || event_add(r->wake, NULL))
		reader_free(s);
}

void reader_stop(struct store *s)
{
	if (!s->reader)
		return;
	event_free(s->reader->wake);
	s->reader->wake = NULL;
}

static void free_jobs(struct read_jobs *jobs)
{
	struct read_job *j;

	while ((j = TAILQ_FIRST(jobs))) {
		TAILQ_REMOVE(jobs, j, link);
		job_free(j);
	}
}

void reader_free(struct store *s)
{
	struct reader *r = s->reader;

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_broadcast(&r->work);
	pthread_mutex_unlock(&r->lock);
	while (r->started)
		pthread_join(r->threads[--r->started], NULL);
	free_jobs(&r->waiting);
	free_jobs(&r->given);
	free_jobs(&r->read);
	if (r->wake)
		event_free(r->wake);
	if (r->wake_fd >= 0)
		close(r->wake_fd);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->work);
	free(r);
	s->reader = NULL;
}

/* Read LEN bytes after FROM to P. True: all of it was in the page cache. */
static bool read_now(const struct object_place *at, uint32_t from, uint32_t len, void *p)
{
	struct iovec v = {p, len};

	return !len || preadv2(at->f->fd, &v, 1, (off_t)(object_offset(at) + from), RWF_NOWAIT) ==
			       (ssize_t)len;
}

static bool have_reader(const struct store *s)
{
	return s->reader && s->reader->wake;
}

/* Leave it to a thread. RJ_E_BUSY. */
static int wait_for(struct store *s, const struct read_job *what, struct read_job **job,
	struct rj_error *err)
{
	struct read_job *j = malloc(sizeof(*j));

	if (!j)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	*j = *what;
	j->fd = -1;
	TAILQ_INSERT_TAIL(&s->reader->waiting, j, link);
	hand_out(s->reader);
	if (job)
		*job = j;
	return -RJ_E_BUSY;
}

int reader_get(struct store *s, const struct okey *okey, struct rj_buf *out,
	read_fn done, void *arg, struct read_job **job, struct rj_error *err)
{
	struct read_job what = {.okey = *okey, .done = done, .arg = arg, .wanted = ALL};
	struct object_place at;
	int rc;

	if (!have_reader(s))
		return object_get(s, okey, out, err);
	rc = object_find(s, okey, &at, err);
	if (!rc && at.length <= AT_ONCE) {
		rc = object_reserve(s, okey, &at, out, err);
		if (!rc && read_now(&at, 0, at.length, out->data + out->len))
			return object_take(s, okey, &at, out, err);
	}
	if (rc)
		return rc;
	return have_thread(s->reader) ? wait_for(s, &what, job, err)
				      : object_get(s, okey, out, err);
}

void reader_cancel(struct read_job *job)
{
	if (job)
		job->done = NULL;
}

static void on_read(
	void *arg, int rc, struct rj_buf *body, const struct rj_error *err)
{
	struct read_wait *w = arg;

	w->job = NULL;
	w->rc = rc;
	rj_buf_free(&w->body); /* of an object that was deleted before it was used */
	w->body = *body;
	*body = (struct rj_buf){0};
	if (w->ready)
		w->ready(w->arg);
}

int read_wait_begin(struct store *s, const struct okey *okey, struct rj_buf *out,
	struct read_wait *w, struct rj_error *err)
{
	return reader_get(s, okey, out, on_read, w, &w->job, err);
}

int read_wait_check(struct store *s, const struct okey *okey, const struct object_place *at,
	struct read_wait *w, struct rj_error *err)
{
	static uint8_t scratch[AT_ONCE]; /* of the event loop */
	struct read_job what = {.okey = *okey, .done = on_read, .arg = w, .wanted = CHECK,
		.len = AT_ONCE};
	struct rj_buf all = {0};
	int rc;

	if (at->length <= AT_ONCE && read_now(at, 0, at->length, scratch))
		return object_whole(at, scratch) ? 0 : object_damaged(s, okey, at, err);
	if (have_reader(s) && have_thread(s->reader))
		return wait_for(s, &what, &w->job, err);
	rc = object_get(s, okey, &all, err);
	rj_buf_free(&all);
	return rc;
}

int read_wait_part(struct store *s, const struct okey *okey, const struct object_place *at,
	uint32_t from, uint32_t len, struct rj_buf *out, struct read_wait *w, struct rj_error *err)
{
	struct read_job what = {.okey = *okey, .done = on_read, .arg = w, .wanted = PART,
		.from = from, .len = len};
	struct rj_error why;

	if (rj_buf_reserve(out, len))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (!read_now(at, from, len, out->data + out->len)) {
		if (have_reader(s) && have_thread(s->reader))
			return wait_for(s, &what, &w->job, err);
		if (rj_pread_all(at->f->fd, out->data + out->len, len, object_offset(at) + from,
			    "data file", &why))
			return object_unread(s, okey, at, why.msg, err);
	}
	out->len += len;
	return 0;
}

void read_wait_end(struct read_wait *w)
{
	reader_cancel(w->job);
	rj_buf_free(&w->body);
}
