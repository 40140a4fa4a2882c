/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Make libcurl handles by the settings of a store, and turn libcurl's errors into ours.
 * Private to lib/store.
 */
#ifndef RJ_STORE_CURL_H
#define RJ_STORE_CURL_H

#include <curl/curl.h>
#include <signal.h>
#include <stdbool.h>

#include "store/http/http-call.h"
#include "store/store.h"
#include "util/error.h"

/*
 * Make an easy handle with the settings of OPTS and its conf: time limits, proxy, CA,
 * client certificate, and whether the server's certificate is checked. No output, no
 * signals, no redirects, no protocols but PROTOCOLS ("http", "ftp,ftps"). DETAIL
 * (CURL_ERROR_SIZE bytes) receives curl's own words on errors and must outlive the
 * handle. NAME is for messages. The caller sets the credentials, and frees *OUT by
 * rj_curl_cleanup(). RJ_E_NOMEM; RJ_E_IO: libcurl does not start; RJ_E_INVAL: this
 * libcurl lacks a protocol or option that is needed.
 */
int rj_curl_new(const char *name, const struct rj_store_opts *opts,
	const char *protocols, char *detail, CURL **out, struct rj_error *err);

/* Make a handle for P by rj_curl_new(), with its errors. For a server on this machine the
 * environment's proxy is not used. */
int rj_curl_new_http(const struct rj_http_peer *p, char *detail, CURL **out,
	struct rj_error *err);

/*
 * curl_easy_perform, with SIGPIPE blocked in the calling thread: OpenSSL writes
 * to closed connections without MSG_NOSIGNAL.
 */
CURLcode rj_curl_perform(CURL *e);
void rj_curl_cleanup(CURL *e); /* also with SIGPIPE blocked; NULL-safe */

/* For other calls of libcurl: between block and restore. */
struct rj_sigpipe {
	bool pending; /* one was pending before, and stays so */
	sigset_t old;
};
void rj_sigpipe_block(struct rj_sigpipe *p);
void rj_sigpipe_restore(const struct rj_sigpipe *p);

/*
 * Fail for libcurl's CODE (not CURLE_OK), in words for any backend: no connection, no
 * such name, time limit, certificate, login. PEER names the server in messages
 * ("journal server"). Returns the negated code in ERR: RJ_E_UNREACHABLE if another
 * attempt may succeed; RJ_E_DENIED: the certificate, the host key or the login is
 * refused, by us or by the server; RJ_E_INVAL: a file of rj.conf cannot be used;
 * RJ_E_PROTOCOL; RJ_E_NOMEM.
 */
int rj_curl_fail(CURL *e, CURLcode code, const char *name, const char *peer,
	const char *detail, const struct rj_store_opts *opts,
	struct rj_error *err);

#endif
