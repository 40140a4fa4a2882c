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

#define RELAYS 2

/* A relay, one after the other up to RELAYS, in front of the rjserver at
 * 127.0.0.1:PORT; PREFIX comes before its objects' names. The port it listens
 * on, or -1. */
int relay_start(int port, const char *prefix);
/* The server behind the WHICH-th relay is AWAY: connections end, and new ones at
 * once. Or it is back. */
void relay_away(unsigned which, bool away);
/* Do the logs in both end alike, and does neither say that one is alone? */
bool relay_together(void);

#endif
