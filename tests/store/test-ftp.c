// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replies of an FTP server that come late, or say little. The server is a thread that
 * knows what it is asked for here; vsftpd has all the other tests.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config.h"
#include "store/common.h"
#include "store/tree/tree.h"
#include "support/rjtest.h"

#define ROOT "root"

static struct rj_error err;

/* ---- the server ---- */

static struct {
	int fd;
	uint16_t port;
	_Atomic unsigned late_ms; /* RNTO is answered so late, once */
} server;

static int listen_any(uint16_t *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) || listen(fd, 9) ||
		getsockname(fd, (struct sockaddr *)&a, &len))
		exit(99);
	*port = ntohs(a.sin_port);
	return fd;
}

/* STAT, as vsftpd answers: of "shut", which is closed to it, as of a file; of what is
 * below that or not there, nothing. Any other folder has one file, of its last name. */
static void answer_stat(FILE *out, const char *path)
{
	const char *last = strrchr(path, '/');

	last = last ? last + 1 : path;
	fprintf(out, "213-Status follows:\r\n");
	if (!strcmp(last, "shut") || !strcmp(path, ROOT))
		fprintf(out, "d--------- 2 u u 4096 Nov 24 11:20 shut\r\n");
	if (!strstr(path, "shut") && !strstr(path, "none"))
		fprintf(out, "drwx------ 2 u u 4096 Nov 24 11:20 .\r\n"
			     "-rw------- 1 u u 1 Nov 24 11:20 %s\r\n",
			last);
	fprintf(out, "213 End\r\n");
}

/* All that comes over the data connection. */
static void swallow(int data)
{
	char some[4096];
	int fd = accept(data, NULL, NULL);

	while (read(fd, some, sizeof(some)) > 0)
		;
	close(fd);
	close(data);
}

static void answer(FILE *out, const char *verb, const char *rest, int *data)
{
	uint16_t port;

	if (!strcmp(verb, "USER")) {
		fprintf(out, "331 password?\r\n");
	} else if (!strcmp(verb, "PASS")) {
		fprintf(out, "230 in\r\n");
	} else if (!strcmp(verb, "PWD")) {
		fprintf(out, "257 \"/\"\r\n");
	} else if (!strcmp(verb, "TYPE")) {
		fprintf(out, "200 so\r\n");
	} else if (!strcmp(verb, "EPSV")) {
		*data = listen_any(&port);
		fprintf(out, "229 so (|||%u|)\r\n", port);
	} else if (!strcmp(verb, "STOR")) {
		fprintf(out, "150 go on\r\n");
		fflush(out);
		swallow(*data);
		fprintf(out, "226 done\r\n");
	} else if (!strcmp(verb, "RNFR")) {
		fprintf(out, "350 to?\r\n");
	} else if (!strcmp(verb, "RNTO")) {
		usleep(atomic_exchange(&server.late_ms, 0) * 1000);
		fprintf(out, "250 done\r\n");
	} else if (!strcmp(verb, "STAT")) {
		answer_stat(out, rest);
	} else {
		fprintf(out, "502 no\r\n");
	}
	fflush(out);
}

static void *session(void *arg)
{
	char line[600], *verb, *rest;
	FILE *io = arg, *out = fdopen(dup(fileno(io)), "w");
	int data = -1;

	fprintf(out, "220 here\r\n");
	fflush(out);
	while (fgets(line, sizeof(line), io)) {
		verb = strtok_r(line, " \r\n", &rest);
		answer(out, verb ? verb : "", strtok(rest, "\r\n"), &data);
	}
	fclose(out);
	fclose(io);
	return NULL;
}

static void *serve(void *arg)
{
	pthread_t t;
	int fd;

	(void)arg;
	while ((fd = accept(server.fd, NULL, NULL)) >= 0) {
		if (pthread_create(&t, NULL, session, fdopen(fd, "r")))
			exit(99);
		pthread_detach(t);
	}
	return NULL;
}

/* ---- its client ---- */

static struct rj_store *open_ftp(void)
{
	static const struct rj_store_opts opts = {.request_timeout_ms = 1000};
	struct rj_store *s;
	char url[64];

	setenv("RJ_CREDENTIALS",
		"[ftp://127.0.0.1]\nuser=u\npassword=p\ninsecure=yes\n", 1);
	snprintf(url, sizeof(url), "ftp://127.0.0.1:%u/" ROOT, server.port);
	if (rj_store_open(url, &opts, &s, &err)) {
		printf("Bail out! %s\n", err.msg);
		exit(99);
	}
	return s;
}

static int note(void *arg, const char *name, uint64_t bytes, bool folder)
{
	(void)bytes;
	(void)folder;
	snprintf(arg, RJ_TREE_NAME, "%s", name);
	return 0;
}

/* libcurl stops waiting for a reply, and keeps the connection. */
static void a_late_reply_is_of_no_other_command(void)
{
	static const char *const folders[] = {"a", "b", "c", "d", "e"};
	struct rj_store *s = open_ftp();
	struct rj_tree *tree = rj_mkdir_epoch_tree(s);
	char shown[RJ_TREE_NAME];
	unsigned i, good = 0;

	server.late_ms = 1300;
	T_FAILS(tree->ops->put(tree, "a", "x", "data", 4, &err),
		RJ_E_UNREACHABLE, "");
	for (i = 0; i < 5; i++) {
		shown[0] = '\0';
		if (tree->ops->list(tree, folders[i], note, shown, &err))
			continue;
		CU_ASSERT_STRING_EQUAL(shown, folders[i]);
		good++;
	}
	CU_ASSERT(good >= 4);
	T_WORKS(tree->ops->put(tree, "a", "x", "data", 4, &err));
	rj_store_close(s);
}

static void a_closed_folder_is_not_an_empty_one(void)
{
	struct rj_store *s = open_ftp();
	struct rj_tree *tree = rj_mkdir_epoch_tree(s);
	char shown[RJ_TREE_NAME];

	T_FAILS(tree->ops->list(tree, "shut", note, shown, &err), RJ_E_DENIED,
		"does not list " ROOT "/shut");
	T_FAILS(tree->ops->list(tree, "shut/all", note, shown, &err),
		RJ_E_DENIED, "does not list " ROOT "/shut:");
	T_FAILS(tree->ops->list(tree, "none", note, shown, &err),
		RJ_E_NOTFOUND, "");
	T_FAILS(tree->ops->list(tree, "none/all", note, shown, &err),
		RJ_E_NOTFOUND, "");
	rj_store_close(s);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(a_late_reply_is_of_no_other_command),
		RJTEST(a_closed_folder_is_not_an_empty_one),
	};
	pthread_t t;

#ifndef RJ_TREE_STORES
	return rjtest_none("built without such stores");
#endif
	server.fd = listen_any(&server.port);
	if (pthread_create(&t, NULL, serve, NULL))
		return 99;
	return RJTEST_RUN("ftp", tests);
}
