// SPDX-License-Identifier: LGPL-2.1-or-later
/* A moment, as people write it. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/object-key.h"
#include "history/history.h"
#include "util/environ.h"

static bool parse_number(const char *text, uint64_t *out, const char **end)
{
	char *after;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*out = strtoull(text, &after, 10);
	*end = after;
	return !errno;
}

int rj_moment_parse(
	const char *text, struct rj_moment *out, struct rj_error *err)
{
	struct rj_moment m = {0};
	const char *end = text;

	if (!strcmp(text, "latest") || !strcmp(text, "now")) {
		m.kind = RJ_AT_LATEST;
	} else if (!strncmp(text, "segment:", 8) &&
		   parse_number(text + 8, &m.segment, &end) && !*end &&
		   m.segment) {
		m.kind = RJ_AT_SEGMENT;
	} else if (!strncmp(text, "mark:", 5) &&
		   rj_key_name_valid(text + 5, strlen(text + 5))) {
		m.kind = RJ_AT_MARK;
		snprintf(m.mark, sizeof(m.mark), "%s", text + 5);
	} else if (rj_when_parse(text, rj_realtime_ns(), &m.time_ns)) {
		m.kind = RJ_AT_TIME;
	} else {
		return rj_fail(err, RJ_E_INVAL,
			"\"%s\" is not a moment: latest, segment:NUMBER, mark:NAME, or a time: \"2026-11-28 14:05\" (with Z or +01:00 after it, or local), 14:05, \"yesterday 14:05\", \"10 minutes ago\", -10m, @SECONDS since 1970",
			text);
	}
	*out = m;
	return 0;
}

const char *rj_place_text(const struct rj_history_place *p, char out[RJ_WHEN_TEXT])
{
	char text[RJ_WHEN_TEXT];

	if (p->time_ns)
		return rj_when_text(p->time_ns, out);
	if (p->sealed_ns)
		snprintf(out, RJ_WHEN_TEXT, "about %.48s", rj_when_text(p->sealed_ns, text));
	else
		snprintf(out, RJ_WHEN_TEXT, "a time that is not known");
	return out;
}
