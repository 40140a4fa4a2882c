// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/http/dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#include "store/http/peer-fail.h"
#include "store/http/resolve.h"
#include "util/environ.h"

#define MS	 1000000ll
#define NEXT_NS	 (250 * MS) /* until the next address is tried, too */
#define GIVE_UP_NS (100 * MS)
#define ALIVE_S	 60 /* of silence, until the connection is tried */

struct dial {
	const struct rj_http_peer *peer;
	struct rj_addresses to;
	struct pollfd tries[RJ_ADDRESSES]; /* fd -1: over */
	int begun;     /* of the addresses */
	int open;      /* tries that go on */
	int64_t next;  /* when the next address is tried, monotonic */
	int sys_errno; /* of the last one that failed; one that has no route does not count */
};

static void set_options(int fd)
{
	int on = 1, alive = ALIVE_S;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &alive, sizeof(alive));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &alive, sizeof(alive));
}

/* Note that an address failed by E. An address of a kind that this host does not reach, such as
 * IPv6, is not the cause if an address before it failed in another way. */
static void note_failure(struct dial *d, int e)
{
	bool nowhere = e == ENETUNREACH || e == EAFNOSUPPORT || e == EADDRNOTAVAIL;

	if (!nowhere || !d->sys_errno)
		d->sys_errno = e;
}

/* The try T failed by E. */
static void end_try(struct dial *d, struct pollfd *t, int e)
{
	close(t->fd);
	t->fd = -1;
	d->open--;
	note_failure(d, e);
	d->next = 0; /* at once */
}

static void begin_next(struct dial *d)
{
	struct pollfd *t = &d->tries[d->begun];
	const struct sockaddr *to = (const struct sockaddr *)&d->to.at[d->begun].address;
	socklen_t bytes = d->to.at[d->begun++].bytes;

	t->events = POLLOUT;
	t->revents = 0;
	t->fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (t->fd < 0) { /* a host without IPv6 */
		note_failure(d, errno);
		return;
	}
	d->open++;
	d->next = rj_monotonic_ns() + NEXT_NS;
	set_options(t->fd);
	if (connect(t->fd, to, bytes) && errno != EINPROGRESS && errno != EINTR)
		end_try(d, t, errno);
}

/* Wait for one of the tries, or the time of the next one. The socket that is connected; -1:
 * none yet. */
static int wait_for_one(struct dial *d, int64_t until_ns)
{
	int64_t now = rj_monotonic_ns(), until = until_ns;
	socklen_t len = sizeof(int);
	int i, e;

	if (d->begun < d->to.count && d->next < until)
		until = d->next;
	if (d->peer->opts.give_up && now + GIVE_UP_NS < until)
		until = now + GIVE_UP_NS;
	if (poll(d->tries, (nfds_t)d->begun,
		    until > now ? (int)((until - now + MS - 1) / MS) : 0) <= 0)
		return -1;
	for (i = 0; i < d->begun; i++) {
		if (d->tries[i].fd < 0 || !d->tries[i].revents)
			continue;
		if (getsockopt(d->tries[i].fd, SOL_SOCKET, SO_ERROR, &e, &len))
			e = errno;
		if (!e)
			return d->tries[i].fd;
		end_try(d, &d->tries[i], e);
	}
	return -1;
}

static int try_all(struct dial *d, int64_t until_ns, int *fd, struct rj_error *err)
{
	const struct rj_http_peer *p = d->peer;
	int64_t now;

	for (*fd = -1; *fd < 0; *fd = wait_for_one(d, until_ns)) {
		now = rj_monotonic_ns();
		if (p->opts.give_up && *p->opts.give_up)
			return rj_peer_fail_given_up(p->name, p->setup.peer, err);
		if (now >= until_ns)
			return rj_peer_fail_connect_time(p->name, p->setup.peer, &p->opts, err);
		while (d->begun < d->to.count && (now >= d->next || !d->open))
			begin_next(d);
		if (!d->open)
			return rj_peer_fail_connect(p->name, p->setup.peer, d->sys_errno, err);
	}
	return 0;
}

int rj_dial(const struct rj_http_peer *p, uint16_t port, int64_t until_ns, int *fd,
	struct rj_error *err)
{
	struct dial d = {.peer = p};
	int rc, i;

	*fd = -1;
	switch (rj_resolve(p->host, port, until_ns, p->opts.give_up, &d.to)) {
	case RJ_RESOLVED_NOTHING:
		return rj_peer_fail_name(p->name, p->setup.peer, "host", err);
	case RJ_RESOLVED_LATE:
		return rj_peer_fail_connect_time(p->name, p->setup.peer, &p->opts, err);
	case RJ_RESOLVED_GIVEN_UP:
		return rj_peer_fail_given_up(p->name, p->setup.peer, err);
	case RJ_RESOLVED:
		break;
	}
	rc = try_all(&d, until_ns, fd, err);
	for (i = 0; i < d.begun; i++)
		if (d.tries[i].fd >= 0 && d.tries[i].fd != *fd)
			close(d.tries[i].fd);
	return rc;
}
