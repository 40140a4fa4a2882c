// SPDX-License-Identifier: GPL-2.0-or-later
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/object-key.h"
#include "inifile.h"
#include "rjserver/access/accounts.h"

#define DEFAULT_STRANGERS 256
#define LEAST_FILE	  (64ull << 10)
#define MOST_FILE	  (1ull << 30)
#define MOST_REQUEST_S	  3600

static int set_path(char *to, size_t size, const char *name, const char *value,
	struct rj_error *err)
{
	if (!*value)
		return rj_fail(err, RJ_E_INVAL, "%s: says nothing", name);
	if (strlen(value) >= size)
		return rj_fail(err, RJ_E_INVAL, "%s: too long", name);
	strcpy(to, value);
	return 0;
}

static int set_durability(
	const char *value, bool *received, struct rj_error *err)
{
	*received = !strcmp(value, "received");
	if (*received || !strcmp(value, "fsync"))
		return 0;
	return rj_fail(err, RJ_E_INVAL,
		"durability=%.40s: it is fsync or received", value);
}

static int set_bool(const char *name, const char *value, bool *out,
	struct rj_error *err)
{
	*out = !strcmp(value, "yes");
	if (*out || !strcmp(value, "no"))
		return 0;
	return rj_fail(
		err, RJ_E_INVAL, "%s = %.40s: it is yes or no", name, value);
}

static int set_strangers(const char *name, const char *value, unsigned *out,
	struct rj_error *err)
{
	size_t digits = strspn(value, "0123456789");

	if (!digits || digits > 9 || value[digits])
		return rj_fail(err, RJ_E_INVAL, "%s = %.40s: not a number",
			name, value);
	*out = (unsigned)strtoul(value, NULL, 10);
	return 0;
}

static int set_file_size(const char *name, const char *value, uint64_t *out,
	struct rj_error *err)
{
	uint64_t bytes;
	int rc = inifile_size(name, value, &bytes, err);

	if (!rc && (bytes < LEAST_FILE || bytes > MOST_FILE))
		rc = rj_fail(err, RJ_E_INVAL, "%s = %.40s: it is 64k to 1G",
			name, value);
	if (!rc)
		*out = bytes;
	return rc;
}

static int set_request_time(const char *name, const char *value, uint64_t *out,
	struct rj_error *err)
{
	uint64_t seconds;
	int rc = inifile_time(name, value, &seconds, err);

	if (!rc && (!seconds || seconds > MOST_REQUEST_S))
		rc = rj_fail(err, RJ_E_INVAL, "%s = %.40s: it is 1s to 1h", name,
			value);
	if (!rc)
		*out = seconds;
	return rc;
}

static int set_server(struct settings *s, const char *name, const char *value,
	struct rj_error *err)
{
	const struct {
		const char *name;
		char *to;
		size_t size;
	} paths[] = {
		{"dir", s->dir, sizeof(s->dir)},
		{"listen", s->listen, sizeof(s->listen)},
		{"cert", s->cert, sizeof(s->cert)},
		{"key", s->key, sizeof(s->key)},
		{"client-ca", s->client_ca, sizeof(s->client_ca)},
		{"accounts", s->accounts, sizeof(s->accounts)},
	};
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!strcmp(name, paths[i].name))
			return set_path(
				paths[i].to, paths[i].size, name, value, err);
	if (!strcmp(name, "durability"))
		return set_durability(value, &s->received, err);
	if (!strcmp(name, "insecure"))
		return set_bool(name, value, &s->insecure, err);
	if (!strcmp(name, "quiet"))
		return set_bool(name, value, &s->quiet, err);
	if (!strcmp(name, "min-free")) {
		s->min_free_set = true;
		return inifile_size(name, value, &s->min_free, err);
	}
	if (!strcmp(name, "max-strangers"))
		return set_strangers(name, value, &s->per_address, err);
	if (!strcmp(name, "file-size"))
		return set_file_size(name, value, &s->file_bytes, err);
	if (!strcmp(name, "request-time"))
		return set_request_time(name, value, &s->request_s, err);
	return rj_fail(err, RJ_E_INVAL,
		"\"%.40s\" means nothing in [server]; see rjserver(8)", name);
}

static int set_volume(struct settings *s, const char *pattern, const char *name,
	const char *value, struct rj_error *err)
{
	size_t len = strlen(pattern), i;
	struct volume_rule *rule = NULL;

	for (i = 0; i < s->rule_count; i++)
		if (!strcmp(s->rules[i].pattern, pattern))
			rule = &s->rules[i];
	if (!rule) {
		if (len && pattern[len - 1] == '*')
			len--;
		if (!*pattern || (len && !rj_key_name_valid(pattern, len)) ||
			strlen(pattern) >= NAME_BYTES)
			return rj_fail(err, RJ_E_INVAL,
				"[volume %.70s] names no volumes; write a "
				"name, the beginning of names and a *, or a *",
				pattern);
		if (s->rule_count == SETTINGS_RULES)
			return rj_fail(err, RJ_E_INVAL,
				"more than %d sections of volumes",
				SETTINGS_RULES);
		rule = &s->rules[s->rule_count++];
		*rule = (struct volume_rule){0};
		strcpy(rule->pattern, pattern);
	}
	if (!strcmp(name, "keep"))
		return inifile_time(name, value, &rule->keep_s, err);
	if (!strcmp(name, "max-bytes"))
		return inifile_size(name, value, &rule->max_bytes, err);
	if (!strcmp(name, "max-objects"))
		return inifile_size(name, value, &rule->max_objects, err);
	return rj_fail(err, RJ_E_INVAL,
		"\"%.40s\" means nothing here; a volume has keep, max-bytes and max-objects",
		name);
}

static int take(void *arg, const char *section, const char *name,
	const char *value, struct rj_error *err)
{
	struct settings *s = arg;

	if (!strcmp(section, "server"))
		return set_server(s, name, value, err);
	if (!strncmp(section, "volume ", 7))
		return set_volume(s, section + 7, name, value, err);
	return rj_fail(err, RJ_E_INVAL,
		"\"%.40s\" is neither in [server] nor in a [volume NAME]",
		name);
}

static int read_file(
	struct settings *s, const char *path, struct rj_error *err)
{
	FILE *file = fopen(path, "re");
	int rc;

	if (!file)
		return rj_fail_errno(err, errno, "%s: cannot open", path);
	rc = inifile_read(file, path, take, s, err);
	fclose(file); /* only read */
	return rc;
}

static int overlay(
	struct settings *s, const struct options *o, struct rj_error *err)
{
	const struct {
		const char *name, *value;
	} said[] = {
		{"dir", o->dir},
		{"listen", o->listen},
		{"cert", o->cert},
		{"key", o->key},
		{"client-ca", o->client_ca},
		{"accounts", o->accounts},
		{"durability", o->durability},
		{"min-free", o->min_free},
		{"max-strangers", o->max_strangers},
		{"file-size", o->file_size},
		{"request-time", o->request_time},
	};
	int rc = 0;
	size_t i;

	for (i = 0; i < sizeof(said) / sizeof(said[0]) && !rc; i++)
		if (said[i].value)
			rc = set_server(s, said[i].name, said[i].value, err);
	if (rc)
		return rj_fail_prefix(err, "--%s", said[i - 1].name);
	s->insecure |= o->insecure;
	s->quiet |= o->quiet;
	return 0;
}

int settings_make(
	const struct options *o, struct settings *out, struct rj_error *err)
{
	struct settings *s = calloc(1, sizeof(*s)); /* large for a stack */
	int rc;

	if (!s)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	s->per_address = DEFAULT_STRANGERS;
	rc = o->config ? read_file(s, o->config, err) : 0;
	rc = rc ? rc : overlay(s, o, err);
	if (!rc && !s->accounts[0] &&
		snprintf(s->accounts, sizeof(s->accounts), "%s/accounts",
			s->dir) >= (int)sizeof(s->accounts))
		rc = rj_fail(err, RJ_E_INVAL, "%s: too long", s->dir);
	if (!rc && !s->cert[0] != !s->key[0])
		rc = rj_fail(err, RJ_E_INVAL,
			"TLS needs both a certificate (--cert) and its key "
			"(--key)");
	if (!rc && s->client_ca[0] && !s->cert[0])
		rc = rj_fail(err, RJ_E_INVAL,
			"--client-ca: client certificates need TLS: --cert and "
			"--key");
	if (!rc)
		*out = *s;
	free(s);
	return rc;
}

const struct volume_rule *settings_rule(
	const struct settings *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->rule_count; i++)
		if (account_pattern_matches(s->rules[i].pattern, name))
			return &s->rules[i];
	return NULL;
}
