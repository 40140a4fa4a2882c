/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two recording layers: what lies below the volume, and what lies between
 * rjournald and the server. Both add to events.h, and run in threads. */
#ifndef RJ_TEST_CRASH_RECORD_H
#define RJ_TEST_CRASH_RECORD_H

#include <stdbool.h>

/* A FUSE file system at DIR with the file "volume", which is IMAGE, and, unless
 * FALLBACK is "", the file "fallback", which is that. 0 or -1. */
int volume_start(const char *dir, const char *image, const char *fallback);
void volume_stop(void);

/* A relay in front of the rjserver at 127.0.0.1:PORT. The port that it listens on,
 * or -1. */
int relay_start(int port);
/* The server is AWAY: connections end, and new ones at once. Or it is back. */
void relay_away(bool away);

#endif
