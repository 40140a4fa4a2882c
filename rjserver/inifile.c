// SPDX-License-Identifier: GPL-2.0-or-later
#include "inifile.h"

#include <errno.h>
#include <ini.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "text/quantity.h"

#define SECTION_BYTES 128

struct reading {
	FILE *file;
	const char *path;
	inifile_fn fn;
	void *arg;
	struct rj_error *err;
	unsigned line;
	char section[SECTION_BYTES]; /* inih cuts it off after 49 bytes */
	bool too_long;
	int rc;
};

/* Keep the name of a "[section]". False: too long. */
static bool take_section(struct reading *r, const char *line)
{
	const char *begin = line + strspn(line, " \t"), *end = strchr(begin, ']');
	size_t n;

	if (*begin != '[' || !end)
		return true;
	n = (size_t)(end - begin) - 1;
	if (n >= sizeof(r->section))
		return false;
	memcpy(r->section, begin + 1, n);
	r->section[n] = 0;
	return true;
}

/* As fgets(); inih would take the rest of a long line for another line. */
static char *next_line(char *out, int size, void *arg)
{
	struct reading *r = arg;
	size_t len;

	if (r->rc || r->too_long || !fgets(out, size, r->file))
		return NULL;
	r->line++;
	len = strlen(out);
	if (len + 1 == (size_t)size && out[len - 1] != '\n' && !feof(r->file))
		r->too_long = true;
	if (!take_section(r, out))
		r->too_long = true;
	return r->too_long ? NULL : out;
}

/* inih wants 1 for "go on". */
static int on_value(
	void *arg, const char *section, const char *name, const char *value)
{
	struct reading *r = arg;

	r->rc = r->fn(r->arg, r->section, name, value, r->err);
	if (r->rc)
		r->rc = rj_fail_prefix(r->err, "%s:%u", r->path, r->line);
	return !r->rc;
}

int inifile_read(FILE *file, const char *path, inifile_fn fn, void *arg,
	struct rj_error *err)
{
	struct reading r = {
		.file = file,
		.path = path,
		.fn = fn,
		.arg = arg,
		.err = err,
	};
	int bad = ini_parse_stream(next_line, &r, on_value, &r);

	if (r.rc)
		return r.rc;
	if (r.too_long)
		return rj_fail(err, RJ_E_INVAL,
			"%s:%u: this line is too long; lists can go on with "
			"the same name again",
			path, r.line);
	if (ferror(file))
		return rj_fail_errno(err, errno, "%s: cannot read", path);
	if (bad < 0)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", path);
	if (bad)
		return rj_fail(err, RJ_E_INVAL,
			"%s:%d: neither \"[section]\" nor \"name = value\"",
			path, bad);
	return 0;
}

int inifile_size(const char *what, const char *text, uint64_t *bytes,
	struct rj_error *err)
{
	if (rj_parse_size(text, bytes))
		return 0;
	return rj_fail(err, RJ_E_INVAL,
		"%s: \"%.40s\" is no size; write bytes, or as 64M, 10G, 1T",
		what, text);
}

int inifile_time(const char *what, const char *text, uint64_t *seconds,
	struct rj_error *err)
{
	if (rj_parse_time(text, seconds) && *seconds < 1ull << 32)
		return 0;
	return rj_fail(err, RJ_E_INVAL,
		"%s: \"%.40s\" is no time; write it as 30s, 10m, 12h or 7d",
		what, text);
}
