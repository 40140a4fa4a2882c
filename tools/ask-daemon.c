// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/ask-daemon.h"

#include <stdio.h>
#include <string.h>

#include "os/rundir.h"
#include "util/environ.h"

#define ANSWER_MS 30000
#define LOOK_NS	  200000000LL

int daemon_status(const uint8_t volume[RJ_UUID_BYTES], int limit_ms, struct json_object **out,
	struct rj_error *err)
{
	struct rj_buf answer = {0};
	int rc = rj_rundir_ask(volume, "status", limit_ms, &answer, err);

	*out = rc ? NULL : json_tokener_parse((char *)answer.data);
	rj_buf_free(&answer);
	return rc;
}

int shipped_wait(const uint8_t volume[RJ_UUID_BYTES], int limit_ms,
	struct rj_error *err)
{
	int64_t end = rj_monotonic_ns() + limit_ms * 1000000LL;
	int ask_ms = limit_ms < ANSWER_MS ? limit_ms : ANSWER_MS;
	struct json_object *status, *m;
	char mode[32] = "";
	bool is, over, again = false;
	int rc;

	do {
		if (again)
			rj_sleep_ns(LOOK_NS);
		again = true;
		rc = daemon_status(volume, ask_ms, &status, err);
		mode[0] = 0;
		if (json_object_object_get_ex(status, "mode", &m))
			snprintf(mode, sizeof(mode), "%s", json_object_get_string(m));
		json_object_put(status);
		/* the store has all that was acknowledged before */
		is = !strcmp(mode, "online");
		over = !strcmp(mode, "fenced") || !strcmp(mode, "failed");
	} while (!rc && !is && !over && rj_monotonic_ns() < end);
	if (!rc && over)
		return rj_fail(err, RJ_E_FENCED,
			"the mount has lost its journal (rjctl status says \"%s\"), and the store gets no more of it: unmount it; mount it again, or use the copy that has taken the log over",
			mode);
	if (!rc && !is)
		rc = rj_fail(err, RJ_E_UNREACHABLE,
			"the store does not have all of the log (rjctl status says \"%s\"): try again when it is online",
			mode);
	return rc;
}
