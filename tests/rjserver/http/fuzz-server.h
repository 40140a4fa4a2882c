/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A whole rjserver in one process, for fuzz-request.c: all but main() and
 * TLS, on a socket that needs no port. A clock that stands, and secrets that are
 * the same in each run. What it finds wrong ends the process. */
#ifndef TESTS_RJSERVER_FUZZ_SERVER_H
#define TESTS_RJSERVER_FUZZ_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "rjserver/access/accounts.h"

#define OWN    "host1" /* the account, and how its volumes' names begin */
#define OTHER  "other" /* a volume of somebody else */
#define UUID   "0fedcba9-8765-4321-0123-456789abcdef"
#define SECRET "what-only-the-other-account-may-read"
#define KEPT   4 /* objects 1 to KEPT that are there at the start of each input */

/* What came of the requests since server_reset(). */
struct outcome {
	unsigned asked, answered; /* requests that got to the gate */
	unsigned stored;          /* answered 201 or 204 */
	int strange;              /* a status that shows a fault; 0: none */
	bool let_in;              /* one was answered with other than 401 */
};

extern struct outcome outcome;
extern char server_token[TOKEN_TEXT]; /* of OWN */

void broken(const char *what) __attribute__((noreturn));

void server_start(void);
/* A new connection to it; nonblocking. */
int server_connect(void);
/* INSECURE: everybody may do all; else as OWN's account says. */
void server_reset(bool insecure);
/* Do all that can be done without waiting. */
void server_turn(void);
/* Look at all that is stored, and leave it as it was at the start. */
void server_restore(bool insecure);

#endif
