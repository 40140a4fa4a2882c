// SPDX-License-Identifier: GPL-2.0-or-later
/* Keep in the runtime directory what is asked of the next worker, and where the log is. */
#include "place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/bytes.h"
#include "util/log.h"

#define PATH	 (RJ_RUNDIR_PATH + 16)
#define LINE	 256

#define PLACE	 "%s %016" PRIx64 " %016" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n"
#define READ_PLACE "%127s %" SCNx64 " %" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64

static void path_of(const struct rj_claimed_dir *d, const char *name, char path[PATH])
{
	snprintf(path, PATH, "%s/%s", d->dir, name);
}

static int put(
	const struct rj_claimed_dir *d, const char *name, const char *text, struct rj_error *err)
{
	char path[PATH], new[PATH];
	bool bad;
	FILE *f;

	path_of(d, name, path);
	path_of(d, "new", new);
	f = fopen(new, "we");
	if (!f)
		return rj_fail_errno(err, errno, "%s", new);
	bad = fputs(text, f) == EOF;
	if (fclose(f) || bad || rename(new, path))
		return rj_fail_errno(err, errno, "%s", path);
	return 0;
}

static FILE *get(const struct rj_claimed_dir *d, const char *name)
{
	char path[PATH];

	path_of(d, name, path);
	return fopen(path, "re");
}

static void forget(const struct rj_claimed_dir *d, const char *name)
{
	char path[PATH];

	path_of(d, name, path);
	unlink(path);
}

static void print_place(const struct rj_place *p, char out[LINE])
{
	snprintf(out, LINE, PLACE, p->url, rj_get_le64(p->key_fingerprint),
		rj_get_le64(p->key_fingerprint + 8), p->epoch, p->base, p->last);
}

static bool read_place(FILE *f, struct rj_place *out)
{
	uint64_t key[2] = {0};

	if (fscanf(f, READ_PLACE, out->url, &key[0], &key[1], &out->epoch, &out->base,
		    &out->last) != 6)
		return false;
	rj_put_le64(out->key_fingerprint, key[0]);
	rj_put_le64(out->key_fingerprint + 8, key[1]);
	return true;
}

int rj_move_request_put(
	const struct rj_claimed_dir *d, const struct rj_move_request *r, struct rj_error *err)
{
	char from[LINE], text[LINE + RJ_SBX_URL_BYTES + 16];

	forget(d, "moved");
	print_place(&r->from, from);
	snprintf(text, sizeof(text), "%s %s\n%s", r->lost ? "reseed" : "move", r->url, from);
	return put(d, "move", text, err);
}

bool rj_move_request_get(const struct rj_claimed_dir *d, struct rj_move_request *out)
{
	FILE *f = get(d, "move");
	char word[8] = "";
	bool good = f && fscanf(f, "%7s %127s", word, out->url) == 2 &&
		    read_place(f, &out->from);

	if (f)
		fclose(f);
	out->lost = !strcmp(word, "reseed");
	return good;
}

void rj_move_request_end(const struct rj_claimed_dir *d, const char *why)
{
	struct rj_error err;

	if (put(d, "moved", why ? why : "ok", &err))
		rj_log(RJ_LOG_WARNING, "%s", err.msg);
	forget(d, "move");
	forget(d, "broken");
	forget(d, "closing");
}

int rj_move_note(const struct rj_claimed_dir *d, const char *name, struct rj_error *err)
{
	return put(d, name, "", err);
}

bool rj_move_noted(const struct rj_claimed_dir *d, const char *name)
{
	char path[PATH];

	path_of(d, name, path);
	return !access(path, F_OK);
}

int rj_place_put(const struct rj_claimed_dir *d, const struct rj_place *p, struct rj_error *err)
{
	char text[LINE];

	print_place(p, text);
	return put(d, "place", text, err);
}

bool rj_place_get(const struct rj_claimed_dir *d, struct rj_place *out)
{
	FILE *f = get(d, "place");
	bool good = f && read_place(f, out);

	if (f)
		fclose(f);
	return good;
}

void rj_place_clear(const struct rj_claimed_dir *d)
{
	static const char *const names[] = {
		"move", "moved", "place", "broken", "closing", "new"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		forget(d, names[i]);
}
