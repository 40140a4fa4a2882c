// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon.h"
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

void rj_control_answer(int client, const char *line)
{
	char text[RJ_ERROR_BYTES + 32];
	int n = snprintf(text, sizeof(text), "%s\n", line);

	/* a client that has gone away does not matter */
	if (send(client, text, (size_t)n, MSG_NOSIGNAL) == -1)
		rj_log(RJ_LOG_DEBUG, "control: %s", strerror(errno));
	close(client);
}

static void put_text(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, json_object_new_string(text));
}

static void put_number(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_int64((int64_t)value));
}

static const char *phase_name(const struct rj_daemon *d)
{
	switch (d->phase) {
	case RJ_PHASE_HOLDING:
	case RJ_PHASE_LEAVING:
		return rj_loop_mounted(&d->loop)      ? "mounted"
		       : d->phase == RJ_PHASE_HOLDING ? "ready"
						      : "stopping";
	default:
		return "stopping";
	}
}

static void put_pipeline(const struct rj_daemon *d, struct json_object *o)
{
	struct rj_pipeline_stat st;
	const char *why = rj_pipeline_failure(d->pipeline);

	rj_pipeline_stat(d->pipeline, &st);
	put_text(o, "mode", rj_state_name(st.state));
	put_number(o, "mode_since", (uint64_t)(st.since_ns / 1000000000));
	if (why)
		put_text(o, "error", why);
	put_number(o, "acknowledged", st.acked);
	put_number(o, "oldest", st.oldest);
	put_number(o, "pending_blocks", st.pending);
	put_number(o, "segments_shipped", st.segments);
	put_number(o, "bytes_shipped", st.bytes);
	put_number(o, "flushes", st.flushes);
	put_number(o, "flushes_ordered", st.flushes_ordered);
	put_number(o, "ship_ns", st.ship_ns);
}

static void answer_status(const struct rj_daemon *d, int client)
{
	static const char *const losses[] = {
		[RJ_LOSS_BLOCK] = "block",
		[RJ_LOSS_ERROR] = "error",
		[RJ_LOSS_LOCAL] = "local",
	};
	const struct rj_loaded *l = &d->loaded;
	struct json_object *o = json_object_new_object();
	char uuid[RJ_UUID_TEXT];
	const char *text;

	put_text(o, "state", phase_name(d));
	put_pipeline(d, o);
	put_text(o, "on_loss", losses[l->facts.sbx.on_loss]);
	put_number(o, "epoch", l->memory.kept->epoch);
	put_text(o, "store",
		rj_daemon_writing(d) ? l->store->url : l->facts.sbx.url);
	put_text(o, "device", l->device);
	put_text(o, "journal_device", d->loop.path);
	put_text(o, "volume_uuid", rj_uuid_text(l->facts.uuid, uuid));
	put_text(o, "journal_uuid",
		rj_uuid_text(l->facts.sbx.journal_uuid, uuid));
	put_number(o, "block_size", l->ring->block_size);
	put_number(o, "journal_blocks", l->ring->blocks);
	put_number(o, "pid", (uint64_t)getppid());
	put_number(o, "worker_pid", (uint64_t)getpid());
	put_number(o, "restarts", l->memory.kept->restarts);
	text = json_object_to_json_string_ext(
		o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	/* longer than rj_control_answer() takes, in two parts */
	if (send(client, text, strlen(text), MSG_NOSIGNAL) == -1)
		rj_log(RJ_LOG_DEBUG, "control: %s", strerror(errno));
	rj_control_answer(client, "");
	json_object_put(o);
}

static void obey(struct rj_daemon *d, int client, const char *line)
{
	if (strcmp(line, "status") == 0) {
		answer_status(d, client);
	} else if (strcmp(line, "flush") == 0) {
		if (!rj_daemon_drain(d, client))
			rj_control_answer(
				client, "busy: a flush is under way already");
	} else if (strcmp(line, "stop") == 0) {
		rj_control_answer(client,
			rj_daemon_stop(d)
				? "ok"
				: "busy: volume is mounted; rjournald stops "
				  "when it is unmounted");
	} else if (strcmp(line, "restart") == 0) {
		if (!rj_daemon_restart(d, client))
			rj_control_answer(client,
				"error: this kernel cannot hand over what is under way (Linux 6.9 can)");
	} else if (strcmp(line, "mounted") == 0) {
		rj_daemon_mounted(d);
		rj_control_answer(client, "ok");
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
