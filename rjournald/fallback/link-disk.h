/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ask the kernel for what the arbiter decides by, without waking a device: the
 * state of the network interface that leads to the store, and of the disk
 * that holds the fallback file.
 */
#ifndef RJ_JOURNALD_LINK_DISK_H
#define RJ_JOURNALD_LINK_DISK_H

#include <net/if.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "arbiter.h"

struct rj_route {
	char host[256]; /* of the store; "": it has none */
	char port[8];
	struct sockaddr_storage to; /* where that is */
	socklen_t to_len;	    /* 0: not found out yet */
	char name[IF_NAMESIZE];	    /* the interface, as last seen; "" */
};

/* Set R to the store at URL. Sends no request. */
void rj_route_init(struct rj_route *r, const char *url);
/*
 * Get the state of the interface over which packets to the store leave. Looks up
 * the store's address once, as soon as that is possible (which may take as long as
 * a name server does); an interface that was in use and through which no route
 * leads any more counts as down. A store without a host, or whose route was
 * never seen: RJ_LINK_UNKNOWN.
 */
enum rj_link rj_link_state(struct rj_route *r);

/*
 * Get the state of the disk below FILE: asleep if it is suspended (runtime power
 * management), or an ATA disk in standby or sleep. RJ_DISK_UNKNOWN: the kernel does not
 * know, as of most virtual disks, and of devices on several disks (LVM, RAID, loop).
 */
enum rj_disk rj_disk_state(const char *file);

#endif
