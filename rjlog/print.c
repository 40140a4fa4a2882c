// SPDX-License-Identifier: GPL-2.0-or-later
#include "print.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "util/environ.h"

#define BAR_WIDTH   40
#define BAR_AFTER   1000000000LL
#define BAR_BETWEEN 100000000LL

const char *kind_text(const struct rj_seghdr *h)
{
	if (h->kind == RJ_SEG_FENCE)
		return h->flags & RJ_SEG_F_BREAK ? "break" : "fence";
	if (h->flags & RJ_SEG_F_RECOVERED)
		return "recovered";
	return h->flags & RJ_SEG_F_BASE ? "base" : "data";
}

const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

void complain(const char *msg)
{
	fprintf(stderr, "rjlog: %s\n", msg);
}

void progress_init(
	struct progress *p, const struct options *o, const char *url)
{
	*p = (struct progress){.fd = -1,
		.pass = 1,
		.what = "reading the log",
		.url = url,
		.percent = -1};
	if (o->progress_fd > 0)
		p->fd = o->progress_fd;
	else
		p->on = !o->quiet && isatty(STDERR_FILENO);
	p->begun_ns = rj_monotonic_ns();
}

void progress_pass(struct progress *p, const char *what)
{
	progress_clear(p);
	p->what = what;
	p->percent = -1;
	p->pass++;
}

/* The form of e2fsck -C. A reader that went away is no reason to stop. */
static void tell(struct progress *p, uint64_t done, uint64_t total)
{
	int percent = (int)(done * 100 / total);

	if (percent == p->percent)
		return;
	p->percent = percent;
	if (dprintf(p->fd, "%d %" PRIu64 " %" PRIu64 " %s\n", p->pass, done,
		    total, p->url) < 0)
		p->fd = -1;
}

void progress_step(struct progress *p, uint64_t done, uint64_t total)
{
	static const char bar[] = "========================================";
	int64_t now;
	int filled;

	if (p->fd >= 0 && total)
		tell(p, done, total);
	if (!p->on || !total)
		return;
	now = rj_monotonic_ns();
	if (now - p->begun_ns < BAR_AFTER ||
		(now - p->shown_ns < BAR_BETWEEN && done < total))
		return;
	p->shown_ns = now;
	p->drawn = true;
	filled = (int)(done * BAR_WIDTH / total);
	fprintf(stderr, "\r%-20s |%.*s%*s| %3d%%", p->what, filled, bar,
		BAR_WIDTH - filled, "", (int)(done * 100 / total));
	fflush(stderr);
}

void progress_clear(struct progress *p)
{
	if (p->drawn)
		fprintf(stderr, "\r%*s\r", BAR_WIDTH + 36, "");
	p->drawn = false;
}
