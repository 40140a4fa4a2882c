// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers to a client of the control socket. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon.h"
#include "util/log.h"

void rj_control_answer(int client, const char *line)
{
	char text[RJ_ERROR_BYTES + 32];
	int n = snprintf(text, sizeof(text), "%s\n", line);

	/* a client that has gone away does not matter */
	if (send(client, text, (size_t)n, MSG_NOSIGNAL) == -1)
		rj_log(RJ_LOG_DEBUG, "control: %s", strerror(errno));
	close(client);
}

void rj_control_send(int client, const char *text, size_t len)
{
	ssize_t n;

	for (; len; text += n, len -= (size_t)n) {
		n = send(client, text, len, MSG_NOSIGNAL);
		if (n <= 0) {
			rj_log(RJ_LOG_DEBUG, "control: %s", strerror(errno));
			return;
		}
	}
}
