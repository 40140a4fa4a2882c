/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An object as a mail: its name and length are the subject, its bytes the body
 * in base64, because a mail may not hold zeros. Private to imap.c; pure.
 */
#ifndef RJ_STORE_IMAP_MAIL_H
#define RJ_STORE_IMAP_MAIL_H

#include "store/tree/tree.h"

struct rj_mail {
	char name[RJ_TREE_NAME];
	uint64_t bytes;
	uint32_t uid;
};

/* The mail of an object, appended to OUT. RJ_E_NOMEM. */
int rj_mail_write(
	const char *name, const void *data, size_t len, struct rj_buf *out);
/* How long a mail of an object of LEN bytes may be, headers that servers add
 * included. */
size_t rj_mail_most(size_t len);
/*
 * The object NAME out of the mail TEXT, appended to OUT. RJ_E_CORRUPT: it is
 * not that object's, or not whole, or longer than MAX.
 */
int rj_mail_read(const struct rj_buf *text, const char *name, size_t max,
	struct rj_buf *out);
/* One line of the answer to UID FETCH (UID ENVELOPE). False: not a mail of
 * ours. */
bool rj_mail_parse_line(const char *line, size_t len, struct rj_mail *out);

#endif
