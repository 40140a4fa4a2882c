// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the list of --all. */
#include "volumes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ext4/volume.h"
#include "os/hostname.h"
#include "tools/json.h"
#include "util/buf.h"

#define BLANKS " \t\r"

void volumes_free(struct volumes *v)
{
	while (v->count)
		free(v->names[--v->count]);
	free(v->names);
	v->names = NULL;
}

static int add(struct volumes *v, const char *name, struct rj_error *err)
{
	char **names;
	size_t i;

	for (i = 0; i < v->count; i++)
		if (!strcmp(v->names[i], name))
			return 0;
	names = realloc(v->names, (v->count + 1) * sizeof(*names));
	if (names)
		v->names = names;
	if (!names || !(names[v->count] = strdup(name)))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	v->count++;
	return 0;
}

/* Drop the blanks at both ends of LINE, and what follows a # after a blank. */
static char *trim(char *line)
{
	char *end, *comment;

	line += strspn(line, BLANKS);
	comment = strstr(line, " #");
	if (comment)
		*comment = 0;
	end = line + strlen(line);
	while (end > line && strchr(BLANKS, end[-1]))
		*--end = 0;
	return line;
}

/* As getmntent(3): a name with \040 has a blank. */
static void unescape(char *name)
{
	char *to = name;
	unsigned n;

	for (; *name; name++, to++) {
		*to = *name;
		if (*name == '\\' && sscanf(name + 1, "%3o", &n) == 1 && strspn(name + 1, "01234567") >= 3) {
			*to = (char)n;
			name += 3;
		}
	}
	*to = 0;
}

/* A line of fstab has four words at least: a device, a folder or none, a type, options. */
static int take_line(char *line, struct volumes *v, struct rj_error *err)
{
	char name[4096], dir[4096], type[64], options[2];
	int words;

	line = trim(line);
	words = sscanf(line, "%4095s %4095s %63s %1s", name, dir, type, options);
	if (!line[0] || line[0] == '#')
		return 0;
	if (words < 4 || (dir[0] != '/' && strcmp(dir, "none") && strcmp(dir, "swap")))
		return add(v, line, err);
	if (strcmp(type, "ext3") && strcmp(type, "ext4") && strcmp(type, "rj"))
		return 0;
	unescape(name);
	return add(v, name, err);
}

/* An object with a device, or an array of them. */
static int take_json(struct json_object *o, struct volumes *v, struct rj_error *err)
{
	struct json_object *device;
	int rc = 0;
	size_t i;

	if (json_object_is_type(o, json_type_array)) {
		for (i = 0; !rc && i < json_object_array_length(o); i++)
			rc = take_json(json_object_array_get_idx(o, i), v, err);
		return rc;
	}
	if (json_object_object_get_ex(o, "device", &device) &&
		json_object_is_type(device, json_type_string))
		return add(v, json_object_get_string(device), err);
	if (json_object_object_get_ex(o, "volumes", &device))
		return take_json(device, v, err);
	return 0;
}

/* One value after the other: rjctl prints one for each volume. */
static int take_values(const char *text, const char *file, struct volumes *v, struct rj_error *err)
{
	struct json_tokener *t = json_tokener_new();
	int rc = t ? 0 : rj_fail(err, RJ_E_NOMEM, "out of memory");
	struct json_object *o;

	while (!rc && text[strspn(text, " \t\r\n")]) {
		o = json_tokener_parse_ex(t, text, -1);
		if (!o) {
			rc = rj_fail(err, RJ_E_INVAL, "%s: not JSON: %s", file,
				json_tokener_error_desc(json_tokener_get_error(t)));
			break;
		}
		text += json_tokener_get_parse_end(t);
		json_tokener_reset(t);
		rc = take_json(o, v, err);
		json_object_put(o);
	}
	if (t)
		json_tokener_free(t);
	return rc;
}

static int read_all(FILE *f, const char *file, struct rj_buf *out, struct rj_error *err)
{
	char part[4096];
	size_t n;

	while ((n = fread(part, 1, sizeof(part), f)) > 0)
		if (rj_buf_append(out, part, n))
			return rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (ferror(f))
		return rj_fail_errno(err, errno, "%s", file);
	return rj_buf_append(out, "", 1) ? rj_fail(err, RJ_E_NOMEM, "out of memory") : 0;
}

int volumes_read(const char *file, struct volumes *out, struct rj_error *err)
{
	FILE *f = strcmp(file, "-") ? fopen(file, "re") : stdin;
	struct rj_buf text = {0};
	char *line, *next;
	int rc;

	*out = (struct volumes){0};
	if (!f)
		return rj_fail_errno(err, errno, "%s", file);
	rc = read_all(f, file, &text, err);
	if (f != stdin)
		fclose(f); /* only read */
	line = (char *)text.data;
	if (!rc && strchr("{[", line[strspn(line, " \t\r\n")]) && line[0])
		rc = take_values(line, file, out, err);
	else
		for (; !rc && *line; line = next) {
			next = line + strcspn(line, "\n");
			next += *next == '\n';
			if (next > line && next[-1] == '\n')
				next[-1] = 0;
			rc = take_line(line, out, err);
		}
	rj_buf_free(&text);
	if (!rc && !out->count)
		rc = rj_fail(err, RJ_E_INVAL, "%s: names no volume", file);
	return rc;
}

static int volume_uuid(const char *device, char out[RJ_UUID_TEXT], struct rj_error *err)
{
	struct rj_volume *v = NULL;
	int rc = rj_volume_open(device, RJ_VOLUME_FORCE | RJ_VOLUME_MMP, NULL, &v, err);

	if (rc)
		return rc;
	rj_uuid_text(rj_volume_facts(v)->uuid, out);
	return rj_volume_close(v, err);
}

int volumes_expand(const char *words, const char *device, struct rj_buf *out,
	struct rj_error *err)
{
	char uuid[RJ_UUID_TEXT] = "", host[64];
	int rc = strstr(words, "%u") ? volume_uuid(device, uuid, err) : 0;
	size_t len;

	rj_host_name(host, sizeof(host));
	while (!rc && *words) {
		len = strcspn(words, "%");
		rc = rj_buf_append(out, words, len);
		words += len;
		if (rc || !*words)
			break;
		if (words[1] == 'u')
			rc = rj_buf_printf(out, "%s", uuid);
		else if (words[1] == 'h')
			rc = rj_buf_printf(out, "%s", host);
		else if (words[1] == '%')
			rc = rj_buf_append(out, "%", 1);
		else
			return rj_fail(err, RJ_E_INVAL,
				"-J: %%u stands for the volume's UUID, %%h for the host, %%%% for a %%; there is no %.2s",
				words);
		words += 2;
	}
	if (!rc)
		rc = rj_buf_append(out, "", 1);
	return rc == -RJ_E_NOMEM ? rj_fail(err, RJ_E_NOMEM, "out of memory") : rc;
}
