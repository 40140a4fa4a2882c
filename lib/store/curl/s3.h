/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* s3+http(s)://: what s3.c, s3-list.c and s3-request.c share. Private to them. */
#ifndef RJ_STORE_S3_H
#define RJ_STORE_S3_H

#include "store/curl/http.h"
#include "store/store.h"
#include "store/url.h"

struct rj_s3 {
	struct rj_store base;
	struct rj_http *http;
	struct rj_conf *conf;
	char *token_header;	     /* x-amz-security-token; NULL: none */
	char prefix[RJ_URL_BYTES];   /* of keys: "" or "a/b/" */
	size_t root;		     /* length of the bucket's own URL */
	struct rj_buf url; /* the bucket's own, "https://host/bucket/", and the
			    * current object or query after it */
};

/* The code and text of an error answer. */
struct rj_s3_said {
	char code[64];
	char text[RJ_HTTP_TEXT]; /* "Code: message"; or the first line */
};

/* Is HOST of a provider that documents that what it acknowledges is stored durably? */
bool rj_s3_host_is_provider(const char *host);
void rj_s3_read_error(const struct rj_http_call *c, struct rj_s3_said *said);
/* Fail for an answer that is not the one asked for. */
int rj_s3_fail(struct rj_s3 *s, const struct rj_http_call *c, const char *verb,
	const char *key, struct rj_error *err);
/* Set S's URL: that of the bucket, and TEXT after it, unchanged.
 * RJ_E_NOMEM. */
int rj_s3_set_url(struct rj_s3 *s, const char *text, struct rj_error *err);
/* Use CONF's settings from here on; a reference is kept. RJ_E_NOMEM. */
int rj_s3_take_conf(struct rj_s3 *s, struct rj_conf *conf);
/* One request to S's URL; ->extra of CALL is set here from the second one on. */
int rj_s3_perform(
	struct rj_s3 *s, struct rj_http_call *call, struct rj_error *err);

#define RJ_S3_UNSIGNED "x-amz-content-sha256: UNSIGNED-PAYLOAD"
extern const char *const rj_s3_plain_headers[]; /* of a request without a body */

int rj_s3_list(struct rj_store *s, const struct rj_key *dir, uint64_t after,
	rj_store_list_fn fn, void *arg, struct rj_error *err);
int rj_s3_list_journals(struct rj_store *s, rj_store_journal_fn fn, void *arg,
	struct rj_error *err);
int rj_s3_remove_below(struct rj_store *s, const struct rj_key *dir,
	uint64_t below, uint64_t least, uint64_t *removed,
	struct rj_error *err);

#endif
