// SPDX-License-Identifier: LGPL-2.1-or-later
/* Put libext2fs's words for an error into a message. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include <et/com_err.h>

#include "ext4/ext4-priv.h"

static void load_messages(void)
{
	initialize_ext2_error_table();
}

int rj_ext4_fail(struct rj_error *err, enum rj_code code, long errcode,
	const char *fmt, ...)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char text[RJ_ERROR_BYTES - 200];
	va_list ap;

	pthread_once(&once, load_messages);
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* libext2fs returns plain errno values unchanged */
	if (errcode > 0 && errcode < 256)
		return rj_fail_errno(err, (int)errcode, "%s", text);
	return rj_fail(err, code, "%s: %s", text, error_message(errcode));
}
