// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Load on a running rjserver, and a check of what became of it.
 *
 * load put PORT CONNS FIRST MOST ACKS   until the server goes away: put and
 *	now and then delete one, or all but the last; numbers from FIRST on, objects of up to MOST
 *	bytes; what was acknowledged is appended to the file ACKS at once
 * load verify PORT ACKS   every acknowledged object is there with its bytes,
 *	every acknowledged deletion is; all that is listed is whole
 * load race PORT RACERS KEYS   exactly one winner for each key
 * load many PORT VOLUMES CONNS ROUNDS BYTES   in each round each volume puts one;
 *	every 20 rounds all but its last 10 are deleted; then the rest is checked
 * load bench PORT CONNS FIRST COUNT BYTES   latency of one put, and puts a
 *second
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client.h"

#define CONNS_MOST 512
#define BYTES_MOST (17u << 20)

struct worker {
	pthread_t thread;
	int port, id, count;
	unsigned long first, below;
	size_t most;
	pthread_barrier_t *barrier;
	const char *acks; /* a file, for all workers */
	int *wins; /* race: by key, under lock */
	double *times;
	int failed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* The one content that the object NUMBER of journal ID can have. */
static size_t content(int id, unsigned long number, size_t most, uint8_t *out)
{
	uint64_t x = mix((uint64_t)id << 40 ^ number);
	size_t len = 1 + x % most, i;

	for (i = 0; i < len; i += 8) {
		x = mix(x);
		memcpy(out + i, &x, 8);
	}
	return len;
}

static void path_of(char *out, int id, unsigned long number)
{
	int n = sprintf(out, "/load/%08x-0000-4000-8000-000000000000/log/", id);

	if (number)
		sprintf(out + n, "%020lu", number);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void run(struct worker *w, int count, void *(*fn)(void *))
{
	int i;

	for (i = 0; i < count; i++)
		if (pthread_create(&w[i].thread, NULL, fn, &w[i]))
			abort();
	for (i = 0; i < count; i++)
		pthread_join(w[i].thread, NULL);
}

/* Delete all below NUMBER in one request. */
static int delete_below(
	struct worker *w, struct client *c, unsigned long number, FILE *acks)
{
	char path[128];
	unsigned long n;
	int status;

	for (n = w->below; n < number; n++)
		fprintf(acks, "try %d %lu %zu\n", w->id, n, w->most);
	path_of(path, w->id, 0);
	sprintf(path + strlen(path), "?below=%lu", number);
	status = client_ask(c, "DELETE", path, NULL, 0);
	for (n = w->below; status == 204 && n < number; n++)
		fprintf(acks, "del %d %lu %zu\n", w->id, n, w->most);
	w->below = number;
	return status;
}

static void *put_worker(void *arg)
{
	struct worker *w = arg;
	FILE *acks = fopen(w->acks, "a");
	uint8_t *data = malloc(w->most + 8);
	unsigned long n = w->first, old;
	struct client c;
	char path[128];
	size_t len;
	int status;

	if (!acks || !data)
		abort();
	setlinebuf(acks);
	/* the server may be told to stop before each of us has come */
	if (client_open(&c, w->port))
		goto out;
	for (;; n++) {
		len = content(w->id, n, w->most, data);
		path_of(path, w->id, n);
		status = client_ask(&c, "PUT", path, data, len);
		if (status != 201)
			break;
		fprintf(acks, "put %d %lu %zu\n", w->id, n, w->most);
		if (n % 50 == 0 && n >= w->first + 20) {
			status = delete_below(w, &c, n - 15, acks);
			if (status != 204)
				break;
		}
		if (n % 3 || n < w->first + 10)
			continue;
		old = n - 10;
		path_of(path, w->id, old);
		fprintf(acks, "try %d %lu %zu\n", w->id, old, w->most);
		status = client_ask(&c, "DELETE", path, NULL, 0);
		if (status != (old < w->below ? 404 : 204))
			break;
		fprintf(acks, "del %d %lu %zu\n", w->id, old, w->most);
	}
	if (status >= 0)
		w->failed = status;
	client_close(&c);
out:
	free(data);
	fclose(acks);
	return NULL;
}

static int do_put(char **v)
{
	static struct worker w[CONNS_MOST];
	int i, conns = atoi(v[1]), failed = 0;

	/* a million numbers: a journal of their own for each connection */
	for (i = 0; i < conns; i++)
		w[i] = (struct worker){.port = atoi(v[0]),
			.id = atoi(v[2]) / 1000000 * 1000 + i + 1,
			.first = strtoul(v[2], NULL, 10),
			.below = strtoul(v[2], NULL, 10),
			.most = strtoul(v[3], NULL, 10),
			.acks = v[4]};
	run(w, conns, put_worker);
	for (i = 0; i < conns; i++)
		if (w[i].failed && !failed++)
			printf("unexpected status %d\n", w[i].failed);
	return failed ? 1 : 0;
}

/* One object, fetched: 200 with its content, or 404. Else -1. */
static int look(
	struct client *c, int id, unsigned long n, size_t most, uint8_t *data)
{
	char path[128];
	size_t len;
	int status;

	path_of(path, id, n);
	status = client_ask(c, "GET", path, NULL, 0);
	if (status == 404)
		return status;
	len = content(id, n, most, data);
	if (status == 200 && c->body_len == len &&
		!memcmp(c->in + c->body_at, data, len))
		return status;
	printf("%s: status %d, %zu bytes, wanted %zu\n", path, status,
		c->body_len, len);
	return -1;
}

/* All that the list of journal ID shows has its one content. */
static int look_at_list(struct client *c, int id, size_t most, uint8_t *data)
{
	char path[128], *text, *line, *save = NULL;
	unsigned long number;
	int bad = 0;

	path_of(path, id, 0);
	if (client_ask(c, "GET", path, NULL, 0) != 200)
		return 1;
	c->in[c->body_at + c->body_len] = 0;
	text = strdup(c->in + c->body_at);
	for (line = strtok_r(text, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		number = strtoul(line, NULL, 10);
		if (look(c, id, number, most, data) != 200)
			bad++;
	}
	free(text);
	return bad;
}

struct ack {
	char word[8]; /* "put", "try" (a deletion), "del" */
	int id;
	unsigned long number;
	size_t most;
};

static int by_object(const void *a, const void *b)
{
	const struct ack *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static struct ack *read_acks(const char *path, size_t *count)
{
	struct ack *acks = NULL, a;
	FILE *in = fopen(path, "r");

	*count = 0;
	while (in && fscanf(in, "%7s %d %lu %zu", a.word, &a.id, &a.number,
			     &a.most) == 4) {
		if (!(*count & (*count - 1)))
			acks = realloc(
				acks, (*count ? *count * 2 : 1) * sizeof(a));
		if (!acks)
			abort();
		acks[(*count)++] = a;
	}
	if (in)
		fclose(in);
	if (acks)
		qsort(acks, *count, sizeof(*acks), by_object);
	return acks;
}

/* What the acknowledgements of one object (COUNT of them) allow it to be: an
 * attempted deletion may have come through or not. */
static int judge(
	struct client *c, const struct ack *a, size_t count, uint8_t *data)
{
	int put = 0, tried = 0, gone = 0, status;
	size_t i;

	for (i = 0; i < count; i++) {
		put |= !strcmp(a[i].word, "put");
		tried |= !strcmp(a[i].word, "try");
		gone |= !strcmp(a[i].word, "del");
	}
	status = look(c, a->id, a->number, a->most, data);
	if (status == 404 ? tried : status == 200 && put && !gone)
		return 0;
	printf("%d %lu: put %d, deletion tried %d, deleted %d: status %d\n",
		a->id, a->number, put, tried, gone, status);
	return 1;
}

static int do_verify(char **v)
{
	uint8_t *data = malloc(BYTES_MOST + 8);
	size_t count, i, n;
	struct ack *acks = read_acks(v[1], &count);
	struct client c;
	int bad = 0;

	if (!data || !count || client_open(&c, atoi(v[0]))) {
		printf("nothing to look for, or nobody to ask\n");
		free(acks);
		free(data);
		return 2;
	}
	for (i = 0; i < count; i += n) {
		for (n = 1; i + n < count; n++)
			if (by_object(&acks[i], &acks[i + n]))
				break;
		bad += judge(&c, &acks[i], n, data);
		if (i + n == count || acks[i + n].id != acks[i].id)
			bad += look_at_list(&c, acks[i].id, acks[i].most, data);
	}
	printf("%zu acknowledgements, %d wrong\n", count, bad);
	client_close(&c);
	free(acks);
	free(data);
	return bad != 0;
}

static void *race_worker(void *arg)
{
	struct worker *w = arg;
	char path[128], body[64];
	struct client c;
	int key, status;

	if (client_open(&c, w->port))
		abort();
	for (key = 0; key < w->count; key++) {
		path_of(path, 4711, w->first + (unsigned long)key);
		sprintf(body, "racer %d key %d", w->id, key);
		pthread_barrier_wait(w->barrier);
		status = client_ask(&c, "PUT", path, body, strlen(body));
		if (status != 201 && status != 412)
			w->failed = 1;
		if (status == 201) {
			pthread_mutex_lock(&lock);
			w->wins[key * 2]++;
			w->wins[key * 2 + 1] = w->id;
			pthread_mutex_unlock(&lock);
		} else if (client_ask(&c, "GET", path, NULL, 0) != 200) {
			w->failed = 1; /* refused, and not there */
		}
	}
	client_close(&c);
	return NULL;
}

static int do_race(char **v)
{
	static struct worker w[CONNS_MOST];
	int i, racers = atoi(v[1]), keys = atoi(v[2]), bad = 0;
	int *wins = calloc((size_t)keys * 2, sizeof(*wins));
	pthread_barrier_t barrier;
	char path[128], body[64];
	struct client c;

	pthread_barrier_init(&barrier, NULL, (unsigned)racers);
	for (i = 0; i < racers; i++)
		w[i] = (struct worker){.port = atoi(v[0]),
			.id = i,
			.count = keys,
			.first = 1,
			.barrier = &barrier,
			.wins = wins};
	run(w, racers, race_worker);
	for (i = 0; i < racers; i++)
		bad += w[i].failed;
	if (client_open(&c, atoi(v[0])))
		return 2;
	for (i = 0; i < keys; i++) {
		path_of(path, 4711, (unsigned long)i + 1);
		sprintf(body, "racer %d key %d", wins[i * 2 + 1], i);
		if (wins[i * 2] != 1 ||
			client_ask(&c, "GET", path, NULL, 0) != 200 ||
			c.body_len != strlen(body) ||
			memcmp(c.in + c.body_at, body, c.body_len)) {
			printf("key %d: %d winners\n", i, wins[i * 2]);
			bad++;
		}
	}
	printf("%d keys, %d racers, %d wrong\n", keys, racers, bad);
	client_close(&c);
	free(wins);
	return bad != 0;
}

#define MANY_ID 0x2000000 /* of the first volume */

static int many_check(struct worker *w, struct client *c, int volume)
{
	char path[128];
	unsigned long n = (unsigned long)w->count;
	uint8_t *want = malloc(w->most + 8);
	size_t len = content(MANY_ID + volume, n, w->most, want);
	int bad;

	path_of(path, MANY_ID + volume, n);
	bad = client_ask(c, "GET", path, NULL, 0) != 200 ||
	      c->body_len != len || memcmp(c->in + c->body_at, want, len) != 0;
	path_of(path, MANY_ID + volume, 1); /* deleted long ago */
	bad |= client_ask(c, "GET", path, NULL, 0) !=
	       (w->count >= 20 ? 404 : 200);
	free(want);
	return bad;
}

static void *many_worker(void *arg)
{
	struct worker *w = arg;
	int volume, volumes = (int)w->below, r, step = (int)w->first;
	uint8_t *data = malloc(w->most + 8);
	struct client c;
	char path[128];
	size_t len;

	if (!data || client_open(&c, w->port))
		abort();
	for (r = 1; r <= w->count; r++) {
		for (volume = w->id; volume < volumes; volume += step) {
			len = content(MANY_ID + volume, (unsigned long)r,
				w->most, data);
			path_of(path, MANY_ID + volume, (unsigned long)r);
			w->failed += client_ask(&c, "PUT", path, data, len) !=
				     201;
			if (r % 20)
				continue;
			path_of(path, MANY_ID + volume, 0);
			sprintf(path + strlen(path), "?below=%d", r - 10);
			w->failed += client_ask(&c, "DELETE", path, NULL, 0) !=
				     204;
		}
	}
	for (volume = w->id; volume < volumes; volume += step)
		w->failed += many_check(w, &c, volume);
	client_close(&c);
	free(data);
	return NULL;
}

static int do_many(char **v)
{
	static struct worker w[CONNS_MOST];
	int i, conns = atoi(v[2]), bad = 0;
	double t = now();

	for (i = 0; i < conns; i++)
		w[i] = (struct worker){.port = atoi(v[0]),
			.id = i,
			.below = strtoul(v[1], NULL, 10),
			.first = (unsigned long)conns,
			.count = atoi(v[3]),
			.most = strtoul(v[4], NULL, 10)};
	run(w, conns, many_worker);
	for (i = 0; i < conns; i++)
		bad += w[i].failed;
	t = now() - t;
	printf("volumes %s connections %d puts %ld wrong %d seconds %.0f\n",
		v[1], conns, atol(v[1]) * atol(v[3]), bad, t);
	return bad != 0;
}

static void *bench_worker(void *arg)
{
	struct worker *w = arg;
	uint8_t *data = calloc(1, w->most + 8);
	struct client c;
	char path[128];
	double t;
	int i;

	if (!data || client_open(&c, w->port))
		abort();
	for (i = 0; i < w->count; i++)
		data[i % (int)w->most] = (uint8_t)i;
	pthread_barrier_wait(w->barrier);
	for (i = 0; i < w->count; i++) {
		path_of(path, w->id, w->first + (unsigned long)i);
		t = now();
		if (client_ask(&c, "PUT", path, data, w->most) != 201)
			w->failed++;
		w->times[i] = now() - t;
	}
	client_close(&c);
	free(data);
	return NULL;
}

static int by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int do_bench(char **v)
{
	static struct worker w[CONNS_MOST];
	int i, conns = atoi(v[1]), count = atoi(v[3]), bad = 0;
	int all = conns * count;
	double *times = calloc((size_t)all, sizeof(*times)), t;
	pthread_barrier_t barrier;

	pthread_barrier_init(&barrier, NULL, (unsigned)conns);
	for (i = 0; i < conns; i++)
		w[i] = (struct worker){.port = atoi(v[0]),
			.id = 0x10000 + i,
			.count = count,
			.first = strtoul(v[2], NULL, 10),
			.most = strtoul(v[4], NULL, 10),
			.barrier = &barrier,
			.times = times + (size_t)i * (size_t)count};
	t = now();
	run(w, conns, bench_worker);
	t = now() - t;
	for (i = 0; i < conns; i++)
		bad += w[i].failed;
	qsort(times, (size_t)all, sizeof(*times), by_time);
	printf("connections %d bytes %s puts %d failed %d p50_us %.0f "
	       "p99_us %.0f puts_per_s %.0f\n",
		conns, v[4], all, bad, times[all / 2] * 1e6,
		times[all * 99 / 100] * 1e6, all / t);
	free(times);
	return bad != 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int args;
		int (*fn)(char **v);
	} modes[] = {
		{"put", 5, do_put},
		{"verify", 2, do_verify},
		{"race", 3, do_race},
		{"many", 5, do_many},
		{"bench", 5, do_bench},
	};
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (argc == modes[i].args + 2 &&
			!strcmp(argv[1], modes[i].name))
			return modes[i].fn(argv + 2);
	fprintf(stderr, "usage: see the head of load.c\n");
	return 2;
}
