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
#include "rjournald/load/move.h"
#include "save.h"
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

/* "move URL" or "reseed [URL]": by the next worker; rjctl waits until it says how that ended. */
static void take_move(struct rj_daemon *d, int client, const char *line)
{
	struct rj_move_request r = {.lost = *line == 'r'};
	const struct rj_sbx *sbx = &d->loaded.facts.sbx;
	const char *url = strchr(line, ' ');
	char text[RJ_ERROR_BYTES + 16];
	struct rj_error err;
	int rc;

	url = url ? url + 1 : sbx->url;
	if (strlen(url) < sizeof(r.url))
		memcpy(r.url, url, strlen(url) + 1);
	rc = rj_pipeline_failure(d->pipeline)
		     ? rj_fail(&err, RJ_E_REFUSED, "the journal has failed: %s",
			       rj_pipeline_failure(d->pipeline))
		     : rj_move_request_from(&d->loaded, &r, &err);
	if (!rc && !rj_front_can_resume(d->front))
		rc = rj_fail(&err, RJ_E_UNSUPPORTED,
			"this kernel cannot hand over what is under way (Linux 6.9 can): unmount the volume, then rjtune -J remote=URL; if its store is lost, rjctl stop --force --save=DIR comes first");
	if (!rc)
		rc = rj_move_request_put(&d->loaded.dir, &r, &err);
	if (!rc)
		rj_daemon_restart(d, client);
	snprintf(text, sizeof(text), "error: %s", err.msg);
	rj_control_answer(client, text);
}

/* "stop --force", with --save=DIR or --accept-loss. The answer is "ok", and where the journal
 * went. */
static void take_force(struct rj_daemon *d, int client, const char *words)
{
	const char *dir = strncmp(words, " --save=", 8) ? NULL : words + 8;
	bool save = strcmp(words, " --accept-loss") && (dir || rj_save_needed(d));
	char text[RJ_ERROR_BYTES + 160], path[RJ_SAVE_DIR_BYTES + 1];
	struct rj_error err;

	if (save && rj_save_prepare(d, dir, path, &err)) {
		snprintf(text, sizeof(text),
			"error: %s; the store may lack what only the journal in memory has: rjctl stop --force --save=DIR saves it elsewhere, rjctl stop --force --accept-loss gives it up",
			err.msg);
		rj_control_answer(client, text);
		return;
	}
	rj_daemon_force(d);
	if (!save)
		snprintf(text, sizeof(text), "ok");
	else if (rj_save(d, path, &err))
		snprintf(text, sizeof(text), "error: stopped, but the journal is not saved: %s",
			err.msg);
	else
		snprintf(text, sizeof(text), "ok saved %s", path);
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
	} else if (!strncmp(line, "move ", 5) || !strncmp(line, "reseed", 6)) {
		take_move(d, client, line);
	} else if (strcmp(line, "mounting") == 0) {
		rj_mount_notes_mounting(d->loaded.notes);
		rj_control_answer(client, "ok");
	} else if (strcmp(line, "mounted") == 0) {
		rj_daemon_mounted(d);
		answer_mounted(d, client);
	} else if (!strncmp(line, "stop --force", 12)) {
		take_force(d, client, line + 12);
	} else {
		rj_control_answer(client, "error: unknown request");
	}
}

void rj_control_serve(struct rj_daemon *d)
{
	struct timeval limit = {.tv_sec = CLIENT_TIMEOUT_S};
	char line[RJ_SBX_URL_BYTES + 64], *end = NULL;
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
