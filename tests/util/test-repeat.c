// SPDX-License-Identifier: GPL-2.0-or-later
/* A line that comes again and again is said once a minute, with a count. */
#include <stdio.h>
#include <string.h>

#include "support/rjtest.h"
#include "util/repeat.h"

#define SECOND 1000000000ll

static void once_a_minute(void)
{
	struct rj_repeat r = {0};
	unsigned said = 0, more, sum = 0;
	int i;

	for (i = 0; i < 600; i++)
		if (rj_repeat_say(&r, "full", 5 + i * SECOND, &more)) {
			said++;
			sum += more;
		}
	CU_ASSERT_EQUAL(said, 10);
	CU_ASSERT_EQUAL(sum, 9 * 59);
}

static void others_are_said(void)
{
	struct rj_repeat r = {0};
	unsigned more;

	CU_ASSERT(rj_repeat_say(&r, "a", SECOND, &more));
	CU_ASSERT(rj_repeat_say(&r, "b", SECOND, &more));
	CU_ASSERT(!rj_repeat_say(&r, "a", 2 * SECOND, &more));
	CU_ASSERT(!rj_repeat_say(&r, "b", 2 * SECOND, &more));
	CU_ASSERT(rj_repeat_say(&r, "", 2 * SECOND, &more));
}

/* More lines than are remembered: too often is better than never. */
static void the_oldest_is_forgotten(void)
{
	struct rj_repeat r = {0};
	char text[16];
	unsigned more;
	int i;

	for (i = 0; i <= RJ_REPEAT_LINES; i++) {
		snprintf(text, sizeof(text), "line %d", i);
		CU_ASSERT(rj_repeat_say(&r, text, (1 + i) * SECOND, &more));
	}
	CU_ASSERT(!rj_repeat_say(&r, text, 50 * SECOND, &more));
	CU_ASSERT(!rj_repeat_say(&r, "line 1", 50 * SECOND, &more));
	CU_ASSERT(rj_repeat_say(&r, "line 0", 50 * SECOND, &more));
}

static bool late_or(struct rj_repeat *r, int64_t now, bool all, char line,
	unsigned times, int64_t ago)
{
	unsigned more = 0;
	int64_t since = 0;
	char text[8] = "";

	return rj_repeat_late(r, now, all, text, sizeof(text), &more, &since) &&
	       text[0] == line && more == times && since == ago;
}

static bool late(struct rj_repeat *r, int64_t now, char line, unsigned times,
	int64_t ago)
{
	return late_or(r, now, false, line, times, ago);
}

/* "waiting", "back", and both again soon after: "back" is what remains. */
static void the_later_one_is_last(void)
{
	struct rj_repeat r = {0};
	unsigned more;

	CU_ASSERT(rj_repeat_say(&r, "b", 1 * SECOND, &more));
	CU_ASSERT(rj_repeat_say(&r, "w", 9 * SECOND, &more));
	CU_ASSERT(!late(&r, 60 * SECOND, 0, 0, 0));
	CU_ASSERT(!rj_repeat_say(&r, "w", 10 * SECOND, &more));
	CU_ASSERT(!rj_repeat_say(&r, "w", 11 * SECOND, &more));
	CU_ASSERT(!rj_repeat_say(&r, "b", 12 * SECOND, &more));
	CU_ASSERT(!late(&r, 60 * SECOND, 0, 0, 0));
	CU_ASSERT(late(&r, 61 * SECOND, 'w', 2, 50 * SECOND));
	CU_ASSERT(late(&r, 61 * SECOND, 'b', 1, 49 * SECOND));
	CU_ASSERT(!late(&r, 900 * SECOND, 0, 0, 0));
	CU_ASSERT(!rj_repeat_say(&r, "w", 62 * SECOND, &more));
	CU_ASSERT(late_or(&r, 63 * SECOND, true, 'w', 1, 1 * SECOND));
	CU_ASSERT(!late_or(&r, 63 * SECOND, true, 0, 0, 0));
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(once_a_minute),
		RJTEST(others_are_said),
		RJTEST(the_oldest_is_forgotten),
		RJTEST(the_later_one_is_last),
	};

	return RJTEST_RUN("repeat", tests);
}
