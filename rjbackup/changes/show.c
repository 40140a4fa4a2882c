// SPDX-License-Identifier: GPL-2.0-or-later
#include "rjbackup/changes/show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "text/when.h"
#include "tools/json.h"
#include "util/buf.h"
#include "util/printable.h"

static const struct {
	unsigned bit;
	const char *word;
} words[] = {
	{RJ_DIFF_REPLACED, "replaced"},
	{RJ_DIFF_CONTENT, "content"},
	{RJ_DIFF_SIZE, "size"},
	{RJ_DIFF_MODE, "mode"},
	{RJ_DIFF_OWNER, "owner"},
	{RJ_DIFF_MTIME, "mtime"},
	{RJ_DIFF_XATTR, "xattr"},
	{RJ_DIFF_FLAGS, "flags"},
	{RJ_DIFF_LINK, "link"},
};
#define WORDS (sizeof(words) / sizeof(words[0]))

static const char *const kinds[] = {
	[RJ_FILE_MADE] = "made",
	[RJ_FILE_REMOVED] = "removed",
	[RJ_FILE_RENAMED] = "renamed",
	[RJ_FILE_CHANGED] = "changed",
};

bool path_is_below(const char *path, const char *below)
{
	size_t len = below ? strlen(below) : 0;

	return !len || (!strncmp(path, below, len) && (!path[len] || path[len] == '/'));
}

char *path_of_user(const char *text)
{
	char *out = malloc(strlen(text) + 2), *end = out;
	const char *p = text;
	size_t len;

	while (out && *p) {
		len = strcspn(p, "/");
		if (len && !(len == 1 && *p == '.')) {
			*end++ = '/';
			memcpy(end, p, len);
			end += len;
		}
		p += len + (p[len] == '/');
	}
	if (out)
		*end = 0;
	return out;
}

void change_add(struct change_sums *s, const struct rj_file_change *c)
{
	switch (c->kind) {
	case RJ_FILE_MADE:
		s->made++;
		s->made_bytes += c->bytes;
		break;
	case RJ_FILE_REMOVED:
		s->removed++;
		s->removed_bytes += c->bytes;
		break;
	case RJ_FILE_RENAMED:
		s->renamed++;
		break;
	case RJ_FILE_CHANGED:
		s->changed++;
		s->changed_bytes += c->bytes;
		break;
	}
}

void path_print(const char *path)
{
	const unsigned char *p;

	for (p = (const unsigned char *)path; *p; p++)
		if (*p < ' ' || *p == '\\' || *p == 127)
			printf("\\%03o", *p);
		else
			putchar(*p);
}

void change_print(const struct rj_file_change *c)
{
	static const char letters[] = {
		[RJ_FILE_MADE] = '+',
		[RJ_FILE_REMOVED] = '-',
		[RJ_FILE_RENAMED] = 'R',
		[RJ_FILE_CHANGED] = 'M',
	};
	const char *before = " (";
	size_t i;

	printf("%c ", letters[c->kind]);
	if (c->from) {
		path_print(c->from);
		printf(" -> ");
	}
	path_print(c->path);
	if (S_ISDIR(c->after.mode | c->before.mode) && strcmp(c->path, "/"))
		putchar('/');
	for (i = 0; i < WORDS; i++) {
		if (!(c->what & words[i].bit))
			continue;
		printf("%s%s", before, words[i].word);
		if (words[i].bit == RJ_DIFF_SIZE)
			printf(" %" PRIu64 " -> %" PRIu64, c->before.size, c->after.size);
		before = ", ";
	}
	printf("%s\n", *before == ',' ? ")" : "");
}

void path_add_json(struct json_object *o, const char *key, const char *path)
{
	const char *p;
	struct rj_buf out = {0};
	char escaped[64];
	bool bad = false;
	size_t n;

	for (p = path; *p; p += n ? n : 1) {
		n = rj_utf8_bytes(p);
		bad |= !n;
	}
	for (p = path; bad && *p; p += n ? n : 1) {
		n = rj_utf8_bytes(p);
		/* out of memory: the text ends early */
		if (!n || *p == '\\')
			rj_buf_printf(&out, "\\%03o", (unsigned char)*p);
		else
			rj_buf_append(&out, p, n);
	}
	if (bad)
		rj_buf_printf(&out, "%s", "");
	add_text(o, key, bad && out.data ? (const char *)out.data : path);
	rj_buf_free(&out);
	snprintf(escaped, sizeof(escaped), "%s_escaped", key);
	if (bad)
		add_bool(o, escaped, true);
}

static struct json_object *facts_json(const struct rj_file_facts *f)
{
	struct json_object *o = json_object_new_object();
	char text[RJ_WHEN_TEXT];

	add_u64(o, "inode", f->inode);
	add_u64(o, "generation", f->generation);
	add_u64(o, "mode", f->mode);
	add_u64(o, "uid", f->uid);
	add_u64(o, "gid", f->gid);
	add_u64(o, "size", f->size);
	add_i64(o, "mtime_ns", f->mtime_ns);
	add_text(o, "mtime", rj_when_rfc3339(f->mtime_ns, text));
	return o;
}

struct json_object *change_json(const struct rj_file_change *c)
{
	struct json_object *o = json_object_new_object(), *what = json_object_new_array();
	size_t i;

	add_text(o, "kind", kinds[c->kind]);
	path_add_json(o, "path", c->path);
	if (c->from)
		path_add_json(o, "from", c->from);
	for (i = 0; i < WORDS; i++)
		if (c->what & words[i].bit)
			json_object_array_add(what, json_object_new_string(words[i].word));
	json_object_object_add(o, "what", what);
	add_u64(o, "bytes", c->bytes);
	if (c->before.inode)
		json_object_object_add(o, "before", facts_json(&c->before));
	if (c->after.inode)
		json_object_object_add(o, "after", facts_json(&c->after));
	return o;
}

void sums_print(const struct change_sums *s)
{
	printf("%" PRIu64 " made (%" PRIu64 " bytes), %" PRIu64 " removed (%" PRIu64
	       " bytes), %" PRIu64 " renamed, %" PRIu64 " changed (%" PRIu64 " bytes)\n",
		s->made, s->made_bytes, s->removed, s->removed_bytes, s->renamed, s->changed,
		s->changed_bytes);
}

void sums_add_json(const struct change_sums *s, struct json_object *top)
{
	add_u64(top, "made", s->made);
	add_u64(top, "made_bytes", s->made_bytes);
	add_u64(top, "removed", s->removed);
	add_u64(top, "removed_bytes", s->removed_bytes);
	add_u64(top, "renamed", s->renamed);
	add_u64(top, "changed", s->changed);
	add_u64(top, "changed_bytes", s->changed_bytes);
}
