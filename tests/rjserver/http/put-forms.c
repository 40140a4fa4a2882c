// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * put-forms PORT DIRECTORY [look]: puts in all the ways in which they can arrive;
 * then, or with look only, each object is read and compared. TAP lines.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LARGEST (16u << 20)
#define PIPED	300
#define CROWD	60
#define HOLDERS 15 /* of LARGEST each: all of the memory for bodies */

/* Lengths around the steps of everything: records, blocks, memory, lowest and
 * highest. */
static const size_t sizes[] = {0, 1, 63, 64, 65, 3711, 3712, 3713, 4096, 33000,
	65535, 65536, 65537, 262144, 1048575, 1048577, 4194304, LARGEST};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static int port;
static const char *dir;
static char *body, *answer;
static size_t answered; /* bytes in ANSWER */

static void ok(bool good, const char *what)
{
	printf("%sok - %s\n", good ? "" : "not ", what);
}

static int dial(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval patience = {120, 0};
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		abort();
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

static bool say(int fd, const void *data, size_t len)
{
	const char *p = data;
	ssize_t n;

	for (; len; p += n, len -= (size_t)n) {
		n = send(fd, p, len, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
	}
	return true;
}

/* One answer into ANSWER; its status, 0: none came. */
static int hear(int fd, bool head_only)
{
	const char *end, *length;
	size_t want = 0;
	ssize_t n;

	answered = 0;
	for (;;) {
		answer[answered] = 0;
		end = strstr(answer, "\r\n\r\n");
		if (end)
			break;
		/* one by one: the next answer is not ours */
		n = recv(fd, answer + answered, 1, 0);
		if (n <= 0)
			return 0;
		answered++;
	}
	length = strstr(answer, "Content-Length: ");
	if (length && !head_only)
		want = strtoul(length + 16, NULL, 10);
	for (want += answered; answered < want; answered += (size_t)n) {
		n = recv(fd, answer + answered, want - answered, 0);
		if (n <= 0)
			return 0;
	}
	answer[answered] = 0;
	return atoi(answer + 9);
}

static void fill(uint64_t number, size_t len)
{
	uint64_t x = number * 0x9E3779B97F4A7C15ull + len;
	size_t i;

	for (i = 0; i < len; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		body[i] = (char)(x >> 56);
	}
}

static size_t put_head(char *out, size_t room, uint64_t number, size_t len,
	const char *more)
{
	return (size_t)snprintf(out, room,
		"PUT %s/%020llu HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n"
		"%sContent-Length: %zu\r\n\r\n",
		dir, (unsigned long long)number, more, len);
}

/* The head, then the body, in pieces of STEP (0: all at once). */
static int put(int fd, uint64_t number, size_t len, size_t step,
	const char *more)
{
	size_t head, all, at, n;
	char *text = malloc(len + 1000);

	if (!text)
		abort();
	fill(number, len);
	head = put_head(text, 1000, number, len, more);
	memcpy(text + head, body, len);
	all = head + len;
	for (at = 0; at < all; at += n) {
		n = step && step < all - at ? step : all - at;
		if (!say(fd, text + at, n))
			break;
	}
	free(text);
	return hear(fd, false);
}

static bool is_there(int fd, uint64_t number, size_t len)
{
	char text[300];
	int n = snprintf(text, sizeof(text),
		"GET %s/%020llu HTTP/1.1\r\nHost: x\r\n\r\n", dir,
		(unsigned long long)number);

	fill(number, len);
	return say(fd, text, (size_t)n) && hear(fd, false) == 200 &&
	       answered >= len &&
	       !memcmp(answer + answered - len, body, len) &&
	       strstr(answer, "\r\n\r\n") + 4 == answer + answered - len;
}

/* What was put, by number; the numbers are given below. */
static size_t length_of(uint64_t number)
{
	if (number >= 100 && number < 100 + SIZES)
		return sizes[number - 100];
	if (number >= 200 && number < 200 + SIZES)
		return sizes[number - 200];
	if (number >= 300 && number < 400)
		return 500 + (number - 300) * 13;
	if (number >= 1000 && number < 1000 + PIPED)
		return (number - 1000) * 41 % 9000;
	return (number - 2000) * 997;
}

static const struct {
	uint64_t from, count;
} all_numbers[] = {{100, SIZES}, {200, SIZES}, {300, 20}, {1000, PIPED},
	{2000, CROWD}};

static void look(void)
{
	size_t i, wrong = 0;
	uint64_t n, k;
	int fd = dial();

	for (i = 0; i < sizeof(all_numbers) / sizeof(all_numbers[0]); i++)
		for (k = 0; k < all_numbers[i].count; k++) {
			n = all_numbers[i].from + k;
			if (is_there(fd, n, length_of(n)))
				continue;
			printf("# number %llu\n", (unsigned long long)n);
			wrong++;
		}
	close(fd);
	ok(!wrong, "each object is there, as it was sent");
}

static void each_size(void)
{
	size_t i, one = 0, own = 0;
	int fd = dial(), each;

	for (i = 0; i < SIZES; i++)
		one += put(fd, 100 + i, sizes[i], 0, "") == 201;
	close(fd);
	for (i = SIZES; i-- > 0;) {
		each = dial();
		own += put(each, 200 + i, sizes[i], 0, "") == 201;
		own += put(each, 200 + i, sizes[i], 0, "") == 412;
		close(each);
	}
	ok(one == SIZES, "each size, over one connection");
	ok(own == 2 * SIZES, "each size twice, each with a connection");
}

/* Pieces of every length, so that the head is cut everywhere. */
static void in_pieces(void)
{
	uint64_t n;
	int good = 0, fd = dial();

	for (n = 300; n < 310; n++)
		good += put(fd, n, length_of(n), (n - 300) * 13 + 1, "") == 201;
	close(fd);
	for (n = 310; n < 320; n++) {
		fd = dial();
		good += put(fd, n, length_of(n), (n - 300) * 7, "") == 201;
		close(fd);
	}
	ok(good == 20, "in pieces");
}

/* Many requests before the first answer is read; the last is a list. */
static void piped(void)
{
	char *text = malloc(PIPED * 10000), list[300];
	size_t len = 0, size;
	int i, good = 0, fd = dial();

	if (!text)
		abort();
	for (i = 0; i < PIPED; i++) {
		size = length_of(1000 + (uint64_t)i);
		len += put_head(text + len, 1000, 1000 + (uint64_t)i, size, "");
		fill(1000 + (uint64_t)i, size);
		memcpy(text + len, body, size);
		len += size;
	}
	len += (size_t)snprintf(list, sizeof(list),
		"GET %s/?after=1000&limit=1 HTTP/1.1\r\nHost: x\r\n\r\n", dir);
	memcpy(text + len - strlen(list), list, strlen(list));
	ok(say(fd, text, len), "many requests are sent");
	for (i = 0; i < PIPED; i++)
		good += hear(fd, false) == 201;
	ok(good == PIPED, "and answered");
	ok(hear(fd, false) == 200 && strstr(answer, "\r\n\r\n000000"),
		"and a list behind them");
	close(fd);
	free(text);
}

/* All in one turn of the server, as far as it gets them so. */
static void crowd(void)
{
	int fd[CROWD], i, good = 0;
	size_t len, head;
	char text[1000];

	for (i = 0; i < CROWD; i++) {
		fd[i] = dial();
		len = length_of(2000 + (uint64_t)i);
		head = put_head(text, sizeof(text), 2000 + (uint64_t)i, len,
			i % 7 == 3 ? "X-Other: 1\r\n" : "");
		fill(2000 + (uint64_t)i, len);
		if (!say(fd[i], text, head) ||
			(len && !say(fd[i], body, len - 1)))
			abort();
	}
	for (i = 0; i < CROWD; i++) {
		len = length_of(2000 + (uint64_t)i);
		fill(2000 + (uint64_t)i, len);
		if (len && !say(fd[i], body + len - 1, 1))
			abort();
	}
	for (i = 0; i < CROWD; i++) {
		good += hear(fd[i], false) == 201;
		close(fd[i]);
	}
	ok(good == CROWD, "many connections at once");
}

/* The body of a request that is refused is skipped: one connection for all. */
static void refused(void)
{
	static const struct {
		const char *path;
		size_t len;
		int status;
	} asked[] = {{"/00000000000000000100", 5, 412}, {"/0", 0, 400},
		{"/", 3, 405}, {"/00000000000000000100/x", 7, 400},
		{"x", 9, 400}, {"/00000000000000000100?x", 8, 400},
		{"/00000000000000005001", LARGEST + 1, 413}};
	size_t i, good = 0;
	int fd = dial(), n;
	char text[1000];

	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		n = snprintf(text, sizeof(text),
			"PUT %s%s HTTP/1.1\r\nHost: x\r\nX-Other: 1\r\n"
			"Content-Length: %zu\r\n\r\n",
			dir, asked[i].path, asked[i].len);
		if (say(fd, text, (size_t)n) && say(fd, body, asked[i].len) &&
			hear(fd, false) == asked[i].status)
			good++;
		else
			printf("# %s: %s\n", asked[i].path, answer);
	}
	ok(good == sizeof(asked) / sizeof(asked[0]), "what is refused is skipped");
	ok(put(fd, 5000, 10, 0, "") == 201, "and the next request is read");
	close(fd);
}

/* The client asks whether it may send the body. */
static void expecting(void)
{
	char text[1000];
	size_t n = put_head(text, sizeof(text), 5002, 10,
		"Expect: 100-continue\r\n");
	int fd = dial(), status;

	status = say(fd, text, n) ? hear(fd, false) : 0;
	ok(status == 100, "a body may come");
	fill(5002, 10);
	ok(say(fd, body, 10) && hear(fd, false) == 201, "and is stored");
	status = say(fd, text, n) ? hear(fd, false) : 0;
	ok(status == 100 || status == 412, "a body that is not wanted");
	close(fd);
}

/* More large bodies than there is memory for: the last one has to wait. */
static void waiting(void)
{
	struct pollfd p = {.events = POLLIN};
	char text[1000];
	int fd[HOLDERS + 1], i, good = 0;
	size_t n;

	for (i = 0; i <= HOLDERS; i++) {
		n = put_head(text, sizeof(text), 6000 + (uint64_t)i, LARGEST,
			"Expect: 100-continue\r\n");
		fd[i] = dial();
		if (!say(fd[i], text, n))
			abort();
		if (i < HOLDERS)
			good += hear(fd[i], false) == 100;
	}
	ok(good == HOLDERS, "as many bodies as there is memory for");
	p.fd = fd[HOLDERS];
	ok(poll(&p, 1, 300) == 0, "one more has to wait");
	i = dial();
	ok(is_there(i, 100, 0), "others are served");
	close(i);
	close(fd[3]);
	ok(hear(fd[HOLDERS], false) == 100, "it goes on when one has ended");
	fill(6000 + HOLDERS, LARGEST);
	ok(say(fd[HOLDERS], body, LARGEST) && hear(fd[HOLDERS], false) == 201,
		"and is stored");
	ok(is_there(fd[HOLDERS], 6000 + HOLDERS, LARGEST), "as it was sent");
	for (i = 0; i <= HOLDERS; i++)
		if (i != 3)
			close(fd[i]);
}

/* Whoever sends and never reads: it is held up, and does not hold up others. */
static void deaf(void)
{
	struct timeval soon = {0, 300000};
	static char text[100 * 300];
	int fd = dial(), size = 4096, i;
	size_t n = 0;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	for (i = 0; i < 100; i++) /* 412 each */
		n += put_head(text + n, 300, 100, 0, "");
	/* more than all buffers on the way can hold */
	for (i = 0; i < 8000; i++)
		if (!say(fd, text, n))
			break;
	ok(i < 8000, "who does not read is not read");
	i = dial();
	ok(is_there(i, 100, 0), "others are served");
	close(i);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	port = atoi(argv[1]);
	dir = argv[2];
	body = malloc(LARGEST + 1);
	answer = malloc(LARGEST + 10000);
	if (!body || !answer)
		return 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3) {
		each_size();
		in_pieces();
		piped();
		crowd();
		refused();
		expecting();
		waiting();
		deaf();
	}
	look();
	free(body);
	free(answer);
	return 0;
}
