// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * judge [-w] IMAGE SEED THREADS ACKS [VOLUME]: a recovered volume, and the lines
 * "VOLUME THREAD NUMBER" that its writer (ops.h) printed for each operation
 * that was acknowledged. Tells how many there were; exits 1 when one is not
 * there, or e2fsck -fn finds something. -w: data=writeback
 * (verify.h). IMAGE loses its journal.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"

#define THREADS_MAX 16

/* Acknowledged so far, each thread's without a gap; -1 on a line that is
 * wrong. The last line may be cut short: it was not acknowledged. */
static int read_acks(const char *path, unsigned volume, unsigned threads,
	uint64_t acks[THREADS_MAX])
{
	FILE *f = fopen(path, "re");
	unsigned v, thread;
	uint64_t number;
	char line[64];
	int rc = 0, end;

	if (!f)
		return -1;
	while (!rc && fgets(line, sizeof(line), f)) {
		end = 0;
		if (sscanf(line, "%u %u %" SCNu64 "%n", &v, &thread, &number,
			    &end) != 3 ||
			line[end] != '\n') {
			rc = fgetc(f) == EOF ? 0 : -1;
			break;
		}
		if (v != volume)
			continue;
		if (thread >= threads || number != acks[thread])
			rc = -1;
		else
			acks[thread]++;
	}
	fclose(f);
	if (rc)
		fprintf(stderr, "judge: %s: not the writer's: %s\n", path,
			line);
	return rc;
}

static int check_thread(struct verify *v, uint64_t seed, unsigned thread,
	uint64_t acked, char *why, size_t size)
{
	struct ops o;
	struct op op;
	int rc = 0;

	ops_init(&o, seed, thread);
	while (!rc && o.done < acked) {
		ops_next(&o, &op);
		rc = ops_apply(&o, &op);
	}
	if (!rc)
		rc = verify_thread(v, &o, why, size);
	ops_release(&o);
	return rc;
}

int main(int argc, char **argv)
{
	uint64_t acks[THREADS_MAX] = {0}, seed, sum = 0;
	char why[4096] = "";
	struct verify *v = NULL;
	bool writeback = argc > 1 && !strcmp(argv[1], "-w");
	unsigned i, threads;
	int rc;

	argv += writeback;
	argc -= writeback;
	if (argc < 5 || (unsigned)atoi(argv[3]) > THREADS_MAX) {
		fprintf(stderr, "usage: judge [-w] IMAGE SEED THREADS ACKS [VOLUME]\n");
		return 2;
	}
	seed = strtoull(argv[2], NULL, 10);
	threads = (unsigned)atoi(argv[3]);
	if (read_acks(argv[4], argc > 5 ? (unsigned)atoi(argv[5]) : 0, threads,
		    acks))
		return 2;
	rc = verify_open(argv[1], writeback, &v, why, sizeof(why));
	for (i = 0; !rc && i < threads; i++) {
		rc = check_thread(v, seed, i, acks[i], why, sizeof(why));
		sum += acks[i];
	}
	verify_close(v);
	if (!rc)
		rc = verify_fsck(argv[1], why, sizeof(why));
	if (rc)
		printf("BAD %s\n", why);
	else
		printf("%" PRIu64 "\n", sum);
	return rc ? 1 : 0;
}
