/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* With which key, and whether compressed, the segments of a log are sealed. */
#ifndef RJ_LOG_SEALING_H
#define RJ_LOG_SEALING_H

#include <stdbool.h>
#include <stdint.h>

#include "log/log.h"
#include "segment/sealkey.h"
#include "util/error.h"

struct rj_log_sealing {
	struct rj_sealkey *key; /* NULL: not encrypted */
	bool compress;
};

/* KEYFILE of an encrypted log of whose key there is no copy. */
#define RJ_SEALING_KEY_LOST "none"

/*
 * How the log at URL is sealed: KEYFILE (-J key=) if not NULL, else the keyfile
 * and compress of rj.conf for URL. FINGERPRINT is what the volume knows of its
 * key (16 bytes; all zero: none); NULL for a log that is yet to be made.
 * RJ_E_KEY: the volume's log is encrypted and no key is named, or another one;
 * or a key is named (by KEYFILE) and the log is not encrypted. Also what
 * rj_sealkey_load() and rj_conf_load() return; OUT is then empty. All these have
 * RJ_CAUSE_SETTINGS (but for RJ_E_NOMEM): they say nothing of the log. Only
 * RJ_SEALING_KEY_LOST does, with a fingerprint: RJ_E_NOTFOUND, without a cause.
 */
int rj_log_sealing_load(const char *url, const char *keyfile,
	const uint8_t *fingerprint, struct rj_log_sealing *out,
	struct rj_error *err);
/* Let ID's log be sealed so. S must outlive what is opened with ID. */
void rj_log_sealing_use(const struct rj_log_sealing *s, struct rj_log_id *id);
/* Wipes the key. NULL-safe, and may be called twice. */
void rj_log_sealing_free(struct rj_log_sealing *s);

#endif
