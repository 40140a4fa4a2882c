// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A moment is mounted where no other process sees it, and cp copies into a folder of its own beside
 * the place; what is whole and durable gets its name.
 */
#include "rjbackup/changes/undelete.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rjbackup/changes/lost.h"
#include "rjbackup/changes/show.h"
#include "rjbackup/drill/child.h"
#include "rjbackup/mount.h"
#include "rjbackup/print.h"
#include "text/when.h"
#include "tools/json.h"
#include "tools/stop-signal.h"

#define FIXED_WORDS 6
#define PATHS_MAX   4000 /* of one moment, with PATHS_BYTES: a command line has no more */
#define PATHS_BYTES (512u << 10)
#define FOLDER	    64 /* bytes of a path, at most mostly, before what it is on the volume */

/* The copy of the paths of one moment, in a child. */
struct copying {
	struct options o; /* of the mount */
	struct result r;  /* shared with the child */
	uint32_t tid;	  /* that the moment has to have; 0: not known */
	int to; /* a folder that is ours alone */
	struct lost **lost;
	size_t count;
	int status; /* of cp */
};

static int run_cp(const struct copying *c)
{
	const char *argv[FIXED_WORDS + PATHS_MAX + 2] = {"/bin/cp", "-dR",
		"--preserve=mode,ownership,timestamps,links,xattr", "--sparse=auto", "-t", "."};
	char *path;
	size_t i, n;

	/* its name is of a folder that others may write to, and may lead elsewhere by now */
	if (fchdir(c->to)) {
		perror("rjbackup: cannot enter the folder to copy to");
		return 128;
	}
	for (i = 0; i < c->count; i++) {
		n = strlen(c->o.dir) + strlen(c->lost[i]->path) + 1;
		path = malloc(n); /* the child ends soon */
		if (!path)
			return 128;
		snprintf(path, n, "%s%s", c->o.dir, c->lost[i]->path);
		argv[FIXED_WORDS + i] = path;
	}
	return child_program(argv);
}

/* In the child. A segment can have more than one commit: then the time says which. */
static int copy_in_child(void *arg)
{
	struct copying *c = arg;
	const struct rj_history_place *at = &c->lost[0]->last;

	c->o.at = (struct rj_moment){.kind = RJ_AT_SEGMENT, .segment = at->segment};
	c->r = (struct result){.o = &c->o};
	c->r.rc = mount_moment(&c->r);
	if (!c->r.rc && c->tid && c->r.report.reached.tid != c->tid && !child_unmount(c->o.dir)) {
		c->o.at = (struct rj_moment){.kind = RJ_AT_TIME, .time_ns = at->time_ns};
		c->r = (struct result){.o = &c->o};
		c->r.rc = mount_moment(&c->r);
	}
	if (c->r.rc)
		return 0;
	c->status = run_cp(c); /* O.DIR is absolute */
	return child_unmount(c->o.dir);
}

static int copy_moment(const struct options *o, struct lost **lost, size_t count, const char *dir,
	int to, struct rj_error *err)
{
	struct copying *c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc, ended = 0;

	if (c == MAP_FAILED)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	*c = (struct copying){.o = *o, .tid = lost[0]->last.tid, .to = to, .lost = lost,
		.count = count};
	c->o.dir = dir;
	rc = child_run(copy_in_child, c, &ended, err);
	if (!rc && !ended && c->r.rc) {
		*err = c->r.err;
		rc = c->r.rc;
	} else if (!rc && c->tid && c->r.report.reached.tid != c->tid) {
		rc = rj_fail(err, RJ_E_IO, "%s: the moment could not be mounted, or not be left: see above",
			lost[0]->path);
	} else if (!rc && (ended || c->status)) {
		rc = rj_fail(err, RJ_E_IO, "%s: cp ended with status %d: see above; nothing was copied: name another folder with --to, or copy from rjbackup mount",
			lost[0]->path, ended ? ended : c->status);
	}
	munmap(c, sizeof(*c));
	return rc;
}

/* All of PATH; a second Ctrl-C does not end this half done. */
static void remove_all(const char *path)
{
	const char *const argv[] = {"/bin/rm", "-rf", "--", path, NULL};
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction before[3];
	size_t i;

	for (i = 0; i < 3; i++)
		sigaction(signals[i], &ignore, &before[i]);
	child_program(argv);
	for (i = 0; i < 3; i++)
		sigaction(signals[i], &before[i], NULL);
}

/* What was copied into WORK gets its name in DIR; what is there stays. */
static int give_names(int work, int dir, const char *to, struct lost **lost, size_t count,
	struct rj_error *err)
{
	const char *name;
	size_t i;

	if (syncfs(work))
		return rj_fail_errno(err, errno, "%s: cannot make the copy durable", to);
	for (i = 0; i < count; i++) {
		name = basename(lost[i]->path);
		if (!renameat2(work, name, dir, name, RENAME_NOREPLACE))
			continue;
		rj_fail_errno(err, errno,
			"%s/%s: cannot give the copy its name: name another folder with --to", to,
			name);
		while (i--) /* all of a moment, or nothing */
			renameat2(dir, basename(lost[i]->path), work, basename(lost[i]->path),
				RENAME_NOREPLACE);
		return -err->code;
	}
	return fsync(dir) ? rj_fail_errno(err, errno, "%s: cannot make the copy durable", to) : 0;
}

/* Make a folder in DIR that is ours alone, and open it as *FD. WORK gets a path of it that stays
 * right when DIR is renamed. */
static int open_work(int dir, const char *to, char work[64], int *fd, struct rj_error *err)
{
	struct stat st;

	snprintf(work, 64, "/proc/%d/fd/%d/.rjbackup-undelete.XXXXXX", (int)getpid(), dir);
	if (!mkdtemp(work))
		return rj_fail_errno(err, errno, "%s: cannot make a folder there", to);
	*fd = open(work, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0 || fstat(*fd, &st))
		return rj_fail_errno(err, errno, "%s: cannot open the folder made there", to);
	if (st.st_uid == geteuid() && !(st.st_mode & 077))
		return 0;
	close(*fd);
	*fd = -1;
	return rj_fail(err, RJ_E_IO, "%s: another program changes it: name another folder with --to",
		to);
}

/* COUNT paths of one moment, into O->out. */
static int bring_back(const struct options *o, struct lost **lost, size_t count,
	struct rj_error *err)
{
	const char *to = o->out;
	char mnt[3072], work[64], *at = NULL;
	int dir = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1, rc = 0;

	snprintf(mnt, sizeof(mnt), "%s/rjbackup-undelete.XXXXXX", o->scratch);
	if (dir < 0)
		return rj_fail_errno(err, errno, "%s: cannot copy there", to);
	if (!mkdtemp(mnt) || !(at = realpath(mnt, NULL)))
		rc = rj_fail_errno(err, errno, "%s: cannot make a folder there", mnt);
	if (!rc)
		rc = open_work(dir, to, work, &fd, err);
	if (!rc)
		rc = copy_moment(o, lost, count, at, fd, err);
	if (!rc)
		rc = give_names(fd, dir, to, lost, count, err);
	if (fd >= 0) {
		close(fd);
		remove_all(work);
	}
	rmdir(mnt);
	free(at);
	close(dir);
	return rc;
}

static void tell(const struct options *o, const struct lost *l)
{
	const char *kind = S_ISREG(l->facts.mode) ? "file"
			   : S_ISDIR(l->facts.mode) ? "directory"
			   : S_ISLNK(l->facts.mode) ? "symbolic link"
						    : "special file";
	const char *to = o->out;
	struct json_object *top;
	char when[RJ_WHEN_TEXT];

	if (o->json) {
		top = json_object_new_object();
		path_add_json(top, "path", l->path);
		json_object_object_add(top, "at", place_json(&l->last));
		add_u64(top, "inode", l->facts.inode);
		add_u64(top, "mode", l->facts.mode);
		add_u64(top, "size", l->facts.size);
		add_text(top, "to", to);
		json_show(top, JSON_C_TO_STRING_PLAIN);
		return;
	}
	path_print(l->path);
	printf(": %s of %" PRIu64 " bytes, as of %s, segment %" PRIu64 ", %s %s\n",
		kind, l->facts.size, rj_place_text(&l->last, when),
		l->last.segment, o->dry_run ? "would be copied to" : "copied to", to);
}

static int by_moment(const void *a, const void *b)
{
	const struct lost *x = *(struct lost *const *)a, *y = *(struct lost *const *)b;

	if (x->last.segment != y->last.segment)
		return x->last.segment < y->last.segment ? -1 : 1;
	return x->last.tid < y->last.tid ? -1 : x->last.tid > y->last.tid;
}

static int by_base_name(const void *a, const void *b)
{
	return strcmp(basename((*(struct lost *const *)a)->path),
		basename((*(struct lost *const *)b)->path));
}

/* Before anything is copied: each has a place. */
static int check_places(const struct options *o, struct lost **lost, size_t count,
	struct rj_error *err)
{
	const char *to = o->out;
	struct stat st;
	char at[4096 + 256];
	size_t i;

	qsort(lost, count, sizeof(*lost), by_base_name);
	for (i = 0; i < count; i++) {
		snprintf(at, sizeof(at), "%s/%s", to, basename(lost[i]->path));
		if (!lstat(at, &st))
			return rj_fail(err, RJ_E_EXISTS,
				"%s: there is one, which stays as it is: name another folder with --to", at);
		if (i && !strcmp(basename(lost[i - 1]->path), basename(lost[i]->path)))
			return rj_fail(err, RJ_E_EXISTS,
				"%s and %s: two of one name: copy each into a folder of its own with --to",
				lost[i - 1]->path, lost[i]->path);
	}
	qsort(lost, count, sizeof(*lost), by_moment);
	return 0;
}

static int bring_all(const struct options *o, struct lost **lost, size_t count,
	struct rj_error *err)
{
	size_t i, n, k, bytes;
	int rc = check_places(o, lost, count, err);

	for (i = 0; !rc && i < count; i += n) {
		bytes = 0;
		for (n = 0; i + n < count && n < PATHS_MAX && bytes < PATHS_BYTES &&
			    !by_moment(&lost[i], &lost[i + n]);)
			bytes += strlen(lost[i + n++]->path) + FOLDER;
		if (!o->dry_run)
			rc = bring_back(o, lost + i, n, err);
		for (k = i; !rc && k < i + n; k++)
			tell(o, lost[k]);
	}
	return rc;
}

/* Those that are to be copied: not what is there at the end of the log. */
static int choose(const struct options *o, const char *pattern, const struct lost_list *l,
	struct lost **out, size_t *count, struct rj_error *err)
{
	bool latest = o->at.kind == RJ_AT_LATEST && o->until.kind == RJ_AT_LATEST;
	size_t i;

	*count = 0;
	for (i = 0; i < l->count; i++)
		if (!latest || !l->all[i].there)
			out[(*count)++] = &l->all[i];
	if (*count)
		return 0;
	if (l->count)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: it is there at the end of the log: name an earlier moment with --at, or --before", l->all[0].path);
	return rj_fail(err, RJ_E_NOTFOUND,
		"%s: no such path was there%s: rjbackup find looks for a name everywhere, rjbackup ls says from when on the history is",
		pattern, o->at.kind == RJ_AT_LATEST ? " in this history" : " at that moment");
}

int undelete(const struct options *o)
{
	const struct rj_moment *at = o->at.kind == RJ_AT_LATEST ? NULL : &o->at;
	char *pattern = path_of_user(o->path);
	struct lost_list list = {0};
	struct lost **chosen = NULL;
	struct rj_error err = {0};
	size_t count;
	int rc = pattern ? 0 : rj_fail(&err, RJ_E_NOMEM, "out of memory");

	stop_signal_catch();
	if (!rc && !*pattern)
		rc = rj_fail(&err, RJ_E_INVAL, "%s: the root of a volume: rjbackup restore and mount have all of it", o->path);
	if (!rc)
		rc = lost_find(o, pattern, at, &list, &err);
	if (!rc && !(chosen = calloc(list.count + 1, sizeof(struct lost *))))
		rc = rj_fail(&err, RJ_E_NOMEM, "out of memory");
	if (!rc)
		rc = choose(o, pattern, &list, chosen, &count, &err);
	if (!rc)
		rc = bring_all(o, chosen, count, &err);
	if (rc)
		complain(err.msg);
	if (rc && o->json)
		json_show_error(NULL, NULL, err.msg);
	free(chosen);
	lost_free(&list);
	free(pattern);
	return rc;
}
