/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Find the addresses of a host, within a time limit. Private to lib/store. */
#ifndef RJ_STORE_RESOLVE_H
#define RJ_STORE_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define RJ_ADDRESSES 16 /* of a host, that are tried */

struct rj_addresses {
	int count;
	struct {
		struct sockaddr_storage address;
		socklen_t bytes;
	} at[RJ_ADDRESSES];
};

enum rj_resolved {
	RJ_RESOLVED,	     /* one address at least */
	RJ_RESOLVED_NOTHING, /* no such name, or no name server that answers */
	RJ_RESOLVED_LATE,    /* the time limit */
	RJ_RESOLVED_GIVEN_UP,
};

/*
 * Find the addresses of HOST (a name, or an address; IPv6 in brackets) with PORT, in the
 * order in which they are to be tried. Names are looked up by a thread, since a name server
 * that does not answer takes longer than UNTIL_NS (monotonic). "localhost" and what ends with
 * ".localhost" is this machine, whatever a name server says (RFC 6761). GIVE_UP may be NULL.
 */
enum rj_resolved rj_resolve(const char *host, uint16_t port, int64_t until_ns,
	const _Atomic bool *give_up, struct rj_addresses *out);

#endif
