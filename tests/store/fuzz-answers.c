// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target for the client's reading of HTTP answers: rjserver's and S3's,
 * from the status line to the stream of objects, through http1.c, libcurl (S3) and
 * all of lib/store; built and run by scripts/fuzz. connect(), send(), recv() and poll()
 * are replaced here: the connection is one end of a socket pair, and each whole
 * request is answered with the rest of the input.
 *
 * The first byte of an input says what is asked: bits 0-2: the request (enum ask);
 * bit 3: over s3+http; bit 4: the answer comes one byte at a time; bit 5: the
 * connection breaks, with the answer, before the request's body was sent; bit 6: the
 * same is asked once more, over the same connection if it can be.
 * Checked, besides memory and undefined behaviour: a put succeeds only with a status
 * that says so, and never when its body was not sent; an object is bytes of the
 * answer, and what is read keeps the contract of store.h; each failure has a message
 * that is fit for a terminal.
 *
 * With $RJ_SEEDS set the program writes a few inputs to that directory instead.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/store.h"

#define REQUESTS 8   /* so many are answered; then nobody listens */
#define BODY	 300 /* bytes of a put */
#define MAX_BYTES 2000

enum ask { PUT, GET, LIST, JOURNALS, STREAM, REMOVE, BELOW, ASKS };

#define ASK	 0x07
#define S3	 0x08
#define SLOW	 0x10
#define EARLY	 0x20
#define TWICE	 0x40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static const char *answer; /* of ANSWER_LEN bytes */
static size_t answer_len;
static uint8_t mode;
static int peer = -1;	/* the server's end; -1: no connection */
static int client = -1; /* the store's */
static unsigned answered;
static char head[4096]; /* of the request that comes; NUL-terminated */
static size_t head_len, body_left;

#define must(ok) must_at(ok, __LINE__)
static void must_at(bool ok, int line)
{
	if (!ok) {
		fprintf(stderr, "broken: line %d\n", line);
		abort();
	}
}

/* ---- the network ---- */

static void hang_up(void)
{
	if (peer != -1)
		close(peer);
	peer = client = -1;
}

int connect(int fd, const struct sockaddr *to, socklen_t len)
{
	int pair[2], flags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

	(void)to, (void)len;
	if (answered >= REQUESTS) {
		errno = ECONNREFUSED;
		return -1;
	}
	hang_up();
	must(!socketpair(AF_UNIX, flags, 0, pair) && dup2(pair[0], fd) == fd);
	close(pair[0]);
	peer = pair[1];
	client = fd;
	head_len = body_left = 0;
	return 0;
}

static void reply(void)
{
	size_t sent = 0;
	ssize_t n;

	if (answered++ >= REQUESTS) {
		shutdown(peer, SHUT_WR);
		return;
	}
	for (; sent < answer_len; sent += (size_t)n) {
		n = write(peer, answer + sent, answer_len - sent);
		must(n > 0);
	}
	head_len = 0;
}

ssize_t send(int fd, const void *data, size_t len, int flags)
{
	const char *length, *end;
	size_t n = sizeof(head) - 1 - head_len;

	(void)flags;
	must(fd == client);
	if (peer == -1 || (mode & EARLY && answered)) {
		errno = EPIPE;
		return -1;
	}
	if (body_left) {
		n = len < body_left ? len : body_left;
		body_left -= n;
		if (!body_left)
			reply();
		return (ssize_t)n;
	}
	n = len < n ? len : n;
	memcpy(head + head_len, data, n);
	head[head_len + n] = '\0';
	end = strstr(head, "\r\n\r\n");
	must(end);
	n = (size_t)(end + 4 - head) - head_len;
	head_len += n;
	length = strstr(head, "Content-Length: ");
	body_left = length && length < end ? strtoul(length + 16, NULL, 10) : 0;
	if (!body_left || mode & EARLY)
		reply();
	return (ssize_t)n;
}

/* Of http1-conn.c: some of the first part that is not empty. */
ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	size_t i = 0;

	while (i + 1 < msg->msg_iovlen && !msg->msg_iov[i].iov_len)
		i++;
	return send(fd, msg->msg_iov[i].iov_base, msg->msg_iov[i].iov_len,
		flags);
}

ssize_t recv(int fd, void *data, size_t len, int flags)
{
	struct iovec part = {data, mode & SLOW && len ? 1 : len};
	struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t n = recvmsg(fd, &msg, flags | MSG_DONTWAIT);

	if (n != -1 || errno != EAGAIN || flags & MSG_DONTWAIT || peer == -1)
		return n;
	/* nothing more will come by waiting */
	shutdown(peer, SHUT_WR);
	return recvmsg(fd, &msg, flags);
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	static int (*real)(struct pollfd *, nfds_t, int);
	int n;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "poll");
	n = real(fds, count, 0);
	if (n || !timeout_ms)
		return n;
	if (peer != -1)
		shutdown(peer, SHUT_WR);
	return real(fds, count, 0);
}

/* ---- what is handed on ---- */

static int object(void *arg, uint64_t number, uint64_t bytes)
{
	uint64_t *last = arg;

	(void)bytes;
	must(number > *last);
	*last = number;
	return 0;
}

static int streamed(void *arg, uint64_t number, struct rj_buf *bytes)
{
	uint64_t *next = arg;

	must(number == *next && bytes->len <= MAX_BYTES);
	(*next)++;
	return 0;
}

static int journal(void *arg, const uint8_t uuid[RJ_UUID_BYTES])
{
	(void)arg, (void)uuid;
	return 0;
}

static bool says(const char *status)
{
	return memmem(answer, answer_len, status, strlen(status)) != NULL;
}

static bool has_chunks(void)
{
	size_t i;

	for (i = 0; i + 7 <= answer_len; i++)
		if (!strncasecmp(answer + i, "chunked", 7))
			return true;
	return false;
}

static int put(struct rj_store *s, const struct rj_key *key,
	struct rj_error *err)
{
	static const char body[BODY];
	int rc = rj_store_put_new(s, key, body, BODY, err);

	if (!rc)
		must(!(mode & EARLY) && (says(" 201") || (mode & S3 && says(" 200"))));
	if (rc == -RJ_E_EXISTS)
		must(says(" 412"));
	return rc;
}

static int get(struct rj_store *s, const struct rj_key *key,
	struct rj_error *err)
{
	struct rj_buf out = {0};
	int rc = s->ops->get(s, key, MAX_BYTES, &out, err);

	must(rc ? !out.len : out.len <= MAX_BYTES && says(" 200"));
	if (!rc && out.len && !memmem(answer, answer_len, out.data, out.len))
		must(has_chunks());
	rj_buf_free(&out);
	return rc;
}

static int request(struct rj_store *s, struct rj_error *err)
{
	struct rj_key dir = {.kind = RJ_KEY_LOG}, key = dir;
	uint64_t number = 1;

	key.number = 1;
	switch ((enum ask)((mode & ASK) % ASKS)) {
	case PUT:
		return put(s, &key, err);
	case GET:
		return get(s, &key, err);
	case LIST:
		return s->ops->list(s, &dir, 1, object, &number, err);
	case JOURNALS:
		return s->ops->list_journals(s, journal, NULL, err);
	case STREAM:
		return s->ops->stream
			       ? s->ops->stream(s, &dir, 1, MAX_BYTES,
					 streamed, &number, err)
			       : 0;
	case REMOVE:
		return s->ops->remove(s, &key, err);
	default:
		return s->ops->remove_below(s, &dir, 9, 1, NULL, err);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rj_store_opts opts = {.request_timeout_ms = 20000};
	struct rj_error err = {0};
	struct rj_store *s;
	const char *c;
	int i;

	if (!size)
		return 0;
	mode = data[0];
	answer = (const char *)data + 1;
	answer_len = size - 1;
	answered = 0;
	must(!rj_store_open(mode & S3	     ? "s3+http://127.0.0.1:9/b/p"
					     : "rj://127.0.0.1:9/v",
		&opts, &s, &err));
	for (i = 0; i < (mode & TWICE ? 2 : 1); i++) {
		if (!request(s, &err))
			continue;
		must(err.code && err.msg[0]);
		for (c = err.msg; *c; c++)
			must((unsigned char)*c >= ' ' && *c != 0x7f);
	}
	rj_store_close(s);
	hang_up();
	return 0;
}

static void write_seed(const char *dir, unsigned how, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/ask-%u", dir, how);
	f = fopen(path, "w");
	if (!f || putc((int)how, f) == EOF || fputs(text, f) == EOF ||
		fclose(f))
		exit(1);
}

#define ZERO_UUID "00000000-0000-0000-0000-000000000000"
#define OK(length) "HTTP/1.1 200 OK\r\nContent-Length: " length "\r\n"

static void write_seeds(const char *dir)
{
	write_seed(dir, PUT,
		"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n"
		"RJ-Nearly-Full: disk\r\nRJ-Max-Bytes: 1000\r\n\r\n");
	write_seed(dir, PUT | EARLY,
		"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
	write_seed(dir, PUT | SLOW,
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 503 Busy\r\n"
		"Connection: close\r\n\r\nnot now\r\n");
	write_seed(dir, PUT | TWICE,
		"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
	/* no object, and nothing of it is left to the caller */
	write_seed(dir, GET | TWICE,
		"HTTP/1.1 207 OK\r\nContent-Length: 5\r\n\r\nhello");
	write_seed(dir, GET | S3,
		"HTTP/1.1 207 OK\r\nContent-Length: 5\r\n\r\nhello");
	write_seed(dir, PUT | TWICE | EARLY,
		"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n"
		"3\r\nno\n\r\n0\r\n\r\n");
	write_seed(dir, GET | TWICE, OK("5") "\r\nhello");
	write_seed(dir, STREAM | SLOW,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		"1A;x=y\r\n00000000000000000001 5\nhel\r\n"
		"6\r\nloend\n\r\n0\r\nA: b\r\n\r\n");
	write_seed(dir, GET,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		"5\r\nhello\r\n0\r\n\r\n");
	write_seed(dir, LIST,
		OK("46") "RJ-More: 1\r\n\r\n00000000000000000002 5\n"
			 "00000000000000000003 77\n");
	write_seed(dir, JOURNALS, OK("37") "\r\n" ZERO_UUID "\n");
	write_seed(dir, STREAM, OK("86") "\r\n00000000000000000001 5\nhello"
			  "00000000000000000002 0\n"
			  "00000000000000000003 damaged\nend\n");
	write_seed(dir, REMOVE, "HTTP/1.1 204 No Content\r\n\r\n");
	write_seed(dir, BELOW, "HTTP/1.1 204 No\r\nRJ-Deleted: 5\r\n\r\n");
	write_seed(dir, S3 | PUT,
		"HTTP/1.1 409 C\r\nContent-Length: 70\r\n\r\n<Error><Code>"
		"OperationAborted</Code><Message>later</Message></Error>");
	write_seed(dir, S3 | LIST,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n73\r\n"
		"<ListBucketResult><Contents><Key>p/" ZERO_UUID
		"/log/00000000000000000003</Key><Size>17</Size></Contents>"
		"</ListBucketResult>\r\n0\r\n\r\n");
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *dir = getenv("RJ_SEEDS");

	(void)argc, (void)argv;
	if (dir) {
		write_seeds(dir);
		exit(0);
	}
	must(!setenv("RJ_CREDENTIALS",
		"[s3+http://127.0.0.1]\nuser=u\npassword=p\n", 1));
	must(!setenv("no_proxy", "*", 1));
	must(!setenv("RJ_CONF", "/dev/null", 1));
	return 0;
}
