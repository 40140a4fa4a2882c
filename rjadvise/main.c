// SPDX-License-Identifier: GPL-2.0-or-later
/* rjadvise: watch a volume under its load, and predict what other journals would do. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "apply.h"
#include "measure.h"
#include "os/fileio.h"
#include "report.h"
#include "tools/json.h"
#include "util/environ.h"

enum status { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_UNSURE = 3 };

#define TURN_LEAST_NS 100000000LL
#define TURN_MOST_NS  1000000000LL
#define SAMPLE_NS     1000000000LL
#define LOOKS 2000 /* files a turn */
/* A turn that took so much of a processor is followed by a pause that many times as long. */
#define PAUSE_TIMES 100

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static int fail(const struct rj_error *err)
{
	fprintf(stderr, "rjadvise: %s\n", err->msg);
	return STATUS_FAILED;
}

static int64_t cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000LL +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000LL;
}

/* Where the kernel says that a write is as good as flushed, or can be made so by itself. */
static void ask_kernel(const struct volume *v, struct device_cost *d)
{
	char text[64];

	if (read_text(text, sizeof(text), "%s/queue/fua", v->disk_dir))
		d->fua = text[0] == '1';
	if (read_text(text, sizeof(text), "%s/queue/write_cache", v->disk_dir) &&
		!strncmp(text, "write through", 13))
		d->fua = true;
}

static int probe(const struct options *o, const struct volume *v, struct report *r,
	struct rj_error *err)
{
	const struct device_cost none = {NAN, NAN, NAN, false};
	struct machine *m = &r->machine;

	m->disk = m->second = m->store = none;
	ask_kernel(v, &m->disk);
	if (o->probe)
		r->disk_from = " (--probe)";
	r->store = o->store;
	return measure(o->probe ? v->dir : NULL, o->second, o->store, &stop, m, err);
}

/* Without a probe, what the kernel measured of the load itself. */
static void disk_of_load(struct report *r)
{
	const struct sample *a = &r->series->first, *b = &r->series->last;
	uint64_t writes = b->disk.writes - a->disk.writes;

	if (!isnan(r->machine.disk.write_us) || !writes || isnan(r->load.flush_us))
		return;
	r->machine.disk.write_us =
		(double)(b->disk.write_ms - a->disk.write_ms) * 1e3 / (double)writes;
	r->machine.disk.flush_us = r->load.flush_us;
	r->disk_from = " (mean of the load's own, with its queue; --probe measures it)";
}

/* Not rj_sleep_ns(), which a signal does not end. */
static void pause_ns(int64_t ns)
{
	if (ns > 0 && !stop)
		nanosleep(&(struct timespec){ns / 1000000000LL, ns % 1000000000LL}, NULL);
}

static void observe(const struct options *o, const struct volume *v, struct watch *w,
	struct trace *t, struct series *s)
{
	int64_t begun = rj_monotonic_ns(), end = begun + (int64_t)o->seconds * 1000000000LL;
	int64_t due = begun + SAMPLE_NS, now = begun, cpu, pause;
	double block = v->journal.volume.block_size;
	struct trace_counts was;
	struct sample sample;

	sample_take(v, t, &sample);
	series_begin(s, &sample);
	fprintf(stderr, "rjadvise: watching %s for %" PRIu64 " s\n", v->dir, o->seconds);
	while (now < end && !stop) {
		cpu = cpu_ns();
		was = sample.trace;
		/* also between the points of the plot, so that the ring does not fill */
		trace_read(t, &sample.trace);
		if (w->fan >= 0) {
			watch_turn(w, LOOKS, trace_writes_between(&was, &sample.trace));
			trace_writes(t, w->on);
		}
		if (now >= due) {
			sample_take(v, t, &sample);
			series_add(s, &sample, block);
			due += SAMPLE_NS;
		}
		pause = (cpu_ns() - cpu) * PAUSE_TIMES;
		pause = pause < TURN_LEAST_NS  ? TURN_LEAST_NS
			: pause > TURN_MOST_NS ? TURN_MOST_NS
					       : pause;
		pause_ns(now + pause > end ? end - now : pause);
		now = rj_monotonic_ns();
	}
	sample_take(v, t, &sample);
	series_add(s, &sample, block);
	if (w->fan >= 0)
		watch_turn(w, TABLE_FILES, 0);
}

static void measure_self(struct report *r, int64_t cpu_before)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	r->cpu_s = (double)(cpu_ns() - cpu_before) / 1e9;
	r->cpu_share = r->cpu_s / r->load.seconds;
	r->memory_bytes = (double)u.ru_maxrss * 1024;
}

static void watch_volume(const struct options *o, const struct volume *v, struct series *s,
	struct report *r)
{
	int64_t before = cpu_ns();
	struct shipped from, to;
	bool shipped = volume_shipped(v, &from);
	struct trace *t = trace_start(v->dev, v->name, r->trace_why, sizeof(r->trace_why));
	struct rj_error err;
	struct watch w;

	if (watch_begin(&w, v->dir, &err))
		snprintf(r->files_why, sizeof(r->files_why), "%s", err.msg);
	observe(o, v, &w, t, s);
	trace_stop(t);
	r->load.put_us = NAN;
	if (shipped && volume_shipped(v, &to) && to.segments > from.segments)
		r->load.put_us = (double)(to.ns - from.ns) / 1e3 /
				 (double)(to.segments - from.segments);
	r->load.new_bytes_s = r->load.overwritten_bytes_s = r->load.flagged_data_share = NAN;
	r->load.flagged_share = 0;
	series_load(s, v, &r->load);
	if (!r->files_why[0])
		report_files(r, &w, (int)o->top);
	measure_self(r, before);
	watch_end(&w);
}

/* Returns the exit status; TEXT gets what was done. */
static int apply(const struct volume *v, const struct report *r, char *text, size_t size)
{
	char why[256] = "";
	struct rj_error err;
	const char *words = hints_apply(&r->load, r->predictions, r->choices, why, sizeof(why));

	if (!words) {
		snprintf(text, size, "nothing was changed: %s", why);
		return STATUS_UNSURE;
	}
	/* its history has no place for what is written past the journal in a mount */
	if (v->place == PLACE_REMOTE) {
		snprintf(text, size,
			"nothing was changed: the volume has a remote journal: unmount it, and rjtune -o %s %s",
			words, v->device);
		return STATUS_UNSURE;
	}
	if (apply_words(v, words, &err)) {
		snprintf(text, size, "not done: %s", err.msg);
		return fail(&err);
	}
	snprintf(text, size,
		"tune2fs -o %s %s; it counts from the next mount on, if that names no data= itself",
		words, v->device);
	return STATUS_OK;
}

static int run(const struct options *o)
{
	static struct volume v;
	static struct series series;
	static struct report r;
	char applied[RJ_ERROR_BYTES + 64] = "";
	struct rj_error err;
	int status = STATUS_OK;

	r.volume = &v;
	r.series = &series;
	if (volume_find(o->volume, &v, &err) || probe(o, &v, &r, &err)) {
		if (o->json)
			json_show_error("volume", o->volume, err.msg);
		return fail(&err);
	}
	if (stop) {
		fprintf(stderr, "rjadvise: ended by a signal before the observation began\n");
		return STATUS_FAILED;
	}
	watch_volume(o, &v, &series, &r);
	disk_of_load(&r);
	report_conclude(&r);
	if (o->apply)
		status = apply(&v, &r, applied, sizeof(applied));
	if (o->json)
		report_print_json(&r, o->apply ? applied : NULL);
	else
		report_print_text(&r);
	if (o->apply && !o->json && status != STATUS_FAILED)
		printf("\n--apply: %s\n", applied);
	if (o->report && report_write_page(&r, o->report, &err))
		status = fail(&err);
	return status;
}

int main(int argc, char **argv)
{
	static struct options o;
	int status = STATUS_OK;

	rj_fill_standard_fds();
	switch (options_parse(argc, argv, &o)) {
	case OPTIONS_BAD:
		return STATUS_USAGE;
	case OPTIONS_DONE:
		break;
	case OPTIONS_RUN:
		sigaction(SIGINT, &(struct sigaction){.sa_handler = on_signal}, NULL);
		sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_signal}, NULL);
		status = run(&o);
	}
	if ((fflush(stdout) || ferror(stdout)) && status == STATUS_OK)
		status = STATUS_FAILED;
	return status;
}
