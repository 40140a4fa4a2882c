// SPDX-License-Identifier: GPL-2.0-or-later
#include "apply.h"

#include <string.h>

#include "os/proc.h"

/* Does the superblock say WORDS now? */
static int check(const struct volume *v, const char *words, struct rj_error *err)
{
	struct rj_volume *now = NULL;
	uint32_t want;
	int rc, rc2;

	rc = rj_volume_open(v->device, 0, NULL, &now, err);
	if (rc)
		return rc;
	want = rj_volume_facts(now)->mount_opts;
	rc = rj_mount_opts_edit(&want, words, err);
	if (!rc && want != rj_volume_facts(now)->mount_opts)
		rc = rj_fail(err, RJ_E_IO,
			"%s: tune2fs ended well, but the superblock does not have the default mount option %s",
			v->device, words);
	rc2 = rj_volume_close(now, rc ? NULL : err);
	return rc ? rc : rc2;
}

int apply_words(const struct volume *v, const char *words, struct rj_error *err)
{
	struct rj_proc_result result = {0};
	struct rj_buf path = {0};
	const char *argv[] = {NULL, "-o", words, v->device, NULL};
	int rc = rj_proc_find("tune2fs", &path, err);

	if (rc)
		goto out;
	argv[0] = (char *)path.data;
	rc = rj_proc_run(argv, RJ_PROC_CAPTURE | RJ_PROC_STDIN_NULL, &result, err);
	if (rc)
		goto out;
	if (rj_proc_exit_status(&result) != 0) {
		result.out.data[strcspn((char *)result.out.data, "\n")] = 0;
		rc = rj_fail(err, RJ_E_IO, "tune2fs -o %s %s: status %d: %s", words, v->device,
			rj_proc_exit_status(&result), (char *)result.out.data);
	} else {
		rc = check(v, words, err);
	}
out:
	rj_proc_release(&result);
	rj_buf_free(&path);
	return rc;
}
