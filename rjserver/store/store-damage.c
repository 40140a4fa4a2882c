// SPDX-License-Identifier: GPL-2.0-or-later
/* What is done with bytes that fail their check: kept, named, counted. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fileio.h"
#include "rjserver/log.h"
#include "store.h"

/* Make the file PATH in DIR, durably, or none. */
static int keep(const char *dir, const char *path, const uint8_t *data,
	uint64_t len, struct rj_error *err)
{
	int fd, rc, close_rc;

	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		0600);
	if (fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot create", path);
	rc = rj_write_all(fd, data, len, path, err);
	if (!rc)
		rc = rj_fsync(fd, path, err);
	close_rc = rj_close(&fd, path, rc ? NULL : err);
	if (!rc)
		rc = close_rc;
	if (!rc)
		rc = rj_fsync_dir(dir, err);
	if (rc)
		unlink(path);
	return rc;
}

int damage_copy_aside(struct store *s, const struct datafile *f,
	uint64_t offset, const uint8_t *data, uint64_t len,
	struct rj_error *err)
{
	char dir[PATH_MAX], path[PATH_MAX + 64], spare[PATH_MAX];
	int rc;

	snprintf(dir, sizeof(dir), "%s/damaged", s->dir);
	snprintf(path, sizeof(path), "%s/%08u-%llu.torn", dir, f->number,
		(unsigned long long)offset);
	store_spare_path(s, spare);
	rc = keep(dir, path, data, len, err);
	if (rc == -RJ_E_NOSPACE && !unlink(spare))
		rc = keep(dir, path, data, len, err);
	if (rc && rc != -RJ_E_NOSPACE)
		return rc;
	log_warning("%s: the last batch was torn at byte %llu and never acknowledged: "
		    "cut; its %llu bytes are %s%s",
		f->path, (unsigned long long)offset, (unsigned long long)len,
		rc ? "not kept: " : "kept in ", rc ? err->msg : path);
	return 0;
}

static bool accepted(struct store *s, const char *where)
{
	char path[PATH_MAX], line[128];
	bool found = false;
	FILE *in;

	snprintf(path, sizeof(path), "%s/damaged/accepted", s->dir);
	in = fopen(path, "re");
	if (!in)
		return false;
	while (!found && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\r\n")] = 0;
		found = !strcmp(line, where);
	}
	fclose(in);
	return found;
}

/* Get the file of POS, and the line that accepts a loss there; does "accepted" have it? */
static bool find_accepted(
	struct store *s, uint64_t pos, char path[PATH_MAX], char where[64])
{
	snprintf(where, 64, "%08u:%llu", pos_file(pos),
		(unsigned long long)pos_offset(pos));
	store_file_path(s, pos_file(pos), path);
	return accepted(s, where);
}

void damage_lost(struct store *s, uint64_t pos, const char *why)
{
	char where[64], path[PATH_MAX];

	if (find_accepted(s, pos, path, where)) {
		log_warning("%s: byte %llu: %s (accepted)", path,
			(unsigned long long)pos_offset(pos), why);
		return;
	}
	s->lost++;
	log_error("%s: byte %llu: DAMAGED: %s. Acknowledged objects are lost, "
		  "and which is not known: a key that is not found is answered "
		  "as damaged, and new keys are refused. Restore the file, or "
		  "accept the loss: echo %s >>%s/damaged/accepted and restart",
		path, (unsigned long long)pos_offset(pos), why, where, s->dir);
}

int damage_unreadable(struct store *s, uint64_t pos, struct rj_error *err)
{
	char where[64], path[PATH_MAX];

	if (find_accepted(s, pos, path, where)) {
		log_warning("%s: byte %llu: cannot be read, at the end of the log (accepted)",
			path, (unsigned long long)pos_offset(pos));
		return 0;
	}
	return rj_fail(err, RJ_E_IO,
		"%s: byte %llu: cannot be read, and the log ends about there: what was "
		"acknowledged last may be in it, and would be written over. Mend the disk, "
		"or restore the file; or accept the loss of what cannot be read: echo %s "
		">>%s/damaged/accepted",
		path, (unsigned long long)pos_offset(pos), where, s->dir);
}
