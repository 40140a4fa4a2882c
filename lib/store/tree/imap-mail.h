/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convert an object to a mail and back: its name and length are the subject, its bytes
 * the body in base64, because a mail may not hold zeros. Private to imap.c; no I/O.
 */
#ifndef RJ_STORE_IMAP_MAIL_H
#define RJ_STORE_IMAP_MAIL_H

#include "store/tree/tree.h"

struct rj_mail {
	char name[RJ_TREE_NAME];
	uint64_t bytes;
	uint32_t uid;
};

/* Append the mail of an object to OUT. RJ_E_NOMEM. */
int rj_mail_write(
	const char *name, const void *data, size_t len, struct rj_buf *out);
/* Get the greatest length of a mail of an object of LEN bytes, with the headers that
 * servers add. */
size_t rj_mail_most(size_t len);
/*
 * Decode the object NAME from the mail TEXT, and append it to OUT. RJ_E_CORRUPT: the
 * mail is another object's, or not whole, or the object is longer than MAX.
 */
int rj_mail_read(const struct rj_buf *text, const char *name, size_t max,
	struct rj_buf *out);
/* Parse one line of the answer to UID FETCH (UID ENVELOPE). False: it is no object's
 * mail. */
bool rj_mail_parse_line(const char *line, size_t len, struct rj_mail *out);

#endif
