/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of fields in doc/, which the tests hold against the code. */
#ifndef RJ_TEST_FORMAT_TABLE_H
#define RJ_TEST_FORMAT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct row {
	unsigned offset, bytes;
	char field[32];
};

/* The rows "| offset | bytes | field |" of the table below HEADING in doc/NAME,
 * in ROWS, at most MAX; how many. */
unsigned read_table(const char *name, const char *heading, struct row *rows,
	unsigned max);
/* The rows follow on each other without a hole, up to LEN. */
void check_cover(const struct row *rows, unsigned n, unsigned len);
/* Up to LEN, A and B differ in every byte of ROW and in no other. */
bool differ_in(
	const struct row *row, const uint8_t *a, const uint8_t *b, unsigned len);

#endif
