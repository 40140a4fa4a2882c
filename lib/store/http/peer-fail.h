/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fail, in the same words whatever makes the connection, for what can go wrong between a
 * host and its store: names, connections, time limits, TLS, certificates. In all of them NAME
 * is the store's URL, PEER names the server ("journal server"), and DETAIL has a library's
 * own words. Returns the negated code in ERR. Private to lib/store.
 */
#ifndef RJ_STORE_PEER_FAIL_H
#define RJ_STORE_PEER_FAIL_H

#include <stdbool.h>

#include "store/store.h"
#include "util/error.h"

/* RJ_E_UNREACHABLE: no name server knows WHAT ("host", "proxy"). */
int rj_peer_fail_name(
	const char *name, const char *peer, const char *what, struct rj_error *err);
/* RJ_E_UNREACHABLE: no connection; SYS_ERRNO says why (0: not known). */
int rj_peer_fail_connect(
	const char *name, const char *peer, int sys_errno, struct rj_error *err);
/* RJ_E_UNREACHABLE: the time limit of OPTS ended before there was a connection. */
int rj_peer_fail_connect_time(const char *name, const char *peer,
	const struct rj_store_opts *opts, struct rj_error *err);
/* RJ_E_UNREACHABLE: the time limit of OPTS ended before the answer. */
int rj_peer_fail_time(const char *name, const char *peer,
	const struct rj_store_opts *opts, struct rj_error *err);
/* RJ_E_UNREACHABLE: give_up of the store's options was set. */
int rj_peer_fail_given_up(const char *name, const char *peer, struct rj_error *err);
/* RJ_E_UNREACHABLE: no TLS connection. */
int rj_peer_fail_tls(
	const char *name, const char *peer, const char *detail, struct rj_error *err);
/* RJ_E_UNREACHABLE: the connection was lost; perhaps since our certificate was refused. */
int rj_peer_fail_lost(
	const char *name, const char *peer, const char *detail, struct rj_error *err);
/* RJ_E_DENIED: the server's certificate or host key is not trusted. */
int rj_peer_fail_identity(
	const char *name, const char *peer, const char *detail, struct rj_error *err);
/* RJ_E_INVAL: a certificate or key that rj.conf names. */
int rj_peer_fail_certificate_file(const char *name, const char *detail, struct rj_error *err);
/* RJ_E_UNREACHABLE: the connection ended without an answer. FRESH: it is the first
 * request over it, so the message says that the server may expect TLS. (On a used
 * connection the server may just have restarted.) */
int rj_peer_fail_silent(
	bool fresh, const char *name, const char *peer, struct rj_error *err);

#endif
