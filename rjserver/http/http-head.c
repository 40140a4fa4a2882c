// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the head of a request, strictly. */
#include "http-head.h"

#include <string.h>
#include <strings.h>

#define METHOD_MOST 16
#define DIGITS_MOST 18 /* of a length */

static bool is_token(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* What may be a request so far: a short word of letters. Says early that
 * something else is spoken, such as TLS. */
static bool begins_well(const char *data, size_t len)
{
	size_t i;

	for (i = 0; i < len && i <= METHOD_MOST; i++) {
		if (data[i] == ' ')
			return i > 0;
		if (!(data[i] >= 'A' && data[i] <= 'Z') &&
			!(data[i] >= 'a' && data[i] <= 'z'))
			return false;
	}
	return i <= METHOD_MOST;
}

/* Where the head ends. 0: not yet; -1: a line ends with a bare LF. */
static long find_end(const char *data, size_t len)
{
	const char *line = data, *stop = data + len, *lf;

	while ((lf = memchr(line, '\n', (size_t)(stop - line)))) {
		if (lf == line || lf[-1] != '\r')
			return -1;
		if (lf == line + 1)
			return lf + 1 - data;
		line = lf + 1;
	}
	return 0;
}

static enum http_method method_of(const char *word)
{
	static const char *const words[HTTP_METHOD_OTHER] = {
		[HTTP_METHOD_GET] = "GET",
		[HTTP_METHOD_HEAD] = "HEAD",
		[HTTP_METHOD_PUT] = "PUT",
		[HTTP_METHOD_DELETE] = "DELETE",
	};
	int i = 0;

	while (i < HTTP_METHOD_OTHER && strcmp(words[i], word))
		i++;
	return (enum http_method)i;
}

static bool take_request_line(struct head *h, char *line)
{
	char *target = strchr(line, ' '), *version, *p;

	if (!target)
		return false;
	*target++ = 0;
	h->method = method_of(line);
	version = strchr(target, ' ');
	if (!version || target[0] != '/')
		return false;
	*version++ = 0;
	for (p = target; *p; p++)
		if (*p <= ' ' || *p > '~')
			return false;
	h->path = target;
	p = strchr(target, '?');
	if (p)
		*p++ = 0;
	h->query = p;
	h->old = !strcmp(version, "HTTP/1.0");
	h->close = h->old;
	return h->old || !strcmp(version, "HTTP/1.1");
}

static bool take_length(struct head *h, const char *text)
{
	size_t digits = strspn(text, "0123456789"), i;

	if (!digits || digits > DIGITS_MOST || text[digits] || h->has_length)
		return false;
	for (i = 0; i < digits; i++)
		h->length = h->length * 10 + (size_t)(text[i] - '0');
	h->has_length = true;
	return true;
}

/* Does the list TEXT have WORD? */
static bool lists(const char *text, const char *word)
{
	size_t len;

	for (; *text; text += len) {
		text += strspn(text, ", \t");
		len = strcspn(text, ", \t");
		if (len == strlen(word) && !strncasecmp(text, word, len))
			return true;
	}
	return false;
}

static bool take_meaning(struct head *h, const struct head_field *f)
{
	if (!strcasecmp(f->name, "Content-Length"))
		return take_length(h, f->value);
	if (!strcasecmp(f->name, "Transfer-Encoding"))
		h->coded = true;
	else if (!strcasecmp(f->name, "Connection"))
		h->close |= lists(f->value, "close");
	else if (!strcasecmp(f->name, "Expect"))
		h->expects = !strcasecmp(f->value, "100-continue");
	else if (!strcasecmp(f->name, "Host") ||
		 !strcasecmp(f->name, "Authorization"))
		return !head_find(h, f->name); /* which one would be meant? */
	return true;
}

/* One "Name: value" line. A line that begins with a blank (obs-fold) has no
 * name. */
static bool take_field(struct head *h, char *line)
{
	char *value = line, *end;
	struct head_field f = {line, NULL};

	while (is_token((unsigned char)*value))
		value++;
	if (value == line || *value != ':')
		return false;
	*value++ = 0;
	value += strspn(value, " \t");
	end = value + strlen(value);
	while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = 0;
	for (f.value = value; *value; value++)
		if (((unsigned char)*value < ' ' && *value != '\t') ||
			*value == 0x7f)
			return false;
	if (!take_meaning(h, &f))
		return false;
	h->field[h->count++] = f;
	return true;
}

enum head_kind head_parse(struct head *h, char *data, size_t len)
{
	size_t look = len < HEAD_MOST ? len : HEAD_MOST;
	char *line = data, *next;
	long end;

	if (!begins_well(data, look))
		return HEAD_BAD;
	end = find_end(data, look);
	if (!end)
		return len < HEAD_MOST ? HEAD_MORE : HEAD_LONG;
	if (end < 0 || memchr(data, 0, (size_t)end))
		return HEAD_BAD;
	*h = (struct head){.bytes = (size_t)end};
	data[end - 2] = 0; /* the empty line */
	for (; *line; line = next) {
		next = strchr(line, '\n') + 1;
		next[-2] = 0;
		if (h->count == HEAD_FIELDS)
			return HEAD_LONG;
		if (line == data ? !take_request_line(h, line)
				 : !take_field(h, line))
			return HEAD_BAD;
	}
	if (!h->path || (h->coded && (h->has_length || h->old)))
		return HEAD_BAD;
	return HEAD_WHOLE;
}

const char *head_find(const struct head *h, const char *name)
{
	unsigned i;

	for (i = 0; i < h->count; i++)
		if (!strcasecmp(name, h->field[i].name))
			return h->field[i].value;
	return NULL;
}
