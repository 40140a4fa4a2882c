// SPDX-License-Identifier: GPL-2.0-or-later
#include "mkrjfs/mke2fs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/proc.h"

/* A growing argv whose strings are its own. */
struct args {
	char **v;
	size_t n;
	bool failed; /* out of memory, somewhere on the way */
};

static void add(struct args *a, const char *text)
{
	char **more = realloc(a->v, (a->n + 2) * sizeof(*more));

	if (!more) {
		a->failed = true;
		return;
	}
	a->v = more;
	a->v[a->n] = strdup(text);
	if (!a->v[a->n])
		a->failed = true;
	else
		a->v[++a->n] = NULL;
}

static void release(struct args *a)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		free(a->v[i]);
	free(a->v);
}

static void add_word(struct args *a, const struct word *w)
{
	char flag[] = {'-', w->letter, 0};

	add(a, flag);
	if (w->value)
		add(a, w->value);
}

/*
 * All options in their order, each as a word of its own, so that no cluster
 * or joined value can be read differently. With a journal of ours -J and -j go
 * and all -O become one, with ^has_journal at its end: some versions of mke2fs
 * look at the last -O only, others at all of them.
 */
static void add_options(
	struct args *a, const struct options *o, const char *without)
{
	struct rj_buf features = {0};
	int i;

	if (!o->has_type) {
		add(a, "-t");
		add(a, "ext3");
	}
	for (i = 0; i < o->word_count; i++) {
		if (strchr(without, o->words[i].letter))
			continue;
		if (o->own_journal && strchr("jJO", o->words[i].letter))
			continue;
		add_word(a, &o->words[i]);
	}
	if (!o->own_journal)
		return;
	if (rj_buf_printf(&features, "%s%s^has_journal",
		    (char *)o->features.data, o->features.len ? "," : "")) {
		a->failed = true;
		return;
	}
	add(a, "-O");
	add(a, (char *)features.data);
	rj_buf_free(&features);
}

static void add_operands(
	struct args *a, const struct options *o, const char *device)
{
	add(a, "--");
	add(a, device);
	if (o->size)
		add(a, o->size);
}

static int add_program(struct args *a, struct rj_error *err)
{
	struct rj_buf path = {0};
	int rc = rj_proc_find("mke2fs", &path, err);

	if (!rc)
		add(a, (char *)path.data);
	rj_buf_free(&path);
	return rc;
}

/* Run A; without memory for all of it, nothing is run. */
static int run(const struct args *a, unsigned flags,
	struct rj_proc_result *result, struct rj_error *err)
{
	if (a->failed)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	return rj_proc_run((const char *const *)a->v, flags, result, err);
}

/* "Creating filesystem with 65536 4k blocks and 16384 inodes" */
static bool find_geometry(struct mke2fs_plan *plan)
{
	static const char head[] = "Creating filesystem with ";
	const char *line = strstr((char *)plan->output.data, head);
	unsigned long long blocks;
	unsigned kilobytes;

	if (!line || sscanf(line + sizeof(head) - 1, "%llu %uk blocks", &blocks,
			     &kilobytes) != 2)
		return false;
	plan->blocks = blocks;
	plan->block_size = kilobytes * 1024;
	return blocks && kilobytes && kilobytes <= 64;
}

/* The same words in every locale, for find_geometry(). */
static int run_in_english(const struct args *a, struct rj_proc_result *result,
	struct rj_error *err)
{
	const char *old = getenv("LC_ALL");
	char *kept = old ? strdup(old) : NULL;
	int rc;

	if (old && !kept)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (setenv("LC_ALL", "C", 1)) {
		free(kept);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	rc = run(a, RJ_PROC_CAPTURE | RJ_PROC_STDIN_NULL, result, err);
	if (kept)
		setenv("LC_ALL", kept, 1);
	else
		unsetenv("LC_ALL");
	free(kept);
	return rc;
}

/*
 * An image that is still to be made: mke2fs -n wants a file, but nothing may
 * be left behind. An empty file without a name serves. -1: not needed.
 */
static int stand_in(const struct options *o, char name[64])
{
	struct stat st;
	int fd;

	if (!o->size || !stat(o->device, &st) || errno != ENOENT)
		return -1;
	fd = memfd_create("mkrjfs", 0); /* mke2fs inherits it */
	if (fd >= 0)
		snprintf(name, 64, "/proc/self/fd/%d", fd);
	return fd;
}

/* The reason in what mke2fs said: the first line with its name, else the first that is
 * neither its version nor a warning. TEXT is changed. */
static const char *reason(char *text)
{
	static const char name[] = "mke2fs: ", warning[] = "Warning";
	const char *found = NULL;
	char *line, *save = NULL;

	for (line = strtok_r(text, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, name, sizeof(name) - 1))
			return line + sizeof(name) - 1;
		if (!found && strncmp(line, "mke2fs 1.", 9) &&
			strncmp(line, warning, sizeof(warning) - 1))
			found = line;
	}
	return found ? found : "it does not say why";
}

int mke2fs_ask(
	const struct options *o, struct mke2fs_plan *plan, struct rj_error *err)
{
	struct rj_proc_result result = {0};
	struct args a = {0};
	char name[64];
	int fd, rc;

	fd = stand_in(o, name);
	rc = add_program(&a, err);
	if (rc)
		goto out;
	/* -z and -c would touch files and the device; -q hides the geometry;
	 * one -F keeps it from asking, two would let it do anything */
	add_options(&a, o, "nqzcF");
	add(&a, "-n");
	add(&a, "-F");
	add_operands(&a, o, fd >= 0 ? name : o->device);
	rc = run_in_english(&a, &result, err);
	if (rc)
		goto out;
	plan->output = result.out;
	result.out = (struct rj_buf){0};
	if (rj_proc_exit_status(&result))
		rc = rj_fail(err, RJ_E_REFUSED, "mke2fs refuses: %s",
			reason((char *)plan->output.data));
	else if (!find_geometry(plan))
		rc = rj_fail(err, RJ_E_PROTOCOL,
			"%s -n does not say how many blocks the filesystem "
			"would "
			"have; is it the mke2fs of e2fsprogs?",
			a.v[0]);
out:
	if (fd >= 0)
		close(fd);
	rj_proc_release(&result);
	release(&a);
	return rc;
}

int mke2fs_run(const struct options *o, int *status, struct rj_error *err)
{
	struct rj_proc_result result = {0};
	struct args a = {0};
	int rc = add_program(&a, err);

	if (!rc) {
		add_options(&a, o, "");
		add_operands(&a, o, o->device);
		fflush(stdout);
		rc = run(&a, 0, &result, err);
	}
	if (!rc)
		*status = rj_proc_exit_status(&result);
	rj_proc_release(&result);
	release(&a);
	return rc;
}
