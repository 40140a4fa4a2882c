// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/environ.h"

#define BAR_WIDTH   40
#define BAR_AFTER   1000000000LL /* only work over a second gets a bar */
#define BAR_BETWEEN 100000000LL
#define LEFT_AFTER  3000000000LL /* what is left can be guessed then */
#define LINE_WIDTH  (BAR_WIDTH + 44)

void progress_init(struct progress *p, const char *device, int fd, bool quiet,
	const char *const *names)
{
	*p = (struct progress){.fd = -1, .device = device, .names = names};
	p->begun_ns = p->phase_ns = rj_monotonic_ns();
	if (fd > 0)
		p->fd = fd;
	else
		p->bar = !quiet && isatty(STDERR_FILENO);
}

void progress_clear(struct progress *p)
{
	if (p->drawn)
		fprintf(stderr, "\r%*s\r", LINE_WIDTH, "");
	p->drawn = false;
}

/* The time that this phase takes yet, if it goes on as it did; "": not known yet. */
static const char *left_text(const struct progress *p, int64_t now, uint64_t done, uint64_t total,
	char out[32])
{
	double s = (double)(now - p->phase_ns) / 1e9;
	unsigned left;

	out[0] = 0;
	if (now - p->phase_ns < LEFT_AFTER || !done || done >= total)
		return out;
	left = (unsigned)(s * (double)(total - done) / (double)done + 0.5);
	if (left < 360000)
		snprintf(out, 32, "  %u:%02u:%02u left", left / 3600, left / 60 % 60, left % 60);
	return out;
}

static void draw(struct progress *p, int percent, const char *left)
{
	int filled = percent * BAR_WIDTH / 100;
	char bar[BAR_WIDTH + 1];

	memset(bar, '=', (size_t)filled);
	memset(bar + filled, ' ', (size_t)(BAR_WIDTH - filled));
	bar[BAR_WIDTH] = 0;
	fprintf(stderr, "\r%-16s |%s| %3d%%%-18s", p->names[p->phase], bar, percent, left);
	fflush(stderr);
	p->drawn = true;
}

/* The form of e2fsck -C: "pass done total device". A reader that went away is
 * no reason to stop. */
static void tell(struct progress *p, uint64_t done, uint64_t total)
{
	char line[4200];
	int n = snprintf(line, sizeof(line), "%d %llu %llu %s\n", p->phase,
		(unsigned long long)done, (unsigned long long)total, p->device);

	if (n > 0 && (size_t)n < sizeof(line) &&
		write(p->fd, line, (size_t)n) < 0)
		p->fd = -1;
}

int progress_step(struct progress *p, int phase, uint64_t done, uint64_t total)
{
	int percent = !total || done >= total ? 100 : (int)(done * 100 / total);
	char left[32];
	int64_t now;

	if (phase == p->phase && percent == p->shown_percent)
		return 0;
	if (phase != p->phase)
		p->phase_ns = rj_monotonic_ns();
	p->phase = phase;
	p->shown_percent = percent;
	if (p->fd >= 0)
		tell(p, done, total);
	if (!p->bar)
		return 0;
	now = rj_monotonic_ns();
	if (now - p->begun_ns < BAR_AFTER ||
		(now - p->shown_ns < BAR_BETWEEN && done < total))
		return 0;
	p->shown_ns = now;
	draw(p, percent, left_text(p, now, done, total, left));
	return 0;
}
