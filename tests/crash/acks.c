// SPDX-License-Identifier: GPL-2.0-or-later
#include "acks.h"

#include <inttypes.h>
#include <stdio.h>

int acks_read(const char *path, unsigned volume, unsigned threads,
	uint64_t acks[ACKS_THREADS_MAX])
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
		fprintf(stderr, "%s: not the writer's: %s\n", path, line);
	return rc;
}
