// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * faultproxy PORT PERCENT SEED: an HTTP proxy in front of PORT on loopback that
 * does harm to so many percent of the requests: delays, resets before and after
 * the server has done it, 503, 429, half of an answer. Prints its own port, and
 * serves until it is killed; for each kind, how often, on SIGTERM.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_BYTES (20u << 20)

enum harm { NONE, DELAY, RESET, LOST, BUSY, SLOW_DOWN, PARTIAL, HARMS };
static const char *const names[] = {
	"none", "delay", "reset", "lost", "503", "429", "partial"};
static atomic_uint counts[HARMS];
static int upstream_port;
static unsigned percent;
static atomic_uint draw; /* a number for each request */

static unsigned next_random(void)
{
	uint64_t x = (atomic_fetch_add(&draw, 1) + 1) * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return (unsigned)(x >> 33);
}

static enum harm choose(void)
{
	if (next_random() % 100 >= percent)
		return NONE;
	return (enum harm)(1 + next_random() % (HARMS - 1));
}

struct message {
	char *data;
	size_t len, head; /* head with its empty line; 0: not whole yet */
};

static const char *header(const struct message *m, const char *name)
{
	const char *line = m->data, *end = m->data + m->head;
	size_t n = strlen(name);

	while ((line = memchr(line, '\n', (size_t)(end - line)))) {
		line++;
		if ((size_t)(end - line) > n && line[n] == ':' &&
			!strncasecmp(line, name, n))
			return line + n + 1;
	}
	return NULL;
}

/* Is all of the body there? BODYLESS: an answer that has none. */
static bool whole(const struct message *m, bool bodyless)
{
	const char *length, *coding;

	if (!m->head)
		return false;
	if (bodyless)
		return true;
	length = header(m, "Content-Length");
	if (length)
		return m->len - m->head >= strtoul(length, NULL, 10);
	coding = header(m, "Transfer-Encoding");
	return !coding || (m->len - m->head >= 5 &&
				  !memcmp(m->data + m->len - 5, "0\r\n\r\n", 5));
}

static bool send_all(int fd, const char *data, size_t len)
{
	ssize_t n;

	for (; len; data += n, len -= (size_t)n) {
		n = send(fd, data, len, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
	}
	return true;
}

/* One request (HEAD NULL), or the answer to one. */
static bool receive(int fd, struct message *m, const struct message *request)
{
	bool bodyless = false;
	char *end;
	ssize_t n;

	m->len = m->head = 0;
	while (!whole(m, bodyless)) {
		if (m->len == MAX_BYTES)
			return false;
		n = recv(fd, m->data + m->len, MAX_BYTES - m->len, 0);
		if (n <= 0)
			return false;
		m->len += (size_t)n;
		m->data[m->len] = '\0';
		if (m->head)
			continue;
		end = memmem(m->data, m->len, "\r\n\r\n", 4);
		if (!end)
			continue;
		m->head = (size_t)(end + 4 - m->data);
		if (request) {
			bodyless = !strncmp(request->data, "HEAD ", 5) ||
				   !strncmp(m->data + 9, "204", 3);
			if (!strncmp(m->data + 9, "100", 3)) {
				memmove(m->data, end + 4, m->len - m->head);
				m->len -= m->head;
				m->head = 0;
			}
		} else if (header(m, "Expect")) {
			send_all(fd, "HTTP/1.1 100 Continue\r\n\r\n", 25);
		}
	}
	return true;
}

static int dial(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)upstream_port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void reset(int fd)
{
	struct linger now = {1, 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

/* One request: false when the connection is to end. */
static bool serve(int fd, int up, struct message *request,
	struct message *answer)
{
	static const char busy[] = "HTTP/1.1 503 Busy\r\nContent-Length: 5\r\n"
				   "\r\nbusy\n";
	static const char slow[] = "HTTP/1.1 429 Slow down\r\n"
				   "Content-Length: 0\r\n\r\n";
	enum harm harm;

	if (!receive(fd, request, NULL))
		return false;
	harm = choose();
	counts[harm]++;
	if (harm == BUSY)
		return send_all(fd, busy, sizeof(busy) - 1);
	if (harm == SLOW_DOWN)
		return send_all(fd, slow, sizeof(slow) - 1);
	if (harm == DELAY)
		usleep(1000 * (5 + next_random() % 40));
	if (harm == RESET || !send_all(up, request->data, request->len) ||
		!receive(up, answer, request) || harm == LOST) {
		reset(fd);
		return false;
	}
	if (harm == PARTIAL) {
		send_all(fd, answer->data, answer->len / 2);
		usleep(2000);
		reset(fd);
		return false;
	}
	return send_all(fd, answer->data, answer->len);
}

static void *connection(void *arg)
{
	struct message request = {.data = malloc(MAX_BYTES + 1)};
	struct message answer = {.data = malloc(MAX_BYTES + 1)};
	int fd = (int)(intptr_t)arg, up = dial();

	if (up >= 0 && request.data && answer.data) {
		while (serve(fd, up, &request, &answer))
			;
	}
	if (up >= 0)
		close(up);
	close(fd);
	free(request.data);
	free(answer.data);
	return NULL;
}

static void *report(void *arg)
{
	int sig, i;

	sigwait(arg, &sig);
	for (i = 0; i < HARMS; i++)
		printf("%s %u\n", names[i], counts[i]);
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	pthread_t thread;
	sigset_t term;
	int l, fd;

	if (argc != 4)
		return 2;
	upstream_port = atoi(argv[1]);
	percent = (unsigned)atoi(argv[2]);
	draw = (unsigned)strtoul(argv[3], NULL, 10);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &term, NULL);
	l = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(l, (struct sockaddr *)&a, sizeof(a)) || listen(l, 64) ||
		getsockname(l, (struct sockaddr *)&a, &len) ||
		pthread_create(&thread, NULL, report, &term))
		return 1;
	printf("port %d\n", ntohs(a.sin_port));
	fflush(stdout);
	while ((fd = accept(l, NULL, NULL)) >= 0) {
		if (pthread_create(&thread, NULL, connection,
			    (void *)(intptr_t)fd))
			close(fd);
		else
			pthread_detach(thread);
	}
	return 1;
}
