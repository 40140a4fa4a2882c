// SPDX-License-Identifier: LGPL-2.1-or-later
#include "util/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/printable.h"

static const char *const code_names[] = {
	[RJ_OK] = "ok",
	[RJ_E_IO] = "io",
	[RJ_E_NOMEM] = "no-memory",
	[RJ_E_INVAL] = "invalid",
	[RJ_E_NOTFOUND] = "not-found",
	[RJ_E_EXISTS] = "exists",
	[RJ_E_UNREACHABLE] = "unreachable",
	[RJ_E_DENIED] = "denied",
	[RJ_E_CORRUPT] = "corrupt",
	[RJ_E_GAP] = "gap",
	[RJ_E_FOREIGN] = "foreign",
	[RJ_E_FENCED] = "fenced",
	[RJ_E_BUSY] = "busy",
	[RJ_E_UNSUPPORTED] = "unsupported",
	[RJ_E_NOTRJ] = "not-rj",
	[RJ_E_NOSPACE] = "no-space",
	[RJ_E_PROTOCOL] = "protocol",
	[RJ_E_CANCELLED] = "cancelled",
	[RJ_E_REFUSED] = "refused",
	[RJ_E_KEY] = "key",
};

const char *rj_code_name(enum rj_code code)
{
	if ((size_t)code >= sizeof(code_names) / sizeof(code_names[0]))
		return "unknown";
	return code_names[code];
}

int rj_fail_cause(int rc, enum rj_cause cause, struct rj_error *err)
{
	if (err)
		err->cause = cause;
	return rc;
}

bool rj_error_final(const struct rj_error *err)
{
	switch (err->code) {
	case RJ_E_FENCED:
	case RJ_E_CANCELLED:
		return true;
	case RJ_E_KEY:
		return err->cause != RJ_CAUSE_SETTINGS;
	default:
		return err->cause == RJ_CAUSE_TAKEN ||
		       err->cause == RJ_CAUSE_SEALING ||
		       (err->code == RJ_E_INVAL && !err->cause);
	}
}

const char *rj_error_cause(const struct rj_error *err)
{
	static const char *const causes[] = {
		[RJ_CAUSE_TAKEN] = "taken over",
		[RJ_CAUSE_SEALING] = "not sealed",
		[RJ_CAUSE_TOKEN] = "refused: token",
		[RJ_CAUSE_LOGIN] = "refused: user or password",
		[RJ_CAUSE_RIGHTS] = "refused: rights",
		[RJ_CAUSE_EXPIRED] = "refused: certificate expired",
		[RJ_CAUSE_CERTIFICATE] = "refused: certificate",
		[RJ_CAUSE_NOTFOUND] = "not found",
		[RJ_CAUSE_REDIRECT] = "redirected",
		[RJ_CAUSE_MISSING] = "segments missing",
		[RJ_CAUSE_CLOCK] = "refused: clock",
		[RJ_CAUSE_SETTINGS] = "rj.conf",
		[RJ_CAUSE_RECOVER] = "to be recovered",
	};

	if (err->cause &&
		(size_t)err->cause < sizeof(causes) / sizeof(causes[0]))
		return causes[err->cause];
	switch (err->code) {
	case RJ_E_DENIED:
		return "refused";
	case RJ_E_NOTFOUND:
		return "not found";
	case RJ_E_CORRUPT:
	case RJ_E_FOREIGN:
		return "damaged";
	case RJ_E_GAP:
		return "segments missing";
	case RJ_E_NOSPACE:
		return "no space";
	case RJ_E_PROTOCOL:
		return "not understood";
	default:
		return rj_code_name(err->code);
	}
}

static enum rj_code code_of_errno(int sys_errno)
{
	switch (sys_errno) {
	case ENOENT:
		return RJ_E_NOTFOUND;
	case ENOSPC:
	case EDQUOT:
		return RJ_E_NOSPACE;
	case EBUSY:
		return RJ_E_BUSY;
	case ENOMEM:
		return RJ_E_NOMEM;
	case EACCES:
	case EPERM:
	case EROFS:
		return RJ_E_DENIED;
	case EEXIST:
		return RJ_E_EXISTS;
	default:
		return RJ_E_IO;
	}
}

int rj_fail(struct rj_error *err, enum rj_code code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		err->code = code;
		err->cause = RJ_CAUSE_CODE;
		err->sys_errno = 0;
		va_start(ap, fmt);
		vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
		va_end(ap);
		rj_make_printable(err->msg);
	}
	return -(int)code;
}

int rj_fail_errno(struct rj_error *err, int sys_errno, const char *fmt, ...)
{
	enum rj_code code = code_of_errno(sys_errno);
	va_list ap;
	size_t len;

	if (err) {
		err->code = code;
		err->cause = RJ_CAUSE_CODE;
		err->sys_errno = sys_errno;
		va_start(ap, fmt);
		vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
		va_end(ap);
		len = strlen(err->msg);
		snprintf(err->msg + len, sizeof(err->msg) - len, ": %s",
			strerror(sys_errno));
		rj_make_printable(err->msg);
	}
	return -(int)code;
}

int rj_fail_prefix(struct rj_error *err, const char *fmt, ...)
{
	char old[RJ_ERROR_BYTES];
	va_list ap;
	size_t len;

	if (!err)
		return -RJ_E_IO;
	memcpy(old, err->msg, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	len = strlen(err->msg);
	snprintf(err->msg + len, sizeof(err->msg) - len, ": %s", old);
	rj_make_printable(err->msg);
	return -(int)err->code;
}

int rj_fail_suffix(struct rj_error *err, const char *fmt, ...)
{
	char suffix[RJ_ERROR_BYTES];
	size_t len, space;
	va_list ap;

	if (!err)
		return -RJ_E_IO;
	va_start(ap, fmt);
	vsnprintf(suffix, sizeof(suffix), fmt, ap);
	va_end(ap);
	len = strlen(err->msg);
	space = sizeof(err->msg) - 1 - strlen(suffix);
	strcpy(err->msg + (len < space ? len : space), suffix);
	rj_make_printable(err->msg);
	return -(int)err->code;
}
