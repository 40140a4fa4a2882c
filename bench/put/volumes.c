// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * volumes PORT VOLUMES CONNECTIONS BYTES RATE TRIM RAMP WARM SECONDS
 *
 * Asks of a rjserver what VOLUMES of rjournald ask, each from a loopback address of
 * its own: RATE times a second a PUT of BYTES and a look for the next epoch; each TRIM
 * seconds a list of the log, and the deletion of all but the newest. Each has
 * CONNECTIONS (rjournald: 3, for commits, for looks, to trim), which stay open. They
 * start within RAMP seconds (0: all in the first second). What is due does not wait for
 * what is not answered: a put whose predecessor is under way is counted as missed, as
 * the kernel would make one commit of both.
 *
 * Prints "begin" after WARM seconds, "end" SECONDS later, and then the latency of the
 * puts in between, from when they were due, in microseconds. A connection that ends is
 * made again 0.2 seconds later, and its request sent again.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "bench/clock.h"

#define CONNS	    3
#define SAMPLES	    8000000
#define RETRY_S	    0.2
#define KEEP	    5 /* segments that a deletion leaves */
#define HEAD_BYTES  192
#define RECV_BYTES  (256u << 10)
#define EVENTS_MOST 256

enum kind { PUT, LOOK, LIST, TRIM, KINDS };

/* Of a host, and the requests that it owes */
struct conn {
	int fd; /* -1: none */
	bool broken;
	enum kind now;	     /* what is under way; KINDS: nothing */
	double due[KINDS];   /* 0: nothing is */
	size_t sent, left;   /* of the request; of the answer's body */
	bool answering;	     /* the head was seen, with this status */
	int status;
	char head[HEAD_BYTES];
	size_t head_len;
	struct volume *v;
};

struct volume {
	struct conn conn[CONNS];
	uint64_t count, trimmed;
	double phase;
};

struct schedule {
	enum kind kind;
	double period, offset;
	uint64_t next; /* of all volumes */
};

static struct volume *volumes;
static unsigned count, conns;
static int port, ep;
static size_t bytes;
static char *body, *in;
static float *samples;
static size_t sample_count;
static double begin, ramp, from, until;
static double cpu[2]; /* ours, seconds: at the begin and at the end */
static uint64_t done[KINDS], missed, failed, broken, again, asked;

static double own_cpu(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void die(const char *what)
{
	fprintf(stderr, "volumes: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void dial(struct conn *c)
{
	unsigned id = (unsigned)(c->v - volumes);
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in own = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0x7f010001 + id / 250 * 256 + id % 250)};
	struct epoll_event ev = {
		.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = c};
	int on = 1;

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0 ||
		setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ||
		setsockopt(c->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on,
			sizeof(on)) ||
		bind(c->fd, (struct sockaddr *)&own, sizeof(own)))
		die("socket");
	if (connect(c->fd, (struct sockaddr *)&to, sizeof(to)) &&
		errno != EINPROGRESS)
		die("connect");
	if (epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &ev))
		die("epoll");
}

static void make_head(struct conn *c)
{
	static const char *const method[KINDS] = {"PUT", "GET", "GET", "DELETE"};
	struct volume *v = c->v;
	unsigned id = (unsigned)(v - volumes);
	char what[64], more[64] = "";

	if (c->now == PUT) {
		snprintf(what, sizeof(what), "log/%020llu",
			(unsigned long long)v->count + 1);
		snprintf(more, sizeof(more),
			"If-None-Match: *\r\nContent-Length: %zu\r\n", bytes);
	} else if (c->now == LOOK) {
		snprintf(what, sizeof(what), "epoch/%020d", 2);
	} else if (c->now == LIST) {
		snprintf(what, sizeof(what), "log/?after=0");
	} else {
		snprintf(what, sizeof(what), "log/?below=%llu",
			(unsigned long long)(v->count < KEEP ? 1 : v->count - KEEP + 1));
	}
	c->head_len = (size_t)snprintf(c->head, HEAD_BYTES,
		"%s /v%u/%08x-0000-4000-8000-000000000000/%s HTTP/1.1\r\nHost: x\r\n%s\r\n",
		method[c->now], id, id, what, more);
}

static void break_off(struct conn *c)
{
	close(c->fd);
	c->fd = -1;
	c->broken = true;
	c->sent = c->left = 0;
	c->answering = false;
	broken++;
	again++;
}

/* Send the rest of the request, as far as it goes. */
static void push(struct conn *c)
{
	size_t len = c->now == PUT ? bytes : 0, skip = c->sent;
	struct iovec v[2];
	struct msghdr m = {.msg_iov = v};
	ssize_t n;

	if (c->now == KINDS || c->fd < 0 || skip == c->head_len + len)
		return;
	if (skip < c->head_len)
		v[m.msg_iovlen++] =
			(struct iovec){c->head + skip, c->head_len - skip};
	skip = skip < c->head_len ? 0 : skip - c->head_len;
	if (len > skip)
		v[m.msg_iovlen++] = (struct iovec){body + skip, len - skip};
	n = sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n > 0)
		c->sent += (size_t)n;
	else if (n < 0 && errno != EAGAIN && errno != ENOTCONN)
		break_off(c);
}

/* Send the first of what is due, if nothing is under way. */
static void next(struct conn *c)
{
	unsigned k;

	if (c->now != KINDS || c->broken)
		return;
	for (k = 0; k < KINDS; k++)
		if (c->due[k] > 0 &&
			(c->now == KINDS || c->due[k] < c->due[c->now]))
			c->now = (enum kind)k;
	if (c->now == KINDS)
		return;
	if (c->fd < 0)
		dial(c);
	make_head(c);
	c->sent = 0;
	push(c);
}

static void owe(struct volume *v, enum kind kind, double due)
{
	static const unsigned on[KINDS] = {0, 1, 2, 2};
	struct conn *c = &v->conn[on[kind] % conns];

	asked += kind == PUT && due >= from && due < until;
	if (c->due[kind] > 0)
		missed += kind == PUT && due >= from && due < until;
	else
		c->due[kind] = due;
	next(c);
}

static void answered(struct conn *c)
{
	static const int want[KINDS] = {201, 404, 200, 204};
	enum kind kind = c->now;
	double t = now(), due = c->due[kind];

	if (c->status != want[kind] && !(kind == PUT && c->status == 412) &&
		!failed++)
		fprintf(stderr, "volumes: status %d\n", c->status);
	if (due >= from && due < until)
		done[kind]++;
	if (kind == PUT) {
		c->v->count++;
		if (due >= from && due < until && sample_count < SAMPLES)
			samples[sample_count++] = (float)((t - due) * 1e6);
	}
	c->due[kind] = 0;
	c->now = KINDS;
	if (kind == LIST)
		owe(c->v, TRIM, t);
	next(c);
}

static void receive(struct conn *c)
{
	ssize_t n = recv(c->fd, in, RECV_BYTES, MSG_DONTWAIT);
	char *end, *p;
	size_t head;

	if (n < 0 && (errno == EAGAIN || errno == ENOTCONN))
		return;
	if (n <= 0) {
		break_off(c);
		return;
	}
	in[n] = 0;
	if (!c->answering) {
		end = strstr(in, "\r\n\r\n");
		p = strcasestr(in, "\r\nContent-Length:");
		if (!end || n < 12) {
			errno = EPROTO; /* rjserver sends a head in one piece */
			die("answer");
		}
		head = (size_t)(end + 4 - in);
		c->left = p && p < end ? strtoul(p + 17, NULL, 10) : 0;
		c->status = atoi(in + 9);
		c->answering = true;
		n -= (ssize_t)head;
	}
	c->left -= (size_t)n;
	if (c->left)
		return;
	c->answering = false;
	answered(c);
}

static void mend(void)
{
	unsigned i, k;

	for (i = 0; i < count && broken; i++) {
		for (k = 0; k < conns; k++) {
			struct conn *c = &volumes[i].conn[k];

			if (!c->broken)
				continue;
			c->broken = false;
			broken--;
			c->now = KINDS;
			next(c);
		}
	}
}

static double due_of(const struct schedule *s)
{
	return begin + s->offset +
	       ((double)(s->next / count) + volumes[s->next % count].phase) *
		       s->period;
}

static void fire(struct schedule *s, double t)
{
	double due;
	unsigned i;

	for (; (due = due_of(s)) <= t; s->next++) {
		i = (unsigned)(s->next % count);
		/* a ramp by number, as phases ascend: scatter it */
		if (due - begin >= ramp * (i * 7919u % count) / count)
			owe(&volumes[i], s->kind, due);
	}
}

static void run(struct schedule *s, unsigned schedules)
{
	struct epoll_event evs[EVENTS_MOST];
	double t, first, mended = 0;
	unsigned i, said = 0;
	int n, k;

	/* what is answered a little later counts, too */
	for (t = begin; t < until + 1; t = now()) {
		for (first = t + 0.1, i = 0; i < schedules; i++) {
			fire(&s[i], t);
			first = due_of(&s[i]) < first ? due_of(&s[i]) : first;
		}
		if (t - mended > RETRY_S) {
			mend();
			mended = t;
		}
		if (t >= (said ? until : from) && said < 2) {
			cpu[said] = own_cpu();
			puts(said++ ? "end" : "begin");
			fflush(stdout);
		}
		first -= now();
		first = first > 0 ? first : 0;
		n = epoll_pwait2(ep, evs, EVENTS_MOST,
			&(struct timespec){0, (long)(first * 1e9)}, NULL);
		for (k = 0; k < n; k++) {
			struct conn *c = evs[k].data.ptr;

			if (c->fd >= 0 && evs[k].events & EPOLLOUT)
				push(c);
			if (c->fd >= 0 && evs[k].events & ~(uint32_t)EPOLLOUT)
				receive(c);
		}
	}
}

static int by_phase(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int by_size(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static void make(void)
{
	double *phase;
	unsigned i, k;

	volumes = calloc(count, sizeof(*volumes));
	phase = calloc(count, sizeof(*phase));
	samples = malloc(SAMPLES * sizeof(*samples));
	body = malloc(bytes);
	in = malloc(RECV_BYTES + 1);
	ep = epoll_create1(EPOLL_CLOEXEC);
	if (!volumes || !phase || !samples || !body || !in || ep < 0)
		die("memory");
	for (i = 0; i < bytes; i++)
		body[i] = (char)lrand48();
	for (i = 0; i < count; i++)
		phase[i] = drand48();
	qsort(phase, count, sizeof(*phase), by_phase);
	for (i = 0; i < count; i++) {
		volumes[i].phase = phase[i];
		for (k = 0; k < CONNS; k++)
			volumes[i].conn[k] = (struct conn){
				.fd = -1, .now = KINDS, .v = &volumes[i]};
	}
	free(phase);
}

static void print(double seconds)
{
	const float *s = samples;
	size_t n = sample_count;

	if (!n)
		die("no answer");
	qsort(samples, n, sizeof(*samples), by_size);
	printf("volumes %u connections %u bytes %zu asked %.0f puts %.0f looks %.0f trims %.1f "
	       "missed %llu failed %llu again %llu p50 %.0f p99 %.0f p999 %.0f most %.0f cpu %.0f\n",
		count, count * conns, bytes, (double)asked / seconds,
		(double)done[PUT] / seconds, (double)done[LOOK] / seconds,
		(double)done[TRIM] / seconds, (unsigned long long)missed,
		(unsigned long long)failed, (unsigned long long)again,
		(double)s[n / 2], (double)s[n * 99 / 100],
		(double)s[n * 999 / 1000], (double)s[n - 1],
		100 * (cpu[1] - cpu[0]) / seconds);
}

int main(int argc, char **argv)
{
	struct schedule s[] = {{.kind = PUT}, {.kind = LOOK}, {.kind = LIST}};
	struct rlimit files;
	double seconds;

	if (argc != 10) {
		fprintf(stderr, "usage: see the head of volumes.c\n");
		return 2;
	}
	port = atoi(argv[1]);
	count = (unsigned)atoi(argv[2]);
	conns = (unsigned)atoi(argv[3]);
	bytes = strtoul(argv[4], NULL, 10);
	s[0].period = s[1].period = 1 / strtod(argv[5], NULL);
	s[1].offset = s[1].period * 0.3;
	s[2].period = s[2].offset = strtod(argv[6], NULL);
	ramp = strtod(argv[7], NULL);
	seconds = strtod(argv[9], NULL);
	if (!count || conns < 1 || conns > CONNS || !bytes)
		return 2;
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	make();
	begin = now();
	from = begin + strtod(argv[8], NULL);
	until = from + seconds;
	run(s, sizeof(s) / sizeof(s[0]));
	print(seconds);
	return failed ? 1 : 0;
}
