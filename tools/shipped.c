// SPDX-License-Identifier: GPL-2.0-or-later
/* Ask rjournald until the store has all that it acknowledged. */
#include "tools/shipped.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "os/rundir.h"
#include "util/environ.h"

#define ANSWER_MS 30000
#define LOOK_NS	  200000000LL

/* "online": the store has all that was acknowledged before. */
static bool online(const char *text, char *mode, size_t size)
{
	struct json_object *o = json_tokener_parse(text), *m;

	mode[0] = 0;
	if (o && json_object_object_get_ex(o, "mode", &m))
		snprintf(mode, size, "%s", json_object_get_string(m));
	json_object_put(o);
	return !strcmp(mode, "online");
}

int shipped_wait(const uint8_t volume[RJ_UUID_BYTES], int limit_ms,
	struct rj_error *err)
{
	int64_t end = rj_monotonic_ns() + limit_ms * 1000000LL;
	int ask_ms = limit_ms < ANSWER_MS ? limit_ms : ANSWER_MS;
	struct rj_buf text = {0};
	char mode[32] = "";
	bool is = false;
	int rc;

	do {
		if (text.len)
			rj_sleep_ns(LOOK_NS);
		text.len = 0;
		rc = rj_rundir_ask(volume, "status", ask_ms, &text, err);
		is = !rc && online((char *)text.data, mode, sizeof(mode));
	} while (!rc && !is && rj_monotonic_ns() < end);
	rj_buf_free(&text);
	if (!rc && !is)
		rc = rj_fail(err, RJ_E_UNREACHABLE,
			"the store does not have all of the log (rjctl status says \"%s\"): try again when it is online",
			mode);
	return rc;
}
