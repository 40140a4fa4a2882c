// SPDX-License-Identifier: LGPL-2.1-or-later
/* The words of -J. */
#include "journal/attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "store/url.h"

#define SIZE_MAX_MB (1u << 30) /* a petabyte: only so that sums stay small */

static int placement_word(struct rj_journal_opts *o, enum rj_placement p,
	const char *word, struct rj_error *err)
{
	if (o->placement != RJ_PLACE_INTERNAL)
		return rj_fail(err, RJ_E_INVAL,
			"journal option \"%s\": a place for the journal was "
			"given already; use one of remote=, device=, none",
			word);
	o->placement = p;
	return 0;
}

static int take_size(
	struct rj_journal_opts *o, const char *value, struct rj_error *err)
{
	unsigned long long mb;
	char *end;

	errno = 0;
	/* as mke2fs: megabytes, in any base that strtoul takes */
	mb = strtoull(value, &end, 0);
	if (value[0] < '0' || value[0] > '9' || *end || errno || !mb ||
		mb > SIZE_MAX_MB)
		return rj_fail(err, RJ_E_INVAL,
			"journal option \"size=%s\": not a size; give whole "
			"megabytes, such as size=64",
			value);
	o->size_mb = (uint32_t)mb;
	return 0;
}

static int take_remote(
	struct rj_journal_opts *o, const char *value, struct rj_error *err)
{
	int rc;

	if (strlen(value) >= sizeof(o->url))
		return rj_fail(err, RJ_E_INVAL,
			"journal option \"remote=\": a URL of %zu characters "
			"is "
			"too long",
			strlen(value));
	rc = rj_store_check_url(value, err);
	if (rc) /* names the URL, or rj.conf */
		return rc;
	if (!rj_sbx_url_valid(value, err))
		return rj_fail_prefix(err, "journal option \"remote=\"");
	strcpy(o->url, value);
	return placement_word(o, RJ_PLACE_REMOTE, "remote=", err);
}

static int take_device(
	struct rj_journal_opts *o, const char *value, struct rj_error *err)
{
	if (strlen(value) >= sizeof(o->device))
		return rj_fail(err, RJ_E_INVAL,
			"journal option \"device=\": name too long");
	strcpy(o->device, value);
	return placement_word(o, RJ_PLACE_DEVICE, "device=", err);
}

static int take_key(
	struct rj_journal_opts *o, const char *value, struct rj_error *err)
{
	if (strlen(value) >= sizeof(o->key_file))
		return rj_fail(err, RJ_E_INVAL,
			"journal option \"key=\": name too long");
	strcpy(o->key_file, value);
	return 0;
}

static int take_ack(
	struct rj_journal_opts *o, const char *value, struct rj_error *err)
{
	o->ack_given = true;
	o->ack_received = !strcmp(value, "received");
	if (!o->ack_received && strcmp(value, "durable"))
		return rj_fail(err, RJ_E_INVAL,
			"journal option \"ack=%s\": say ack=durable or "
			"ack=received",
			value);
	return 0;
}

static int take_on_loss(
	struct rj_journal_opts *o, const char *value, struct rj_error *err)
{
	if (!strcmp(value, "block"))
		o->on_loss = RJ_LOSS_BLOCK;
	else if (!strcmp(value, "error"))
		o->on_loss = RJ_LOSS_ERROR;
	else if (!strcmp(value, "local"))
		o->on_loss = RJ_LOSS_LOCAL;
	else
		return rj_fail(err, RJ_E_INVAL,
			"journal option \"on_loss=%s\": say on_loss=block, "
			"on_loss=error or, with fallback=PATH, on_loss=local",
			value);
	o->on_loss_given = true;
	return 0;
}

static int take_fallback(
	struct rj_journal_opts *o, const char *value, struct rj_error *err)
{
	if (!rj_sbx_fallback_valid("", value, err))
		return rj_fail_prefix(err, "journal option \"fallback=\"");
	strcpy(o->fallback, value);
	return 0;
}

static int take_fallback_size(
	struct rj_journal_opts *o, const char *value, struct rj_error *err)
{
	uint32_t journal = o->size_mb;
	int rc = take_size(o, value, err);

	if (rc)
		return rj_fail(err, RJ_E_INVAL,
			"journal option \"fallback_size=%s\": not a size; give whole megabytes, such as fallback_size=256",
			value);
	o->fallback_mb = o->size_mb;
	o->size_mb = journal;
	return 0;
}

static const struct word {
	const char *name;
	int (*take)(struct rj_journal_opts *o, const char *value,
		struct rj_error *err);
	bool placement; /* counts for "given" */
	bool remote;    /* means something for a remote journal only */
} words[] = {
	{.name = "size", .take = take_size, .placement = true},
	{.name = "remote", .take = take_remote, .placement = true},
	{.name = "device", .take = take_device, .placement = true},
	{.name = "ack", .take = take_ack, .remote = true},
	{.name = "on_loss", .take = take_on_loss, .remote = true},
	{.name = "key", .take = take_key, .remote = true},
	{.name = "fallback", .take = take_fallback, .remote = true},
	{.name = "fallback_size", .take = take_fallback_size, .remote = true},
};

#define WORDS (sizeof(words) / sizeof(words[0]))

/* mke2fs's own, which are passed to it. */
static bool is_mke2fs_word(const char *name)
{
	return !strcmp(name, "location") || !strcmp(name, "fast_commit_size") ||
	       !strcmp(name, "v1_superblock");
}

static int keep_for_mke2fs(
	struct rj_journal_opts *o, const char *token, struct rj_error *err)
{
	size_t len = strlen(o->rest);

	if (len + strlen(token) + 2 > sizeof(o->rest))
		return rj_fail(err, RJ_E_INVAL, "journal options: too long");
	sprintf(o->rest + len, "%s%s", len ? "," : "", token);
	return 0;
}

/* One word. SEEN has a bit for each of words[] that came before. */
static int take_token(struct rj_journal_opts *o, char *token, unsigned *seen,
	struct rj_error *err)
{
	char *value = strchr(token, '=');
	size_t len = value ? (size_t)(value - token) : strlen(token);
	char name[32];
	size_t i;

	snprintf(name, sizeof(name), "%.*s", (int)len, token);
	if (!strcmp(token, "none")) {
		o->given = true;
		return placement_word(o, RJ_PLACE_NONE, "none", err);
	}
	if (is_mke2fs_word(name))
		return keep_for_mke2fs(o, token, err);
	for (i = 0; i < WORDS && strcmp(words[i].name, name); i++)
		;
	if (i == WORDS)
		return rj_fail(err, RJ_E_INVAL,
			"unknown journal option \"%s\"; known are size=MB, "
			"remote=URL, device=DEV, none, key=, ack=, on_loss=, "
			"fallback=, fallback_size=, and "
			"mke2fs's location= and fast_commit_size=",
			token);
	if (!value || !value[1])
		return rj_fail(err, RJ_E_INVAL,
			"journal option \"%s\": a value is missing, as in "
			"%s=...",
			name, name);
	if (*seen & 1u << i)
		return rj_fail(err, RJ_E_INVAL,
			"journal option \"%s=\": given twice", name);
	*seen |= 1u << i;
	if (words[i].placement)
		o->given = true;
	return words[i].take(o, value + 1, err);
}

static int check_together(
	const struct rj_journal_opts *o, unsigned seen, struct rj_error *err)
{
	size_t i;

	if (o->placement == RJ_PLACE_NONE && (seen || o->rest[0]))
		return rj_fail(err, RJ_E_INVAL,
			"journal option \"none\": nothing else can be said of "
			"no journal");
	if (o->placement == RJ_PLACE_REMOTE && o->rest[0])
		return rj_fail(err, RJ_E_INVAL,
			"journal option \"%s\": not valid for a remote "
			"journal",
			o->rest);
	for (i = 0; i < WORDS; i++)
		if (words[i].remote && seen & 1u << i &&
			o->placement != RJ_PLACE_REMOTE)
			return rj_fail(err, RJ_E_INVAL,
				"journal option \"%s=\": is for a remote "
				"journal; "
				"say remote=URL too",
				words[i].name);
	return 0;
}

/* With a fallback, it is what is used; without one it cannot be. */
static int check_fallback(struct rj_journal_opts *o, struct rj_error *err)
{
	if (!o->fallback[0] && o->on_loss == RJ_LOSS_LOCAL)
		return rj_fail(err, RJ_E_INVAL,
			"journal option \"on_loss=local\": needs a fallback=PATH to go on in");
	if (!o->fallback[0] && o->fallback_mb)
		return rj_fail(err, RJ_E_INVAL,
			"journal option \"fallback_size=\": say fallback=PATH too");
	if (!o->fallback[0])
		return 0;
	if (o->on_loss_given && o->on_loss != RJ_LOSS_LOCAL)
		return rj_fail(err, RJ_E_INVAL,
			"journal option \"fallback=\": is not used with on_loss=%s; say on_loss=local",
			o->on_loss == RJ_LOSS_ERROR ? "error" : "block");
	o->on_loss = RJ_LOSS_LOCAL;
	o->on_loss_given = true;
	if (!rj_sbx_fallback_valid(o->url, o->fallback, err))
		return rj_fail_prefix(err, "journal options");
	return 0;
}

int rj_journal_opts_parse(
	const char *text, struct rj_journal_opts *out, struct rj_error *err)
{
	/* on the heap: the struct is larger than a stack frame should be */
	struct rj_journal_opts *o = calloc(1, sizeof(*o));
	char *copy = strdup(text), *next = copy, *token;
	unsigned seen = 0;
	int rc = 0;

	if (!o || !copy) {
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
		goto out;
	}
	o->placement = RJ_PLACE_INTERNAL;
	o->on_loss = RJ_LOSS_BLOCK;
	while (!rc && (token = strsep(&next, ","))) {
		if (!*token)
			rc = rj_fail(err, RJ_E_INVAL,
				"journal options \"%s\": an empty word", text);
		else
			rc = take_token(o, token, &seen, err);
	}
	if (!rc)
		rc = check_together(o, seen, err);
	if (!rc)
		rc = check_fallback(o, err);
	if (!rc)
		*out = *o;
out:
	free(copy);
	free(o);
	return rc;
}
