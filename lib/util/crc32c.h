/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef RJ_UTIL_CRC32C_H
#define RJ_UTIL_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * CRC-32C (Castagnoli, reflected) of LEN bytes, continuing from CRC, with no
 * final inversion: the convention of the kernel's crc32c() and of JBD2 and
 * ext4, which start from ~0.
 */
uint32_t rj_crc32c(uint32_t crc, const void *data, size_t len);

/*
 * CRC-32 (0x04C11DB7, most significant bit first), continuing from CRC with
 * no inversion: the kernel's crc32_be(), used by JBD2 checksum v1.
 */
uint32_t rj_crc32_be(uint32_t crc, const void *data, size_t len);

#endif
