// SPDX-License-Identifier: GPL-2.0-or-later
#include "control.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "status.h"

#define SECONDS 10 /* a client that has not read it by then is cut off */

struct control {
	struct access_control *access;
	struct evconnlistener *listener;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

static void on_sent(struct bufferevent *bev, void *arg)
{
	bufferevent_free(bev);
}

static void on_end(struct bufferevent *bev, short what, void *arg)
{
	bufferevent_free(bev);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd,
	struct sockaddr *sa, int len, void *arg)
{
	static const struct timeval limit = {SECONDS, 0};
	struct control *c = arg;
	struct rj_buf text = {0};
	struct bufferevent *bev = bufferevent_socket_new(
		evconnlistener_get_base(listener), fd, BEV_OPT_CLOSE_ON_FREE);

	if (!bev) {
		close(fd); /* nothing was sent */
		return;
	}
	bufferevent_setcb(bev, NULL, on_sent, on_end, c);
	bufferevent_set_timeouts(bev, NULL, &limit);
	if (status_json(c->access, &c->access->everybody, &text) ||
		bufferevent_write(bev, text.data, text.len))
		bufferevent_free(bev);
	rj_buf_free(&text);
}

int control_new(struct event_base *base, struct access_control *g,
	struct control **out, struct rj_error *err)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	struct control *c = calloc(1, sizeof(*c));
	mode_t mask;

	if (!c)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	c->access = g;
	if (snprintf(c->path, sizeof(c->path), "%s/control", g->store->dir) >=
		(int)sizeof(c->path)) {
		free(c);
		return rj_fail(err, RJ_E_INVAL,
			"%s: too long a path for a socket: no \"rjserver "
			"stats\"",
			g->store->dir);
	}
	strcpy(sa.sun_path, c->path);
	unlink(c->path);
	mask = umask(0177);
	c->listener = evconnlistener_new_bind(base, on_accept, c,
		LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 8,
		(struct sockaddr *)&sa, sizeof(sa));
	umask(mask);
	if (!c->listener) {
		rj_fail_errno(err, errno, "%s: cannot listen", c->path);
		free(c);
		return -(int)err->code;
	}
	*out = c;
	return 0;
}

void control_free(struct control *c)
{
	if (!c)
		return;
	evconnlistener_free(c->listener);
	unlink(c->path);
	free(c);
}
