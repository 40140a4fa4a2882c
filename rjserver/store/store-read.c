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

#define READERS 4

struct read_job {
	TAILQ_ENTRY(read_job) link;
	struct okey okey;
	read_fn done; /* NULL: it is not wanted any more */
	void *arg;
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
		j->rc = rj_pread_all(j->fd, j->body.data, j->at.length,
			object_offset(&j->at), "data file", &j->err);
		if (!j->rc && !object_whole(&j->at, j->body.data))
			j->rc = -RJ_E_CORRUPT;
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
	if (rj_buf_reserve(&j->body, j->at.length))
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
	if (j->fd >= 0 && j->rc && j->done) {
		if (moved(r, j)) {
			close(j->fd);
			j->fd = -1;
			TAILQ_INSERT_TAIL(&r->waiting, j, link);
			return;
		}
		j->rc = j->rc == -RJ_E_CORRUPT
				? object_damaged(r->s, &j->okey, &j->at, &j->err)
				: object_unread(r->s, &j->okey, &j->at,
					  j->err.msg, &j->err);
	}
	if (!j->rc)
		j->body.len = j->at.length;
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

/* True: it was there, all of it. */
static bool read_now(const struct object_place *at, uint8_t *p)
{
	struct iovec v = {p, at->length};

	return !at->length || preadv2(at->f->fd, &v, 1,
				      (off_t)object_offset(at),
				      RWF_NOWAIT) == (ssize_t)at->length;
}

int reader_get(struct store *s, const struct okey *okey, struct rj_buf *out,
	read_fn done, void *arg, struct read_job **job, struct rj_error *err)
{
	struct object_place at;
	struct read_job *j;
	int rc;

	if (!s->reader || !s->reader->wake)
		return object_get(s, okey, out, err);
	rc = object_reserve(s, okey, &at, out, err);
	if (rc)
		return rc;
	if (read_now(&at, out->data + out->len))
		return object_take(s, okey, &at, out, err);
	if (!have_thread(s->reader))
		return object_get(s, okey, out, err);
	j = calloc(1, sizeof(*j));
	if (!j)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	j->okey = *okey;
	j->done = done;
	j->arg = arg;
	j->fd = -1;
	TAILQ_INSERT_TAIL(&s->reader->waiting, j, link);
	hand_out(s->reader);
	if (job)
		*job = j;
	return -RJ_E_BUSY;
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

void read_wait_end(struct read_wait *w)
{
	reader_cancel(w->job);
	rj_buf_free(&w->body);
}
