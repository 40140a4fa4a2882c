// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules of prefer=. */
#include "arbiter.h"

/* By joules, if they are known; else by what sleeps. */
static enum rj_reason least_power(const struct rj_arbiter_in *in, bool was_local, bool *local)
{
	double times = RJ_ARBITER_JOULES / 1000.0;

	if (in->file_j + in->store_j > 0) {
		*local = was_local ? in->store_j >= in->file_j * times
				   : in->file_j < in->store_j * times;
		return *local ? RJ_REASON_FILE_JOULES : RJ_REASON_STORE_JOULES;
	}
	*local = in->disk != RJ_DISK_ASLEEP && in->link == RJ_LINK_ASLEEP;
	if (*local)
		return RJ_REASON_LINK_ASLEEP;
	return in->disk == RJ_DISK_ASLEEP ? RJ_REASON_DISK_ASLEEP : RJ_REASON_AWAKE;
}

/* What would be best now. */
static enum rj_reason best(
	const struct rj_arbiter_in *in, bool was_local, bool emptying, bool *local)
{
	enum rj_reason reason = RJ_REASON_PREFERRED;

	*local = in->link == RJ_LINK_DOWN;
	if (*local)
		return RJ_REASON_LINK_DOWN;
	*local = in->prefer == RJ_PREFER_LOCAL;
	if (in->prefer == RJ_PREFER_POWER)
		reason = least_power(in, was_local, local);
	if (!*local || !emptying)
		return reason;
	*local = false;
	return RJ_REASON_FILE_FULL;
}

/* Is it too soon to turn around for REASON? */
static bool too_soon(const struct rj_arbiter *was,
	const struct rj_arbiter_in *in, enum rj_reason reason)
{
	if (in->prefer != RJ_PREFER_POWER || in->prefer != was->prefer ||
		!was->changed_ns)
		return false;
	/* these are no matter of what sleeps */
	if (reason == RJ_REASON_LINK_DOWN || reason == RJ_REASON_FILE_FULL ||
		was->reason == RJ_REASON_LINK_DOWN || was->reason == RJ_REASON_FILE_FULL ||
		was->reason == RJ_REASON_LINK_FRESH)
		return false;
	return in->now_ns - was->changed_ns < RJ_ARBITER_STAY_NS;
}

struct rj_arbiter rj_arbiter_next(
	const struct rj_arbiter *was, const struct rj_arbiter_in *in)
{
	struct rj_arbiter a = *was;
	enum rj_reason reason;
	bool local;

	if (in->prefer != was->prefer)
		a.changed_ns = 0; /* it begins again */
	a.prefer = in->prefer;
	a.file_j = in->file_j;
	a.store_j = in->store_j;
	a.emptying = in->fill >= RJ_ARBITER_NEARLY_FULL ||
		     (was->emptying && in->fill);
	if (in->link == RJ_LINK_DOWN) {
		a.was_down = true;
		a.down_ns = in->now_ns;
	}
	if (in->prefer == RJ_PREFER_UNSET) {
		a.reason = RJ_REASON_NONE;
		a.local = false;
		return a;
	}
	reason = best(in, was->local, a.emptying, &local);
	if (was->local && !local && a.was_down &&
		in->now_ns - a.down_ns < RJ_ARBITER_UP_NS) {
		a.reason = RJ_REASON_LINK_FRESH;
		return a;
	}
	if (local != was->local) {
		if (too_soon(was, in, reason))
			return a;
		a.local = local;
		a.changed_ns = in->now_ns;
	}
	a.reason = reason;
	return a;
}

const char *rj_arbiter_reason(enum rj_reason r)
{
	static const char *const words[RJ_REASONS] = {
		[RJ_REASON_NONE] = "no policy",
		[RJ_REASON_PREFERRED] = "preferred",
		[RJ_REASON_LINK_DOWN] = "the network link is down",
		[RJ_REASON_LINK_ASLEEP] = "the network link is asleep",
		[RJ_REASON_DISK_ASLEEP] = "the local disk is asleep",
		[RJ_REASON_AWAKE] = "link and disk are awake",
		[RJ_REASON_FILE_JOULES] = "the fallback file takes less energy",
		[RJ_REASON_STORE_JOULES] = "the store takes less energy",
		[RJ_REASON_FILE_FULL] = "the fallback file is nearly full",
		[RJ_REASON_LINK_FRESH] = "the network link has just come up",
	};

	return (unsigned)r < RJ_REASONS ? words[r] : "unknown";
}
