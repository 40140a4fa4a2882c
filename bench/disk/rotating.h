/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a rotating disk takes: a model, without any I/O and without a clock.
 * Times are nanoseconds on the caller's clock, offsets and lengths are bytes.
 *
 * One arm; 7,200 turns per minute; 60 MB/s, so a track is 500,000 bytes; a seek
 * takes 0.8 ms and 7 ms * sqrt(distance / size), so the image stands for the
 * part of a disk that a file system uses. Tracks are skewed such that
 * what follows on the next track is under the head after the shortest seek.
 * Writes go to a cache in units of 4 KiB, which is emptied upwards from where the
 * arm stands and round again, in the background too. A flush waits until it is
 * empty. What the cache holds is read from it; there is no read ahead.
 */
#ifndef RJ_BENCH_ROTATING_H
#define RJ_BENCH_ROTATING_H

#include <stdint.h>

struct rotating;

/* A disk of SIZE bytes whose cache holds CACHE bytes; NULL: no memory. */
struct rotating *rotating_new(uint64_t size, uint64_t cache);
void rotating_free(struct rotating *d);

/* Each returns when the request that comes at NOW is done. */
int64_t rotating_write(
	struct rotating *d, int64_t now, uint64_t off, uint64_t len);
int64_t rotating_read(
	struct rotating *d, int64_t now, uint64_t off, uint64_t len);
int64_t rotating_flush(struct rotating *d, int64_t now);

#endif
