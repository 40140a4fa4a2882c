// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/table.h"

#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned read_table(const char *name, const char *heading, struct row *rows,
	unsigned max)
{
	char path[512], line[512];
	const char *src = getenv("RJ_SRC");
	unsigned n = 0;
	bool here = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/doc/%s", src ? src : ".", name);
	f = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	while (fgets(line, sizeof(line), f) && n < max) {
		if (line[0] == '#')
			here = !strncmp(line, heading, strlen(heading));
		if (here && sscanf(line, "| %u | %u | %31[a-z0-9_] |",
				    &rows[n].offset, &rows[n].bytes,
				    rows[n].field) == 3)
			n++;
	}
	fclose(f);
	return n;
}
