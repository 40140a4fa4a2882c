// SPDX-License-Identifier: GPL-2.0-or-later
/* Asking a rjournald that does not answer, or not in whole. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "os/rundir.h"
#include "support/rjtest.h"
#include "util/environ.h"

#define ASK_MS	100
#define HUNG_NS 10000000000LL

static const uint8_t uuid[RJ_UUID_BYTES] = {7, 4, 9};

/* The control socket of one that was stopped, in a new directory ROOT: it listens, and never
 * accepts. */
static int frozen(char *root, char path[RJ_RUNDIR_PATH])
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct rj_error err;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CU_ASSERT_FATAL(mkdtemp(root) != NULL);
	setenv("RJ_RUN", root, 1);
	CU_ASSERT_FATAL(rj_rundir_path(uuid, NULL, path, &err) == 0);
	CU_ASSERT_FATAL(mkdir(path, 0700) == 0);
	CU_ASSERT_FATAL(rj_rundir_path(uuid, "control", path, &err) == 0);
	memcpy(addr.sun_path, path, strlen(path) + 1); /* it fits: rundir.h */
	CU_ASSERT_FATAL(
		bind(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0);
	CU_ASSERT_FATAL(listen(fd, 1) == 0);
	return fd;
}

static void remove_socket(char path[RJ_RUNDIR_PATH], const char *root)
{
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(root);
}

/* Each one that gave up stays in the queue, until that is full. */
static void a_frozen_daemon_is_not_waited_for(void)
{
	char root[] = "/tmp/rjrundir.XXXXXX", path[RJ_RUNDIR_PATH];
	struct rj_buf answer = {0};
	struct rj_error err;
	int64_t begun;
	int fd, i;

	fd = frozen(root, path);
	alarm(300); /* else this hangs for good when it fails */
	for (i = 0; i < 6; i++) {
		begun = rj_monotonic_ns();
		CU_ASSERT(rj_rundir_ask(uuid, "status", ASK_MS, &answer,
				  &err) == -RJ_E_UNREACHABLE);
		CU_ASSERT(strstr(err.msg, "does not answer") != NULL);
		CU_ASSERT(rj_monotonic_ns() - begun < HUNG_NS);
	}
	alarm(0);
	rj_buf_free(&answer);
	close(fd);
	remove_socket(path, root);
}

static const char *const answers[] = {"", "{\"state\": \"onl", "ok", "ok\n"};
enum { ANSWERS = sizeof(answers) / sizeof(answers[0]) };

static void *answer_each(void *arg)
{
	char line[64];
	int i, client;

	for (i = 0; i < ANSWERS; i++) {
		client = accept(*(int *)arg, NULL, NULL);
		if (recv(client, line, sizeof(line), 0) <= 0 ||
			send(client, answers[i], strlen(answers[i]), MSG_NOSIGNAL) < 0)
			abort();
		close(client);
	}
	return NULL;
}

/* A daemon that is killed, or that gives a client up, leaves a part of its answer, or none:
 * that is no answer, from which rjlog rm would take that the log is not in use. */
static void a_part_is_no_answer(void)
{
	char root[] = "/tmp/rjrundir.XXXXXX", path[RJ_RUNDIR_PATH];
	struct rj_buf answer = {0};
	struct rj_error err;
	pthread_t thread;
	int fd, i;

	fd = frozen(root, path);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, answer_each, &fd), 0);
	for (i = 0; i < ANSWERS - 1; i++) {
		answer.len = 0;
		CU_ASSERT_EQUAL(rj_rundir_ask(uuid, "status", 60000, &answer, &err),
			-RJ_E_UNREACHABLE);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "before its answer was complete"));
	}
	answer.len = 0;
	CU_ASSERT_EQUAL(rj_rundir_ask(uuid, "status", 60000, &answer, &err), 0);
	CU_ASSERT_STRING_EQUAL((char *)answer.data, "ok");
	pthread_join(thread, NULL);
	rj_buf_free(&answer);
	close(fd);
	remove_socket(path, root);
}

/* "No daemon" is a licence to remove a log. */
static void what_cannot_be_seen_is_served(void)
{
	char root[] = "/tmp/rjrundir.XXXXXX", path[RJ_RUNDIR_PATH];
	struct rj_error err;

	CU_ASSERT_FATAL(mkdtemp(root) != NULL);
	setenv("RJ_RUN", root, 1);
	CU_ASSERT_FALSE(rj_rundir_served(uuid));
	CU_ASSERT_FATAL(rj_rundir_path(uuid, NULL, path, &err) == 0);
	CU_ASSERT_FATAL(symlink(path, path) == 0); /* for root as well: ELOOP */
	CU_ASSERT_TRUE(rj_rundir_served(uuid));
	unlink(path);
	rmdir(root);
}

static const struct rjtest tests[] = {
	RJTEST(a_frozen_daemon_is_not_waited_for),
	RJTEST(a_part_is_no_answer),
	RJTEST(what_cannot_be_seen_is_served),
};

int main(void)
{
	return RJTEST_RUN("rundir", tests);
}
