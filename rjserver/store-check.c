// SPDX-License-Identifier: GPL-2.0-or-later
#include "store-check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "log.h"
#include "options.h"
#include "rjserver/store/store.h"

static void close_store(struct store *s)
{
	if (!s)
		return;
	store_files_free(s);
	idx_free(s->index);
	free(s);
}

static int open_store(const char *dir, bool scan_all, struct store **out,
	struct rj_error *err)
{
	struct store *s = calloc(1, sizeof(*s));
	int rc;

	*out = s;
	if (!s || !(s->index = idx_new()))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (strlen(dir) >= sizeof(s->dir))
		return rj_fail(
			err, RJ_E_INVAL, "%s: the name is too long", dir);
	snprintf(s->dir, sizeof(s->dir), "%s", dir);
	s->read_only = true;
	s->scan_all = scan_all;
	rc = store_scan(s, err);
	return rc;
}

static int lock(const char *dir, int *fd, struct rj_error *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/lock", dir);
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return rj_fail_errno(err, errno,
			"%s: cannot open: is %s the directory of a store?",
			path, dir);
	if (!flock(*fd, LOCK_EX | LOCK_NB))
		return 0;
	if (errno == EWOULDBLOCK)
		return rj_fail(err, RJ_E_BUSY,
			"%s: a server is using it: stop it first", dir);
	return rj_fail_errno(err, errno, "%s: cannot lock", path);
}

struct compare {
	struct store *log; /* what the files say */
	struct store_check *out;
};

static void count_one(
	void *arg, const struct okey *okey, const struct idx_entry *e)
{
	struct store_check *out = arg;

	out->objects++;
	out->bytes += e->length;
	out->damaged += e->state == IDX_DAMAGED;
}

static void compare_one(
	void *arg, const struct okey *okey, const struct idx_entry *e)
{
	struct compare *c = arg;
	struct idx_entry *found = idx_find(c->log->index, okey);
	char key[RJ_KEY_TEXT];

	if (found && (found->body_crc == e->body_crc ||
			     found->state == IDX_DAMAGED))
		return;
	c->out->missing++;
	log_error("MISSING: the object /%s/%s: the checkpoint knows it, and "
		  "the data files do not have it",
		okey->name, rj_key_text(&okey->key, key));
}

int store_check(const char *dir, struct store_check *out, struct rj_error *err)
{
	struct store *log = NULL, *quick = NULL;
	struct compare c = {.out = out};
	int fd = -1, rc;

	*out = (struct store_check){0};
	rc = lock(dir, &fd, err);
	if (!rc)
		rc = open_store(dir, true, &log, err);
	if (!rc) {
		out->files = log->file_count;
		out->lost = log->lost;
		idx_each(log->index, count_one, out);
		/* and as a start would see it */
		rc = open_store(dir, false, &quick, err);
	}
	if (!rc) {
		c.log = log;
		idx_each(quick->index, compare_one, &c);
	}
	close_store(log);
	close_store(quick);
	if (fd >= 0)
		close(fd);
	return rc;
}

int store_check_main(const char *dir)
{
	struct rj_error err = {0};
	struct store_check c;
	bool bad;

	if (store_check(dir, &c, &err)) {
		log_error("%s", err.msg);
		return EXIT_FAILED;
	}
	bad = c.damaged || c.missing || c.lost;
	printf("%s: %llu data files, %llu objects, %llu bytes: ", dir,
		(unsigned long long)c.files, (unsigned long long)c.objects,
		(unsigned long long)c.bytes);
	if (bad)
		printf("%llu damaged, %llu missing, records lost at %u "
		       "places\n",
			(unsigned long long)c.damaged,
			(unsigned long long)c.missing, c.lost);
	else
		printf("all whole\n");
	return bad ? EXIT_FAILED : 0;
}
