// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wire HOSTS SEED: a network of so many hosts, each a network namespace of its
 * own with the address 127.77.0.N (N from 1; of 127/8, since rjserver without
 * TLS serves nothing else, and without a loopback device they go over our wire).
 * This program joins them, and can do to each packet what a bad network does. A
 * kernel's TCP is at both ends, and no sch_netem is needed, which is not built
 * into every kernel.
 *
 * Prints "host N FILE" for each, FILE for nsenter --net=FILE, then "ready". Then
 * reads commands, and answers each with "ok":
 *
 *	set N [loss=%] [dup=%] [delay=MS] [jitter=MS] [down=0|1] [mute=0|1]
 *	      [cut=%] [break=%]
 *	heal N
 *	count         (answers "count WHAT=TIMES ...")
 *
 * for the link of host N: loss, dup, delay and jitter in both directions; mute:
 * nothing that the host sends arrives; cut: so many of the packets with data
 * that the host sends become a reset (the answer is lost, the work was done);
 * break: the same with those that it is sent (a request dies in the middle).
 * Ends at the end of its input.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define HOSTS_MAX 8
#define MTU	  1500
#define QUEUE_MAX 4096

enum { LOSS, DUP, DELAY, JITTER, DOWN, MUTE, CUT, BREAK, SETTINGS };
static const char *const names[SETTINGS] = {
	"loss", "dup", "delay", "jitter", "down", "mute", "cut", "break"};

struct host {
	int tun, ns;
	unsigned set[SETTINGS];
};

struct packet {
	int64_t due_ns;
	int to;
	size_t len;
	uint8_t data[MTU];
};

static struct host hosts[HOSTS_MAX];
static int host_count;
static struct packet *queue[QUEUE_MAX]; /* not sorted: it is short */
static int queued;
static uint64_t random_state;
static unsigned long counts[SETTINGS], passed;

static unsigned rnd(unsigned below)
{
	random_state =
		random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(random_state >> 33) % below;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "wire: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- the namespaces ---- */

static void address(struct ifreq *r, const char *name, uint32_t ip)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(ip)};

	memset(r, 0, sizeof(*r));
	snprintf(r->ifr_name, sizeof(r->ifr_name), "%s", name);
	memcpy(&r->ifr_addr, &a, sizeof(a));
}

static void up(int s, const char *name)
{
	struct ifreq r;

	address(&r, name, 0);
	r.ifr_flags = IFF_UP | IFF_RUNNING;
	if (ioctl(s, SIOCSIFFLAGS, &r))
		die(name);
}

/* 127/8 is to be an address like any other. */
static void allow_127(void)
{
	int fd = open("/proc/sys/net/ipv4/conf/wire0/route_localnet", O_WRONLY);

	if (fd < 0 || write(fd, "1", 1) != 1)
		die("route_localnet");
	close(fd);
}

static void make_host(int n)
{
	struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI};
	struct host *h = &hosts[n];
	int s;

	if (unshare(CLONE_NEWNET))
		die("a network namespace");
	h->ns = open("/proc/self/ns/net", O_RDONLY);
	h->tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
	snprintf(r.ifr_name, sizeof(r.ifr_name), "wire0");
	if (h->ns < 0 || h->tun < 0 || ioctl(h->tun, TUNSETIFF, &r))
		die("/dev/net/tun");
	s = socket(AF_INET, SOCK_DGRAM, 0);
	address(&r, "wire0", 0x7f4d0001u + (unsigned)n);
	if (s < 0 || ioctl(s, SIOCSIFADDR, &r))
		die("an address");
	address(&r, "wire0", 0xffffff00u);
	if (ioctl(s, SIOCSIFNETMASK, &r))
		die("a netmask");
	up(s, "wire0");
	allow_127();
	close(s);
	printf("host %d /proc/%d/fd/%d\n", n + 1, getpid(), h->ns);
}

/* ---- packets ---- */

static uint32_t sum16(const uint8_t *p, size_t len, uint32_t sum)
{
	size_t i;

	for (i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	if (len & 1)
		sum += (uint32_t)p[len - 1] << 8;
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

/* Where its TCP header is, if it carries data; else 0. */
static size_t tcp_with_data(const uint8_t *p, size_t len)
{
	size_t ip = (p[0] & 15u) * 4u;

	if (len < ip + 20 || p[9] != IPPROTO_TCP)
		return 0;
	return len > ip + (p[ip + 12] >> 4) * 4u ? ip : 0;
}

/* The same packet as a reset without data, which its receiver believes: the
 * number is the one that it waits for. */
static size_t make_reset(uint8_t *p, size_t tcp)
{
	size_t len = tcp + 20;
	uint16_t v;

	v = htons((uint16_t)len);
	memcpy(p + 2, &v, 2);
	memset(p + 10, 0, 2);
	v = fold(sum16(p, tcp, 0));
	memcpy(p + 10, &v, 2);
	p[tcp + 12] = 5 << 4;
	p[tcp + 13] = TH_RST | TH_ACK;
	memset(p + tcp + 16, 0, 2);
	v = fold(sum16(p + tcp, 20, sum16(p + 12, 8, IPPROTO_TCP + 20)));
	memcpy(p + tcp + 16, &v, 2);
	return len;
}

static bool strikes(const struct host *h, int what)
{
	if (!h->set[what] || rnd(100) >= h->set[what])
		return false;
	counts[what]++;
	return true;
}

static void deliver(const struct packet *k)
{
	/* a full queue is a loss like any other */
	if (write(hosts[k->to].tun, k->data, k->len) != (ssize_t)k->len)
		counts[LOSS]++;
	passed++;
}

static void send_later(struct packet *k, unsigned delay_us)
{
	struct packet *copy;

	if (!delay_us) {
		deliver(k);
		return;
	}
	copy = queued < QUEUE_MAX ? malloc(sizeof(*copy)) : NULL;
	if (!copy)
		return;
	*copy = *k;
	copy->due_ns = now_ns() + delay_us * 1000LL;
	queue[queued++] = copy;
}

static unsigned delay_us(const struct host *a, const struct host *b)
{
	unsigned ms = a->set[DELAY] + b->set[DELAY];
	unsigned jitter = a->set[JITTER] + b->set[JITTER];

	if (ms || jitter)
		counts[DELAY]++;
	return ms * 1000 + (jitter ? rnd(jitter * 1000) : 0);
}

static void forward(int from, struct packet *k)
{
	const struct host *a = &hosts[from], *b;
	size_t tcp;

	if (k->len < 20 || k->data[0] >> 4 != 4 || k->data[16] != 127 ||
		k->data[17] != 77 || !k->data[19] ||
		k->data[19] > host_count || k->data[19] == from + 1)
		return;
	k->to = k->data[19] - 1;
	b = &hosts[k->to];
	if (a->set[DOWN] || b->set[DOWN]) {
		counts[DOWN]++;
		return;
	}
	if (a->set[MUTE]) {
		counts[MUTE]++;
		return;
	}
	if (strikes(a, LOSS) || strikes(b, LOSS))
		return;
	tcp = tcp_with_data(k->data, k->len);
	if (tcp && (strikes(a, CUT) || strikes(b, BREAK)))
		k->len = make_reset(k->data, tcp);
	if (strikes(a, DUP) || strikes(b, DUP))
		send_later(k, delay_us(a, b) + rnd(2000));
	send_later(k, delay_us(a, b));
}

static void deliver_due(void)
{
	int64_t now = now_ns();
	int i;

	for (i = 0; i < queued;) {
		if (queue[i]->due_ns > now) {
			i++;
			continue;
		}
		deliver(queue[i]);
		free(queue[i]);
		memmove(queue + i, queue + i + 1,
			(size_t)(--queued - i) * sizeof(queue[0]));
	}
}

static int next_due_ms(void)
{
	int64_t first = INT64_MAX, now = now_ns();
	int i;

	for (i = 0; i < queued; i++)
		if (queue[i]->due_ns < first)
			first = queue[i]->due_ns;
	if (first == INT64_MAX)
		return -1;
	return first <= now ? 0 : (int)((first - now + 999999) / 1000000);
}

/* ---- commands ---- */

static bool setting(struct host *h, const char *word)
{
	const char *value = strchr(word, '=');
	int i;

	for (i = 0; value && i < SETTINGS; i++) {
		if (strncmp(word, names[i], (size_t)(value - word)) ||
			names[i][value - word])
			continue;
		h->set[i] = (unsigned)atoi(value + 1);
		return true;
	}
	return false;
}

static void command(char *line)
{
	char *word = strtok(line, " \n"), *n;
	struct host *h;
	bool good = true;
	int i;

	if (word && !strcmp(word, "count")) {
		printf("count passed=%lu", passed);
		for (i = 0; i < SETTINGS; i++)
			printf(" %s=%lu", names[i], counts[i]);
		printf("\n");
		return;
	}
	n = word ? strtok(NULL, " \n") : NULL;
	i = n ? atoi(n) : 0;
	if (i < 1 || i > host_count) {
		printf("what?\n");
		return;
	}
	h = &hosts[i - 1];
	if (!strcmp(word, "heal"))
		memset(h->set, 0, sizeof(h->set));
	while ((word = strtok(NULL, " \n")))
		good = setting(h, word) && good;
	printf(good ? "ok\n" : "what?\n");
}

static bool read_commands(void)
{
	static char text[1024];
	static size_t len;
	ssize_t n = read(0, text + len, sizeof(text) - 1 - len);
	char *end;

	if (n <= 0)
		return false;
	len += (size_t)n;
	text[len] = '\0';
	while ((end = strchr(text, '\n'))) {
		*end = '\0';
		command(text);
		len -= (size_t)(end + 1 - text);
		memmove(text, end + 1, len + 1);
	}
	fflush(stdout);
	return len < sizeof(text) - 1;
}

int main(int argc, char **argv)
{
	struct pollfd fds[HOSTS_MAX + 1] = {{.fd = 0, .events = POLLIN}};
	struct packet k;
	ssize_t n;
	int i, burst;

	host_count = argc == 3 ? atoi(argv[1]) : 0;
	if (host_count < 2 || host_count > HOSTS_MAX)
		return 2;
	random_state = strtoull(argv[2], NULL, 10);
	for (i = 0; i < host_count; i++) {
		make_host(i);
		fds[i + 1] =
			(struct pollfd){.fd = hosts[i].tun, .events = POLLIN};
	}
	puts("ready");
	fflush(stdout);
	for (;;) {
		if (poll(fds, (nfds_t)host_count + 1, next_due_ms()) < 0)
			die("poll");
		deliver_due();
		if (fds[0].revents && !read_commands())
			return 0;
		for (i = 0; i < host_count; i++) {
			if (!fds[i + 1].revents)
				continue;
			for (burst = 0; burst < 64; burst++) {
				n = read(hosts[i].tun, k.data, MTU);
				if (n <= 0)
					break;
				k.len = (size_t)n;
				forward(i, &k);
			}
		}
	}
}
