// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the interface by a route to the store; read sysfs and the power mode of an ATA disk. */
#include "link-disk.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <scsi/sg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "store/url.h"

/* IFF_DORMANT: <linux/if.h> does not go with <net/if.h>. */
#define LINK_DORMANT (1u << 17)

/* Read the first line of /sys/DIR/WHICH/FILE; false: there is none. */
static bool read_word(const char *dir, const char *which, const char *file,
	char *out, size_t size)
{
	char path[512];
	FILE *f;
	bool got;

	snprintf(path, sizeof(path), "/sys/%s/%s/%s", dir, which, file);
	f = fopen(path, "re");
	if (!f)
		return false;
	got = fgets(out, (int)size, f) != NULL;
	fclose(f);
	out[got ? strcspn(out, "\n") : 0] = 0;
	return got;
}

/* ---- the link ---- */

void rj_route_init(struct rj_route *r, const char *url)
{
	struct rj_url u;
	size_t len;

	memset(r, 0, sizeof(*r));
	if (rj_url_parse(url, &u, NULL) || !u.host[0])
		return;
	len = strlen(u.host);
	if (u.host[0] == '[') /* IPv6 */
		snprintf(r->host, sizeof(r->host), "%.*s", (int)len - 2,
			u.host + 1);
	else
		snprintf(r->host, sizeof(r->host), "%s", u.host);
	/* which one does not matter to the route */
	snprintf(r->port, sizeof(r->port), "%u", u.port ? u.port : 443u);
}

static void resolve(struct rj_route *r)
{
	struct addrinfo hints = {.ai_socktype = SOCK_DGRAM}, *all = NULL;

	if (getaddrinfo(r->host, r->port, &hints, &all))
		return;
	memcpy(&r->to, all->ai_addr, all->ai_addrlen);
	r->to_len = all->ai_addrlen;
	freeaddrinfo(all);
}

/* The address that we would send from: connecting a datagram socket asks the
 * routing table, and sends nothing. */
static bool source_of(const struct rj_route *r, struct sockaddr_storage *from)
{
	socklen_t len = sizeof(*from);
	int fd = socket(r->to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool found;

	if (fd == -1)
		return false;
	found = !connect(fd, (const struct sockaddr *)&r->to, r->to_len) &&
		!getsockname(fd, (struct sockaddr *)from, &len);
	close(fd);
	return found;
}

static bool same_address(
	const struct sockaddr *a, const struct sockaddr_storage *b)
{
	if (!a || a->sa_family != b->ss_family)
		return false;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return a->sa_family == AF_INET6 &&
	       !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
		       &((const struct sockaddr_in6 *)b)->sin6_addr,
		       sizeof(struct in6_addr));
}

static bool suspended(const char *dir, const char *which)
{
	char word[32];

	return read_word(dir, which, "device/power/runtime_status", word,
		       sizeof(word)) &&
	       !strcmp(word, "suspended");
}

/* By the interface's flags, which the kernel gives for our network namespace:
 * IFF_RUNNING is its operational state, and an unknown one counts as up. */
static enum rj_link link_of(const char *name, unsigned flags)
{
	if (!(flags & IFF_UP) || !(flags & IFF_RUNNING))
		return RJ_LINK_DOWN;
	if (flags & LINK_DORMANT || suspended("class/net", name))
		return RJ_LINK_ASLEEP;
	return RJ_LINK_UP;
}

enum rj_link rj_link_state(struct rj_route *r)
{
	enum rj_link link = r->name[0] ? RJ_LINK_DOWN : RJ_LINK_UNKNOWN;
	struct sockaddr_storage from = {0};
	struct ifaddrs *all = NULL, *i;

	if (!r->host[0])
		return RJ_LINK_UNKNOWN;
	if (!r->to_len)
		resolve(r);
	if (!r->to_len)
		return RJ_LINK_UNKNOWN;
	if (!source_of(r, &from))
		return link;
	if (getifaddrs(&all))
		return RJ_LINK_UNKNOWN;
	for (i = all; i; i = i->ifa_next) {
		if (!same_address(i->ifa_addr, &from))
			continue;
		snprintf(r->name, sizeof(r->name), "%s", i->ifa_name);
		link = link_of(i->ifa_name, i->ifa_flags);
		break;
	}
	freeifaddrs(all);
	return link;
}

/* ---- the disk ---- */

#define ATA_16		     0x85
#define ATA_NON_DATA	     (3 << 1)
#define ATA_WANT_REGISTERS   (1 << 5)
#define ATA_CHECK_POWER_MODE 0xE5
#define ATA_RETURN	     0x09 /* a sense descriptor */
#define SENSE_DESCRIPTORS    0x72
#define ATA_LIMIT_MS	     2000

/* What CHECK POWER MODE answers in its count register: 0 standby, 1 sleep (as
 * some say), 0x40 and above: spinning. The command wakes nothing up. -1: this is
 * no ATA disk. */
static int ata_power(const char *device)
{
	uint8_t command[16] = {ATA_16, ATA_NON_DATA, ATA_WANT_REGISTERS,
		[14] = ATA_CHECK_POWER_MODE};
	uint8_t sense[32] = {0};
	struct sg_io_hdr io = {
		.interface_id = 'S',
		.dxfer_direction = SG_DXFER_NONE,
		.cmd_len = sizeof(command),
		.cmdp = command,
		.mx_sb_len = sizeof(sense),
		.sbp = sense,
		.timeout = ATA_LIMIT_MS,
	};
	int fd = open(device, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int rc = fd == -1 ? -1 : ioctl(fd, SG_IO, &io);

	if (fd != -1)
		close(fd);
	if (rc || (sense[0] & 0x7f) != SENSE_DESCRIPTORS ||
		sense[8] != ATA_RETURN || io.host_status)
		return -1;
	return sense[13];
}

enum rj_disk rj_disk_state(const char *file)
{
	char number[32], up[48], word[64], device[96], path[512];
	struct stat st;
	dev_t dev;
	int power;

	if (stat(file, &st))
		return RJ_DISK_UNKNOWN;
	dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	snprintf(number, sizeof(number), "%u:%u", major(dev), minor(dev));
	snprintf(path, sizeof(path), "/sys/dev/block/%s/partition", number);
	snprintf(up, sizeof(up), "%s%s", number,
		access(path, F_OK) ? "" : "/..");
	/* not to be opened: that would resume it */
	if (suspended("dev/block", up))
		return RJ_DISK_ASLEEP;
	if (!read_word("dev/block", up, "dev", word, sizeof(word)))
		return RJ_DISK_UNKNOWN;
	snprintf(device, sizeof(device), "/dev/block/%s", word);
	power = ata_power(device);
	return power < 0     ? RJ_DISK_UNKNOWN
	       : power < 0x40 ? RJ_DISK_ASLEEP
			      : RJ_DISK_AWAKE;
}
