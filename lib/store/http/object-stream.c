// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/http/object-stream.h"

#include <string.h>

static int bad_line(const struct rj_objects *o)
{
	return rj_fail(o->err, RJ_E_PROTOCOL,
		"%s: malformed line in its stream", o->name);
}

/* The decimal number of LEN digits at TEXT. */
static bool number_of(const char *text, size_t len, uint64_t *out)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < len; i++)
		if (text[i] < '0' || text[i] > '9' ||
			__builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(text[i] - '0'),
				&v))
			return false;
	*out = v;
	return len > 0;
}

/* "<20 digits> <bytes>" or "<20 digits> damaged" */
static int begin_object(struct rj_objects *o)
{
	uint64_t number, want;

	if (o->line_len < 22 || o->line[20] != ' ' ||
		!number_of(o->line, 20, &number) || number < o->from ||
		!number || (o->any && number <= o->number))
		return bad_line(o);
	if (!strcmp(o->line + 21, "damaged"))
		return rj_fail(o->err, RJ_E_CORRUPT,
			"%s: the journal server says that number %llu is "
			"damaged",
			o->name, (unsigned long long)number);
	if (!number_of(o->line + 21, o->line_len - 21, &want))
		return bad_line(o);
	if (want > o->max)
		return rj_fail(o->err, RJ_E_CORRUPT,
			"%s: number %llu is longer than the %zu bytes that "
			"make sense",
			o->name, (unsigned long long)number, o->max);
	o->number = number;
	o->want = (size_t)want;
	o->any = o->in_object = true;
	o->object.len = 0;
	if (rj_buf_reserve(&o->object, o->want))
		return rj_fail(o->err, RJ_E_NOMEM, "out of memory");
	return 0;
}

static int take_line(struct rj_objects *o)
{
	o->line[o->line_len] = '\0';
	if (!strcmp(o->line, "end")) {
		o->ended = true;
		return 0;
	}
	if (!strcmp(o->line, "lost"))
		return rj_fail(o->err, RJ_E_CORRUPT,
			"%s: the journal server lost objects it cannot name",
			o->name);
	return begin_object(o);
}

static int feed_line(struct rj_objects *o, const char **p, const char *end)
{
	const char *nl = memchr(*p, '\n', (size_t)(end - *p));
	size_t n = (size_t)((nl ? nl : end) - *p);
	int rc;

	if (o->line_len + n >= sizeof(o->line))
		return bad_line(o);
	memcpy(o->line + o->line_len, *p, n);
	o->line_len += n;
	*p += n + (nl != NULL);
	if (!nl)
		return 0;
	rc = take_line(o);
	o->line_len = 0;
	return rc;
}

static int feed_object(struct rj_objects *o, const char **p, const char *end)
{
	size_t n = o->want - o->object.len;

	if (n > (size_t)(end - *p))
		n = (size_t)(end - *p);
	if (rj_buf_append(&o->object, *p, n))
		return rj_fail(o->err, RJ_E_NOMEM, "out of memory");
	*p += n;
	if (o->object.len < o->want)
		return 0;
	o->in_object = false;
	return o->fn(o->arg, o->number, &o->object);
}

int rj_objects_feed(void *objects, const void *data, size_t len)
{
	struct rj_objects *o = objects;
	const char *p = data, *end = p + len;
	int rc = 0;

	while (!rc && (p < end || (o->in_object && !o->want))) {
		if (o->ended)
			return bad_line(o);
		rc = o->in_object ? feed_object(o, &p, end)
				  : feed_line(o, &p, end);
	}
	return rc;
}

int rj_objects_end(const struct rj_objects *o)
{
	if (o->ended)
		return 0;
	return rj_fail(o->err, RJ_E_UNREACHABLE,
		"%s: the journal server's stream ends too early", o->name);
}
