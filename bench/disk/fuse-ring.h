/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FUSE over io_uring (Linux 6.14, switched on in the module's parameter enable_uring)
 * with a libfuse that does not know of it. */
#ifndef RJ_BENCH_FUSE_RING_H
#define RJ_BENCH_FUSE_RING_H

struct fuse_session;

/* Mount SE, whose requests have 1 MiB at most, and serve it in the calling thread until
 * it is unmounted. 0, or -1 with errno. */
int fuse_ring_serve(struct fuse_session *se, const char *mountpoint);

#endif
