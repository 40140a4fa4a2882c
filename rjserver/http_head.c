// SPDX-License-Identifier: GPL-2.0-or-later
#include "http_head.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define BEGIN "PUT /"
#define END   "\r\n\r\n"

static const char *const names[HEAD_FIELDS] = {
	[HEAD_HOST] = "Host",
	[HEAD_AUTHORIZATION] = "Authorization",
	[HEAD_CONTENT_LENGTH] = "Content-Length",
	[HEAD_CONTENT_TYPE] = "Content-Type",
	[HEAD_IF_NONE_MATCH] = "If-None-Match",
	[HEAD_USER_AGENT] = "User-Agent",
	[HEAD_ACCEPT] = "Accept",
};

/* Nothing that anybody decodes, and no query. */
static bool plain_path(const char *p)
{
	if (p[0] != '/' || p[1] == '/')
		return false;
	for (; *p; p++)
		if (!(*p >= 'a' && *p <= 'z') && !(*p >= 'A' && *p <= 'Z') &&
			!(*p >= '0' && *p <= '9') && !strchr("/-._", *p))
			return false;
	return true;
}

static bool parse_length(const char *text, size_t longest, size_t *out)
{
	size_t n = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		n = n * 10 + (size_t)(*text - '0');
		if (n > longest)
			return false;
	}
	*out = n;
	return true;
}

/* One "Name: value" line, of the printable characters of ASCII. */
static bool take_field(struct head *h, char *line)
{
	char *colon = strchr(line, ':'), *value, *p;
	int i;

	if (!colon)
		return false;
	*colon = 0;
	for (i = 0; i < HEAD_FIELDS && strcasecmp(line, names[i]); i++)
		;
	if (i == HEAD_FIELDS || h->field[i])
		return false;
	value = colon + 1;
	value += *value == ' ';
	for (p = value; *p; p++)
		if (*p < ' ' || *p > '~')
			return false;
	/* blanks around it are for others to understand */
	if (*value == ' ' || (p > value && p[-1] == ' '))
		return false;
	h->field[i] = value;
	return true;
}

/* The next line of TEXT, without its end; NULL: a bare CR or LF is in it. */
static char *cut_line(char **text)
{
	char *line = *text, *end = strpbrk(line, "\r\n");

	if (!end || end[0] != '\r' || end[1] != '\n')
		return NULL;
	*end = 0;
	*text = end + 2;
	return line;
}

enum head_kind head_parse(
	struct head *h, const void *data, size_t len, size_t longest)
{
	size_t look = len < HEAD_MOST ? len : HEAD_MOST;
	size_t begin = strlen(BEGIN);
	const char *end = memmem(data, look, END, strlen(END));
	char *text = h->text, *line, *space;

	if (memcmp(data, BEGIN, look < begin ? look : begin))
		return HEAD_OTHER;
	if (!end)
		return len < HEAD_MOST ? HEAD_MORE : HEAD_OTHER;
	h->bytes = (size_t)(end - (const char *)data) + strlen(END);
	memcpy(text, data, h->bytes);
	text[h->bytes] = 0;
	memset(h->field, 0, sizeof(h->field));
	if (strlen(text) != h->bytes)
		return HEAD_OTHER;
	line = cut_line(&text);
	space = line ? strchr(line + begin, ' ') : NULL;
	if (!space || strcmp(space, " HTTP/1.1"))
		return HEAD_OTHER;
	*space = 0;
	h->path = line + begin - 1;
	if (!plain_path(h->path))
		return HEAD_OTHER;
	while ((line = cut_line(&text)) && *line)
		if (!take_field(h, line))
			return HEAD_OTHER;
	if (!line || !h->field[HEAD_CONTENT_LENGTH] ||
		!parse_length(h->field[HEAD_CONTENT_LENGTH], longest,
			&h->length))
		return HEAD_OTHER;
	return HEAD_PLAIN;
}

const char *head_find(const struct head *h, const char *name)
{
	int i;

	for (i = 0; i < HEAD_FIELDS; i++)
		if (!strcasecmp(name, names[i]))
			return h->field[i];
	return NULL;
}
