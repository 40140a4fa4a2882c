// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads that threads do: what is moved meanwhile is found, what is damaged is
 * said, and who goes hears nothing. */
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rjserver/store/commit.h"
#include "rjserver/store/store-clean.h"
#include "rjserver/store/store-read.h"
#include "support/rjtest.h"
#include "util/crc32c.h"

#define BODY 20000

static char top[64];
static struct rj_error err;
static struct event_base *base;
static struct store *s;
static uint8_t data[BODY];

/* What a read came to. */
struct answer {
	int calls, rc;
	bool right;
};

static void on_read(
	void *arg, int rc, struct rj_buf *body, const struct rj_error *e)
{
	struct answer *a = arg;

	a->calls++;
	a->rc = rc;
	a->right = body->len == BODY && !memcmp(body->data, data, BODY);
	event_base_loopbreak(base);
}

static void stored(void *arg, int rc, const struct rj_error *e)
{
	*(int *)arg = rc;
}

static void must(bool is)
{
	if (!is) {
		printf("Bail out! %s\n", err.msg);
		exit(99);
	}
}

static struct okey key_of(unsigned n)
{
	return (struct okey){
		.name = "n", .key = {.kind = RJ_KEY_LOG, .number = n}};
}

static bool put(unsigned n)
{
	struct okey k = key_of(n);
	struct commit_body body = {data, BODY, rj_crc32c(~0u, data, BODY), false};
	int rc = 1;

	if (commit_put(s->commit, &k, &body, stored, &rc, &err))
		return false;
	commit_flush(s->commit);
	return !rc;
}

/* The first file is not in the page cache any more. */
static void forget(void)
{
	if (fdatasync(s->files[0].fd) ||
		posix_fadvise(s->files[0].fd, 0, 0, POSIX_FADV_DONTNEED))
		must(false);
}

/* Its bytes are wrong from now on. */
static void spoil(unsigned n)
{
	struct okey k = key_of(n);
	struct object_place at;

	CU_ASSERT_EQUAL_FATAL(object_find(s, &k, &at, &err), 0);
	if (pwrite(at.f->fd, "spoilt", 6, (off_t)object_offset(&at)) != 6)
		CU_FAIL("not spoilt");
	forget();
}

static int get(unsigned n, struct answer *a, struct read_job **job)
{
	struct okey k = key_of(n);
	struct rj_buf now = {0};
	int rc;

	*a = (struct answer){0};
	rc = reader_get(s, &k, &now, on_read, a, job, &err);
	rj_buf_free(&now);
	return rc;
}

/* Does RC say that a thread reads? Newer kernels begin to read ahead for a read that
 * must not wait, too: when the disk is faster than we are, there is nothing to wait for
 * and the test is skipped. */
static bool waits(int rc)
{
	if (rc != -RJ_E_BUSY)
		rjtest_skip("the kernel had read it at once");
	return rc == -RJ_E_BUSY;
}

static void begin(const char *name)
{
	struct store_opts opts = {.dir = NULL, .file_bytes = 1 << 20};
	char dir[128];

	snprintf(dir, sizeof(dir), "%s/%s", top, name);
	opts.dir = dir;
	memset(data, 7, sizeof(data));
	base = event_base_new();
	must(!store_open(&opts, &s, &err));
	reader_start(s, base);
	must(put(1) && put(2));
	forget();
}

static void end(void)
{
	reader_stop(s);
	must(!store_close(s, &err));
	event_base_free(base);
}

static void what_is_moved_is_found(void)
{
	struct okey k = key_of(1);
	struct answer a;

	begin("moved");
	spoil(1);
	if (!waits(get(1, &a, NULL)))
		return end();
	/* the cleaner has copied it, before its old place was written again */
	CU_ASSERT(commit_move(
		s->commit, &k, idx_find(s->index, &k), 1, data));
	commit_flush(s->commit);
	event_base_dispatch(base);
	CU_ASSERT_EQUAL(a.calls, 1);
	CU_ASSERT_EQUAL(a.rc, 0);
	CU_ASSERT(a.right);
	end();
}

static void what_is_deleted_is_gone(void)
{
	struct okey k = key_of(1);
	struct answer a;
	int rc;

	begin("deleted");
	spoil(1);
	if (!waits(get(1, &a, NULL)))
		return end();
	CU_ASSERT_EQUAL(
		commit_delete(s->commit, &k, stored, &rc, &err), 0);
	commit_flush(s->commit);
	event_base_dispatch(base);
	CU_ASSERT_EQUAL(a.calls, 1);
	CU_ASSERT_EQUAL(a.rc, -RJ_E_NOTFOUND);
	end();
}

static void damage_is_said(void)
{
	struct answer a;

	begin("damaged");
	spoil(1);
	if (!waits(get(1, &a, NULL)))
		return end();
	event_base_dispatch(base);
	CU_ASSERT_EQUAL(a.calls, 1);
	CU_ASSERT_EQUAL(a.rc, -RJ_E_CORRUPT);
	end();
}

static void who_goes_hears_nothing(void)
{
	struct answer a[12];
	struct read_job *jobs[12];
	int i, rc, last = -1;

	begin("gone");
	for (i = 0; i < 12; i++) {
		forget(); /* what a thread reads is in the page cache again */
		rc = get(1 + (unsigned)i % 2, &a[i], &jobs[i]);
		CU_ASSERT_FATAL(!rc || rc == -RJ_E_BUSY);
		if (rc)
			last = i;
		else
			jobs[i] = NULL;
	}
	if (last < 0) {
		rjtest_skip("the kernel had read them at once");
		return end();
	}
	for (i = 0; i < last; i++)
		reader_cancel(jobs[i]);
	event_base_dispatch(base);
	for (i = 0; i < last; i++)
		CU_ASSERT_EQUAL(a[i].calls, 0);
	CU_ASSERT(a[last].calls == 1 && a[last].right);
	/* and one that still waits at the end */
	forget();
	get(1, &a[0], NULL);
	end();
	CU_ASSERT_EQUAL(a[0].calls, 0);
}

static uint32_t file_of(unsigned n)
{
	struct okey k = key_of(n);

	return pos_file(idx_find(s->index, &k)->pos);
}

/* The cleaner waits for the disk in a thread, too. */
static void cleaning_does_not_wait(void)
{
	static const struct timeval soon = {0, 5000};
	struct answer a;
	struct okey k;
	unsigned n;
	int rc;

	begin("clean");
	for (n = 3; n < 200; n++) {
		CU_ASSERT_FATAL(put(n));
		k = key_of(n);
		CU_ASSERT_EQUAL(
			commit_delete(s->commit, &k, stored, &rc, &err), 0);
	}
	commit_flush(s->commit);
	forget();
	if (file_of(1) != 1 || file_of(2) != 1) {
		rjtest_skip("the cleaner had read them at once");
		return end();
	}
	/* each step that waits for the disk returns at once */
	for (n = 0; n < 1000 && file_of(2) == 1; n++) {
		clean_step(s);
		event_base_loopexit(base, &soon);
		event_base_dispatch(base);
	}
	CU_ASSERT(file_of(1) != 1 && file_of(2) != 1);
	rc = get(1, &a, NULL);
	CU_ASSERT(!rc || rc == -RJ_E_BUSY);
	end();
}

static bool del(unsigned n)
{
	struct okey k = key_of(n);
	int rc = 1;

	if (commit_delete(s->commit, &k, stored, &rc, &err))
		return false;
	commit_flush(s->commit);
	return !rc;
}

/* What N is now: the bytes of DATA, others (-RJ_E_FOREIGN), or why not. */
static int there(unsigned n)
{
	struct rj_buf got = {0};
	struct okey k = key_of(n);
	int rc = store_get(s, &k, &got, &err);

	if (!rc && (got.len != BODY || memcmp(got.data, data, BODY) != 0))
		rc = -RJ_E_FOREIGN;
	rj_buf_free(&got);
	return rc;
}

/* Others come and go, from FROM on, in four files. */
static void churn(unsigned from)
{
	unsigned n;

	for (n = from; n < from + 200; n++)
		CU_ASSERT_FATAL(put(n) && del(n));
}

static void clean_all(uint32_t file, unsigned n)
{
	static const struct timeval soon = {0, 5000};
	int i;

	for (i = 0; i < 1000 && file_of(n) == file; i++) {
		clean_step(s);
		event_base_loopexit(base, &soon);
		event_base_dispatch(base);
	}
	CU_ASSERT_NOT_EQUAL(file_of(n), file);
}

/* What the cleaner reads goes meanwhile: its bytes are nobody's then, also not those of
 * what is stored under that name later, when that is cleaned. */
static void cleaned_bytes_are_of_what_is_there(void)
{
	uint32_t file;

	begin("stale");
	CU_ASSERT_FATAL(del(2));
	churn(3);
	forget();
	/* the cleaner waits for object 1 */
	if (file_of(1) != 1 || !clean_step(s) || file_of(1) != 1) {
		rjtest_skip("the cleaner had read it at once");
		return end();
	}
	CU_ASSERT_FATAL(del(1));
	memset(data, 8, sizeof(data));
	CU_ASSERT_FATAL(put(1) && put(2));
	CU_ASSERT_FATAL(del(2));
	file = file_of(1);
	CU_ASSERT_NOT_EQUAL(file, 1);
	event_base_loop(base, EVLOOP_ONCE); /* the old bytes have come */
	churn(300);
	clean_all(file, 1);
	CU_ASSERT_EQUAL(there(1), 0);
	CU_ASSERT_EQUAL(there(2), -RJ_E_NOTFOUND);
	end();
}

/* Is there a page cache that forgets? */
static bool forgets(void)
{
	struct answer a;
	bool yes;

	begin("probe");
	yes = get(1, &a, NULL) == -RJ_E_BUSY;
	end();
	return yes;
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(what_is_moved_is_found),
		RJTEST(what_is_deleted_is_gone),
		RJTEST(damage_is_said),
		RJTEST(who_goes_hears_nothing),
		RJTEST(cleaning_does_not_wait),
		RJTEST(cleaned_bytes_are_of_what_is_there),
	};
	const char *tmp = getenv("TMPDIR");
	char command[128];
	int status;

	snprintf(top, sizeof(top), "%.40s/rjtest.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(top))
		return 99;
	if (forgets())
		status = RJTEST_RUN("rjserver-read", tests);
	else
		status = printf("1..0 # SKIP all is in memory there\n") < 0;
	snprintf(command, sizeof(command), "rm -rf %s", top);
	if (system(command))
		return 99;
	return status;
}
