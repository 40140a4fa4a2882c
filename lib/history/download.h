/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A base that is kept at a store. */
#ifndef RJ_HISTORY_DOWNLOAD_H
#define RJ_HISTORY_DOWNLOAD_H

#include "history/base/manifest.h"
#include "history/base.h"

struct rj_download;

/*
 * Open the base at URL, of all logs there the one that was finished last, or number N of
 * "URL#N"; F tells of it. KEYFILE NULL: the one of rj.conf for URL.
 * RJ_E_NOTFOUND: there is none, or it was not finished; RJ_E_KEY: encrypted, and there is no
 * key, or another one; RJ_E_CORRUPT. The store's errors.
 */
int rj_download_open(const char *url, const char *keyfile, struct rj_base_facts *f,
	struct rj_download **out, struct rj_error *err);
/*
 * Open BASE and look at it: of a file *FROM gets a descriptor, which keeps the base locked, shared,
 * until it is closed in each process that has it; of the URL of a store *DOWN gets a download.
 * Errors as of rj_base_open() and rj_base_look(), or rj_download_open().
 */
int rj_base_or_download(const char *base, const char *keyfile, struct rj_base_facts *facts,
	int *from, struct rj_download **down, struct rj_error *err);
/* Its first bytes. */
const uint8_t *rj_download_head(const struct rj_download *d);
/* Write all but them into FD, an empty file that is long enough. As rj_stored_fetch(). */
int rj_download_copy(const struct rj_download *d, int fd, const char *to,
	int (*progress)(void *arg, uint64_t done, uint64_t total), void *arg,
	struct rj_error *err);
/* Make the empty file open as SCRATCH the base that F tells of, marked as a base. */
int rj_download_scratch(const struct rj_download *d, const struct rj_base_facts *f, int scratch,
	int (*progress)(void *arg, uint64_t done, uint64_t total), void *arg,
	struct rj_error *err);
void rj_download_free(struct rj_download *d); /* NULL-safe */

#endif
