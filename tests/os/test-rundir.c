// SPDX-License-Identifier: GPL-2.0-or-later
/* Asking a rjournald that does not answer. */
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

/* The control socket of one that was stopped: it listens, and never accepts. */
static int frozen(char path[RJ_RUNDIR_PATH])
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct rj_error err;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CU_ASSERT_FATAL(rj_rundir_path(uuid, NULL, path, &err) == 0);
	CU_ASSERT_FATAL(mkdir(path, 0700) == 0);
	CU_ASSERT_FATAL(rj_rundir_path(uuid, "control", path, &err) == 0);
	memcpy(addr.sun_path, path, strlen(path) + 1); /* it fits: rundir.h */
	CU_ASSERT_FATAL(
		bind(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0);
	CU_ASSERT_FATAL(listen(fd, 1) == 0);
	return fd;
}

/* Each one that gave up stays in the queue, until that is full. */
static void a_frozen_daemon_is_not_waited_for(void)
{
	char root[] = "/tmp/rjrundir.XXXXXX", path[RJ_RUNDIR_PATH];
	struct rj_buf answer = {0};
	struct rj_error err;
	int64_t begun;
	int fd, i;

	CU_ASSERT_FATAL(mkdtemp(root) != NULL);
	setenv("RJ_RUN", root, 1);
	fd = frozen(path);
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
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(root);
}

static const struct rjtest tests[] = {
	RJTEST(a_frozen_daemon_is_not_waited_for),
};

int main(void)
{
	return RJTEST_RUN("rundir", tests);
}
