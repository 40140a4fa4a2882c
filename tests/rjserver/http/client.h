/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small HTTP client for the load tool: one connection, kept alive; one
 * request is one writev(), so that it measures the server and not itself.
 */
#ifndef RJ_TESTS_RJSERVER_CLIENT_H
#define RJ_TESTS_RJSERVER_CLIENT_H

#include <stddef.h>
#include <stdint.h>

struct client {
	int fd;
	char *in; /* answer: head, then body */
	size_t cap;
	size_t body_at, body_len;
	const char *more; /* header lines with CR LF, or NULL */
};

/* 0, or -1: no connection. */
int client_open(struct client *c, int port);
void client_close(struct client *c);
/* The status, or -1: the connection broke. BODY may be NULL. */
int client_ask(struct client *c, const char *method, const char *path,
	const void *body, size_t len);
/* Its two halves: 0, or -1; and the status, or -1. */
int client_send(struct client *c, const char *method, const char *path,
	const void *body, size_t len);
int client_answer(struct client *c);

#endif
