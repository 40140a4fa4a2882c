/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What all backends that speak through libcurl have in common. Private to
 * lib/store.
 */
#ifndef RJ_STORE_CURL_H
#define RJ_STORE_CURL_H

#include <curl/curl.h>
#include <signal.h>
#include <stdbool.h>

#include "store/store.h"
#include "util/error.h"

/*
 * A new easy handle with what OPTS and its conf say: time limits, proxy, CA,
 * client certificate, and whether the server's is checked. Quiet, without
 * signals, without redirects; PROTOCOLS ("http", "ftp,ftps") are all it may
 * speak. DETAIL (CURL_ERROR_SIZE bytes) receives curl's own words on errors and
 * must outlive the handle. NAME is for messages. Credentials are the caller's
 * to set. RJ_E_NOMEM, RJ_E_IO: libcurl does not start, RJ_E_INVAL: it does not
 * have what was asked for.
 */
int rj_curl_new(const char *name, const struct rj_store_opts *opts,
	const char *protocols, char *detail, CURL **out, struct rj_error *err);

/*
 * curl_easy_perform, with SIGPIPE kept off the calling thread: OpenSSL writes
 * to closed connections without MSG_NOSIGNAL.
 */
CURLcode rj_curl_perform(CURL *e);
void rj_curl_cleanup(CURL *e); /* the same; NULL-safe */

/* For multi handles and the like: between hold and release. */
struct rj_sigpipe {
	bool pending; /* it was so before us, and stays so */
	sigset_t old;
};
void rj_sigpipe_block(struct rj_sigpipe *p);
void rj_sigpipe_restore(const struct rj_sigpipe *p);

/*
 * What went wrong, in words that any backend can use: no connection, no such
 * name, time limit, certificate, login. PEER is what the other side is called
 * ("journal server"). CODE is not CURLE_OK. Returns the negated code in ERR:
 * RJ_E_UNREACHABLE for what another attempt may cure; RJ_E_DENIED: the
 * certificate, the host key or the login is refused, by us or by them;
 * RJ_E_INVAL: a file of rj.conf cannot be used; RJ_E_PROTOCOL; RJ_E_NOMEM.
 */
int rj_curl_fail(CURL *e, CURLcode code, const char *name, const char *peer,
	const char *detail, const struct rj_store_opts *opts,
	struct rj_error *err);
/* RJ_E_UNREACHABLE: the connection ended without an answer. FRESH: nothing was
 * answered over it before, so that what is there may speak TLS only (another one may
 * just have been closed by a restart). */
int rj_curl_fail_silent(
	bool fresh, const char *name, const char *peer, struct rj_error *err);

#endif
