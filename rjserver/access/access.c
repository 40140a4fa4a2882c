// SPDX-License-Identifier: GPL-2.0-or-later
/* Start and reload access control, log refusals, look at the disk's free space. */
#include "access.h"

#include <sys/statvfs.h>

#include "rjserver/log.h"
#include "rjserver/store/commit.h"
#include "util/environ.h"

#define SPACE_NS    200000000ll   /* how old a look at the disk may be */
#define DEFAULT_FREE (1ull << 30)

int access_start(struct access_control *g, struct store *store,
	const struct settings *set, struct accounts *accounts,
	struct rj_error *err)
{
	int rc;

	*g = (struct access_control){
		.store = store,
		.set = set,
		.open = set->insecure,
		.started_ns = rj_monotonic_ns(),
		.everybody = {
			.rights = RIGHT_APPEND | RIGHT_READ | RIGHT_TRIM |
				  RIGHT_WATCH | RIGHT_ADMIN,
			.volume_count = 1,
			.volumes = {"*"},
		},
	};
	rc = usage_start(&g->usage, store, err);
	return rc ? rc : access_reload(g, accounts, err);
}

int access_reload(struct access_control *g, struct accounts *accounts,
	struct rj_error *err)
{
	int rc = usage_prepare(&g->usage, accounts, err);

	if (rc)
		return rc;
	accounts_free(&g->accounts);
	g->accounts = *accounts;
	*accounts = (struct accounts){0};
	usage_bind(&g->usage, &g->accounts);
	return 0;
}

void access_free(struct access_control *g)
{
	usage_free(&g->usage);
	reserve_free(&g->reserve);
	accounts_free(&g->accounts);
}

void access_refuse(struct access_control *g, enum refusal why, const char *peer,
	const char *who, const char *what)
{
	if (who && !*who)
		who = NULL; /* there are no accounts */
	g->metrics.refused[why]++;
	log_refused("refused: %s%s%s: %s", peer, who ? ", account " : "",
		who ? who : "", what);
}

void access_refused_tls(void *arg, const char *peer, const char *why)
{
	access_refuse(arg, REFUSED_TLS, peer, NULL, why);
}

void access_look_at_disk(struct access_control *g)
{
	int64_t now = rj_monotonic_ns();
	uint64_t pending = store_cost(g->store, commit_pending(g->store->commit));
	struct statvfs st;

	if (g->space_ns && now - g->space_ns < SPACE_NS)
		return;
	g->space_ns = now;
	if (statvfs(g->store->dir, &st))
		return; /* the write itself will say what is wrong */
	g->free_bytes = (uint64_t)st.f_bavail * st.f_frsize +
			store_spare(g->store);
	g->free_bytes -= pending < g->free_bytes ? pending : g->free_bytes;
	g->disk_bytes = (uint64_t)st.f_blocks * st.f_frsize;
	g->store->tight = g->free_bytes < access_min_free(g) + g->wanted;
	reserve_look(&g->reserve, g->free_bytes < access_min_free(g));
}

uint64_t access_min_free(const struct access_control *g)
{
	uint64_t least = g->disk_bytes / 100, files = 2 * g->store->file_bytes;

	if (g->set->min_free_set)
		return g->set->min_free;
	if (least > DEFAULT_FREE)
		least = DEFAULT_FREE;
	/* of --file-size on a small disk; 0: not looked at yet */
	if (g->disk_bytes && files > g->disk_bytes / 4)
		files = g->disk_bytes / 4;
	/* a data file that is made takes its space at once: recoveries need what is left then */
	return least > files ? least : files;
}
