/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What store.c asks of a backend, and of the module librj-curl, which holds the backends that
 * use libcurl (store/curl, store/tree). Private to lib/store: one file per backend, one line
 * in the table of store.c.
 */
#ifndef RJ_STORE_BACKEND_H
#define RJ_STORE_BACKEND_H

#include "store/store.h"
#include "store/url.h"

/*
 * Open the store of URL, whose scheme is the backend's own; OPTS is complete
 * (no zeros, and conf is never NULL: a store that uses it later takes a reference).
 * OUT may be NULL: only check URL. The backend fills the whole head of its struct.
 */
typedef int (*rj_backend_open)(const struct rj_url *url,
	const struct rj_store_opts *opts, struct rj_store **out,
	struct rj_error *err);

int rj_store_file_open(const struct rj_url *url,
	const struct rj_store_opts *opts, struct rj_store **out,
	struct rj_error *err);
int rj_store_rj_open(const struct rj_url *url, const struct rj_store_opts *opts,
	struct rj_store **out, struct rj_error *err);

/* In the module librj-curl: */
int rj_store_dav_open(const struct rj_url *url,
	const struct rj_store_opts *opts, struct rj_store **out,
	struct rj_error *err);
int rj_store_s3_open(const struct rj_url *url, const struct rj_store_opts *opts,
	struct rj_store **out, struct rj_error *err);
int rj_store_ftp_open(const struct rj_url *url,
	const struct rj_store_opts *opts, struct rj_store **out,
	struct rj_error *err);
int rj_store_sftp_open(const struct rj_url *url,
	const struct rj_store_opts *opts, struct rj_store **out,
	struct rj_error *err);
int rj_store_imap_open(const struct rj_url *url,
	const struct rj_store_opts *opts, struct rj_store **out,
	struct rj_error *err);

struct rj_http1_conn;

/* The functions of the module librj-curl. */
struct rj_curl_module {
	rj_backend_open dav, s3, ftp, sftp, imap;
	/* Connect C to BASE ("https://host:port") of rjserver by libcurl, through the proxy of
	 * its settings or of the environment: HTTP's CONNECT. Errors as of
	 * rj_http1_connect(). */
	int (*connect)(struct rj_http1_conn *c, const char *base, struct rj_error *err);
};

/* Get these functions. Errors as of rj_module_load(). */
int rj_curl_module(const struct rj_curl_module **out, struct rj_error *err);

#endif
