// SPDX-License-Identifier: GPL-2.0-or-later
#include "support/badserver.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD_BYTES 4096

struct bad_server {
	const struct bad_act *acts;
	size_t count, act;
	unsigned used; /* requests of the current act */
	int listener, stop[2], port;
	pthread_t thread;
	atomic_uint requests, connections;
	atomic_int client; /* of the last connection */
	char head[HEAD_BYTES];
	SSL_CTX *tls; /* NULL: none */
	SSL *ssl;     /* of the last connection */
};

static void die(const char *what)
{
	perror(what);
	exit(99);
}

/* Wait until FD is readable; false when the server is to stop. */
static bool readable(struct bad_server *b, int fd)
{
	struct pollfd p[2] = {
		{.fd = fd, .events = POLLIN},
		{.fd = b->stop[0], .events = POLLIN},
	};

	if (fd == b->client && b->ssl && SSL_pending(b->ssl))
		return true;
	while (poll(p, 2, -1) <= 0)
		;
	return !p[1].revents;
}

/* As recv(), from the client. */
static ssize_t take(struct bad_server *b, int fd, void *data, size_t len)
{
	return b->ssl ? SSL_read(b->ssl, data, (int)len)
		      : recv(fd, data, len, 0);
}

/* One whole request; its head into b->head. False: none comes any more. */
static bool read_request(struct bad_server *b, int fd)
{
	size_t len = 0, body = 0, got;
	char *end = NULL, *cl, junk[65536];
	ssize_t n;

	while (!end) {
		if (len == HEAD_BYTES - 1 || !readable(b, fd))
			return false;
		n = take(b, fd, b->head + len, HEAD_BYTES - 1 - len);
		if (n <= 0)
			return false;
		len += (size_t)n;
		b->head[len] = '\0';
		end = memmem(b->head, len, "\r\n\r\n", 4);
	}
	cl = strcasestr(b->head, "\r\nContent-Length:");
	if (cl && cl < end)
		body = strtoul(cl + 17, NULL, 10);
	if (b->acts[b->act].end == BAD_EARLY)
		return true;
	if (b->acts[b->act].end == BAD_LATE)
		usleep(1500000);
	for (got = len - (size_t)(end + 4 - b->head); got < body;
		got += (size_t)n) {
		if (!readable(b, fd))
			return false;
		n = take(b, fd, junk, sizeof(junk));
		if (n <= 0)
			return false;
	}
	return true;
}

static void send_all(int fd, const char *p, size_t len)
{
	ssize_t n;

	for (; len; p += n, len -= (size_t)n) {
		n = send(fd, p, len, MSG_NOSIGNAL);
		if (n <= 0)
			return;
	}
}

/* To the client. */
static void say(struct bad_server *b, const char *text)
{
	if (b->ssl)
		SSL_write(b->ssl, text, (int)strlen(text));
	else
		send_all(b->client, text, strlen(text));
}

/* Small pieces take the reader longest. */
static void flood(int fd)
{
	static const char piece[] = "1\r\nx\r\n";
	char data[9000 * (sizeof(piece) - 1)];
	size_t i;
	ssize_t n;

	for (i = 0; i < sizeof(data); i++)
		data[i] = piece[i % (sizeof(piece) - 1)];
	/* all of it each time, or the pieces would be out of step */
	do
		for (i = 0; i < sizeof(data); i += (size_t)n) {
			n = send(fd, data + i, sizeof(data) - i, MSG_NOSIGNAL);
			if (n <= 0)
				return;
		}
	while (true);
}

static void drip(int fd)
{
	while (send(fd, "x", 1, MSG_NOSIGNAL) == 1)
		usleep(50000);
}

/* Relay what the client sends to the upstream until that has answered in
 * full ("\r\n\r\n" seen: the answers to PUT have no body worth waiting for). */
static void lose_answer(struct bad_server *b, int client, int port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int up = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char data[65536];
	ssize_t n;

	if (up < 0 || connect(up, (struct sockaddr *)&to, sizeof(to)))
		die("connect upstream");
	for (;;) {
		struct pollfd p[3] = {
			{.fd = client, .events = POLLIN},
			{.fd = up, .events = POLLIN},
			{.fd = b->stop[0], .events = POLLIN},
		};

		if (poll(p, 3, -1) <= 0)
			continue;
		if (p[2].revents)
			break;
		if (p[1].revents) {
			n = recv(up, data, sizeof(data), 0);
			if (n <= 0 || memmem(data, (size_t)n, "\r\n\r\n", 4))
				break;
		}
		if (p[0].revents) {
			n = recv(client, data, sizeof(data), 0);
			if (n <= 0)
				break;
			send_all(up, data, (size_t)n);
		}
	}
	close(up);
	atomic_fetch_add(&b->requests, 1);
}

static const struct bad_act *next_act(struct bad_server *b)
{
	const struct bad_act *a = &b->acts[b->act];

	if (a->times && b->used == a->times && b->act + 1 < b->count) {
		a = &b->acts[++b->act];
		b->used = 0;
	}
	b->used++;
	return a;
}

/* Serve one connection to its end; false: the server is to stop. */
static bool serve(struct bad_server *b, int fd)
{
	struct linger hard = {.l_onoff = 1, .l_linger = 0};
	const struct bad_act *a;

	for (;;) {
		if (!readable(b, fd))
			return false;
		if (b->acts[b->act].upstream) {
			a = next_act(b);
			lose_answer(b, fd, a->upstream);
		} else {
			if (!read_request(b, fd))
				return true;
			atomic_fetch_add(&b->requests, 1);
			a = next_act(b);
		}
		if (a->answer)
			say(b, a->answer);
		if (a->end == BAD_RESET) {
			usleep(20000); /* let the bytes arrive first */
			setsockopt(
				fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
		}
		if (a->end == BAD_FLOOD)
			flood(fd);
		if (a->end == BAD_DRIP)
			drip(fd);
		if (a->end == BAD_HANG || a->end == BAD_EARLY ||
			a->end == BAD_LATE) {
			readable(b, -1);
			return false;
		}
		if (a->end != BAD_KEEP)
			return true;
	}
}

static bool take_up_tls(struct bad_server *b, int fd)
{
	char junk[4096];

	b->ssl = SSL_new(b->tls);
	if (!b->ssl || !SSL_set_fd(b->ssl, fd))
		die("TLS");
	if (SSL_accept(b->ssl) == 1)
		return true;
	/* a reset could overtake the reason */
	while (readable(b, fd) && recv(fd, junk, sizeof(junk), 0) > 0)
		;
	return false;
}

/* A server's side of TLS, with a certificate that nobody else has signed. */
static SSL_CTX *make_tls(void)
{
	SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = X509_new();

	if (!tls || !key || !cert || !X509_set_pubkey(cert, key) ||
		!X509_gmtime_adj(X509_getm_notBefore(cert), -3600) ||
		!X509_gmtime_adj(X509_getm_notAfter(cert), 3600) ||
		!X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN",
			MBSTRING_ASC, (const unsigned char *)"bad", -1, -1, 0) ||
		!X509_set_issuer_name(cert, X509_get_subject_name(cert)) ||
		!X509_sign(cert, key, EVP_sha256()) ||
		SSL_CTX_use_certificate(tls, cert) != 1 ||
		SSL_CTX_use_PrivateKey(tls, key) != 1)
		die("TLS");
	EVP_PKEY_free(key);
	X509_free(cert);
	return tls;
}

static void *run(void *arg)
{
	struct bad_server *b = arg;
	bool on = true;
	int fd, one = 1;

	while (on && readable(b, b->listener)) {
		fd = accept4(b->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		b->client = fd;
		atomic_fetch_add(&b->connections, 1);
		if (!b->tls || take_up_tls(b, fd))
			on = serve(b, fd);
		if (b->ssl && on)
			SSL_shutdown(b->ssl);
		SSL_free(b->ssl);
		b->ssl = NULL;
		close(fd);
	}
	return NULL;
}

static struct bad_server *start(
	const struct bad_act *acts, size_t count, SSL_CTX *tls)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	struct bad_server *b = calloc(1, sizeof(*b));

	if (!b)
		die("calloc");
	b->acts = acts;
	b->count = count;
	b->tls = tls;
	b->client = -1;
	b->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (b->listener < 0 ||
		bind(b->listener, (struct sockaddr *)&addr, sizeof(addr)) ||
		listen(b->listener, 16) ||
		getsockname(b->listener, (struct sockaddr *)&addr, &len) ||
		pipe(b->stop))
		die("bad_start");
	b->port = ntohs(addr.sin_port);
	if (pthread_create(&b->thread, NULL, run, b))
		die("pthread_create");
	return b;
}

struct bad_server *bad_start(const struct bad_act *acts, size_t count)
{
	return start(acts, count, NULL);
}

struct bad_server *bad_start_tls(const struct bad_act *acts, size_t count)
{
	signal(SIGPIPE, SIG_IGN); /* OpenSSL writes without MSG_NOSIGNAL */
	return start(acts, count, make_tls());
}

struct bad_server *bad_start_strict(const struct bad_act *acts, size_t count)
{
	SSL_CTX *tls = make_tls();

	signal(SIGPIPE, SIG_IGN);
	SSL_CTX_set_verify(tls,
		SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	return start(acts, count, tls);
}

void bad_say(struct bad_server *b, const char *text)
{
	say(b, text);
}

int bad_port(const struct bad_server *b)
{
	return b->port;
}

unsigned bad_requests(struct bad_server *b)
{
	return atomic_load(&b->requests);
}

unsigned bad_connections(struct bad_server *b)
{
	return atomic_load(&b->connections);
}

const char *bad_last_head(struct bad_server *b)
{
	return b->head;
}

void bad_stop(struct bad_server *b)
{
	if (write(b->stop[1], "", 1) != 1)
		die("write");
	pthread_join(b->thread, NULL);
	close(b->listener);
	close(b->stop[0]);
	close(b->stop[1]);
	SSL_CTX_free(b->tls);
	free(b);
}
