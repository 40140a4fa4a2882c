/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors that carry their context.
 *
 * Every function of the library that can fail returns 0 or a negative
 * enum rj_code, and fills the caller's struct rj_error with one line that
 * says what failed, where, and (when there is something to do) what to do.
 * The line has no final newline and no program name in front.
 */
#ifndef RJ_UTIL_ERROR_H
#define RJ_UTIL_ERROR_H

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
	RJ_E_PROTOCOL,	  /* the peer's answer makes no sense */
	RJ_E_CANCELLED,	  /* the caller asked to stop */
	RJ_E_REFUSED,	  /* safe to do only with an option the user left out */
	RJ_E_KEY,	  /* encrypted, and the key is missing or another */
};

#define RJ_ERROR_BYTES 1024

struct rj_error {
	enum rj_code code;
	int sys_errno; /* 0 where no system call was at fault */
	char msg[RJ_ERROR_BYTES];
};

/*
 * Fill ERR (may be NULL) and return -CODE. sys_errno is set to 0.
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

/* A short, stable word for a code ("unreachable"), for logs and JSON. */
const char *rj_code_name(enum rj_code code);

#endif
