// SPDX-License-Identifier: GPL-2.0-or-later
#include "rjbackup/changes/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int compare_prepare(const struct options *o, struct rj_compare_opts *c, struct rj_error *err)
{
	const char *dir = o->scratch ? o->scratch : "/var/tmp";
	int i;

	c->base = o->base;
	c->url = o->url;
	c->keyfile = o->keyfile;
	c->scratch[0] = c->scratch[1] = -1;
	for (i = 0; i < 2; i++) {
		c->scratch[i] = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (c->scratch[i] < 0)
			return rj_fail_errno(err, errno,
				"%s: cannot make a file without a name there: give another folder with --scratch",
				dir);
	}
	return 0;
}

void compare_release(struct rj_compare_opts *c)
{
	int i;

	for (i = 0; i < 2; i++)
		if (c->scratch[i] >= 0)
			close(c->scratch[i]); /* nothing of it is kept */
}
