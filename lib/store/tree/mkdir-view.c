// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/tree/mkdir-view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/seghdr.h"

#define DIGITS 20

void rj_mkdir_folder(
	const uint8_t journal[RJ_UUID_BYTES], uint64_t epoch, char *out)
{
	struct rj_key key = {.kind = RJ_KEY_EPOCH, .number = epoch};
	char text[RJ_KEY_TEXT];
	size_t len;

	memcpy(key.journal_uuid, journal, RJ_UUID_BYTES);
	rj_key_text(&key, text);
	len = strlen(text);
	if (text[len - 1] == '/')
		text[len - 1] = '\0';
	snprintf(out, RJ_TREE_FOLDER, "%s", text);
}

void rj_mkdir_name(const struct rj_mkdir_object *o, char *out)
{
	int n = snprintf(out, RJ_TREE_NAME, "%0*llu", DIGITS,
		(unsigned long long)o->number);

	if (o->fence)
		snprintf(out + n, RJ_TREE_NAME - (size_t)n, "-%0*llu", DIGITS,
			(unsigned long long)o->before);
}

static bool parse_digits(const char *text, uint64_t *out)
{
	uint64_t v = 0;
	int i;

	for (i = 0; i < DIGITS; i++) {
		if (text[i] < '0' || text[i] > '9' ||
			__builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, text[i] - '0', &v))
			return false;
	}
	*out = v;
	return true;
}

bool rj_mkdir_parse_name(const char *name, struct rj_mkdir_object *out)
{
	struct rj_mkdir_object o = {0};
	size_t len = strlen(name);

	if (len != DIGITS && len != 2 * DIGITS + 1)
		return false;
	if (!parse_digits(name, &o.number) || !o.number)
		return false;
	if (len > DIGITS) {
		if (name[DIGITS] != '-' ||
			!parse_digits(name + DIGITS + 1, &o.before))
			return false;
		o.fence = true;
	}
	*out = o;
	return true;
}

/* ---- which epochs there are ---- */

static int by_value(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

static int take_epoch(void *arg, const char *name, uint64_t bytes, bool folder)
{
	struct rj_mkdir_epochs *e = arg;
	uint64_t n;

	if (!folder || strlen(name) != DIGITS || !parse_digits(name, &n) || !n)
		return 0;
	return rj_buf_append(&e->numbers, &n, sizeof(n));
}

static const uint64_t *epochs_of(const struct rj_mkdir_epochs *e, size_t *count)
{
	*count = e->numbers.len / sizeof(uint64_t);
	return (const void *)e->numbers.data;
}

int rj_mkdir_list_epochs(struct rj_tree *t,
	const uint8_t journal[RJ_UUID_BYTES], uint64_t own,
	struct rj_mkdir_epochs *out, struct rj_error *err)
{
	char folder[RJ_TREE_FOLDER];
	const uint64_t *n;
	size_t count, i;
	int rc;

	rj_mkdir_folder(journal, 0, folder);
	out->numbers.len = 0;
	rc = t->ops->list(t, folder, take_epoch, out, err);
	if (rc == -RJ_E_NOTFOUND)
		rc = 0;
	if (rc == -RJ_E_NOMEM)
		return rj_fail(err, RJ_E_NOMEM, "out of memory for a listing");
	if (rc)
		return rc;
	n = epochs_of(out, &count);
	if (count)
		qsort(out->numbers.data, count, sizeof(*n), by_value);
	for (i = 0; own && i < count; i++)
		if (n[i] == own)
			return 0;
	if (!own)
		return 0;
	return rj_fail(err, RJ_E_UNREACHABLE,
		"%s: the list of %s does not show our own epoch %llu: it "
		"cannot be believed",
		t->url, folder, (unsigned long long)own);
}

uint64_t rj_mkdir_highest(const struct rj_mkdir_epochs *e)
{
	size_t count;
	const uint64_t *n = epochs_of(e, &count);

	return count ? n[count - 1] : 0;
}

void rj_mkdir_epochs_free(struct rj_mkdir_epochs *e)
{
	rj_buf_free(&e->numbers);
}

/* ---- the segments of one ---- */

struct collect {
	struct rj_buf *out;
	uint64_t epoch, last;
};

static int take_object(void *arg, const char *name, uint64_t bytes, bool folder)
{
	struct collect *c = arg;
	struct rj_mkdir_object o;

	if (folder || !rj_mkdir_parse_name(name, &o) || o.number > c->last)
		return 0;
	o.bytes = bytes;
	o.epoch = c->epoch;
	return rj_buf_append(c->out, &o, sizeof(o));
}

static int by_number(const void *a, const void *b)
{
	const struct rj_mkdir_object *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/*
 * The segments of END.epoch up to END.last into OUT (emptied first), by number.
 * One that is twice in the list (a mailbox that got it twice) counts once.
 */
static int list_epoch(struct rj_tree *t, const uint8_t journal[RJ_UUID_BYTES],
	struct rj_mkdir_end end, struct rj_buf *out, struct rj_error *err)
{
	struct collect c = {out, end.epoch, end.last};
	struct rj_mkdir_object *o;
	char folder[RJ_TREE_FOLDER];
	size_t count, i, kept = 0;
	int rc;

	rj_mkdir_folder(journal, end.epoch, folder);
	out->len = 0;
	rc = t->ops->list(t, folder, take_object, &c, err);
	if (rc == -RJ_E_NOMEM)
		return rj_fail(err, RJ_E_NOMEM, "out of memory for a listing");
	if (rc == -RJ_E_NOTFOUND)
		return rj_fail(err, RJ_E_GAP,
			"%s: the folder %s is missing: a later epoch continues "
			"its segments",
			t->url, folder);
	if (rc)
		return rc;
	count = out->len / sizeof(*o);
	o = (void *)out->data;
	if (count)
		qsort(o, count, sizeof(*o), by_number);
	for (i = 0; i < count; i++) {
		if (kept && o[kept - 1].number == o[i].number &&
			o[kept - 1].fence == o[i].fence &&
			o[kept - 1].before == o[i].before)
			continue;
		if (kept && o[kept - 1].number == o[i].number)
			return rj_fail(err, RJ_E_CORRUPT,
				"%s: %s holds two different segments %llu",
				t->url, folder,
				(unsigned long long)o[i].number);
		o[kept++] = o[i];
	}
	out->len = kept * sizeof(*o);
	return 0;
}

/* Is the segment after END there, whatever a list says? */
static int follows(struct rj_tree *t, const uint8_t journal[RJ_UUID_BYTES],
	const struct rj_mkdir_end *end, bool *there, struct rj_error *err)
{
	struct rj_mkdir_object next = {.number = end->last + 1};
	char folder[RJ_TREE_FOLDER], name[RJ_TREE_NAME];
	struct rj_buf bytes = {0};
	int rc;

	rj_mkdir_folder(journal, end->epoch, folder);
	rj_mkdir_name(&next, name);
	rc = t->ops->get(t, folder, name, RJ_SEG_MAX_BYTES, &bytes, err);
	rj_buf_free(&bytes);
	*there = !rc || rc == -RJ_E_CORRUPT;
	return *there || rc == -RJ_E_NOTFOUND ? 0 : rc;
}

/* The last segment of END->epoch, into END; 0: it has none. A list that ends before one that is
 * there is believed if it shows that one the next time: it was put in between. */
static int find_last(struct rj_tree *t, const uint8_t journal[RJ_UUID_BYTES],
	struct rj_mkdir_end *end, struct rj_error *err)
{
	struct rj_buf objects = {0};
	const struct rj_mkdir_object *o;
	bool there = true;
	uint64_t asked = 0;
	size_t n;
	int rc = 0;

	do {
		rc = list_epoch(t, journal, (struct rj_mkdir_end){end->epoch, UINT64_MAX},
			&objects, err);
		o = (const void *)objects.data;
		n = rc ? 0 : objects.len / sizeof(*o);
		end->last = n ? o[n - 1].number : 0;
		if (!rc && asked && end->last < asked)
			rc = rj_store_fail_cut(t->url, asked, err);
		if (rc || asked || !n || end->last == UINT64_MAX)
			break;
		rc = follows(t, journal, end, &there, err);
		asked = end->last + 1;
	} while (!rc && there);
	rj_buf_free(&objects);
	return rc;
}

int rj_mkdir_find_end(struct rj_tree *t, const uint8_t journal[RJ_UUID_BYTES],
	const struct rj_mkdir_epochs *e, uint64_t below,
	struct rj_mkdir_dead *dead, struct rj_mkdir_end *end,
	struct rj_error *err)
{
	size_t count, i;
	const uint64_t *epoch = epochs_of(e, &count);
	int rc = 0;

	*end = (struct rj_mkdir_end){0};
	for (i = count; i > 0 && !rc && !end->last; i--) {
		if (epoch[i - 1] >= below || (epoch[i - 1] > dead->above &&
						     epoch[i - 1] < dead->below))
			continue;
		end->epoch = epoch[i - 1];
		rc = find_last(t, journal, end, err);
	}
	if (!end->last)
		end->epoch = 0;
	if (!rc && count)
		*dead = (struct rj_mkdir_dead){end->epoch,
			below < epoch[count - 1] ? below : epoch[count - 1]};
	return rc;
}

int rj_mkdir_view_build(struct rj_tree *t, const uint8_t journal[RJ_UUID_BYTES],
	struct rj_mkdir_end end, uint64_t after, struct rj_mkdir_view *out,
	struct rj_error *err)
{
	struct rj_buf one = {0};
	const struct rj_mkdir_object *o;
	int rc = 0;

	out->objects.len = 0;
	out->after = after;
	while (end.epoch && end.last > after) {
		rc = list_epoch(t, journal, end, &one, err);
		if (rc)
			break;
		o = (const void *)one.data;
		if (!one.len)
			break; /* trimmed */
		rc = rj_buf_append(&out->objects, one.data, one.len);
		if (rc) {
			rc = rj_fail(err, RJ_E_NOMEM,
				"out of memory for a listing");
			break;
		}
		if (!o->fence)
			break; /* what comes before was trimmed */
		if (o->before >= end.epoch) {
			rc = rj_fail(err, RJ_E_CORRUPT,
				"%s: epoch %llu says that it continues "
				"epoch %llu",
				t->url, (unsigned long long)end.epoch,
				(unsigned long long)o->before);
			break;
		}
		end = (struct rj_mkdir_end){o->before, o->number - 1};
	}
	if (!rc && out->objects.len)
		qsort(out->objects.data, out->objects.len / sizeof(*o),
			sizeof(*o), by_number);
	if (rc)
		out->objects.len = 0;
	rj_buf_free(&one);
	return rc;
}

const struct rj_mkdir_object *rj_mkdir_view_find(
	const struct rj_mkdir_view *v, uint64_t number)
{
	struct rj_mkdir_object key = {.number = number};

	if (!v->objects.len)
		return NULL;
	return bsearch(&key, v->objects.data, v->objects.len / sizeof(key),
		sizeof(key), by_number);
}

uint64_t rj_mkdir_view_epoch(const struct rj_mkdir_view *v, uint64_t number)
{
	const struct rj_mkdir_object *o = (const void *)v->objects.data;
	size_t count = v->objects.len / sizeof(*o), i;

	for (i = 0; i < count; i++)
		if (o[i].number > number)
			return o[i].fence ? o[i].before : o[i].epoch;
	return 0;
}

void rj_mkdir_view_free(struct rj_mkdir_view *v)
{
	rj_buf_free(&v->objects);
}
