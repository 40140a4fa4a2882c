// SPDX-License-Identifier: GPL-2.0-or-later
/* Every (state, event) pair against a second writing of the table, and against
 * what must hold of it whatever it says; and rjctl(8) names the states. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rjournald/fallback/state.h"
#include "support/rjtest.h"
#include "util/log.h"

/* One line for each state; per event, in the order of enum rj_event, the next
 * state's name; '.': impossible. */
static const char *const expected[RJ_STATES] = {
	[RJ_STATE_ONLINE] =
		"waiting degraded online . . . local online fenced failed failed",
	[RJ_STATE_WAITING] =
		"waiting degraded online . waiting . local waiting fenced failed failed",
	[RJ_STATE_DEGRADED] =
		"degraded degraded resyncing . full degraded local degraded fenced failed failed",
	[RJ_STATE_FULL] =
		"full full resyncing . full degraded full full fenced failed failed",
	[RJ_STATE_RESYNCING] =
		"resyncing degraded resyncing online resyncing resyncing resyncing resyncing fenced failed failed",
	[RJ_STATE_LOCAL] =
		"local local local . full local local resyncing fenced failed failed",
	[RJ_STATE_FENCED] =
		"fenced fenced fenced fenced fenced fenced fenced fenced fenced fenced fenced",
	[RJ_STATE_FAILED] =
		"failed failed failed failed failed failed failed failed failed failed failed",
};

static void every_pair_is_as_written(void)
{
	char line[512], *next, *word;
	const char *one;
	enum rj_state to;
	int s, e;

	for (s = 0; s < RJ_STATES; s++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(expected[s]);
		snprintf(line, sizeof(line), "%s", expected[s]);
		next = line;
		for (e = 0; e < RJ_EVENTS; e++) {
			word = strsep(&next, " ");
			CU_ASSERT_PTR_NOT_NULL_FATAL(word);
			to = rj_state_next(s, e);
			one = to == RJ_STATES ? "." : rj_state_name(to);
			CU_ASSERT_STRING_EQUAL(one, word);
			if (strcmp(one, word))
				printf("# %s, %s: %s, not %s\n",
					rj_state_name(s), rj_event_name(e), one,
					word);
		}
		CU_ASSERT_PTR_NULL(next);
	}
}

static void rules_that_hold_for_every_pair(void)
{
	enum rj_state to;
	int s, e;

	for (s = 0; s < RJ_STATES; s++) {
		for (e = 0; e < RJ_EVENTS; e++) {
			to = rj_state_next(s, e);
			CU_ASSERT_FATAL((unsigned)to <= RJ_STATES);
			/* never again means never again */
			if (rj_state_over(s))
				CU_ASSERT_EQUAL((int)to, s);
			/* being fenced, or told at once, ends whatever was */
			if (e == RJ_EVENT_FENCED || e == RJ_EVENT_FORCE)
				CU_ASSERT_TRUE(rj_state_over(to));
			/* into the file only by the events that are raised
			 * after its mark, and no silent way out of it */
			if (!rj_state_local(s) && rj_state_local(to))
				CU_ASSERT_TRUE(e == RJ_EVENT_LOST_LOCAL ||
					       e == RJ_EVENT_LEAVE);
			if (rj_state_local(s) && to == RJ_STATE_ONLINE)
				CU_ASSERT_EQUAL(e, RJ_EVENT_CAUGHT_UP);
			if (rj_state_local(s))
				CU_ASSERT_NOT_EQUAL(to, RJ_STATE_WAITING);
		}
	}
}

/* Every state can be reached from the first one. */
static void every_state_can_be_reached(void)
{
	bool seen[RJ_STATES + 1] = {[RJ_STATE_ONLINE] = true};
	int s, e, turn;

	for (turn = 0; turn < RJ_STATES; turn++)
		for (s = 0; s < RJ_STATES; s++)
			for (e = 0; seen[s] && e < RJ_EVENTS; e++)
				seen[rj_state_next(s, e)] = true;
	for (s = 0; s < RJ_STATES; s++)
		CU_ASSERT_TRUE(seen[s]);
}

static void count_errors(void *arg, enum rj_log_level level, const char *line)
{
	*(int *)arg += level == RJ_LOG_ERROR && strstr(line, "caught up") &&
		       strstr(line, "online");
}

static void a_life(void)
{
	struct rj_live l;
	int errors = 0;

	rj_live_init(&l);
	rj_log_set(count_errors, &errors);
	CU_ASSERT_EQUAL(l.state, RJ_STATE_ONLINE);
	CU_ASSERT(l.since_ns > 0);
	rj_live_event(&l, RJ_EVENT_CAUGHT_UP);
	CU_ASSERT_EQUAL(l.state, RJ_STATE_ONLINE);
	CU_ASSERT_EQUAL(errors, 1);
	rj_live_event(&l, RJ_EVENT_LOST_LOCAL);
	rj_live_event(&l, RJ_EVENT_FULL);
	CU_ASSERT_EQUAL(l.state, RJ_STATE_FULL);
	rj_live_event(&l, RJ_EVENT_RETURNED);
	CU_ASSERT_EQUAL(l.state, RJ_STATE_RESYNCING);
	rj_live_event(&l, RJ_EVENT_CAUGHT_UP);
	CU_ASSERT_EQUAL(l.state, RJ_STATE_ONLINE);
	rj_live_event(&l, RJ_EVENT_FENCED);
	rj_live_event(&l, RJ_EVENT_RETURNED);
	CU_ASSERT_EQUAL(l.state, RJ_STATE_FENCED);
	CU_ASSERT_EQUAL(errors, 1);
	rj_log_set(NULL, NULL);
}

/* The words after each .TP of "The modes:" are the states, all and no other. */
static void the_manual_names_the_states(void)
{
	const char *src = getenv("RJ_SRC");
	char path[4096], line[256], *word, *save;
	bool in = false, head = false;
	int seen = 0, known, s;
	FILE *f;

	CU_ASSERT_PTR_NOT_NULL_FATAL(src);
	snprintf(path, sizeof(path), "%s/man/rjctl.8", src);
	f = fopen(path, "re");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	while (fgets(line, sizeof(line), f)) {
		if (!strcmp(line, "The modes:\n"))
			in = true;
		else if (in && !strcmp(line, ".RE\n"))
			break;
		if (in && head) {
			strtok_r(line, " \",\n", &save);
			while ((word = strtok_r(NULL, " \",\n", &save))) {
				for (s = known = 0; s < RJ_STATES; s++)
					known += !strcmp(word, rj_state_name(s));
				CU_ASSERT_EQUAL(known, 1);
				seen++;
			}
		}
		head = !strcmp(line, ".TP\n");
	}
	fclose(f);
	CU_ASSERT_EQUAL(seen, RJ_STATES);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(every_pair_is_as_written),
		RJTEST(rules_that_hold_for_every_pair),
		RJTEST(every_state_can_be_reached),
		RJTEST(a_life),
		RJTEST(the_manual_names_the_states),
	};

	return RJTEST_RUN("state", tests);
}
