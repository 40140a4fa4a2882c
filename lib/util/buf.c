// SPDX-License-Identifier: LGPL-2.1-or-later
#include "util/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

int rj_buf_reserve(struct rj_buf *b, size_t len)
{
	size_t want, cap;
	uint8_t *p;

	if (__builtin_add_overflow(b->len, len, &want))
		return -RJ_E_NOMEM;
	if (want <= b->cap)
		return 0;
	cap = b->cap ? b->cap : 256;
	while (cap < want) {
		if (__builtin_mul_overflow(cap, 2, &cap))
			return -RJ_E_NOMEM;
	}
	p = realloc(b->data, cap);
	if (!p)
		return -RJ_E_NOMEM;
	b->data = p;
	b->cap = cap;
	return 0;
}

int rj_buf_append(struct rj_buf *b, const void *data, size_t len)
{
	if (rj_buf_reserve(b, len))
		return -RJ_E_NOMEM;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	return 0;
}

int rj_buf_printf(struct rj_buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || rj_buf_reserve(b, (size_t)n + 1))
		return -RJ_E_NOMEM;
	va_start(ap, fmt);
	vsnprintf((char *)b->data + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
	return 0;
}

void rj_buf_free(struct rj_buf *b)
{
	free(b->data);
	*b = (struct rj_buf){0};
}
