// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace.h"

#include <errno.h>
#include <math.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "rjadvise/model/threads.h"
#include "volume.h"

#define SPARE_FDS 64
#define RING_BYTES (256u << 10) /* more than 1500 commits */
#define SAMPLES_BYTES 4096u
/* One write in 61 is recorded, and one sync in 11; primes, so that it does not follow a program's
 * steps. */
#define WRITES_PERIOD 61
#define SYNCS_PERIOD  11
#define RECORD_MOST 4096u
#define SIZE_FIELD "field:__u32 blocks_logged;"
#define COPIED_FIELD "field:unsigned int copied;"

static const char *const write_events[TRACE_WRITES] = {
	"ext4/ext4_da_write_end", "ext4/ext4_write_end", "ext4/ext4_journalled_write_end"};

/* A descriptor with the records that the kernel wrote for it. */
struct ring {
	int fd; /* -1: none */
	struct perf_event_mmap_page *page; /* NULL: none */
	uint32_t bytes; /* of the data, a power of two */
};

struct trace {
	int cpus;
	struct ring *syncs; /* for each CPU, which may be off */
	struct ring commits, *writes; /* TRACE_WRITES for each CPU */
	struct threads sync_threads;
	bool writes_off;
	unsigned size_offset, copied_offset[TRACE_WRITES]; /* in a record's raw data */
	struct trace_counts counts;
};

/* Read the file FILE of the tracepoint EVENT ("ext4/ext4_sync_file_enter"). */
static bool read_event(const char *event, const char *file, char *out, size_t size)
{
	return read_text(out, size, "/sys/kernel/tracing/events/%s/%s", event, file) ||
	       read_text(out, size, "/sys/kernel/debug/tracing/events/%s/%s", event, file);
}

/* One event with a filter on the volume; PID -1: of all processes of CPU. One in PERIOD
 * leaves a record of what TYPE says. */
static int open_event(
	const char *event, dev_t dev, pid_t pid, int cpu, unsigned period, uint64_t type)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.sample_period = period,
		.sample_type = type};
	char text[32];
	int fd, saved;

	if (!read_event(event, "id", text, sizeof(text))) {
		errno = ENOENT;
		return -1;
	}
	attr.config = strtoull(text, NULL, 10);
	fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	/* as the kernel keeps a device's number in itself */
	snprintf(text, sizeof(text), "dev == %u", (unsigned)(major(dev) << 20 | minor(dev)));
	if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, text)) {
		saved = errno;
		close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

static void allow_descriptors(int more)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur >= (rlim_t)(more + SPARE_FDS))
		return;
	r.rlim_cur = (rlim_t)(more + SPARE_FDS);
	if (r.rlim_max < r.rlim_cur)
		r.rlim_max = r.rlim_cur;
	setrlimit(RLIMIT_NOFILE, &r); /* if not, opening them says so */
}

static void ring_open(struct ring *r, int fd, uint32_t bytes)
{
	void *at;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	r->fd = fd;
	r->bytes = bytes > page ? bytes : (uint32_t)page;
	if (fd < 0)
		return;
	at = mmap(NULL, r->bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED)
		r->page = at;
}

static void ring_close(struct ring *r)
{
	if (r->page)
		munmap(r->page, r->bytes + (size_t)sysconf(_SC_PAGESIZE));
	if (r->fd >= 0)
		close(r->fd);
}

static int count_fsyncs(struct trace *t, dev_t dev)
{
	int cpu, got = 0;

	for (cpu = 0; cpu < t->cpus; cpu++) {
		ring_open(&t->syncs[cpu],
			open_event("ext4/ext4_sync_file_enter", dev, -1, cpu, SYNCS_PERIOD,
				PERF_SAMPLE_TID),
			SAMPLES_BYTES);
		if (t->syncs[cpu].fd < 0 && errno != ENODEV)
			return -1;
		got += t->syncs[cpu].fd >= 0;
	}
	return got ? 0 : -1;
}

/* Where FIELD, which ends with the number wanted, is in the records of EVENT. */
static bool field_offset(const char *event, const char *field, unsigned *offset)
{
	char text[4096], *at;

	return read_event(event, "format", text, sizeof(text)) && (at = strstr(text, field)) &&
	       sscanf(at + strlen(field), " offset:%u;", offset) == 1;
}

/* The records of commits come from one kernel thread, so that one ring is enough. */
static void record_commits(struct trace *t, dev_t dev, const char *name)
{
	char text[32];
	long pid;

	if (!field_offset("jbd2/jbd2_run_stats", SIZE_FIELD, &t->size_offset) ||
		!read_text(text, sizeof(text), "/sys/fs/ext4/%s/journal_task", name) ||
		(pid = strtol(text, NULL, 10)) <= 0)
		return;
	ring_open(&t->commits,
		open_event("jbd2/jbd2_run_stats", dev, (pid_t)pid, -1, 1, PERF_SAMPLE_RAW),
		RING_BYTES);
}

static void record_writes(struct trace *t, dev_t dev)
{
	int cpu, i;

	for (i = 0; i < TRACE_WRITES; i++) {
		if (!field_offset(write_events[i], COPIED_FIELD, &t->copied_offset[i]))
			continue;
		for (cpu = 0; cpu < t->cpus; cpu++)
			ring_open(&t->writes[cpu * TRACE_WRITES + i],
				open_event(write_events[i], dev, -1, cpu, WRITES_PERIOD,
					PERF_SAMPLE_RAW),
				SAMPLES_BYTES);
	}
}

struct trace *trace_start(dev_t dev, const char *name, char *why, unsigned size)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_CONF), i;
	struct trace *t = calloc(1, sizeof(*t));

	if (t && cpus > 0) {
		t->syncs = calloc((size_t)cpus, sizeof(*t->syncs));
		t->writes = calloc((size_t)cpus * TRACE_WRITES, sizeof(*t->writes));
	}
	if (!t || !t->syncs || !t->writes) {
		snprintf(why, size, "out of memory");
		trace_stop(t);
		return NULL;
	}
	t->cpus = cpus;
	t->commits.fd = -1;
	for (i = 0; i < cpus; i++)
		t->syncs[i].fd = -1;
	for (i = 0; i < cpus * TRACE_WRITES; i++)
		t->writes[i].fd = -1;
	allow_descriptors(cpus * (1 + TRACE_WRITES));
	if (count_fsyncs(t, dev)) {
		if (errno == ENOENT)
			snprintf(why, size,
				"tracefs is not mounted: mount -t tracefs tracefs /sys/kernel/tracing");
		else
			snprintf(why, size,
				"the kernel does not count tracepoints for us: %s",
				strerror(errno));
		trace_stop(t);
		return NULL;
	}
	record_commits(t, dev, name);
	record_writes(t, dev);
	t->counts.on = true;
	t->counts.commits_on = t->commits.page != NULL;
	return t;
}

/* The bucket of a commit of BLOCKS. */
static unsigned bucket_of(uint32_t blocks)
{
	unsigned power;

	if (blocks < 8)
		return blocks;
	power = 31 - (unsigned)__builtin_clz(blocks);
	/* the next two bits below the highest */
	return 4 * (power - 1) + ((blocks >> (power - 2)) & 3);
}

double trace_bucket_most(unsigned bucket)
{
	unsigned power = bucket / 4 + 1;

	if (bucket < 8)
		return bucket;
	return (double)((bucket % 4 + 5ull) << (power - 2)) - 1;
}

/* Get the number at OFFSET of a record's raw data; false: it is another kind of record. */
static bool record_field(const uint8_t *record, const struct perf_event_header *h, unsigned offset,
	uint32_t *out)
{
	uint32_t raw;

	if (h->type != PERF_RECORD_SAMPLE || h->size < sizeof(*h) + sizeof(raw))
		return false;
	memcpy(&raw, record + sizeof(*h), sizeof(raw));
	if (raw > h->size - sizeof(*h) - sizeof(raw) || offset + sizeof(*out) > raw)
		return false;
	memcpy(out, record + sizeof(*h) + sizeof(raw) + offset, sizeof(*out));
	return true;
}

/* Call FN for each record that is new. */
static void ring_read(struct trace *t, struct ring *r, int arg,
	void (*fn)(struct trace *t, int arg, const uint8_t *record,
		const struct perf_event_header *h))
{
	const uint8_t *data = (const uint8_t *)r->page + sysconf(_SC_PAGESIZE);
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = r->page->data_tail;
	struct perf_event_header h;
	uint8_t record[RECORD_MOST];
	uint32_t i;

	for (; tail < head; tail += h.size) {
		for (i = 0; i < sizeof(h); i++)
			((uint8_t *)&h)[i] = data[(tail + i) & (r->bytes - 1)];
		if (h.size < sizeof(h) || h.size > sizeof(record))
			break;
		for (i = 0; i < h.size; i++)
			record[i] = data[(tail + i) & (r->bytes - 1)];
		fn(t, arg, record, &h);
	}
	__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
}

static void take_commit(
	struct trace *t, int arg, const uint8_t *record, const struct perf_event_header *h)
{
	uint32_t blocks;
	uint64_t lost;

	(void)arg;
	if (h->type == PERF_RECORD_LOST && h->size >= sizeof(*h) + 16) {
		memcpy(&lost, record + sizeof(*h) + 8, sizeof(lost));
		t->counts.lost += lost;
	}
	if (!record_field(record, h, t->size_offset, &blocks))
		return;
	t->counts.commits++;
	t->counts.logged += blocks;
	t->counts.sizes[bucket_of(blocks)]++;
}

static void take_sync(
	struct trace *t, int arg, const uint8_t *record, const struct perf_event_header *h)
{
	uint32_t tid;

	(void)arg;
	if (h->type != PERF_RECORD_SAMPLE || h->size < sizeof(*h) + 2 * sizeof(tid))
		return;
	memcpy(&tid, record + sizeof(*h) + sizeof(tid), sizeof(tid)); /* after the process's id */
	threads_add(&t->sync_threads, tid);
}

static void take_write(
	struct trace *t, int kind, const uint8_t *record, const struct perf_event_header *h)
{
	uint32_t bytes;

	if (!record_field(record, h, t->copied_offset[kind], &bytes))
		return;
	t->counts.sampled[kind]++;
	t->counts.sampled_bytes[kind] += bytes;
}

static uint64_t read_count(int fd)
{
	uint64_t n;

	return fd >= 0 && read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

void trace_read(struct trace *t, struct trace_counts *out)
{
	struct ring *r;
	int cpu, i;

	*out = (struct trace_counts){0};
	if (!t)
		return;
	t->counts.fsyncs = 0;
	memset(t->counts.writes, 0, sizeof(t->counts.writes));
	for (cpu = 0; cpu < t->cpus; cpu++) {
		t->counts.fsyncs += read_count(t->syncs[cpu].fd);
		if (t->syncs[cpu].page)
			ring_read(t, &t->syncs[cpu], 0, take_sync);
		for (i = 0; i < TRACE_WRITES; i++) {
			r = &t->writes[cpu * TRACE_WRITES + i];
			t->counts.writes[i] += read_count(r->fd);
			if (r->page)
				ring_read(t, r, i, take_write);
		}
	}
	if (t->commits.page)
		ring_read(t, &t->commits, 0, take_commit);
	t->counts.sync_threads = threads_count(&t->sync_threads);
	*out = t->counts;
}

void trace_writes(struct trace *t, bool on)
{
	int i;

	if (!t || t->writes_off == !on)
		return;
	t->writes_off = !on;
	for (i = 0; i < t->cpus * TRACE_WRITES; i++)
		if (t->writes[i].fd >= 0)
			ioctl(t->writes[i].fd,
				on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t trace_writes_between(const struct trace_counts *a, const struct trace_counts *b)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < TRACE_WRITES; i++)
		sum += b->writes[i] - a->writes[i];
	return sum;
}

double trace_written(const struct trace_counts *a, const struct trace_counts *b)
{
	double sum = 0;
	int i;

	for (i = 0; i < TRACE_WRITES; i++) {
		if (b->writes[i] == a->writes[i])
			continue;
		if (b->sampled[i] == a->sampled[i])
			return NAN;
		sum += (double)(b->writes[i] - a->writes[i]) *
		       (double)(b->sampled_bytes[i] - a->sampled_bytes[i]) /
		       (double)(b->sampled[i] - a->sampled[i]);
	}
	return sum;
}

void trace_stop(struct trace *t)
{
	int i;

	if (!t)
		return;
	for (i = 0; t->syncs && i < t->cpus; i++)
		ring_close(&t->syncs[i]);
	for (i = 0; t->writes && i < t->cpus * TRACE_WRITES; i++)
		ring_close(&t->writes[i]);
	if (t->cpus)
		ring_close(&t->commits);
	free(t->syncs);
	free(t->writes);
	free(t);
}
