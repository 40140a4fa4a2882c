// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the table of verdicts as doc/verdict.md has it. */
#include <stdio.h>
#include <string.h>

#include "verdict/verdict.h"

static void bits(uint64_t found)
{
	const char *before = "";
	unsigned i;

	for (i = 0; i < RJ_FOUND_COUNT; i++)
		if (found & RJ_FOUND(i)) {
			printf("%s%s", before, rj_found_name(i));
			before = ", ";
		}
}

int main(void)
{
	unsigned count, i, k;
	const struct rj_verdict_row *row = rj_verdict_rows(&count);

	printf("| # | row | all of | none of | verdict | what is said | ways on, the least harm first |\n");
	printf("|---|---|---|---|---|---|---|\n");
	for (i = 0; i < count; i++, row++) {
		printf("| %u | %s | ", i + 1, row->name);
		bits(row->must);
		printf(" | ");
		bits(row->without);
		printf(" | %s | %s |", rj_verdict_name(row->kind), row->words ? row->words : "");
		for (k = 0; k < RJ_ROW_WAYS && row->ways[k]; k++)
			printf("%s %s", k ? ";" : "", rj_way_text(row->ways[k]));
		printf(" |\n");
	}
	return ferror(stdout) || fflush(stdout);
}
