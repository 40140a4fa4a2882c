/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of fields in doc/, which the tests hold against the code. */
#ifndef RJ_TEST_FORMAT_TABLE_H
#define RJ_TEST_FORMAT_TABLE_H

struct row {
	unsigned offset, bytes;
	char field[32];
};

/* The rows "| offset | bytes | field |" of the table below HEADING in doc/NAME,
 * in ROWS, at most MAX; how many. */
unsigned read_table(const char *name, const char *heading, struct row *rows,
	unsigned max);

#endif
