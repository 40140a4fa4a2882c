// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * history write DIR RECORD SEED [THREADS [PAUSE [MANY]]]: work on DIR until a signal
 * or an error ends it, so that each byte is known from the seed, and note in RECORD,
 * which lies elsewhere, what is begun and what the kernel has acknowledged. Each
 * thread rests for PAUSE milliseconds after each operation, a hundred times as long
 * when it has done MANY.
 * Exits with 0 after SIGTERM, with 1 after an error (printed).
 *
 * history check DIR RECORD SEED: is all that was acknowledged there, and nothing
 * that was never written? Prints what is not; exits with 1 then.
 *
 * history count RECORD: how many operations were acknowledged.
 *
 * Each thread has an append-only file, whose length it notes, and some slots,
 * whose versions it counts: an odd version is a file (written under another name,
 * fsynced, renamed, the folder fsynced), an even one is its absence.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 8
#define SLOTS	    12 /* slot 0 is the append-only file */
#define APPEND_MAX  (1u << 20)
#define FILE_MAX    20000u
/* Now and then one is so large that with data=journal its commit is shipped in
 * pieces. */
#define LARGE_ONE_OF 30
#define LARGE_MIN    (256u << 10)
#define LARGE_MAX    APPEND_MAX

struct entry {
	unsigned char begun; /* 1: begun, 0: acknowledged */
	unsigned char thread, slot, pad;
	uint32_t value; /* a version, or a length */
	uint64_t ms;	/* when, since 1970 */
};

struct worker {
	pthread_t thread;
	unsigned number;
	uint64_t random_state;
	uint32_t value[SLOTS];
	bool failed;
};

static const char *dir;
static int dir_fd, record_fd;
static uint64_t seed;
static atomic_bool stop;
static int pause_ms, many;

static unsigned rnd(struct worker *w, unsigned below)
{
	w->random_state =
		w->random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(w->random_state >> 33) % below;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* Byte AT of version VERSION of a slot. */
static uint8_t byte_of(
	unsigned thread, unsigned slot, uint32_t version, uint32_t at)
{
	uint64_t x = mix(seed ^ (uint64_t)thread << 56 ^ (uint64_t)slot << 48 ^
			 (uint64_t)version << 24 ^ (at / 8));

	return (uint8_t)(x >> (at % 8 * 8)) | 1;
}

static uint32_t length_of(unsigned thread, unsigned slot, uint32_t version)
{
	uint64_t x = mix(seed + version * 31u + slot * 7u + thread);

	if (mix(x) % LARGE_ONE_OF == 0)
		return LARGE_MIN + (uint32_t)(x % (LARGE_MAX - LARGE_MIN));
	return 1 + (uint32_t)(x % FILE_MAX);
}

static void name_of(char name[32], unsigned thread, unsigned slot)
{
	snprintf(name, 32, "%c%u.%u", slot ? 'r' : 'a', thread, slot);
}

static bool complain(const char *what, const char *name)
{
	printf("%s: %s: %s\n", what, name, strerror(errno));
	return false;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool note(bool begun, unsigned thread, unsigned slot, uint32_t value)
{
	struct entry e = {begun, (unsigned char)thread, (unsigned char)slot, 0,
		value, now_ms()};

	/* O_APPEND: one write, one record */
	return write(record_fd, &e, sizeof(e)) == sizeof(e) ||
	       complain("write", "the record");
}

static bool put(int fd, unsigned thread, unsigned slot, uint32_t version,
	uint32_t from, uint32_t to)
{
	static _Thread_local uint8_t bytes[LARGE_MAX + 1];
	uint32_t i;

	for (i = from; i < to; i++)
		bytes[i - from] = byte_of(thread, slot, version, i);
	return pwrite(fd, bytes, to - from, from) == (ssize_t)(to - from);
}

static bool append(struct worker *w, uint32_t from, uint32_t to)
{
	char name[32];
	bool good;
	int fd;

	name_of(name, w->number, 0);
	fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return complain("open", name);
	good = put(fd, w->number, 0, 0, from, to) && !fsync(fd) &&
	       (from || !fsync(dir_fd));
	if (!good)
		complain("append", name);
	close(fd);
	return good;
}

static bool replace(struct worker *w, unsigned slot, uint32_t version)
{
	char name[32], temporary[40];
	bool good;
	int fd;

	name_of(name, w->number, slot);
	if (!(version & 1))
		return (!unlinkat(dir_fd, name, 0) && !fsync(dir_fd)) ||
		       complain("unlink", name);
	snprintf(temporary, sizeof(temporary), "%s.new", name);
	fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		0600);
	if (fd < 0)
		return complain("open", temporary);
	good = put(fd, w->number, slot, version, 0,
		       length_of(w->number, slot, version)) &&
	       !fsync(fd) && !renameat(dir_fd, temporary, dir_fd, name) &&
	       !fsync(dir_fd);
	if (!good)
		complain("replace", name);
	close(fd);
	return good;
}

static bool work_once(struct worker *w)
{
	unsigned slot = rnd(w, 3) ? 1 + rnd(w, SLOTS - 1) : 0;
	uint32_t before = w->value[slot], value = before + 1;

	if (!slot) {
		value = before + 1 + rnd(w, 9000);
		if (value > APPEND_MAX)
			return true;
	}
	if (!note(true, w->number, slot, value) ||
		!(slot ? replace(w, slot, value) : append(w, before, value)))
		return false;
	w->value[slot] = value;
	return note(false, w->number, slot, value);
}

static void rest(int ms)
{
	for (; ms > 0 && !stop; ms -= 20)
		usleep((useconds_t)(ms < 20 ? ms : 20) * 1000);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	int done = 0;

	while (!stop && !w->failed) {
		w->failed = !work_once(w);
		done++;
		rest(pause_ms * (many && done >= many ? 100 : 1));
	}
	stop = true;
	return NULL;
}

static int do_write(unsigned threads)
{
	static struct worker workers[THREADS_MAX];
	bool failed = false;
	sigset_t set;
	unsigned i;
	struct timespec tick = {0, 20000000};

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (i = 0; i < threads; i++) {
		workers[i].number = i;
		workers[i].random_state = mix(seed + i);
		if (pthread_create(
			    &workers[i].thread, NULL, work, &workers[i]))
			return 2;
	}
	while (!stop)
		if (sigtimedwait(&set, NULL, &tick) == SIGTERM)
			stop = true;
	for (i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		failed |= workers[i].failed;
	}
	return failed;
}

/* ---- checking ---- */

static uint32_t begun[THREADS_MAX][SLOTS], acked[THREADS_MAX][SLOTS];
/* When, and as which of all operations, the last one was acknowledged. */
static struct {
	unsigned long number;
	uint64_t ms;
} last[THREADS_MAX][SLOTS], last_of_all;

static unsigned long read_record(void)
{
	unsigned long n = 0;
	struct entry e;

	while (read(record_fd, &e, sizeof(e)) == sizeof(e)) {
		if (e.thread >= THREADS_MAX || e.slot >= SLOTS)
			exit(2);
		(e.begun ? begun : acked)[e.thread][e.slot] = e.value;
		n += !e.begun;
		if (e.begun)
			continue;
		last_of_all.number = last[e.thread][e.slot].number = n;
		last_of_all.ms = last[e.thread][e.slot].ms = e.ms;
	}
	return n;
}

/*
 * For whoever looks for the cause: where it is first not VERSION, and which bytes
 * are there. Zeros were never written, or not to here; others are another file's.
 */
static void print_difference(const uint8_t *bytes, uint32_t len,
	unsigned thread, unsigned slot, uint32_t version)
{
	uint32_t i = 0, n;

	while (i < len && bytes[i] == byte_of(thread, slot, version, i))
		i++;
	printf("\tas version %u until %u, then:", version, i);
	for (n = 0; n < 8 && i + n < len; n++)
		printf(" %02x", bytes[i + n]);
	for (n = i; n < len && bytes[n] != byte_of(thread, slot, version, n);)
		n++;
	printf("; again from %u\n", n);
}

/* Is it the version, whole? */
static bool holds(const uint8_t *bytes, uint32_t len, unsigned thread,
	unsigned slot, uint32_t version)
{
	uint32_t i;

	if (slot && len != length_of(thread, slot, version))
		return false;
	for (i = 0; i < len; i++)
		if (bytes[i] != byte_of(thread, slot, version, i))
			return false;
	return true;
}

static bool check_append(
	const uint8_t *bytes, uint32_t len, bool absent, unsigned t)
{
	uint32_t least = acked[t][0], i;

	if (absent)
		return !least;
	if (len < least || len > begun[t][0])
		return false;
	/* after what was acknowledged the length may have come without data */
	for (i = least; i < len; i++)
		if (bytes[i] && bytes[i] != byte_of(t, 0, 0, i))
			return false;
	return holds(bytes, least, t, 0, 0);
}

static bool check_slot(unsigned t, unsigned slot)
{
	static uint8_t bytes[APPEND_MAX + 1];
	uint32_t v, len = 0;
	bool absent, good;
	char name[32];
	ssize_t n = 0;
	int fd;

	name_of(name, t, slot);
	fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	absent = fd < 0 && errno == ENOENT;
	if (fd < 0 && !absent)
		return complain("open", name);
	while (!absent && (n = read(fd, bytes + len, sizeof(bytes) - len)) > 0)
		len += (uint32_t)n;
	if (n < 0)
		return complain("read", name);
	if (fd >= 0)
		close(fd);
	if (!slot) {
		good = check_append(bytes, len, absent, t);
	} else {
		for (v = acked[t][slot], good = false; !good && v <= begun[t][slot];
			v++)
			good = v & 1 ? !absent && holds(bytes, len, t, slot, v)
				     : absent;
	}
	if (good)
		return true;
	printf("%s: %s of %u bytes; acknowledged %u, begun %u\n", name,
		absent ? "absent instead" : "a file", len, acked[t][slot],
		begun[t][slot]);
	/* the very last ones: see doc/results/live-faults.md on what the kernel says when
	 * a journal fails; earlier ones are another matter */
	printf("\tthe acknowledgement was number %lu of %lu, %llu ms before the last\n",
		last[t][slot].number, last_of_all.number,
		(unsigned long long)(last_of_all.ms - last[t][slot].ms));
	if (!absent)
		print_difference(bytes, len, t, slot, slot ? acked[t][slot] : 0);
	return false;
}

static int do_check(void)
{
	unsigned long n = read_record();
	unsigned t, slot, bad = 0;

	for (t = 0; t < THREADS_MAX; t++)
		for (slot = 0; slot < SLOTS; slot++)
			bad += !check_slot(t, slot);
	printf("%lu acknowledged, the last at %llu.%03llu, %u of %u files wrong\n",
		n, (unsigned long long)last_of_all.ms / 1000,
		(unsigned long long)last_of_all.ms % 1000, bad,
		THREADS_MAX * SLOTS);
	return bad != 0;
}

int main(int argc, char **argv)
{
	bool writes = argc >= 5 && !strcmp(argv[1], "write");
	int threads = argc > 5 ? atoi(argv[5]) : 3;

	pause_ms = argc > 6 ? atoi(argv[6]) : 0;
	many = argc > 7 ? atoi(argv[7]) : 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3 && !strcmp(argv[1], "count")) {
		record_fd = open(argv[2], O_RDONLY);
		printf("%lu\n", record_fd < 0 ? 0 : read_record());
		return 0;
	}
	if ((!writes && (argc != 5 || strcmp(argv[1], "check"))) ||
		threads < 1 || threads > THREADS_MAX)
		return 2;
	dir = argv[2];
	seed = strtoull(argv[4], NULL, 10);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
	record_fd = open(argv[3],
		writes ? O_WRONLY | O_CREAT | O_APPEND : O_RDONLY, 0600);
	if (dir_fd < 0 || record_fd < 0) {
		complain("open", dir_fd < 0 ? dir : argv[3]);
		return 2;
	}
	return writes ? do_write((unsigned)threads) : do_check();
}
