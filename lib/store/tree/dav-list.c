// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/tree/dav-list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/hex.h"

static int on_start(void *arg, const char *name)
{
	struct rj_dav_list *l = arg;

	if (!strcmp(name, "response")) {
		l->href[0] = '\0';
		l->bytes = 0;
		l->folder = false;
	} else if (!strcmp(name, "collection")) {
		l->folder = true;
	}
	return 0;
}

/* Undo %XX in place. */
static void decode(char *s)
{
	char *out = s;
	uint8_t byte;

	for (; *s; s++) {
		if (*s == '%' && rj_hex_parse(s + 1, 1, &byte)) {
			*out++ = (char)byte;
			s += 2;
		} else {
			*out++ = *s;
		}
	}
	*out = '\0';
}

/* "http://host/a/b" or "/a/b": from the path's slash on. */
static char *path_of(char *href)
{
	char *p = strstr(href, "://");

	return p ? strchrnul(p + 3, '/') : href;
}

/* A response is complete: the folder itself, or something in it. */
static int take(struct rj_dav_list *l)
{
	size_t len = strlen(l->path);
	char *path, *end;

	l->responses++;
	decode(l->href);
	path = path_of(l->href);
	end = path + strlen(path);
	if (end > path && end[-1] == '/')
		end[-1] = '\0';
	if (!strncmp(path, l->path, len - 1) && !path[len - 1])
		return 0;
	if (strncmp(path, l->path, len) || !path[len] ||
		strchr(path + len, '/'))
		return rj_fail(l->err, RJ_E_PROTOCOL,
			"%s: asked what is in %s, the WebDAV server tells of "
			"something else",
			l->store, l->path);
	return l->fn(l->arg, path + len, l->bytes, l->folder);
}

static int on_end(void *arg, const char *name, const char *text)
{
	struct rj_dav_list *l = arg;

	if (!strcmp(name, "href") && !l->href[0])
		snprintf(l->href, sizeof(l->href), "%s", text);
	else if (!strcmp(name, "getcontentlength") && *text)
		l->bytes = strtoull(text, NULL, 10);
	else if (!strcmp(name, "response"))
		return take(l);
	return 0;
}

static int feed(struct rj_dav_list *l, const void *data, size_t len, bool last)
{
	if (!l->parser) {
		l->xml = (struct rj_xml){on_start, on_end, l};
		l->parser = rj_xml_begin(l->store, &l->xml);
	}
	if (!l->parser)
		return rj_fail(l->err, RJ_E_NOMEM, "%s: out of memory", l->store);
	return rj_xml_feed(l->parser, data, len, last, l->err);
}

int rj_dav_list_feed(void *list, const void *data, size_t len)
{
	return feed(list, data, len, false);
}

int rj_dav_list_end(struct rj_dav_list *l)
{
	int rc = feed(l, NULL, 0, true);

	/* the folder itself is always among them */
	if (!rc && !l->responses)
		rc = rj_fail(l->err, RJ_E_PROTOCOL,
			"%s: list of %s: the answer is not one of WebDAV",
			l->store, l->path);
	return rc;
}

void rj_dav_list_free(struct rj_dav_list *l)
{
	rj_xml_free(l->parser);
}
