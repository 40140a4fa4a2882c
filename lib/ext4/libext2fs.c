// SPDX-License-Identifier: LGPL-2.1-or-later
/* What libext2fs wants of each of its callers: its errors as messages, and channels of an
 * io_manager of our own. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* For rj_ext4_channel_open(), which gets a name and nothing else. */
static __thread struct {
	io_manager manager;
	void *state;
} opening;

errcode_t rj_ext4_open_over(const char *name, int flags, struct struct_io_manager *manager,
	void *state, ext2_filsys *fs)
{
	errcode_t e;

	opening.manager = manager;
	opening.state = state;
	e = ext2fs_open(name, flags, 0, 0, manager, fs);
	opening.state = NULL;
	return e;
}

errcode_t rj_ext4_channel_open(const char *name, int flags, io_channel *channel)
{
	io_channel c = calloc(1, sizeof(*c));

	(void)flags;
	if (!c || !(c->name = strdup(name))) {
		free(c);
		return EXT2_ET_NO_MEMORY;
	}
	c->magic = EXT2_ET_MAGIC_IO_CHANNEL;
	c->manager = opening.manager;
	c->block_size = 1024;
	c->refcount = 1;
	c->private_data = opening.state;
	*channel = c;
	return 0;
}

errcode_t rj_ext4_channel_set_blksize(io_channel channel, int bytes)
{
	channel->block_size = bytes;
	return 0;
}

errcode_t rj_ext4_channel_flush(io_channel channel)
{
	(void)channel;
	return 0;
}

errcode_t rj_ext4_channel_close(io_channel channel)
{
	if (--channel->refcount > 0)
		return 0;
	free(channel->name);
	free(channel);
	return 0;
}
