// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace.h"

#include <errno.h>
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

#include "volume.h"

#define SPARE_FDS 64
#define RING_BYTES (256u << 10) /* a power of two; more than 1500 commits */
#define RECORD_MOST 4096u
#define SIZE_FIELD "field:__u32 blocks_logged;"

struct trace {
	int cpus;
	int *fd; /* of fsyncs, for each CPU; -1: none (a CPU that is off) */
	int ring_fd;
	struct perf_event_mmap_page *ring; /* NULL: sizes are not counted */
	size_t ring_bytes;
	unsigned size_offset; /* of the field in a record's raw data */
	struct trace_counts counts;
};

/* Read the file FILE of the tracepoint EVENT ("ext4/ext4_sync_file_enter"). */
static bool read_event(const char *event, const char *file, char *out, size_t size)
{
	return read_text(out, size, "/sys/kernel/tracing/events/%s/%s", event, file) ||
	       read_text(out, size, "/sys/kernel/debug/tracing/events/%s/%s", event, file);
}

/* One event with a filter on the volume; PID -1: of all processes of CPU. */
static int open_event(const char *event, dev_t dev, pid_t pid, int cpu, bool records)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr)};
	char text[32];
	int fd, saved;

	if (!read_event(event, "id", text, sizeof(text))) {
		errno = ENOENT;
		return -1;
	}
	attr.config = strtoull(text, NULL, 10);
	if (records) {
		attr.sample_period = 1;
		attr.sample_type = PERF_SAMPLE_RAW;
	}
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

static int count_fsyncs(struct trace *t, dev_t dev)
{
	int cpu, got = 0;

	for (cpu = 0; cpu < t->cpus; cpu++) {
		t->fd[cpu] = open_event("ext4/ext4_sync_file_enter", dev, -1, cpu, false);
		if (t->fd[cpu] < 0 && errno != ENODEV)
			return -1;
		got += t->fd[cpu] >= 0;
	}
	return got ? 0 : -1;
}

/* The records of commits come from one kernel thread, so that one ring is enough. */
static void record_commits(struct trace *t, dev_t dev, const char *name)
{
	char text[4096], *field;
	long pid;
	void *at;

	if (!read_event("jbd2/jbd2_run_stats", "format", text, sizeof(text)) ||
		!(field = strstr(text, SIZE_FIELD)) ||
		sscanf(field, SIZE_FIELD " offset:%u;", &t->size_offset) != 1)
		return;
	if (!read_text(text, sizeof(text), "/sys/fs/ext4/%s/journal_task", name) ||
		(pid = strtol(text, NULL, 10)) <= 0)
		return;
	t->ring_fd = open_event("jbd2/jbd2_run_stats", dev, (pid_t)pid, -1, true);
	if (t->ring_fd < 0)
		return;
	t->ring_bytes = RING_BYTES + (size_t)sysconf(_SC_PAGESIZE);
	at = mmap(NULL, t->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, t->ring_fd, 0);
	if (at != MAP_FAILED)
		t->ring = at;
}

struct trace *trace_start(dev_t dev, const char *name, char *why, unsigned size)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_CONF), i;
	struct trace *t = calloc(1, sizeof(*t));

	if (t && cpus > 0)
		t->fd = malloc(sizeof(*t->fd) * (size_t)cpus);
	if (!t || !t->fd) {
		free(t);
		snprintf(why, size, "out of memory");
		return NULL;
	}
	t->cpus = cpus;
	t->ring_fd = -1;
	for (i = 0; i < cpus; i++)
		t->fd[i] = -1;
	allow_descriptors(cpus);
	if (count_fsyncs(t, dev)) {
		if (errno == ENOENT)
			snprintf(why, size, "tracefs is not mounted: mount -t tracefs tracefs /sys/kernel/tracing");
		else
			snprintf(why, size, "the kernel does not count tracepoints for us: %s", strerror(errno));
		trace_stop(t);
		return NULL;
	}
	record_commits(t, dev, name);
	t->counts.on = true;
	t->counts.commits_on = t->ring != NULL;
	return t;
}

unsigned trace_bucket(uint32_t blocks)
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

static void take_record(struct trace *t, const uint8_t *record, const struct perf_event_header *h)
{
	uint32_t raw, blocks;
	uint64_t lost;

	if (h->type == PERF_RECORD_LOST && h->size >= sizeof(*h) + 16) {
		memcpy(&lost, record + sizeof(*h) + 8, sizeof(lost));
		t->counts.lost += lost;
	}
	if (h->type != PERF_RECORD_SAMPLE || h->size < sizeof(*h) + sizeof(raw))
		return;
	memcpy(&raw, record + sizeof(*h), sizeof(raw));
	if (raw > h->size - sizeof(*h) - sizeof(raw) || t->size_offset + sizeof(blocks) > raw)
		return;
	memcpy(&blocks, record + sizeof(*h) + sizeof(raw) + t->size_offset, sizeof(blocks));
	t->counts.commits++;
	t->counts.logged += blocks;
	t->counts.sizes[trace_bucket(blocks)]++;
}

static void read_ring(struct trace *t)
{
	const uint8_t *data = (const uint8_t *)t->ring + sysconf(_SC_PAGESIZE);
	uint64_t head = __atomic_load_n(&t->ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = t->ring->data_tail;
	struct perf_event_header h;
	uint8_t record[RECORD_MOST];
	uint32_t i;

	for (; tail < head; tail += h.size) {
		for (i = 0; i < sizeof(h); i++)
			((uint8_t *)&h)[i] = data[(tail + i) % RING_BYTES];
		if (h.size < sizeof(h) || h.size > sizeof(record))
			break;
		for (i = 0; i < h.size; i++)
			record[i] = data[(tail + i) % RING_BYTES];
		take_record(t, record, &h);
	}
	__atomic_store_n(&t->ring->data_tail, head, __ATOMIC_RELEASE);
}

void trace_read(struct trace *t, struct trace_counts *out)
{
	uint64_t n;
	int cpu;

	*out = (struct trace_counts){0};
	if (!t)
		return;
	t->counts.fsyncs = 0;
	for (cpu = 0; cpu < t->cpus; cpu++)
		if (t->fd[cpu] >= 0 && read(t->fd[cpu], &n, sizeof(n)) == sizeof(n))
			t->counts.fsyncs += n;
	if (t->ring)
		read_ring(t);
	*out = t->counts;
}

void trace_stop(struct trace *t)
{
	int i;

	if (!t)
		return;
	for (i = 0; i < t->cpus; i++)
		if (t->fd[i] >= 0)
			close(t->fd[i]);
	if (t->ring)
		munmap(t->ring, t->ring_bytes);
	if (t->ring_fd >= 0)
		close(t->ring_fd);
	free(t->fd);
	free(t);
}
