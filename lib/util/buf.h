/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A growable run of bytes. Zero-initialise ({0}) to start empty; free with
 * rj_buf_free(), which leaves it empty and usable again.
 */
#ifndef RJ_UTIL_BUF_H
#define RJ_UTIL_BUF_H

#include <stddef.h>
#include <stdint.h>

struct rj_buf {
	uint8_t *data;
	size_t len;
	size_t cap;
};

/* Make space for LEN more bytes. Returns 0 or -RJ_E_NOMEM. */
int rj_buf_reserve(struct rj_buf *b, size_t len);
/* Append LEN bytes of DATA. Returns 0 or -RJ_E_NOMEM (B unchanged). */
int rj_buf_append(struct rj_buf *b, const void *data, size_t len);
/* Append a printf. Returns 0 or -RJ_E_NOMEM. No NUL is counted in len,
 * but one always follows the data. */
int rj_buf_printf(struct rj_buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void rj_buf_free(struct rj_buf *b);

#endif
