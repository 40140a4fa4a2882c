// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The flag FS_JOURNAL_DATA_FL of a directory is inherited by what is created in it. ext4
 * ignores it while it delays allocation, and, in some releases, on a file that is in memory
 * (doc/journal-data.md): so it is set on directories, and existing files are rewritten.
 */
#include "journal-data.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "journal-probe.h"
#include "os/mountinfo.h"
#include "rewrite.h"

#define EXT_MAGIC 0xEF53

struct tree {
	const char *verb;
	uint64_t dirs, dirs_set;
	uint64_t files, files_set; /* regular ones */
	uint64_t changed, failed;
};

static void complain(const struct rj_error *err)
{
	fprintf(stderr, "rjctl: %s\n", err->msg);
}

/* The name of the device of PATH's file system, an ext3 or ext4 that heeds the flag. */
static int check_mount(const char *path, struct rj_error *err)
{
	char name[64];
	struct statfs fs;
	struct stat st;

	if (stat(path, &st) || statfs(path, &fs))
		return rj_fail_errno(err, errno, "%s", path);
	if (!S_ISDIR(st.st_mode))
		return rj_fail(err, RJ_E_INVAL, "%s: not a directory", path);
	if (fs.f_type != EXT_MAGIC || !rj_mountinfo_device_name(st.st_dev, name, sizeof(name)))
		return rj_fail(err, RJ_E_INVAL, "%s: not on an ext3 or ext4 volume", path);
	if (rj_mountinfo_ext4_option(name, "data=journal"))
		return rj_fail(err, RJ_E_REFUSED,
			"%s: the volume is mounted with data=journal: all data pass the journal there", path);
	if (!rj_mountinfo_ext4_option(name, "nodelalloc"))
		return rj_fail(err, RJ_E_REFUSED,
			"%s: the volume is mounted with delayed allocation, and ext4 then ignores the flag: mount it with -o nodelalloc (tune2fs -E mount_opts=nodelalloc makes this its default)",
			path);
	return 0;
}

/* Open PATH as *FD, the caller's, with its flags in *FLAGS. */
static int open_flags(const char *path, int *fd, int *flags, struct rj_error *err)
{
	int rc = 0;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (*fd < 0 || ioctl(*fd, FS_IOC_GETFLAGS, flags))
		rc = rj_fail_errno(err, errno, "%s", path);
	if (rc && *fd >= 0)
		close(*fd);
	return rc;
}

/* 1 if it has the flag. */
static int has_flag(const char *path, struct rj_error *err)
{
	int fd, flags = 0, rc = open_flags(path, &fd, &flags, err);

	if (rc)
		return rc;
	close(fd);
	return !!(flags & FS_JOURNAL_DATA_FL);
}

static int set_flag(const char *path, bool on, struct rj_error *err)
{
	int fd, flags = 0, rc = open_flags(path, &fd, &flags, err);

	if (rc)
		return rc;
	flags = on ? flags | FS_JOURNAL_DATA_FL : flags & ~FS_JOURNAL_DATA_FL;
	if (ioctl(fd, FS_IOC_SETFLAGS, &flags))
		rc = rj_fail_errno(err, errno, "%s: cannot change its flags%s", path,
			errno == EPERM ? " (this needs CAP_SYS_RESOURCE)" : "");
	close(fd);
	return rc;
}

/* The flag is to be there (on), or not (off). */
static int change(const char *verb, const char *path, bool dir, struct rj_error *err)
{
	bool on = !strcmp(verb, "on");

	/* a file that was in memory when it got the flag would not heed it */
	return dir || !on ? set_flag(path, on, err) : rewrite_file(path, err);
}

static int look(struct tree *t, const FTSENT *e, struct rj_error *err)
{
	bool dir = e->fts_info == FTS_D;
	int set = has_flag(e->fts_path, err), rc;

	if (set < 0)
		return set;
	*(dir ? &t->dirs : &t->files) += 1;
	*(dir ? &t->dirs_set : &t->files_set) += (unsigned)set;
	if (!strcmp(t->verb, "ls")) {
		if (dir && set)
			printf("%s\n", e->fts_path);
		return 0;
	}
	if (set == !strcmp(t->verb, "on"))
		return 0;
	rc = change(t->verb, e->fts_path, dir, err);
	if (!rc)
		t->changed++;
	return rc;
}

static int walk(struct tree *t, const char *path, struct rj_error *err)
{
	char *const roots[] = {(char *)path, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
	FTSENT *e;
	int rc = 0;

	if (!fts)
		return rj_fail_errno(err, errno, "%s", path);
	while (errno = 0, e = fts_read(fts)) {
		rc = 0;
		switch (e->fts_info) {
		case FTS_D:
			rc = look(t, e, err);
			if (rc) /* what is in it would not get the flag */
				fts_set(fts, e, FTS_SKIP);
			break;
		case FTS_F:
			if (S_ISREG(e->fts_statp->st_mode))
				rc = look(t, e, err);
			break;
		case FTS_DNR:
		case FTS_ERR:
		case FTS_NS:
			rc = rj_fail_errno(err, e->fts_errno, "%s", e->fts_path);
			break;
		}
		if (rc) {
			complain(err);
			t->failed++;
		}
	}
	rc = errno ? rj_fail_errno(err, errno, "%s", path) : 0;
	fts_close(fts);
	return rc;
}

static void tell(const struct tree *t, const char *path)
{
	if (!strcmp(t->verb, "ls"))
		printf("%s: %" PRIu64 " of %" PRIu64 " directories and %" PRIu64 " of %" PRIu64
		       " files have the flag\n",
			path, t->dirs_set, t->dirs, t->files_set, t->files);
	else
		printf("%s: %" PRIu64 " of %" PRIu64 " directories and files changed, %" PRIu64
		       " failed\n",
			path, t->changed, t->dirs + t->files, t->failed);
	if (!strcmp(t->verb, "on") && !t->failed)
		printf("After a crash each file that was created there since is as of one commit: no block is torn, and no later write is there without the earlier ones.\n");
}

int journal_data(const char *verb, const char *path)
{
	struct tree t = {.verb = verb};
	struct rj_error err;
	int rc = 0;

	if (!strcmp(verb, "on") || !strcmp(verb, "check"))
		rc = check_mount(path, &err);
	if (!rc && !strcmp(verb, "check"))
		rc = journal_probe(path, &err);
	else if (!rc)
		rc = walk(&t, path, &err);
	if (rc) {
		complain(&err);
		return 1;
	}
	if (!strcmp(verb, "check"))
		printf("%s: what is written to new files there passes the journal\n", path);
	else
		tell(&t, path);
	return t.failed ? 1 : 0;
}
