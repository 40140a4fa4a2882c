// SPDX-License-Identifier: GPL-2.0-or-later
/* Every (state, event) pair, against a second writing of the table, and against
 * what must hold of it whatever it says. */
#include <stdio.h>
#include <string.h>

#include "rjournald/state.h"
#include "support/rjtest.h"

/* One line for each state; per event, in the order of enum rj_event, the next
 * state's name and '/' with the effect if there is one; '.': impossible. */
static const char *const expected[RJ_STATES] = {
	[RJ_STATE_ONLINE] =
		"waiting degraded/mark+local failed/fail alone online . . . local/mark+local online fenced/fail failed/fail stopped failed/fail",
	[RJ_STATE_WAITING] =
		"waiting degraded/mark+local failed/fail alone online . waiting . local/mark+local waiting fenced/fail failed/fail draining failed/fail",
	[RJ_STATE_DEGRADED] =
		". degraded . . resyncing . full degraded local degraded fenced/fail failed/fail stopped/keep failed/fail",
	[RJ_STATE_FULL] =
		". full . . resyncing . full degraded full full fenced/fail failed/fail draining failed/fail",
	[RJ_STATE_RESYNCING] =
		". degraded . . resyncing online/mark+idle resyncing resyncing resyncing resyncing fenced/fail failed/fail stopped/keep failed/fail",
	[RJ_STATE_LOCAL] =
		". local . . local . full local local resyncing fenced/fail failed/fail stopped/keep failed/fail",
	[RJ_STATE_ALONE] =
		"waiting degraded/mark+local failed/fail alone alone online . . . . fenced/fail failed/fail stopped failed/fail",
	[RJ_STATE_DRAINING] =
		"draining degraded/mark+local failed/fail alone online online/mark+idle draining degraded draining draining fenced/fail failed/fail draining failed/fail",
	[RJ_STATE_FENCED] = ". . . . . . . . . . fenced fenced stopped fenced",
	[RJ_STATE_FAILED] = ". . . . . . . . . . failed failed stopped failed",
	[RJ_STATE_STOPPED] = ". . . . . . . . . . . . stopped stopped",
};

static void describe(struct rj_transition t, char *out, size_t len)
{
	char *p;

	if (t.effect == RJ_EFFECT_IMPOSSIBLE)
		snprintf(out, len, ".");
	else if (t.effect == RJ_EFFECT_NONE)
		snprintf(out, len, "%s", rj_state_name(t.next));
	else
		snprintf(out, len, "%s/%s", rj_state_name(t.next),
			rj_effect_name(t.effect));
	for (p = out; *p; p++)
		if (*p == ' ')
			*p = '+';
}

static void every_pair_is_as_written(void)
{
	char line[512], one[64], *next, *word;
	int s, e;

	for (s = 0; s < RJ_STATES; s++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(expected[s]);
		snprintf(line, sizeof(line), "%s", expected[s]);
		next = line;
		for (e = 0; e < RJ_EVENTS; e++) {
			word = strsep(&next, " ");
			CU_ASSERT_PTR_NOT_NULL_FATAL(word);
			describe(rj_state_next(s, e), one, sizeof(one));
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
	struct rj_transition t;
	int s, e;

	for (s = 0; s < RJ_STATES; s++) {
		for (e = 0; e < RJ_EVENTS; e++) {
			t = rj_state_next(s, e);
			CU_ASSERT_FATAL((unsigned)t.next < RJ_STATES);
			/* what cannot happen changes nothing */
			if (t.effect == RJ_EFFECT_IMPOSSIBLE)
				CU_ASSERT_EQUAL((int)t.next, s);
			/* never again means never again */
			if (rj_state_over(s))
				CU_ASSERT_TRUE(rj_state_over(t.next));
			/* being fenced, or told at once, ends whatever was */
			if (e == RJ_EVENT_FENCED && s != RJ_STATE_STOPPED)
				CU_ASSERT_TRUE(rj_state_over(t.next));
			if (e == RJ_EVENT_FORCE)
				CU_ASSERT_TRUE(rj_state_over(t.next));
			/* no local acknowledgement before the mark, and no
			 * silent way back or out from a file that is needed */
			if (!rj_state_local(s) && s != RJ_STATE_DRAINING &&
				rj_state_local(t.next))
				CU_ASSERT_EQUAL(
					t.effect, RJ_EFFECT_MARK_LOCAL);
			if (rj_state_local(s) && t.next == RJ_STATE_ONLINE) {
				CU_ASSERT_EQUAL(e, RJ_EVENT_CAUGHT_UP);
				CU_ASSERT_EQUAL(t.effect, RJ_EFFECT_MARK_IDLE);
			}
			if (rj_state_local(s) && t.next == RJ_STATE_STOPPED)
				CU_ASSERT_EQUAL(t.effect, RJ_EFFECT_KEEP);
			/* into "failed" only with the I/O failing */
			if (!rj_state_over(s) && (t.next == RJ_STATE_FAILED ||
							 t.next == RJ_STATE_FENCED))
				CU_ASSERT_EQUAL(t.effect, RJ_EFFECT_FAIL);
		}
	}
}

static void policies(void)
{
	CU_ASSERT_EQUAL(rj_state_lost(RJ_LOSS_BLOCK), RJ_EVENT_LOST_BLOCK);
	CU_ASSERT_EQUAL(rj_state_lost(RJ_LOSS_LOCAL), RJ_EVENT_LOST_LOCAL);
	CU_ASSERT_EQUAL(rj_state_lost(RJ_LOSS_ERROR), RJ_EVENT_LOST_ERROR);
}

static void a_life(void)
{
	struct rj_live l;

	rj_live_init(&l);
	CU_ASSERT_EQUAL(l.state, RJ_STATE_ONLINE);
	CU_ASSERT(l.since_ns > 0);
	CU_ASSERT_EQUAL(rj_live_event(&l, RJ_EVENT_CAUGHT_UP),
		RJ_EFFECT_IMPOSSIBLE);
	CU_ASSERT_EQUAL(l.state, RJ_STATE_ONLINE);
	CU_ASSERT_EQUAL(rj_live_event(&l, RJ_EVENT_LOST_LOCAL),
		RJ_EFFECT_MARK_LOCAL);
	rj_live_event(&l, RJ_EVENT_FULL);
	CU_ASSERT_EQUAL(l.state, RJ_STATE_FULL);
	rj_live_event(&l, RJ_EVENT_RETURNED);
	CU_ASSERT_EQUAL(l.state, RJ_STATE_RESYNCING);
	CU_ASSERT_EQUAL(rj_live_event(&l, RJ_EVENT_CAUGHT_UP),
		RJ_EFFECT_MARK_IDLE);
	CU_ASSERT_EQUAL(l.state, RJ_STATE_ONLINE);
	rj_live_event(&l, RJ_EVENT_FENCED);
	rj_live_event(&l, RJ_EVENT_RETURNED);
	CU_ASSERT_EQUAL(l.state, RJ_STATE_FENCED);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(every_pair_is_as_written),
		RJTEST(rules_that_hold_for_every_pair),
		RJTEST(policies),
		RJTEST(a_life),
	};

	return RJTEST_RUN("state", tests);
}
