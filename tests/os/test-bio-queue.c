// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Transfers with many under way give what the bio itself would: on a real file,
 * in pieces, where its bytes stand apart, and where the way past it fails.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/bio-queue.h"
#include "support/rjtest.h"
#include "util/bytes.h"

#define BYTES (4u << 20)
#define UNIT  4096u
#define UNITS (BYTES / UNIT)

/* Passes everything on; says the wrong place, or bytes that stand apart. */
struct odd_bio {
	struct rj_bio bio;
	struct rj_bio *below;
	int wrong_fd;  /* -1: the right one */
	size_t apart;  /* so many bytes stand together; 0: all */
	unsigned reads, writes;
	int fail; /* of every ordinary transfer */
};

static struct rj_bio *file;
static int file_fd;
static uint8_t *mem, *back;

static int odd_read(struct rj_bio *bio, void *out, size_t len, uint64_t off,
	struct rj_error *err)
{
	struct odd_bio *o = (struct odd_bio *)bio;

	o->reads++;
	if (o->fail)
		return rj_fail(err, RJ_E_IO, "bad sector");
	return o->below->read(o->below, out, len, off, err);
}

static int odd_writev(struct rj_bio *bio, const struct iovec *iov, int count,
	uint64_t off, struct rj_error *err)
{
	struct odd_bio *o = (struct odd_bio *)bio;

	o->writes++;
	if (o->fail)
		return rj_fail(err, RJ_E_IO, "bad sector");
	return o->below->writev(o->below, iov, count, off, err);
}

static size_t odd_locate(struct rj_bio *bio, bool write, size_t len,
	uint64_t off, int *fd, uint64_t *at)
{
	struct odd_bio *o = (struct odd_bio *)bio;
	size_t n = o->below->locate(o->below, write, len, off, fd, at);

	if (o->wrong_fd >= 0)
		*fd = o->wrong_fd;
	if (o->apart && n > o->apart - off % o->apart)
		n = o->apart - off % o->apart;
	return n;
}

static void odd_init(struct odd_bio *o)
{
	memset(o, 0, sizeof(*o));
	o->bio.read = odd_read;
	o->bio.writev = odd_writev;
	o->bio.locate = odd_locate;
	o->bio.size_bytes = BYTES;
	o->below = file;
	o->wrong_fd = -1;
}

static void set_up(void)
{
	char path[] = "queue-XXXXXX"; /* in the build tree: on a disk */
	struct rj_error err;
	size_t i;

	file_fd = mkstemp(path);
	CU_ASSERT_FATAL(file_fd >= 0);
	unlink(path);
	CU_ASSERT_EQUAL_FATAL(ftruncate(file_fd, BYTES), 0);
	file = rj_bio_new_fd(file_fd, "file", &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	rj_bio_use_direct(file);
	CU_ASSERT_EQUAL_FATAL(posix_memalign((void **)&mem, 4096, BYTES), 0);
	CU_ASSERT_EQUAL_FATAL(posix_memalign((void **)&back, 4096, BYTES), 0);
	for (i = 0; i < BYTES; i += 8)
		rj_put_le64(mem + i, i * 0x9E3779B97F4A7C15ull);
	memset(back, 0, BYTES);
}

static void tear_down(void)
{
	rj_bio_free(file);
	close(file_fd);
	free(mem);
	free(back);
}

/* All of MEM to the bio in shuffled runs of up to 8 pieces of a unit. */
static int write_all(struct rj_bio *bio, struct rj_error *err)
{
	struct rj_queue *q = rj_queue_new(bio, 8);
	struct iovec iov[8];
	unsigned i, run, k;
	int rc = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(q);
	for (i = 0; !rc && i < UNITS / 8; i++) {
		run = i * 37 % (UNITS / 8);
		for (k = 0; k < 8; k++)
			iov[k] = (struct iovec){
				mem + ((size_t)run * 8 + k) * UNIT, UNIT};
		rc = rj_queue_writev(
			q, iov, 8, (uint64_t)run * 8 * UNIT, err);
		memset(iov, 0, sizeof(iov)); /* it has its own copy */
	}
	if (!rc)
		rc = rj_queue_drain(q, err);
	rj_queue_free(q);
	return rc;
}

static int read_all(struct rj_bio *bio, size_t piece, struct rj_error *err)
{
	struct rj_queue *q = rj_queue_new(bio, 3);
	uint64_t number[3];
	size_t begun = 0, done, count = BYTES / piece;
	int rc = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(q);
	for (done = 0; !rc && done < count; done++) {
		for (; begun < count && begun < done + 3; begun++)
			number[begun % 3] = rj_queue_read(q,
				back + begun * piece, piece, begun * piece);
		rc = rj_queue_wait(q, number[done % 3], err);
	}
	rj_queue_free(q);
	return rc;
}

static void a_file(void)
{
	struct rj_error err;

	set_up();
	CU_ASSERT_EQUAL(write_all(file, &err), 0);
	CU_ASSERT_EQUAL(read_all(file, 65536, &err), 0);
	CU_ASSERT_EQUAL(memcmp(mem, back, BYTES), 0);
	tear_down();
}

static void past_the_bio(void)
{
	struct odd_bio o;
	struct rj_error err;

	set_up();
	odd_init(&o);
	CU_ASSERT_EQUAL(write_all(&o.bio, &err), 0);
	CU_ASSERT_EQUAL(read_all(&o.bio, 65536, &err), 0);
	CU_ASSERT_EQUAL(memcmp(mem, back, BYTES), 0);
	if (o.reads || o.writes)
		rjtest_skip("no io_uring, or no direct I/O, here");
	tear_down();
}

static void bytes_stand_apart(void)
{
	struct odd_bio o;
	struct rj_error err;

	set_up();
	CU_ASSERT_EQUAL(write_all(file, &err), 0);
	odd_init(&o);
	o.apart = 3 * UNIT; /* more parts than the ring has entries */
	CU_ASSERT_EQUAL(read_all(&o.bio, BYTES / 4, &err), 0);
	CU_ASSERT_EQUAL(memcmp(mem, back, BYTES), 0);
	o.apart = 1000; /* nothing for direct I/O */
	memset(back, 0, BYTES);
	CU_ASSERT_EQUAL(read_all(&o.bio, BYTES / 4, &err), 0);
	CU_ASSERT_EQUAL(memcmp(mem, back, BYTES), 0);
	tear_down();
}

static void done_again_when_it_fails(void)
{
	struct rj_error err;
	struct odd_bio o;

	set_up();
	odd_init(&o);
	o.wrong_fd = 1 << 20; /* not open */
	CU_ASSERT_EQUAL(write_all(&o.bio, &err), 0);
	CU_ASSERT_EQUAL(o.writes, UNITS / 8);
	CU_ASSERT_EQUAL(read_all(&o.bio, 65536, &err), 0);
	CU_ASSERT_EQUAL(o.reads, BYTES / 65536);
	CU_ASSERT_EQUAL(memcmp(mem, back, BYTES), 0);
	/* what the ordinary way says counts */
	o.fail = 1;
	CU_ASSERT_EQUAL(write_all(&o.bio, &err), -RJ_E_IO);
	CU_ASSERT_STRING_EQUAL(err.msg, "bad sector");
	CU_ASSERT_EQUAL(read_all(&o.bio, 65536, &err), -RJ_E_IO);
	tear_down();
}

static void short_transfers_are_failures(void)
{
	struct rj_error err;
	struct odd_bio o;

	set_up();
	CU_ASSERT_EQUAL(write_all(file, &err), 0);
	odd_init(&o);
	CU_ASSERT_EQUAL_FATAL(ftruncate(file_fd, BYTES - 32768), 0);
	CU_ASSERT_NOT_EQUAL(read_all(&o.bio, 65536, &err), 0);
	CU_ASSERT_EQUAL(o.reads, 1);
	tear_down();
}

static void refuses_past_its_end(void)
{
	struct rj_queue *q;
	struct rj_error err;
	struct iovec v;

	set_up();
	q = rj_queue_new(file, 4);
	CU_ASSERT_PTR_NOT_NULL_FATAL(q);
	v = (struct iovec){mem, UNIT};
	CU_ASSERT_EQUAL(rj_queue_wait(q,
				rj_queue_read(q, back, UNIT, BYTES - 512),
				&err),
		-RJ_E_INVAL);
	CU_ASSERT_EQUAL(rj_queue_writev(q, &v, 1, BYTES - 512, &err),
		-RJ_E_INVAL);
	CU_ASSERT_EQUAL(rj_queue_drain(q, &err), 0); /* told once */
	rj_queue_free(q);
	CU_ASSERT_EQUAL(lseek(file_fd, 0, SEEK_END), BYTES);
	tear_down();
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(a_file),
		RJTEST(past_the_bio),
		RJTEST(bytes_stand_apart),
		RJTEST(done_again_when_it_fails),
		RJTEST(short_transfers_are_failures),
		RJTEST(refuses_past_its_end),
	};

	return RJTEST_RUN("queue", tests);
}
