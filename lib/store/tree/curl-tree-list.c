// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Listings as "ls -l" writes them: what FTP servers on all kinds of systems
 * send, and libcurl for SFTP. A line is
 *
 *	-rw-r--r--    1 1000     1000        8192 Nov 21 22:40 name
 *
 * Our names have no blanks: a line whose last word is not after a date is of
 * another file. If it were taken for ours, the checks of the log would find that.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "store/tree/curl-tree.h"

#define WORDS 9 /* mode links user group bytes month day time name */

struct line {
	char name[RJ_TREE_NAME];
	uint64_t bytes;
	bool folder;
};

static bool parse_line(const char *p, size_t len, struct line *out)
{
	const char *word[WORDS] = {0};
	size_t length[WORDS] = {0}, i = 0, n = 0;
	char digits[24] = "";

	while (len && (p[len - 1] == '\r' || p[len - 1] == ' '))
		len--;
	while (i < len) {
		while (i < len && p[i] == ' ')
			i++;
		if (i == len)
			break;
		if (n == WORDS)
			return false;
		word[n] = p + i;
		while (i < len && p[i] != ' ')
			i++;
		length[n] = (size_t)(p + i - word[n]);
		n++;
	}
	if (n != WORDS || (*p != '-' && *p != 'd'))
		return false;
	if (length[4] >= sizeof(digits) || length[8] >= sizeof(out->name))
		return false;
	for (i = 0; i < length[4]; i++)
		if (!isdigit((unsigned char)word[4][i]))
			return false;
	memcpy(digits, word[4], length[4]);
	out->bytes = strtoull(digits, NULL, 10);
	memcpy(out->name, word[8], length[8]);
	out->name[length[8]] = '\0';
	out->folder = *p == 'd';
	return true;
}

/* DOTS: "." and ".." too. */
static int each_line(const struct rj_buf *text, bool dots, rj_tree_list_fn fn,
	void *arg)
{
	const char *p = (const char *)text->data, *end = p + text->len, *eol;
	struct line l;
	int rc = 0;

	while (p < end && !rc) {
		eol = memchr(p, '\n', (size_t)(end - p));
		if (!eol)
			eol = end;
		if (parse_line(p, (size_t)(eol - p), &l) &&
			(dots || strspn(l.name, ".") < strlen(l.name)))
			rc = fn(arg, l.name, l.bytes, l.folder);
		p = eol + 1;
	}
	return rc;
}

int rj_net_parse_list(const struct rj_buf *text, rj_tree_list_fn fn, void *arg)
{
	return each_line(text, false, fn, arg);
}

struct wanted {
	const char *name;
	uint64_t bytes;
	bool folder, found;
};

static int is_wanted(void *arg, const char *name, uint64_t bytes, bool folder)
{
	struct wanted *w = arg;

	if (strcmp(w->name, name))
		return 0;
	w->found = true;
	w->bytes = bytes;
	w->folder = folder;
	return 1;
}

bool rj_net_in_list(const struct rj_buf *text, const char *name, bool *folder,
	uint64_t *bytes)
{
	struct wanted w = {.name = name};

	each_line(text, true, is_wanted, &w);
	if (folder)
		*folder = w.folder;
	if (bytes)
		*bytes = w.bytes;
	return w.found;
}
