// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target for rjserver's request path: bytes from a client, over a
 * real socket, through the reader, gate, handlers and group commit to a store of
 * its own (below $RJ_FUZZ_DIR, or /tmp); built and run by scripts/fuzz.
 *
 * The first byte of an input says how the rest reaches the server:
 *   bits 0-2: in pieces of so many bytes (piece_sizes[])
 *   bit 3: as with --insecure   bit 4: the client leaves without reading
 * In the rest the bytes 1 to 6 stand for what no mutation would find: see
 * expand(). Checked, besides memory and undefined behaviour: each request is
 * answered, once, and its connection closed; no answer is one that only a fault
 * gives; whoever shows no token gets 401; with one, no volume of others is read
 * or changed; and all that is stored can be read.
 *
 * With $RJ_SEEDS set the program writes a few inputs to that directory instead.
 */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz-server.h"

#define INSECURE 0x08
#define LEAVES	 0x10
#define QUIET	 3 /* turns without news: then none will come */
#define PIECES	 100 /* small ones; the rest goes at once */
#define INPUT	 65536
#define ANSWER	 262144 /* so much of it is looked at */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static const size_t piece_sizes[8] = {
	INPUT, INPUT, 1, 3, 17, 64, 300, 1000};
static char bearer[TOKEN_TEXT + 8], basic[300], many[1001];
static char input[INPUT], answer[ANSWER];
static size_t input_len, answer_len;
static bool shown; /* a token is in the input */

/* INPUT becomes DATA, with what its bytes 1 to 6 stand for. */
static void expand(const uint8_t *data, size_t size)
{
	const char *const means[] = {NULL, bearer, UUID,
		"0000000000000000000", " HTTP/1.1\r\nHost: x\r\n", basic, many};
	char one[2] = "";
	const char *text;
	size_t i, len;

	input_len = 0;
	shown = false;
	for (i = 0; i < size; i++) {
		one[0] = (char)data[i];
		text = data[i] && data[i] < 7 ? means[data[i]] : one;
		len = text == one ? 1 : strlen(text);
		if (len > INPUT - input_len)
			break;
		memcpy(input + input_len, text, len);
		input_len += len;
		shown |= text == bearer || text == basic;
	}
}

static bool has_secret(const char *p, size_t len)
{
	size_t want = strlen(SECRET), i;

	for (i = 0; i + want <= len; i++)
		if (p[i] == SECRET[0] && !memcmp(p + i, SECRET, want))
			return true;
	return false;
}

/* What came from FD. False: nothing. */
static bool take(int fd)
{
	static char rest[65536];
	bool any = false;
	ssize_t got;

	for (;;) {
		bool keep = answer_len < ANSWER;

		got = recv(fd, keep ? answer + answer_len : rest,
			keep ? ANSWER - answer_len : sizeof(rest), 0);
		if (got <= 0)
			return any;
		any = true;
		if (keep)
			answer_len += (size_t)got;
	}
}

/* Until nothing happens any more. */
static void settle(int fd)
{
	unsigned before;
	int quiet = 0;

	while (quiet < QUIET) {
		before = outcome.asked + outcome.answered;
		server_turn();
		quiet++;
		if ((fd >= 0 && take(fd)) ||
			before != outcome.asked + outcome.answered)
			quiet = 0;
	}
}

/* False: the server has closed the connection, or reads no more of it. */
static bool give(int fd, const char *p, size_t len)
{
	int tries = 0;
	ssize_t n;

	while (len) {
		n = send(fd, p, len, MSG_NOSIGNAL);
		if (n < 0 && tries++ > 4)
			return false;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
			tries = 0;
		}
		server_turn();
		take(fd);
	}
	return true;
}

static void talk(uint8_t mode)
{
	size_t piece = piece_sizes[mode & 7], at, n, count = 0;
	int fd = server_connect();

	answer_len = 0;
	for (at = 0; at < input_len; at += n) {
		n = input_len - at;
		if (count++ < PIECES && n > piece)
			n = piece;
		if (!give(fd, input + at, n))
			break;
	}
	if (!(mode & LEAVES)) {
		settle(fd);
		shutdown(fd, SHUT_WR);
		settle(fd);
	}
	close(fd);
	settle(-1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool insecure;

	if (!size)
		return 0;
	insecure = data[0] & INSECURE;
	expand(data + 1, size - 1);
	if (has_secret(input, input_len))
		return 0; /* it might rightly get it back */
	server_reset(insecure);
	talk(data[0]);
	if (outcome.asked != outcome.answered)
		broken("a request that was never answered");
	if (outcome.strange)
		broken("an answer of 500 or more");
	if (!insecure && !shown && outcome.let_in)
		broken("a stranger was let in");
	if (!insecure && has_secret(answer, answer_len))
		broken("an account has read what belongs to others");
	if (answer_len && (answer_len < 12 || memcmp(answer, "HTTP/", 5)))
		broken("an answer that is not HTTP");
	if (outcome.stored)
		server_restore(insecure);
	return 0;
}

#define OBJECT "/host1/\2/log/\0031"
#define NEW    "/host1/\2/log/\0039"

static void write_seeds(const char *to)
{
	static const char *const texts[] = {
		"GET /\4\r\n", "GET /host1/\4\r\n", "GET /status\4\r\n",
		"GET /page.js\4\r\n", "GET /metrics\4\r\n",
		"GET " OBJECT "\4\r\n",
		"HEAD " OBJECT "\4Connection: close\r\n\r\n",
		"PUT " NEW "\4If-None-Match: *\r\nContent-Length: 5\r\n\r\nhello"
		"GET " NEW "\4\r\nDELETE " NEW "\4\r\n",
		"PUT " NEW "\4Expect: 100-continue\r\nContent-Length: 2000\r\n"
		"\r\n\6\6",
		"PUT " NEW "\4Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"
		"\r\n",
		"PUT /host1-kept/\2/log/\0032\4Content-Length: 0\r\n\r\n"
		"DELETE /host1-kept/\2/log/\0032\4\r\n",
		"PUT /host1/\2/epoch/\0031\4Content-Length: 1\r\n\r\nx"
		"DELETE /host1/\2/epoch/\0031\4\r\n",
		"GET /host1/\2/log/?after=1&limit=2\4\r\n",
		"GET /host1/\2/log/?from=1\4\r\n",
		"DELETE /host1/\2/log/?below=3&least=1\4\r\n"
		"GET /host1/\2/log/?after=0\4\r\n",
		"GET /other/\2/log/\0031\4\r\n", "GET /other/\2/log/?from=1\4\r\n",
		"PUT /other/\2/log/\0039\4Content-Length: 1\r\n\r\nx",
		"GET /host1/../other/\2/log/\0031\4\r\n",
		"GET http://x" OBJECT "#f\4Range: bytes=0-3\r\n\r\n",
		"GET " OBJECT "\4Authorization: Basic aG9zdDE6aG9zdDEueA==\r\n"
		"\r\n", /* host1:host1.x */
		"GET " OBJECT "\4Authorization: Bearer host1.00\r\n\r\n",
		"OPTIONS *\4\r\n", "GET /\4A: \6\6\6\6\6\6\6\6\6\r\n\r\n",
	};
	static const char *const who[] = {"", "Authorization: \1\r\n",
		"Authorization: \5\r\n", ""};
	size_t i, j, count = sizeof(texts) / sizeof(texts[0]);
	char path[512];
	const char *p;
	FILE *f;

	for (i = 0; i < count * 4; i++) {
		j = i % count;
		snprintf(path, sizeof(path), "%s/%zu", to, i);
		f = fopen(path, "w");
		if (!f)
			exit(1);
		fputc((int)(i / count == 3 ? INSECURE | i % 8 : i % 5 ? 0 : i % 8), f);
		for (p = texts[j]; *p; p++)
			if (fputc(*p, f) != EOF && *p == 4)
				fputs(who[i / count], f);
		if (fclose(f))
			exit(1);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char plain[200];

	if (getenv("RJ_SEEDS")) {
		write_seeds(getenv("RJ_SEEDS"));
		exit(0);
	}
	server_start();
	memset(many, 'x', sizeof(many) - 1);
	snprintf(bearer, sizeof(bearer), "Bearer %s", server_token);
	snprintf(plain, sizeof(plain), "%s:%s", OWN, server_token);
	strcpy(basic, "Basic ");
	EVP_EncodeBlock((unsigned char *)basic + 6, (unsigned char *)plain,
		(int)strlen(plain));
	return 0;
}
