// SPDX-License-Identifier: GPL-2.0-or-later
/* Ask systemd whether the machine shuts down, and tell the console what it waits for. */
#include "poweroff.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/fileio.h"
#include "os/proc.h"
#include "util/environ.h"
#include "util/log.h"

#define NS_PER_S 1000000000LL
#define TICK_NS	 (RJ_POWEROFF_TICK * 1000000LL)
/* systemd is asked less often: that is a program to run. */
#define ASK_NS (10 * NS_PER_S)
/* A segment that takes so long waits for a store that is away. */
#define SLOW_NS (3 * NS_PER_S)

bool rj_poweroff_known(void)
{
	return access("/run/systemd/system", F_OK) == 0; /* sd_booted(3) */
}

static bool has_line(const char *text, const char *line)
{
	size_t len = strlen(line), n;

	for (;; text += n + 1) {
		n = strcspn(text, "\n");
		if (n == len && !memcmp(text, line, n))
			return true;
		if (!text[n])
			return false;
	}
}

/* At the end of a shutdown process 1 is systemd-shutdown, which systemctl gets no
 * answer from; a volume that a process holds is still mounted then. */
static bool last_part(void)
{
	static const char name[] = "systemd-shutdow"; /* comm has 15 bytes */
	struct rj_buf comm = {0};
	struct rj_error err;
	bool is = !rj_read_file("/proc/1/comm", 64, &comm, &err) &&
		  comm.len >= sizeof(name) - 1 &&
		  !memcmp(comm.data, name, sizeof(name) - 1);

	rj_buf_free(&comm);
	return is;
}

/* An answer that says neither, or none, leaves it at what was KNOWN. */
static bool going_down(bool known)
{
	static const char *const up[] = {"running", "degraded", "maintenance",
		"starting", "initializing"};
	const char *argv[] = {NULL, "is-system-running", NULL};
	struct rj_proc_result r = {0};
	struct rj_buf path = {0};
	struct rj_error err;
	bool down = known;
	unsigned i;

	if (last_part())
		return true;
	if (!rj_proc_find("systemctl", &path, &err)) {
		argv[0] = (char *)path.data;
		if (!rj_proc_run(argv,
			    RJ_PROC_CAPTURE | RJ_PROC_STDIN_NULL |
				    RJ_PROC_BRIEF,
			    &r, &err)) {
			for (i = 0; i < sizeof(up) / sizeof(*up); i++)
				if (has_line((char *)r.out.data, up[i]))
					down = false;
			if (has_line((char *)r.out.data, "stopping"))
				down = true;
		}
	}
	rj_proc_release(&r);
	rj_buf_free(&path);
	return down;
}

/* The log may end before the wait does. */
static void say(const char *line)
{
	int fd = open("/dev/console",
		O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	rj_log(RJ_LOG_WARNING, "%s", line);
	if (fd == -1)
		return;
	dprintf(fd, "\rrjournald: %s\n", line);
	close(fd);
}

static bool away(const struct rj_pipeline_stat *st, int64_t now)
{
	return st->state == RJ_STATE_WAITING || st->state == RJ_STATE_FULL ||
	       (st->put_since_ns && now - st->put_since_ns > SLOW_NS);
}

bool rj_poweroff_expired(struct rj_poweroff *p,
	const struct rj_pipeline_stat *st, unsigned seconds, const char *device,
	const char *url)
{
	int64_t now = rj_monotonic_ns();
	bool expired;
	char line[512];

	if (now - p->looked_ns < TICK_NS)
		return false;
	p->looked_ns = now;
	if (!away(st, now)) {
		p->down_ns = 0;
		return false;
	}
	expired = p->down_ns && now - p->down_ns >= (int64_t)seconds * NS_PER_S;
	if (!expired && p->asked_ns && now - p->asked_ns < ASK_NS)
		return false;
	p->asked_ns = now;
	if (!going_down(p->down_ns != 0)) {
		p->down_ns = 0;
		return false;
	}
	if (!p->down_ns) {
		p->down_ns = now;
		snprintf(line, sizeof(line),
			"%s: the machine shuts down: waiting for %s, up to %u s",
			device, url, seconds);
		say(line);
	}
	if (!expired)
		return false;
	snprintf(line, sizeof(line),
		"%s: %s is not waited for any longer: the next mount recovers "
		"what was acknowledged",
		device, url);
	say(line);
	return true;
}
