// SPDX-License-Identifier: GPL-2.0-or-later
/* The control socket: parse the requests of rjctl and mount.rj, and carry them out. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon.h"
#include "status.h"
#include "util/log.h"

#define CLIENT_TIMEOUT_S 1

int rj_control_listen(const char *path, int *fd, struct rj_error *err)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* the directory is 0700: root only */
	if (*fd == -1 ||
		bind(*fd, (struct sockaddr *)&addr, sizeof(addr)) == -1 ||
		listen(*fd, 8) == -1)
		return rj_fail_errno(err, errno, "%s", path);
	return 0;
}

static void answer_status(const struct rj_daemon *d, int client)
{
	struct json_object *o;
	struct rj_status s;
	const char *text;

	rj_status_collect(d, &s);
	o = rj_status_json(&s);
	if (rj_daemon_writing(d) && d->loaded.fallback_sink)
		rj_status_add_fallback(&d->loaded, o);
	text = json_object_to_json_string_ext(
		o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	/* longer than rj_control_answer() takes, in two parts */
	rj_control_send(client, text, strlen(text));
	rj_control_answer(client, "");
	json_object_put(o);
}

static void answer_metrics(const struct rj_daemon *d, int client)
{
	struct rj_buf text = {0};
	struct rj_status s;

	rj_status_collect(d, &s);
	if (rj_status_metrics(&s, &text)) {
		rj_control_answer(client, "error: out of memory");
	} else {
		rj_control_send(client, (char *)text.data, text.len);
		close(client);
	}
	rj_buf_free(&text);
}

/* Which way commits go while both are there; the next worker knows it, too. */
static void take_preference(
	const struct rj_daemon *d, int client, const char *word)
{
	enum rj_prefer p = rj_prefer_parse(word);

	if (p == RJ_PREFER_UNSET) {
		rj_control_answer(
			client, "error: prefer is remote, local or power");
	} else if (!rj_daemon_writing(d) || !d->loaded.arbiter_thread) {
		rj_control_answer(client,
			"error: there is no fallback file to choose");
	} else {
		d->loaded.memory.shm->log.prefer = p;
		rj_arbiter_thread_set(d->loaded.arbiter_thread, p);
		rj_control_answer(client, "ok");
	}
}

/* mount.rj knows whether there is a base, which this matters to. */
static void answer_mounted(const struct rj_daemon *d, int client)
{
	const char *why = rj_mount_notes_break(d->loaded.notes);
	char text[256] = "ok";

	if (why)
		snprintf(text, sizeof(text), "no history: %s", why);
	rj_control_answer(client, text);
}

static void obey(struct rj_daemon *d, int client, const char *line)
{
	if (strcmp(line, "status") == 0) {
		answer_status(d, client);
	} else if (strcmp(line, "metrics") == 0) {
		answer_metrics(d, client);
	} else if (strncmp(line, "prefer ", 7) == 0) {
		take_preference(d, client, line + 7);
	} else if (strcmp(line, "flush") == 0) {
		if (!rj_daemon_drain(d, client))
			rj_control_answer(
				client, "busy: a flush is under way already");
	} else if (strcmp(line, "stop") == 0) {
		bool in_use = rj_daemon_in_use(d);

		if (!in_use)
			rj_daemon_stop(d);
		rj_control_answer(client,
			in_use ? "busy: the volume is mounted: unmount it first"
			       : "ok");
	} else if (strcmp(line, "restart") == 0) {
		if (!rj_daemon_restart(d, client))
			rj_control_answer(client,
				"error: this kernel cannot hand over what is under way (Linux 6.9 can)");
	} else if (strcmp(line, "mounting") == 0) {
		rj_mount_notes_mounting(d->loaded.notes);
		rj_control_answer(client, "ok");
	} else if (strcmp(line, "mounted") == 0) {
		rj_daemon_mounted(d);
		answer_mounted(d, client);
	} else if (strcmp(line, "stop --force") == 0) {
		rj_control_answer(client, "ok");
		rj_daemon_force(d);
	} else {
		rj_control_answer(client, "error: unknown request");
	}
}

void rj_control_serve(struct rj_daemon *d)
{
	struct timeval limit = {.tv_sec = CLIENT_TIMEOUT_S};
	char line[64], *end = NULL;
	size_t len = 0;
	ssize_t n;
	int client = accept4(d->listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (client == -1)
		return;
	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	while (!end && len < sizeof(line) - 1) {
		n = recv(client, line + len, sizeof(line) - 1 - len, 0);
		if (n <= 0)
			break;
		len += (size_t)n;
		line[len] = 0;
		end = strchr(line, '\n');
	}
	if (!end) {
		close(client);
		return;
	}
	*end = 0;
	obey(d, client, line);
}
