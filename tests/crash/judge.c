// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * judge [-w] IMAGE SEED THREADS ACKS [VOLUME]: a recovered volume, and the lines
 * "VOLUME THREAD NUMBER" that its writer (ops.h) printed for each operation
 * that was acknowledged. Tells how many there were; exits 1 when one is not
 * there, or e2fsck -fn finds something. -w: data=writeback
 * (verify.h). IMAGE loses its journal. A directory in its place: what is mounted there,
 * without e2fsck.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "acks.h"
#include "verify.h"

static int check_thread(struct verify *v, uint64_t seed, unsigned thread,
	uint64_t acked, char *why, size_t size)
{
	struct ops o;
	int rc;

	ops_init(&o, seed, thread);
	while (o.done < acked)
		ops_acked(&o);
	rc = verify_thread(v, &o, why, size);
	ops_release(&o);
	return rc;
}

int main(int argc, char **argv)
{
	uint64_t acks[ACKS_THREADS_MAX] = {0}, seed, sum = 0;
	char why[4096] = "";
	struct verify *v = NULL;
	bool writeback = argc > 1 && !strcmp(argv[1], "-w");
	unsigned i, threads;
	struct stat st;
	int rc;

	argv += writeback;
	argc -= writeback;
	if (argc < 5 || (unsigned)atoi(argv[3]) > ACKS_THREADS_MAX) {
		fprintf(stderr, "usage: judge [-w] IMAGE SEED THREADS ACKS [VOLUME]\n");
		return 2;
	}
	seed = strtoull(argv[2], NULL, 10);
	threads = (unsigned)atoi(argv[3]);
	if (acks_read(argv[4], argc > 5 ? (unsigned)atoi(argv[5]) : 0, threads,
		    acks))
		return 2;
	rc = verify_open(argv[1], writeback, &v, why, sizeof(why));
	for (i = 0; !rc && i < threads; i++) {
		rc = check_thread(v, seed, i, acks[i], why, sizeof(why));
		sum += acks[i];
	}
	verify_close(v);
	if (!rc && !(stat(argv[1], &st) == 0 && S_ISDIR(st.st_mode)))
		rc = verify_fsck(argv[1], why, sizeof(why));
	if (rc)
		printf("BAD %s\n", why);
	else
		printf("%" PRIu64 "\n", sum);
	return rc ? 1 : 0;
}
