/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A TCP server on loopback that answers badly, as told: what a broken network
 * or a wrong server would do. It is not a journal server; with an upstream it
 * is a proxy that loses answers.
 */
#ifndef RJ_TEST_SUPPORT_BADSERVER_H
#define RJ_TEST_SUPPORT_BADSERVER_H

#include <stddef.h>

enum bad_end {
	BAD_KEEP,  /* go on with the next request of the connection */
	BAD_CLOSE, /* close it in order */
	BAD_RESET, /* close it with a reset */
	BAD_HANG,  /* keep it open and say no more */
	BAD_EARLY, /* the same, and never read the request's body */
	BAD_LATE,  /* as BAD_HANG, and read the request's body 1.5 s late */
	BAD_DRIP,  /* send an 'x' now and then until nobody takes it */
	BAD_FLOOD, /* send pieces of a chunked body until nobody takes them */
};

struct bad_act {
	const char *answer; /* sent as it is; NULL: nothing */
	enum bad_end end;
	/* not 0: pass the request to this port on loopback first, wait for its
	 * whole answer, and throw that away */
	int upstream;
	unsigned times; /* requests served so; 0: all */
};

struct bad_server;

/* Serve the acts one after the other, from then on the last one. ACTS must
 * outlive the server. Ends the program on failure. */
struct bad_server *bad_start(const struct bad_act *acts, size_t count);
/* The same, over TLS, with a certificate that no CA has signed. SIGPIPE is ignored from
 * then on. */
struct bad_server *bad_start_tls(const struct bad_act *acts, size_t count);
/* The same, which demands a certificate of its clients: those without are refused. */
struct bad_server *bad_start_strict(const struct bad_act *acts, size_t count);
int bad_port(const struct bad_server *b);
/* Send TEXT over the last connection, which is there: nobody asked for it. */
void bad_say(struct bad_server *b, const char *text);
/* Whole requests received so far, and connections accepted. */
unsigned bad_requests(struct bad_server *b);
unsigned bad_connections(struct bad_server *b);
/* The head of the last request, NUL-terminated. */
const char *bad_last_head(struct bad_server *b);
void bad_stop(struct bad_server *b);

#endif
