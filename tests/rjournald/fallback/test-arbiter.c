// SPDX-License-Identifier: GPL-2.0-or-later
/* The arbiter: every policy against every state of link, disk and file, what it
 * remembers, and what is read of a disk and a route. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "rjournald/fallback/arbiter.h"
#include "rjournald/fallback/link-disk.h"
#include "support/rjtest.h"

#define S 1000000000LL

/* From nothing known: a line for each policy and disk, a word for each link
 * (unknown, up, asleep, down), for an empty file and for one that is full. */
static const struct {
	enum rj_prefer prefer;
	enum rj_disk disk;
	const char *empty, *full;
} table[] = {
	{RJ_PREFER_UNSET, RJ_DISK_UNKNOWN, "r r r r", "r r r r"},
	{RJ_PREFER_UNSET, RJ_DISK_AWAKE, "r r r r", "r r r r"},
	{RJ_PREFER_UNSET, RJ_DISK_ASLEEP, "r r r r", "r r r r"},
	{RJ_PREFER_REMOTE, RJ_DISK_UNKNOWN, "r r r L", "r r r L"},
	{RJ_PREFER_REMOTE, RJ_DISK_AWAKE, "r r r L", "r r r L"},
	{RJ_PREFER_REMOTE, RJ_DISK_ASLEEP, "r r r L", "r r r L"},
	{RJ_PREFER_LOCAL, RJ_DISK_UNKNOWN, "L L L L", "r r r L"},
	{RJ_PREFER_LOCAL, RJ_DISK_AWAKE, "L L L L", "r r r L"},
	{RJ_PREFER_LOCAL, RJ_DISK_ASLEEP, "L L L L", "r r r L"},
	{RJ_PREFER_POWER, RJ_DISK_UNKNOWN, "r r L L", "r r r L"},
	{RJ_PREFER_POWER, RJ_DISK_AWAKE, "r r L L", "r r r L"},
	{RJ_PREFER_POWER, RJ_DISK_ASLEEP, "r r r L", "r r r L"},
};

static void one_line(size_t n, const char *want, unsigned fill)
{
	struct rj_arbiter_in in = {
		.prefer = table[n].prefer,
		.disk = table[n].disk,
		.fill = fill,
		.now_ns = S,
	};
	struct rj_arbiter none = {0}, a;
	char got[8];
	int link;

	for (link = RJ_LINK_UNKNOWN; link <= RJ_LINK_DOWN; link++) {
		in.link = link;
		a = rj_arbiter_next(&none, &in);
		got[link * 2] = a.local ? 'L' : 'r';
		got[link * 2 + 1] = link == RJ_LINK_DOWN ? 0 : ' ';
		CU_ASSERT_EQUAL(
			a.reason == RJ_REASON_NONE, !in.prefer);
	}
	CU_ASSERT_STRING_EQUAL(got, want);
	if (strcmp(got, want))
		printf("# line %zu, fill %u: %s, not %s\n", n, fill, got, want);
}

static void every_combination(void)
{
	size_t n;

	CU_ASSERT_EQUAL(sizeof(table) / sizeof(table[0]), 4 * 3);
	for (n = 0; n < sizeof(table) / sizeof(table[0]); n++) {
		one_line(n, table[n].empty, 0);
		one_line(n, table[n].empty, RJ_ARBITER_NEARLY_FULL - 1);
		one_line(n, table[n].full, RJ_ARBITER_NEARLY_FULL);
	}
}

/* Feed one more look; the way that is chosen. */
static bool look(struct rj_arbiter *a, enum rj_prefer prefer, enum rj_link link,
	enum rj_disk disk, unsigned fill, int64_t now_ns)
{
	struct rj_arbiter_in in = {
		.prefer = prefer, .link = link, .disk = disk, .fill = fill, .now_ns = now_ns};

	*a = rj_arbiter_next(a, &in);
	return a->local;
}

#define REMOTE(link, t)                                                        \
	look(&a, RJ_PREFER_REMOTE, link, RJ_DISK_UNKNOWN, 0, t)

static void a_link_that_flaps(void)
{
	struct rj_arbiter a = {0};

	CU_ASSERT_FALSE(REMOTE(RJ_LINK_UP, 1 * S));
	CU_ASSERT_TRUE(REMOTE(RJ_LINK_DOWN, 2 * S)); /* at once */
	CU_ASSERT_TRUE(REMOTE(RJ_LINK_UP, 2 * S + RJ_ARBITER_UP_NS / 2));
	CU_ASSERT_EQUAL(a.reason, RJ_REASON_LINK_FRESH);
	CU_ASSERT_TRUE(REMOTE(RJ_LINK_DOWN, 3 * S));
	CU_ASSERT_EQUAL(a.reason, RJ_REASON_LINK_DOWN);
	CU_ASSERT_TRUE(REMOTE(RJ_LINK_UP, 3 * S + RJ_ARBITER_UP_NS - 1));
	CU_ASSERT_FALSE(REMOTE(RJ_LINK_UP, 3 * S + RJ_ARBITER_UP_NS));
	CU_ASSERT_EQUAL(a.reason, RJ_REASON_PREFERRED);
	/* and down again, however short that was */
	CU_ASSERT_TRUE(REMOTE(RJ_LINK_DOWN, 3 * S + RJ_ARBITER_UP_NS + 1));
}

#define POWER(link, disk, t) look(&a, RJ_PREFER_POWER, link, disk, 0, t)

static void what_sleeps_is_not_woken_at_every_look(void)
{
	struct rj_arbiter a = {0};
	int64_t t = 100 * S;

	CU_ASSERT_FALSE(POWER(RJ_LINK_UP, RJ_DISK_AWAKE, t));
	CU_ASSERT_TRUE(POWER(RJ_LINK_ASLEEP, RJ_DISK_AWAKE, t));
	CU_ASSERT_TRUE(POWER(RJ_LINK_UP, RJ_DISK_ASLEEP, t + S));
	CU_ASSERT_EQUAL(a.reason, RJ_REASON_LINK_ASLEEP);
	CU_ASSERT_TRUE(POWER(
		RJ_LINK_UP, RJ_DISK_ASLEEP, t + RJ_ARBITER_STAY_NS - 1));
	t += RJ_ARBITER_STAY_NS;
	CU_ASSERT_FALSE(POWER(RJ_LINK_UP, RJ_DISK_ASLEEP, t));
	CU_ASSERT_EQUAL(a.reason, RJ_REASON_DISK_ASLEEP);
	/* the reason follows what is, where the way is the same */
	CU_ASSERT_FALSE(POWER(RJ_LINK_UP, RJ_DISK_AWAKE, t + 1));
	CU_ASSERT_EQUAL(a.reason, RJ_REASON_AWAKE);
	/* but no link is no matter of patience, nor its coming back */
	CU_ASSERT_TRUE(POWER(RJ_LINK_DOWN, RJ_DISK_ASLEEP, t + 2));
	CU_ASSERT_TRUE(POWER(RJ_LINK_UP, RJ_DISK_ASLEEP, t + 3));
	CU_ASSERT_FALSE(POWER(
		RJ_LINK_UP, RJ_DISK_ASLEEP, t + 2 + RJ_ARBITER_UP_NS));
}

static bool joules(struct rj_arbiter *a, double file_j, double store_j, unsigned fill,
	int64_t now_ns)
{
	struct rj_arbiter_in in = {.prefer = RJ_PREFER_POWER, .link = RJ_LINK_UP,
		.disk = RJ_DISK_ASLEEP, .fill = fill, .now_ns = now_ns,
		.file_j = file_j, .store_j = store_j};

	*a = rj_arbiter_next(a, &in);
	return a->local;
}

/* With figures, whatever sleeps; but no link, and a full file, count before them. */
static void the_fewer_joules(void)
{
	struct rj_arbiter a = {0};
	int64_t t = 100 * S;

	CU_ASSERT_FALSE(joules(&a, 91, 100, 0, t)); /* not worth a change */
	CU_ASSERT_EQUAL(a.reason, RJ_REASON_STORE_JOULES);
	CU_ASSERT_TRUE(joules(&a, 89, 100, 0, t += S));
	CU_ASSERT_EQUAL(a.reason, RJ_REASON_FILE_JOULES);
	CU_ASSERT_TRUE(joules(&a, 200, 100, 1, t += S)); /* too soon */
	CU_ASSERT_TRUE(joules(&a, 109, 100, 1, t += RJ_ARBITER_STAY_NS));
	CU_ASSERT_FALSE(joules(&a, 112, 100, 1, t += S));
	CU_ASSERT_EQUAL(a.reason, RJ_REASON_STORE_JOULES);
	CU_ASSERT_TRUE(joules(&a, 10, 100, 1, t += RJ_ARBITER_STAY_NS));
	CU_ASSERT_FALSE(joules(&a, 10, 100, RJ_ARBITER_NEARLY_FULL, t += S));
	CU_ASSERT_EQUAL(a.reason, RJ_REASON_FILE_FULL);
	CU_ASSERT_TRUE(joules(&a, 10, 100, 0, t += S)); /* empty again: at once */
	CU_ASSERT_TRUE(POWER(RJ_LINK_DOWN, RJ_DISK_AWAKE, t += S));
	CU_ASSERT_EQUAL(a.reason, RJ_REASON_LINK_DOWN);
}

#define LOCAL(fill, t)                                                         \
	look(&a, RJ_PREFER_LOCAL, RJ_LINK_UP, RJ_DISK_UNKNOWN, fill, t)

static void a_file_is_emptied_before_it_is_full(void)
{
	struct rj_arbiter a = {0};

	CU_ASSERT_TRUE(LOCAL(0, 1));
	CU_ASSERT_TRUE(LOCAL(RJ_ARBITER_NEARLY_FULL - 1, 2));
	CU_ASSERT_FALSE(LOCAL(RJ_ARBITER_NEARLY_FULL, 3));
	CU_ASSERT_EQUAL(a.reason, RJ_REASON_FILE_FULL);
	CU_ASSERT_FALSE(LOCAL(1, 4)); /* all of it */
	CU_ASSERT_TRUE(LOCAL(0, 5));
	CU_ASSERT_EQUAL(a.reason, RJ_REASON_PREFERRED);
}

static void another_policy_counts_at_once(void)
{
	struct rj_arbiter a = {0};

	CU_ASSERT_TRUE(LOCAL(1, 1));
	CU_ASSERT_FALSE(REMOTE(RJ_LINK_UP, 2));
	CU_ASSERT_TRUE(LOCAL(1, 3));
	CU_ASSERT_FALSE(POWER(RJ_LINK_UP, RJ_DISK_AWAKE, 4));
	CU_ASSERT_TRUE(LOCAL(1, 5));
	/* and has nothing to stay for */
	CU_ASSERT_FALSE(REMOTE(RJ_LINK_UP, 6));
	CU_ASSERT_FALSE(POWER(RJ_LINK_UP, RJ_DISK_AWAKE, 7));
	CU_ASSERT_TRUE(POWER(RJ_LINK_ASLEEP, RJ_DISK_AWAKE, 8));
	/* a link that is not there is not */
	CU_ASSERT_TRUE(REMOTE(RJ_LINK_DOWN, 9));
}

static void words_for_all(void)
{
	int r;

	for (r = 0; r < RJ_REASONS; r++)
		CU_ASSERT_PTR_NOT_NULL(rj_arbiter_reason(r));
	CU_ASSERT_EQUAL(rj_prefer_parse("power"), RJ_PREFER_POWER);
	CU_ASSERT_EQUAL(rj_prefer_parse("remote"), RJ_PREFER_REMOTE);
	CU_ASSERT_EQUAL(rj_prefer_parse("local"), RJ_PREFER_LOCAL);
	CU_ASSERT_EQUAL(rj_prefer_parse(""), RJ_PREFER_UNSET);
	CU_ASSERT_EQUAL(rj_prefer_parse("Power"), RJ_PREFER_UNSET);
}

/* ---- the senses ---- */

static void write_state(const char *dir, const char *below, const char *word)
{
	char path[400];
	FILE *f;

	snprintf(path, sizeof(path), "mkdir -p %s/%s/device/power", dir, below);
	CU_ASSERT_EQUAL_FATAL(system(path), 0);
	snprintf(path, sizeof(path), "%s/%s/device/power/runtime_status", dir,
		below);
	f = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fprintf(f, "%s\n", word);
	fclose(f);
}

/* Mount the directory DIR on /sys, for this process alone. */
static bool own_sysfs(const char *dir)
{
	return rjtest_own_mounts() &&
	       !mount(dir, "/sys", NULL, MS_BIND, NULL);
}

/* sysfs says that the disk of a directory sleeps. */
static void a_disk(void)
{
	char dir[] = "/tmp/rjtest.XXXXXX", below[100], clean[64];
	struct stat st;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	CU_ASSERT_EQUAL_FATAL(stat(dir, &st), 0);
	snprintf(clean, sizeof(clean), "rm -r %s", dir);
	if (!own_sysfs(dir)) {
		rjtest_skip("no mount namespace here");
		CU_ASSERT_EQUAL(system(clean), 0);
		return;
	}
	CU_ASSERT_EQUAL(rj_disk_state(dir), RJ_DISK_UNKNOWN);
	CU_ASSERT_EQUAL(rj_disk_state("/nothing/there"), RJ_DISK_UNKNOWN);
	snprintf(below, sizeof(below), "dev/block/%u:%u", major(st.st_dev),
		minor(st.st_dev));
	write_state(dir, below, "suspended");
	CU_ASSERT_EQUAL(rj_disk_state(dir), RJ_DISK_ASLEEP);
	write_state(dir, below, "active");
	CU_ASSERT_NOT_EQUAL(rj_disk_state(dir), RJ_DISK_ASLEEP);
	CU_ASSERT_EQUAL(umount("/sys"), 0);
	CU_ASSERT_EQUAL(system(clean), 0);
}

static void a_link(void)
{
	char dir[] = "/tmp/rjtest.XXXXXX", clean[64];
	struct rj_route r;

	rj_route_init(&r, "file:///srv/logs");
	CU_ASSERT_EQUAL(rj_link_state(&r), RJ_LINK_UNKNOWN);
	rj_route_init(&r, "rj://[::1]:7490/x");
	CU_ASSERT_STRING_EQUAL(r.host, "::1");
	rj_route_init(&r, "rj://127.0.0.1:7490/x");
	CU_ASSERT_EQUAL(rj_link_state(&r), RJ_LINK_UP);
	CU_ASSERT_STRING_EQUAL(r.name, "lo");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	snprintf(clean, sizeof(clean), "rm -r %s", dir);
	if (own_sysfs(dir)) {
		write_state(dir, "class/net/lo", "suspended");
		CU_ASSERT_EQUAL(rj_link_state(&r), RJ_LINK_ASLEEP);
		CU_ASSERT_EQUAL(umount("/sys"), 0);
	} else {
		rjtest_skip("no mount namespace here");
	}
	CU_ASSERT_EQUAL(system(clean), 0);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(every_combination),
		RJTEST(a_link_that_flaps),
		RJTEST(what_sleeps_is_not_woken_at_every_look),
		RJTEST(the_fewer_joules),
		RJTEST(a_file_is_emptied_before_it_is_full),
		RJTEST(another_policy_counts_at_once),
		RJTEST(words_for_all),
		RJTEST(a_disk),
		RJTEST(a_link),
	};

	return RJTEST_RUN("arbiter", tests);
}
