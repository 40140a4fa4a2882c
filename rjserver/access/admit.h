/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decide whether a PUT may be stored: by the order of the log, the disk's floor, the
 * limits of volume and account, and the reserve with which a full server can be emptied.
 * rjserver(8), WHEN IT IS FULL, has the rules.
 */
#ifndef RJSERVER_ADMIT_H
#define RJSERVER_ADMIT_H

#include "access.h"

struct admit_ask {
	const struct account *who;
	const struct okey *okey; /* of an object */
	uint64_t body_bytes;
	bool progress; /* the client says: this lets a log be trimmed */
	enum urgency urgency; /* of that: admit_put() sets it */
};

struct admission {
	struct volume *volume; /* what was reserved there; NULL: nothing */
	uint64_t stored;       /* bytes of the record */
	bool commit; /* it is a segment of a log */
	uint64_t least; /* bytes that stay free on the disk */
	enum urgency asked; /* what it may take from the disk's reserve */
	/* not NONE: it is taken from the disk's reserve, at the cost of TAKER */
	enum urgency urgency;
	char taker[NAME_BYTES];
	enum refusal why;      /* of a refusal */
	char limit[24];
	const char *more[5]; /* headers of the answer: name, value, .. NULL */
};

/*
 * Decide at the head of a PUT. 0: hand it to the store, and give OUT to admit_done() when
 * it was answered; an object that exists is let through, to be answered 412.
 * RJ_E_NOSPACE: no space, or a limit; RJ_E_REFUSED: the log would get a gap;
 * RJ_E_NOMEM.
 */
int admit_put(struct access_control *g, const struct admit_ask *ask,
	struct admission *out, struct rj_error *err);
/* Decide again when the body has come, as other PUTs may have been accepted since.
 * RJ_E_NOSPACE. */
int admit_body(
	struct access_control *g, struct admission *a, struct rj_error *err);
/* End the admission A. STORED: the PUT was acknowledged. */
void admit_done(
	struct access_control *g, const struct admission *a, bool stored);

/* Name the limit that V has nearly reached: "disk", "volume", "account"; NULL: none. */
const char *admit_warning(
	const struct access_control *g, const struct volume *v);
/* Name the limit by which a commit of V was refused within the last minutes, as admit_warning();
 * NULL: none was. */
const char *admit_full(const struct volume *v);
/* Is the disk below the floor, or did the last write find no space? */
bool admit_disk_full(const struct access_control *g);
/* Is there less than twice the floor left on the disk? */
bool admit_disk_low(const struct access_control *g);

#endif
