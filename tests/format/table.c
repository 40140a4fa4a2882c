// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/table.h"

#include <CUnit/CUnit.h>
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

void check_cover(const struct row *rows, unsigned n, unsigned len)
{
	unsigned i, end = 0;

	for (i = 0; i < n; i++) {
		CU_ASSERT_EQUAL(rows[i].offset, end);
		end += rows[i].bytes;
	}
	CU_ASSERT_EQUAL(end, len);
}

bool differ_in(
	const struct row *row, const uint8_t *a, const uint8_t *b, unsigned len)
{
	unsigned i;

	for (i = 0; i < len; i++) {
		bool inside = i >= row->offset && i < row->offset + row->bytes;

		if ((a[i] != b[i]) != inside)
			return false;
	}
	return true;
}
