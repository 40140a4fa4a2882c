/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The key of a volume: 32 random bytes in a file of mode 0600. No segment is
 * ever sealed with these bytes themselves; each writer seals with a key that
 * HKDF derives from them, from the journal's UUID and from its own nonce.
 */
#ifndef RJ_SEGMENT_SEALKEY_H
#define RJ_SEGMENT_SEALKEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

#define RJ_SEALKEY_BYTES		 32
#define RJ_SEALKEY_FINGERPRINT_BYTES 16
/* a fingerprint in hexadecimal, with the NUL */
#define RJ_SEALKEY_FINGERPRINT_TEXT (2 * RJ_SEALKEY_FINGERPRINT_BYTES + 1)

struct rj_sealkey; /* wiped from memory by rj_sealkey_free() */

/*
 * Read the key file PATH: the line "rj-key 1", then 64 hexadecimal digits.
 * RJ_E_DENIED: others than its owner may read or write it. RJ_E_CORRUPT: not
 * such a file. RJ_E_NOTFOUND, RJ_E_IO. The caller frees OUT.
 */
int rj_sealkey_load(const char *path, struct rj_sealkey **out, struct rj_error *err);

/* From 32 bytes that the caller has, and wipes. */
int rj_sealkey_from_bytes(const uint8_t bytes[RJ_SEALKEY_BYTES], struct rj_sealkey **out,
	struct rj_error *err);

/*
 * Make a new key file PATH, mode 0600, durable when this returns. An existing
 * file is never overwritten: RJ_E_EXISTS.
 */
int rj_sealkey_generate(const char *path, struct rj_error *err);

/* What names a key without telling it: 16 bytes of an HKDF of its own, never
 * all zero. */
const uint8_t *rj_sealkey_fingerprint(const struct rj_sealkey *key);
void rj_sealkey_fingerprint_text(const uint8_t fp[RJ_SEALKEY_FINGERPRINT_BYTES],
	char text[RJ_SEALKEY_FINGERPRINT_TEXT]);
/* All zero: no key. */
bool rj_sealkey_fingerprint_set(const uint8_t fp[RJ_SEALKEY_FINGERPRINT_BYTES]);

/*
 * The key that the writer with NONCE (16 bytes) seals segments of the journal
 * JOURNAL_UUID (16 bytes) with. The caller wipes OUT (OPENSSL_cleanse()).
 */
int rj_sealkey_derive(const struct rj_sealkey *key, const uint8_t *journal_uuid,
	const uint8_t *nonce, uint8_t out[RJ_SEALKEY_BYTES], struct rj_error *err);

#define RJ_SEALKEY_TAG_BYTES 32
/* What only the key's holders can say of LEN bytes DATA (public, of the journal
 * JOURNAL_UUID): 32 bytes of an HKDF of its own over their SHA-256. */
int rj_sealkey_tag(const struct rj_sealkey *key, const uint8_t *journal_uuid,
	const void *data, size_t len, uint8_t out[RJ_SEALKEY_TAG_BYTES],
	struct rj_error *err);
/* Is TAG that? In constant time. */
bool rj_sealkey_tag_fits(const struct rj_sealkey *key,
	const uint8_t *journal_uuid, const void *data, size_t len,
	const uint8_t tag[RJ_SEALKEY_TAG_BYTES]);

/* NULL-safe; wipes the bytes. */
void rj_sealkey_free(struct rj_sealkey *key);

#endif
