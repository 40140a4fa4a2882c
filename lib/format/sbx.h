/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The superblock extension: 256 bytes of ours in the reserved part of an
 * ext2/3/4 superblock, at byte 0x2FC of the superblock (0x6FC of the volume
 * for the primary copy). Byte-exact in doc/superblock-extension.md.
 */
#ifndef RJ_FORMAT_SBX_H
#define RJ_FORMAT_SBX_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"
#include "util/uuid.h"

#define RJ_SBX_OFFSET	  0x2FC /* in the 1024-byte superblock */
#define RJ_SBX_BYTES	  256
#define RJ_SBX_MAGIC	  "RJSB"
#define RJ_SBX_VERSION	  1
#define RJ_SBX_URL_BYTES  128 /* with the NUL */

enum rj_placement {
	RJ_PLACE_NONE = 0,     /* no journal */
	RJ_PLACE_INTERNAL = 1, /* inode 8 */
	RJ_PLACE_DEVICE = 2,   /* an external journal device */
	RJ_PLACE_REMOTE = 3,   /* a remote log, at url */
};

/* What the live path does when the store is lost. */
enum rj_on_loss {
	RJ_LOSS_BLOCK = 0, /* wait until it is back */
	RJ_LOSS_ERROR = 1, /* fail the journal's I/O */
	RJ_LOSS_LOCAL = 2, /* go on in the fallback file */
};

/*
 * Feature words. A reader refuses a volume with an unknown bit in incompat,
 * opens it only for reading with an unknown bit in ro_compat, and ignores
 * unknown bits in compat.
 */
#define RJ_SBX_INCOMPAT_LOG_VOID 0x1 /* the remote log must never be replayed: it was
				      * given up, and a whole-volume check done
				      * instead */
#define RJ_SBX_INCOMPAT_CHECK_PENDING 0x2 /* with LOG_VOID: that check has begun and
				      * was not yet confirmed; repeat it */
#define RJ_SBX_INCOMPAT_TWO_STORES 0x8 /* reserved: url is "URL1,URL2", two stores
				      * of one log; always refused */
#define RJ_SBX_INCOMPAT_FALLBACK 0x4 /* url is followed by the fallback's path */
#define RJ_SBX_INCOMPAT_BASE 0x10 /* a base of rjbackup (format/sbx-base.h), not a
				   * volume: always refused */
#define RJ_SBX_INCOMPAT_KNOWN \
	(RJ_SBX_INCOMPAT_LOG_VOID | RJ_SBX_INCOMPAT_CHECK_PENDING | \
		RJ_SBX_INCOMPAT_FALLBACK)
/* What the store was seen to do when the log was begun there. */
#define RJ_SBX_PROBED_A	      0x1 /* put-if-absent is exclusive: mode A */
#define RJ_SBX_PROBED_B	      0x2 /* making a folder is: mode B */
#define RJ_SBX_PROBED_RACED   0x4 /* a race was made, and one racer won each round;
				   * else only this kind of store's own claim */
#define RJ_SBX_PROBED_DURABLE 0x8 /* what is acknowledged survives the store's
				   * power cut */
#define RJ_SBX_PROBED_KNOWN   0xF

#define RJ_SBX_RO_COMPAT_KNOWN	 0
#define RJ_SBX_COMPAT_KNOWN	 0

/* The memory form. */
struct rj_sbx {
	uint32_t incompat, ro_compat, compat;
	enum rj_placement placement;
	enum rj_on_loss on_loss;
	bool ack_received; /* ack=received: the store need not be durable */
	uint32_t generation; /* counts writes of the extension; newest copy wins */
	uint8_t journal_uuid[RJ_UUID_BYTES];
	uint64_t epoch; /* highest epoch this volume is known to have claimed */
	uint64_t floor; /* segments up to this number were acknowledged */
	uint32_t journal_blocks; /* size of the journal, in volume blocks */
	uint8_t key_fingerprint[16]; /* all zero: no key */
	/* The move under way (0: none); its meaning is in journal/move.h. */
	uint8_t intent_op, intent_state, intent_placement;
	uint8_t intent_uuid[RJ_UUID_BYTES];
	uint32_t intent_blocks;
	uint64_t redo_block; /* where its redo record begins; 0: none */
	/* The last move that was finished, and when (seconds since 1970; 0:
	 * none is known). */
	enum rj_placement moved_from, moved_to;
	uint64_t moved_at;
	uint8_t probed;	     /* RJ_SBX_PROBED_* of the log at url; 0: not known */
	uint16_t probed_day; /* when, in days since 1970 UTC */
	/* "" unless placement is remote */
	char url[RJ_SBX_URL_BYTES];
	/* The fallback's path; "" if there is none. With url and both NULs at
	 * most RJ_SBX_URL_BYTES. RJ_SBX_INCOMPAT_FALLBACK follows from it. */
	char fallback[RJ_SBX_URL_BYTES];
	/* Nothing in the fallback is needed: it was idle when the volume was
	 * last left, and has not been used since. */
	bool fallback_empty;
};

/*
 * Decode the 256 bytes RAW. OUT is written only on success.
 * RJ_E_NOTRJ: no magic. RJ_E_CORRUPT: magic but a wrong CRC or a field out of
 * range. RJ_E_UNSUPPORTED: a newer version or an unknown incompat bit.
 */
int rj_sbx_decode(const uint8_t raw[RJ_SBX_BYTES], struct rj_sbx *out,
	struct rj_error *err);
/* Encode. RJ_E_INVAL when a field does not fit (a URL too long). */
int rj_sbx_encode(const struct rj_sbx *sbx, uint8_t raw[RJ_SBX_BYTES],
	struct rj_error *err);
/*
 * May URL be in a superblock? At most RJ_SBX_URL_BYTES - 1 printable ASCII
 * characters, no blank, and no password. ERR says which rule it breaks; the
 * caller adds where URL comes from. The scheme is not looked at.
 */
bool rj_sbx_url_valid(const char *url, struct rj_error *err);
/* May PATH be a fallback file's, together with URL? It begins with '/', is printable, and
 * fits with URL and two NULs into RJ_SBX_URL_BYTES. ERR as above. */
bool rj_sbx_fallback_valid(
	const char *url, const char *path, struct rj_error *err);
const char *rj_placement_name(enum rj_placement p);

#endif
