// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * disk SEED SOCKET IMAGE...: the disks of a virtual machine, as NBD exports
 * "0", "1", ... of the Unix socket SOCKET. Each has a volatile write cache:
 * IMAGE is changed only by a flush. When the machine is gone (all its
 * connections are) the power has been cut: of each disk's unflushed writes all,
 * none, or some arrive, and of those some only in part, as SEED has it. Then
 * it tells what it did, a line for each disk, and ends.
 *
 * Fixed newstyle negotiation; READ, WRITE, FLUSH; one request after another.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define DISKS_MAX     16
#define SECTOR	      512
#define SB_MIDDLE     1536
#define REQUEST_BYTES (32u << 20) /* NBD's usual limit */

#define OPT_MAGIC   0x49484156454F5054u /* IHAVEOPT */
#define REPLY_MAGIC 0x3E889045565A9u
#define OPT_ABORT   2
#define OPT_GO	    7
#define REP_ACK	    1
#define REP_INFO    3
#define REP_UNSUP   0x80000001u
#define CMD_MAGIC   0x25609513u
#define ANSWER	    0x67446698u
#define FLAGS	    (1 | 4) /* has flags, sends flushes */

enum { CMD_READ, CMD_WRITE, CMD_DISC, CMD_FLUSH };

struct change {
	uint64_t off;
	uint32_t len;
	uint8_t *data;
};

struct disk {
	int fd; /* what is durable */
	uint64_t size;
	uint8_t *now; /* what the machine reads */
	struct change *cache;
	size_t count, room;
	uint64_t writes, flushes;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t left;
	struct disk disks[DISKS_MAX];
	unsigned disk_count;
	unsigned came, there; /* connections */
} S = {.lock = PTHREAD_MUTEX_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

static void die(const char *what)
{
	fprintf(stderr, "disk: %s: %s\n", what, strerror(errno));
	exit(2);
}

static bool get(int fd, void *buf, size_t len)
{
	ssize_t n;

	for (; len; len -= (size_t)n, buf = (uint8_t *)buf + n) {
		n = read(fd, buf, len);
		if (n <= 0)
			return false;
	}
	return true;
}

static bool put(int fd, const void *buf, size_t len)
{
	ssize_t n;

	for (; len; len -= (size_t)n, buf = (const uint8_t *)buf + n) {
		n = send(fd, buf, len, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
	}
	return true;
}

static void arrive(const struct disk *d, const struct change *c, uint32_t len)
{
	if (pwrite(d->fd, c->data, len, (off_t)c->off) != (ssize_t)len)
		die("image");
}

static void flush(struct disk *d)
{
	size_t i;

	for (i = 0; i < d->count; i++) {
		arrive(d, &d->cache[i], d->cache[i].len);
		free(d->cache[i].data);
	}
	d->count = 0;
	d->flushes++;
}

static void write_to(struct disk *d, uint64_t off, uint32_t len, uint8_t *data)
{
	if (d->count == d->room) {
		d->room = d->room ? d->room * 2 : 256;
		d->cache = realloc(d->cache, d->room * sizeof(*d->cache));
		if (!d->cache)
			die("memory");
	}
	memcpy(d->now + off, data, len);
	d->cache[d->count++] = (struct change){off, len, data};
	d->writes++;
}

/* ---- negotiation ---- */

static bool opt_reply(
	int fd, uint32_t opt, uint32_t type, const void *data, uint32_t len)
{
	struct __attribute__((packed)) {
		uint64_t magic;
		uint32_t opt, type, len;
	} r = {htobe64(REPLY_MAGIC), htobe32(opt), htobe32(type), htobe32(len)};

	return put(fd, &r, sizeof(r)) && put(fd, data, len);
}

static struct disk *go(int fd, const uint8_t *data, uint32_t len)
{
	struct __attribute__((packed)) {
		uint16_t type;
		uint64_t size;
		uint16_t flags;
	} info = {.flags = htobe16(FLAGS)};
	unsigned n = len > 4 ? (unsigned)(data[4] - '0') : DISKS_MAX;

	if (n >= S.disk_count)
		return NULL;
	info.size = htobe64(S.disks[n].size);
	if (!opt_reply(fd, OPT_GO, REP_INFO, &info, sizeof(info)) ||
		!opt_reply(fd, OPT_GO, REP_ACK, NULL, 0))
		return NULL;
	return &S.disks[n];
}

static struct disk *negotiate(int fd)
{
	struct __attribute__((packed)) {
		uint64_t magic;
		uint32_t opt, len;
	} o;
	uint8_t data[4096];
	uint32_t flags;

	if (!put(fd, "NBDMAGICIHAVEOPT\0\3", 18) || !get(fd, &flags, 4))
		return NULL;
	while (get(fd, &o, sizeof(o))) {
		if (be64toh(o.magic) != OPT_MAGIC ||
			be32toh(o.len) > sizeof(data) ||
			!get(fd, data, be32toh(o.len)))
			return NULL;
		if (be32toh(o.opt) == OPT_GO)
			return go(fd, data, be32toh(o.len));
		if (be32toh(o.opt) == OPT_ABORT ||
			!opt_reply(fd, be32toh(o.opt), REP_UNSUP, NULL, 0))
			return NULL;
	}
	return NULL;
}

/* ---- requests ---- */

struct __attribute__((packed)) request {
	uint32_t magic;
	uint16_t flags, type;
	uint64_t handle, off;
	uint32_t len;
};

static bool answer(int fd, const struct request *q, const void *data, size_t len)
{
	struct __attribute__((packed)) {
		uint32_t magic, error;
		uint64_t handle;
	} a = {htobe32(ANSWER), 0, q->handle};

	return put(fd, &a, sizeof(a)) && put(fd, data, len);
}

static bool serve_one(int fd, struct disk *d)
{
	struct request q;
	uint8_t *data = NULL;
	uint64_t off;
	uint32_t len;
	int type;

	if (!get(fd, &q, sizeof(q)) || be32toh(q.magic) != CMD_MAGIC)
		return false;
	off = be64toh(q.off);
	len = be32toh(q.len);
	type = be16toh(q.type);
	if (type == CMD_FLUSH)
		len = 0;
	if (type > CMD_FLUSH || type == CMD_DISC || len > REQUEST_BYTES ||
		off > d->size || len > d->size - off)
		return false;
	if (type == CMD_WRITE) {
		data = malloc(len + 1);
		if (!data || !get(fd, data, len)) {
			free(data);
			return false;
		}
	}
	pthread_mutex_lock(&S.lock);
	if (type == CMD_WRITE)
		write_to(d, off, len, data);
	else if (type == CMD_FLUSH)
		flush(d);
	pthread_mutex_unlock(&S.lock);
	return answer(fd, &q, d->now + off, type == CMD_READ ? len : 0);
}

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	struct disk *d = negotiate(fd);

	while (d && serve_one(fd, d))
		continue;
	close(fd);
	pthread_mutex_lock(&S.lock);
	S.there--;
	pthread_cond_signal(&S.left);
	pthread_mutex_unlock(&S.lock);
	return NULL;
}

/* ---- the cut ---- */

static uint32_t draw(uint64_t *r)
{
	*r = *r * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*r >> 33);
}

static void cut(unsigned n, uint64_t *r)
{
	static const char *const names[] = {"all", "none", "some", "most"};
	static const unsigned percent[] = {100, 0, 50, 85};
	struct disk *d = &S.disks[n];
	unsigned how = draw(r) % 4;
	size_t i, kept = 0, torn = 0;
	uint32_t len;

	for (i = 0; i < d->count; i++) {
		if (draw(r) % 100 >= percent[how])
			continue;
		len = d->cache[i].len;
		kept++;
		if (how >= 2 && len > SECTOR && draw(r) % 8 == 0) {
			len = draw(r) % (len / SECTOR) * SECTOR;
			/* ext4 takes its superblock's 1024 bytes as one */
			if (d->cache[i].off + len == SB_MIDDLE)
				len += SECTOR;
			torn++;
		}
		arrive(d, &d->cache[i], len);
	}
	printf("disk %u: %llu writes, %llu flushes; cut: %s of %zu unflushed "
	       "arrived (%zu, %zu of them torn)\n",
		n, (unsigned long long)d->writes,
		(unsigned long long)d->flushes, names[how], d->count, kept,
		torn);
}

static void add_disk(const char *path)
{
	struct disk *d = &S.disks[S.disk_count++];
	struct stat st;

	d->fd = open(path, O_RDWR | O_CLOEXEC);
	if (d->fd < 0 || fstat(d->fd, &st))
		die(path);
	d->size = (uint64_t)st.st_size;
	d->now = malloc(d->size);
	if (!d->now || pread(d->fd, d->now, d->size, 0) != st.st_size)
		die(path);
}

static void *accept_all(void *arg)
{
	int listener = (int)(intptr_t)arg, fd;
	pthread_t thread;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		pthread_mutex_lock(&S.lock);
		S.came++;
		S.there++;
		pthread_mutex_unlock(&S.lock);
		if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd))
			die("thread");
		pthread_detach(thread);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	pthread_t thread;
	uint64_t r;
	unsigned i;
	int fd;

	if (argc < 4 || argc - 3 > DISKS_MAX ||
		strlen(argv[2]) >= sizeof(sa.sun_path)) {
		fprintf(stderr, "usage: disk SEED SOCKET IMAGE...\n");
		return 2;
	}
	r = strtoull(argv[1], NULL, 10);
	strcpy(sa.sun_path, argv[2]);
	for (i = 3; i < (unsigned)argc; i++)
		add_disk(argv[i]);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ||
		listen(fd, DISKS_MAX))
		die(argv[2]);
	if (pthread_create(&thread, NULL, accept_all, (void *)(intptr_t)fd))
		die("thread");
	pthread_mutex_lock(&S.lock);
	while (S.came < S.disk_count || S.there)
		pthread_cond_wait(&S.left, &S.lock);
	for (i = 0; i < S.disk_count; i++)
		cut(i, &r);
	return fflush(stdout) ? 2 : 0;
}
