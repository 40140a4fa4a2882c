/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Byte order. Our own structures and those of ext4 are little-endian, JBD2's
 * are big-endian. All take unaligned pointers.
 */
#ifndef RJ_UTIL_BYTES_H
#define RJ_UTIL_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define RJ_BYTES_DEFINE(order, bits)                                    \
	static inline uint##bits##_t rj_get_##order##bits(const void *p)     \
	{                                                                    \
		uint##bits##_t v;                                                \
		memcpy(&v, p, sizeof(v));                                        \
		return order##bits##toh(v);                                      \
	}                                                                    \
	static inline void rj_put_##order##bits(void *p, uint##bits##_t v)   \
	{                                                                    \
		v = hto##order##bits(v);                                         \
		memcpy(p, &v, sizeof(v));                                        \
	}

RJ_BYTES_DEFINE(le, 16)
RJ_BYTES_DEFINE(le, 32)
RJ_BYTES_DEFINE(le, 64)
RJ_BYTES_DEFINE(be, 16)
RJ_BYTES_DEFINE(be, 32)
RJ_BYTES_DEFINE(be, 64)

#undef RJ_BYTES_DEFINE

#endif
