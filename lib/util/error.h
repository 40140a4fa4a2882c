/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors that carry their context.
 *
 * Every function of the library that can fail returns 0 or a negative
 * enum rj_code, and fills the caller's struct rj_error with one line that
 * says what failed, where, and (when there is something to do) what to do.
 * The line has no final newline and no program name in front. What a server or
 * a volume says of itself may be in it, and can do nothing to a terminal or a
 * log: rj_fail() makes the line printable.
 */
#ifndef RJ_UTIL_ERROR_H
#define RJ_UTIL_ERROR_H

#include <stdbool.h>

enum rj_code {
	RJ_OK = 0,
	RJ_E_IO,	  /* the operating system refused; sys_errno says why */
	RJ_E_NOMEM,	  /* out of memory */
	RJ_E_INVAL,	  /* the caller's or user's argument is not usable */
	RJ_E_NOTFOUND,	  /* there is no such object, file or journal */
	RJ_E_EXISTS,	  /* put-if-absent found the object already there */
	RJ_E_UNREACHABLE, /* the store did not answer, or not in time */
	RJ_E_DENIED,	  /* the store or the system says: not you */
	RJ_E_CORRUPT,	  /* bytes that are there fail their own check */
	RJ_E_GAP,	  /* a part of the log that must be there is missing */
	RJ_E_FOREIGN,	  /* the log or journal belongs to another volume */
	RJ_E_FENCED,	  /* a higher epoch exists: another writer took over */
	RJ_E_BUSY,	  /* mounted, or in use by another process */
	RJ_E_UNSUPPORTED, /* a feature, version or option we do not know */
	RJ_E_NOTRJ,	  /* the volume has no superblock extension of ours */
	RJ_E_NOSPACE,	  /* the store or the disk is full */
	RJ_E_PROTOCOL,	  /* the peer sent an invalid answer */
	RJ_E_CANCELLED,	  /* the caller asked to stop */
	RJ_E_REFUSED,	  /* safe to do only with an option the user left out */
	RJ_E_KEY,	  /* encrypted, and the key is missing or another */
};

/* Where the code alone does not say what is to be mended. */
enum rj_cause {
	RJ_CAUSE_CODE = 0,    /* the code says it */
	RJ_CAUSE_TAKEN,	      /* the number, or the file, is another's for ever */
	RJ_CAUSE_SEALING,     /* there is nothing that could be put */
	RJ_CAUSE_TOKEN,	      /* the store does not take our token */
	RJ_CAUSE_LOGIN,	      /* nor our user and password */
	RJ_CAUSE_RIGHTS,      /* it knows us, and does not allow it */
	RJ_CAUSE_EXPIRED,     /* a certificate is too old */
	RJ_CAUSE_CERTIFICATE, /* or not trusted */
	RJ_CAUSE_NOTFOUND,    /* there is no such store where it was asked for */
	RJ_CAUSE_REDIRECT,    /* what answers there sends us elsewhere */
	RJ_CAUSE_MISSING,     /* the store lacks what it acknowledged */
	RJ_CAUSE_CLOCK,       /* its clock and ours differ */
	RJ_CAUSE_SETTINGS,    /* rj.conf, or a file that it names */
	RJ_CAUSE_RECOVER,     /* rjrecover -p mends it: RJ_RENAMED_VOLUME */
};

#define RJ_ERROR_BYTES 1024

struct rj_error {
	enum rj_code code;
	enum rj_cause cause;
	int sys_errno; /* 0 where no system call was at fault */
	char msg[RJ_ERROR_BYTES];
};

/*
 * Fill ERR (may be NULL) and return -CODE. sys_errno and the cause are set to 0.
 */
int rj_fail(struct rj_error *err, enum rj_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The same for a failed system call: SYS_ERRNO's text is appended as
 * ": No such file or directory". The code is chosen from SYS_ERRNO
 * (ENOENT: NOTFOUND, ENOSPC: NOSPACE, EBUSY: BUSY, ENOMEM: NOMEM,
 * EACCES/EPERM: DENIED, EEXIST: EXISTS; anything else: IO).
 */
int rj_fail_errno(struct rj_error *err, int sys_errno, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Put context in front of a message that is already in ERR:
 * "context: old message". Returns the code that ERR holds, negated, so that
 * "return rj_fail_prefix(err, ...)" keeps the kind of failure.
 */
int rj_fail_prefix(struct rj_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Put what to do next after a message that is already in ERR: "old message", then
 * FMT as it is. It is whole in any case: where both are too long together, the old
 * message loses its end. Returns the code that ERR holds, negated.
 */
int rj_fail_suffix(struct rj_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Set the cause of ERR (may be NULL), which was just filled; returns RC. */
int rj_fail_cause(int rc, enum rj_cause cause, struct rj_error *err);

/*
 * Of an access to a store: will waiting never mend it? True for: another writer
 * has taken over, what we asked for cannot be asked (or not even be made), the
 * key is another one, we were told to stop. All else is the matter of the network,
 * of the store, or of rj.conf, which may be mended while we wait.
 */
bool rj_error_final(const struct rj_error *err);
/* What is to be mended, in a few stable words ("refused: token", "no space",
 * "unreachable"), for status and metrics. */
const char *rj_error_cause(const struct rj_error *err);

/* A short, stable word for a code ("unreachable"), for logs and JSON. */
const char *rj_code_name(enum rj_code code);

#endif
