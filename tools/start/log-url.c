// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/start/log-url.h"

#include <blkid/blkid.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is DEVICE what NAME, of fstab ("UUID=..." too), means? */
static bool is_device(const char *name, const char *device)
{
	char *found = blkid_evaluate_spec(name, NULL);
	char *a = realpath(found ? found : name, NULL), *b = realpath(device, NULL);
	bool same = a && b && !strcmp(a, b);

	free(found);
	free(a);
	free(b);
	return same;
}

int log_url_of(const char *device, struct rj_buf *out, struct rj_error *err)
{
	FILE *f = setmntent("/etc/fstab", "re");
	const struct mntent *m;
	const char *word;
	bool found = false;
	int rc = 0;

	while (f && !found && (m = getmntent(f)) != NULL) {
		word = strcmp(m->mnt_type, "rj") ? NULL : hasmntopt(m, "logdev");
		if (!word || strncmp(word, "logdev=", 7) != 0 ||
			!is_device(m->mnt_fsname, device))
			continue;
		found = true;
		word += strlen("logdev=");
		if (rj_buf_printf(out, "%.*s", (int)strcspn(word, ","), word))
			rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	if (f)
		endmntent(f);
	if (found)
		return rc;
	return rj_fail(err, RJ_E_NOTFOUND,
		"%s: where is the log of this XFS volume? /etc/fstab has no line of the type rj with logdev=URL for it; -J remote=URL says it",
		device);
}
