// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A log of one writer in a tree, in which making a folder is the only exclusive
 * act. Layout, rules and why they suffice: doc/log-format.md, "Mode B".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/seghdr.h"
#include "store/store.h"
#include "store/tree/mkdir-hold.h"
#include "store/tree/mkdir-view.h"
#include "store/tree/tree.h"

#define CLAIM "claim" /* the text that put_new(epoch/E) brings */

struct mkdir_store {
	struct rj_store base;
	struct rj_tree *tree;
	uint8_t journal[RJ_UUID_BYTES]; /* whose VIEW and OWN are */
	/*
	 * What we own: the folder of this epoch, 0: none. Once it is made,
	 * no writer below it gets anything acknowledged any more, and BEFORE, the
	 * log that we continue, is found once and for ever.
	 */
	uint64_t own;
	bool reader; /* a dup: reads as the owner would, never writes */
	bool know_before;
	struct rj_mkdir_end before;
	uint64_t first; /* our fence's number; 0: not put yet */
	bool acked;     /* it was acknowledged: every later log contains it */
	uint64_t fenced_by;
	struct rj_mkdir_view view; /* of the last list, for get and remove */
	bool have_view;
	struct rj_mkdir_dead dead; /* epochs that had nothing, and count no more */
};

static struct mkdir_store *mkdir_of(struct rj_store *s)
{
	return (struct mkdir_store *)s;
}

/* Another journal's turn: nothing that we know holds for it. */
static void turn_to(struct mkdir_store *l, const uint8_t journal[RJ_UUID_BYTES])
{
	if (rj_uuid_equal(l->journal, journal))
		return;
	memcpy(l->journal, journal, RJ_UUID_BYTES);
	l->own = l->first = l->fenced_by = 0;
	l->know_before = l->acked = l->have_view = false;
	l->dead = (struct rj_mkdir_dead){0};
}

static int fenced(struct mkdir_store *l, struct rj_error *err)
{
	return rj_fail(err, RJ_E_FENCED,
		"%s: another writer took over with epoch %llu (ours is %llu)",
		l->base.url, (unsigned long long)l->fenced_by,
		(unsigned long long)l->own);
}

/* Has another writer a newer epoch than ours? 0: none has, and that is certain. */
static int look(struct mkdir_store *l, struct rj_mkdir_epochs *e,
	struct rj_error *err)
{
	int rc = rj_mkdir_list_epochs(l->tree, l->journal, l->own, e, err);

	if (rc)
		return rc;
	if (rj_mkdir_highest(e) > l->own) {
		l->fenced_by = rj_mkdir_highest(e);
		return fenced(l, err);
	}
	return 0;
}

/* Find the log that our epoch continues. */
static int find_before(struct mkdir_store *l, struct rj_error *err)
{
	struct rj_mkdir_epochs e = {0};
	int rc;

	rc = look(l, &e, err);
	if (!rc && !l->know_before) {
		rc = rj_mkdir_find_end(l->tree, l->journal, &e, l->own,
			&l->dead, &l->before, err);
		l->know_before = !rc;
	}
	rj_mkdir_epochs_free(&e);
	return rc;
}

/*
 * Between our claim and our fence we read the log that the fence will
 * follow. A segment that a fenced writer gets through in that time is not part of it.
 */
static bool pinned(const struct mkdir_store *l)
{
	return l->own && !l->acked && !l->fenced_by;
}

/* Where the log that we are to see ends. */
static int find_end(
	struct mkdir_store *l, struct rj_mkdir_end *end, struct rj_error *err)
{
	struct rj_mkdir_epochs e = {0};
	int rc;

	if (pinned(l) && l->know_before) {
		*end = l->before;
		return 0;
	}
	rc = rj_mkdir_list_epochs(l->tree, l->journal, l->own, &e, err);
	if (!rc)
		rc = rj_mkdir_find_end(l->tree, l->journal, &e, UINT64_MAX,
			&l->dead, end, err);
	rj_mkdir_epochs_free(&e);
	return rc;
}

/* The log as it is, from its end back to AFTER, into l->view. */
static int refresh(struct mkdir_store *l, uint64_t after, struct rj_error *err)
{
	struct rj_mkdir_end end;
	int rc;

	l->have_view = false;
	rc = find_end(l, &end, err);
	if (!rc)
		rc = rj_mkdir_view_build(
			l->tree, l->journal, end, after, &l->view, err);
	l->have_view = !rc;
	return rc;
}

/* Object NUMBER of the log, or NULL: it is not there (or RC says why). */
static const struct rj_mkdir_object *find(
	struct mkdir_store *l, uint64_t number, int *rc, struct rj_error *err)
{
	const struct rj_mkdir_object *o = NULL;

	*rc = 0;
	if (l->have_view)
		o = rj_mkdir_view_find(&l->view, number);
	if (o)
		return o;
	*rc = refresh(l, number - 1, err);
	return *rc ? NULL : rj_mkdir_view_find(&l->view, number);
}

static int no_such(struct rj_store *s, const struct rj_key *key,
	struct rj_error *err)
{
	char text[RJ_KEY_TEXT];

	return rj_fail(err, RJ_E_NOTFOUND, "%s: %s: no such object", s->url,
		rj_key_text(key, text));
}

static int exists(struct rj_store *s, const struct rj_key *key,
	struct rj_error *err)
{
	char text[RJ_KEY_TEXT];

	return rj_fail(err, RJ_E_EXISTS, "%s: %s is there already", s->url,
		rj_key_text(key, text));
}

/* ---- writing ---- */

static int put_epoch(struct mkdir_store *l, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	char folder[RJ_TREE_FOLDER];
	int rc;

	rj_mkdir_folder(l->journal, key->number, folder);
	/* ours already: only its text did not get through */
	if (l->own != key->number || l->reader) {
		l->tree->gate = l->base.gate;
		rc = l->tree->ops->make(l->tree, folder, err);
		if (rc == -RJ_E_EXISTS)
			return exists(&l->base, key, err);
		if (rc)
			return rc;
		l->own = key->number;
		l->reader = l->know_before = l->acked = l->have_view = false;
		l->first = l->fenced_by = 0;
	}
	return l->tree->ops->put(l->tree, folder, CLAIM, data, len, err);
}

/*
 * The log gives a handle to one writer. If it has two nevertheless, one of them
 * from before our claim, its segments must not get into the other's folder.
 */
static bool older_writers(
	const struct mkdir_store *l, const uint8_t *data, size_t len)
{
	struct rj_seghdr h;

	return len >= RJ_SEG_HEADER_BYTES && !rj_seghdr_decode(data, &h, NULL) &&
	       h.epoch < l->own;
}

/* May segment NUMBER be put into our folder, and under which name? */
static int place(struct mkdir_store *l, const struct rj_key *key,
	struct rj_mkdir_object *o, struct rj_error *err)
{
	int rc = 0;

	if (!l->own || l->reader)
		return rj_fail(err, RJ_E_INVAL,
			"%s: segment %llu: this handle has claimed no epoch",
			l->base.url, (unsigned long long)key->number);
	if (l->fenced_by)
		return fenced(l, err);
	if (!l->know_before)
		rc = find_before(l, err);
	if (rc)
		return rc;
	if (key->number <= (l->first ? l->first - 1 : l->before.last))
		return exists(&l->base, key, err);
	if (!l->first && key->number != l->before.last + 1)
		return rj_fail(err, RJ_E_INVAL,
			"%s: segment %llu does not follow segment %llu",
			l->base.url, (unsigned long long)key->number,
			(unsigned long long)l->before.last);
	if (!l->first)
		l->first = key->number;
	o->number = key->number;
	o->fence = key->number == l->first;
	o->before = o->fence ? l->before.epoch : 0;
	return 0;
}

static int mkdir_put_new(struct rj_store *s, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	struct mkdir_store *l = mkdir_of(s);
	struct rj_mkdir_epochs e = {0};
	struct rj_mkdir_object o = {0};
	char folder[RJ_TREE_FOLDER], name[RJ_TREE_NAME];
	int rc;

	if (rj_key_unclaimed(key->kind))
		return rj_mkdir_hold_put(l->tree, key, data, len, err);
	turn_to(l, key->journal_uuid);
	if (key->kind == RJ_KEY_EPOCH)
		return put_epoch(l, key, data, len, err);
	if (!s->copying && older_writers(l, data, len))
		return rj_fail(err, RJ_E_FENCED,
			"%s: another writer took over with epoch %llu", s->url,
			(unsigned long long)l->own);
	rc = place(l, key, &o, err);
	if (rc)
		return rc;
	rj_mkdir_folder(l->journal, l->own, folder);
	rj_mkdir_name(&o, name);
	rc = l->tree->ops->put(l->tree, folder, name, data, len, err);
	/* it is there, and counts only if no writer took over before that */
	if (!rc)
		rc = look(l, &e, err);
	rj_mkdir_epochs_free(&e);
	l->acked |= !rc;
	return rc;
}

/*
 * An object of a log that was written elsewhere. The names say how its epochs
 * follow each other; an epoch that is claimed here later follows them.
 */
static int mkdir_put_copy(struct rj_store *s, const struct rj_key *key,
	const struct rj_store_place *place, const void *data, size_t len,
	struct rj_error *err)
{
	bool claim = key->kind == RJ_KEY_EPOCH;
	struct mkdir_store *l = mkdir_of(s);
	struct rj_mkdir_object o = {
		.number = key->number,
		.fence = place->fence,
		.before = place->before,
	};
	char folder[RJ_TREE_FOLDER], name[RJ_TREE_NAME] = CLAIM;
	struct rj_buf there = {0};
	int rc;

	turn_to(l, key->journal_uuid);
	l->have_view = false;
	rj_mkdir_folder(
		l->journal, claim ? key->number : place->epoch, folder);
	if (!claim) {
		rj_mkdir_name(&o, name);
		return l->tree->ops->put(l->tree, folder, name, data, len, err);
	}
	rc = l->tree->ops->make(l->tree, folder, err);
	if (rc == -RJ_E_EXISTS) { /* of a copy that was cut off before its text? */
		rc = l->tree->ops->get(
			l->tree, folder, CLAIM, RJ_SEG_MAX_BYTES, &there, err);
		rj_buf_free(&there);
		if (!rc)
			return exists(s, key, err);
		if (rc == -RJ_E_NOTFOUND)
			rc = 0;
	}
	if (rc)
		return rc;
	return l->tree->ops->put(l->tree, folder, CLAIM, data, len, err);
}

/* ---- reading ---- */

static int mkdir_get(struct rj_store *s, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	struct mkdir_store *l = mkdir_of(s);
	struct rj_mkdir_object hidden = {.number = key->number};
	const struct rj_mkdir_object *o;
	char folder[RJ_TREE_FOLDER], name[RJ_TREE_NAME];
	int rc;

	if (rj_key_unclaimed(key->kind)) {
		rc = rj_mkdir_hold_get(l->tree, key, max, out, err);
		return rc == -RJ_E_NOTFOUND ? no_such(s, key, err) : rc;
	}
	turn_to(l, key->journal_uuid);
	if (key->kind == RJ_KEY_EPOCH) {
		rj_mkdir_folder(l->journal, key->number, folder);
		rc = l->tree->ops->get(l->tree, folder, CLAIM, max, out, err);
		return rc == -RJ_E_NOTFOUND ? no_such(s, key, err) : rc;
	}
	o = find(l, key->number, &rc, err);
	if (rc)
		return rc;
	if (!o) { /* by its name: a list may lack what is there */
		hidden.epoch = rj_mkdir_view_epoch(&l->view, key->number);
		o = &hidden;
	}
	if (!o->epoch)
		return no_such(s, key, err);
	rj_mkdir_folder(l->journal, o->epoch, folder);
	rj_mkdir_name(o, name);
	rc = l->tree->ops->get(l->tree, folder, name, max, out, err);
	if (rc != -RJ_E_NOTFOUND)
		return rc;
	l->have_view = false;
	return no_such(s, key, err);
}

static int list_epochs(struct mkdir_store *l, uint64_t after,
	rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	struct rj_mkdir_epochs e = {0};
	uint64_t n;
	size_t i;
	int rc;

	rc = rj_mkdir_list_epochs(l->tree, l->journal, l->own, &e, err);
	for (i = 0; !rc && i < e.numbers.len; i += sizeof(n)) {
		memcpy(&n, e.numbers.data + i, sizeof(n));
		if (n > after)
			rc = fn(arg, n, 0);
	}
	rj_mkdir_epochs_free(&e);
	return rc;
}

static int mkdir_list(struct rj_store *s, const struct rj_key *dir,
	uint64_t after, rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	struct mkdir_store *l = mkdir_of(s);
	const struct rj_mkdir_object *o;
	size_t i;
	int rc = 0;

	if (rj_key_unclaimed(dir->kind))
		return rj_mkdir_hold_list(l->tree, dir, after, fn, arg, err);
	turn_to(l, dir->journal_uuid);
	if (dir->kind == RJ_KEY_EPOCH)
		return list_epochs(l, after, fn, arg, err);
	if (pinned(l) && !l->reader)
		rc = find_before(l, err);
	if (!rc || rc == -RJ_E_FENCED) /* then any reader's log is ours too */
		rc = refresh(l, after, err);
	if (rc)
		return rc;
	o = (const void *)l->view.objects.data;
	for (i = 0; !rc && i < l->view.objects.len / sizeof(*o); i++)
		if (o[i].number > after)
			rc = fn(arg, o[i].number, o[i].bytes);
	return rc;
}

static int mkdir_last(struct rj_store *s, const struct rj_key *dir,
	uint64_t *number, struct rj_error *err)
{
	struct mkdir_store *l = mkdir_of(s);
	struct rj_mkdir_end end = {0};
	int rc = 0;

	turn_to(l, dir->journal_uuid);
	if (pinned(l) && !l->reader)
		rc = find_before(l, err);
	if (!rc || rc == -RJ_E_FENCED) /* as in mkdir_list() */
		rc = find_end(l, &end, err);
	*number = rc ? 0 : end.last;
	return rc;
}

static int mkdir_remove(
	struct rj_store *s, const struct rj_key *key, struct rj_error *err)
{
	struct mkdir_store *l = mkdir_of(s);
	const struct rj_mkdir_object *o;
	char folder[RJ_TREE_FOLDER], name[RJ_TREE_NAME];
	int rc;

	if (rj_key_unclaimed(key->kind)) {
		rc = rj_mkdir_hold_remove(l->tree, key, err);
		return rc == -RJ_E_NOTFOUND ? no_such(s, key, err) : rc;
	}
	turn_to(l, key->journal_uuid);
	if (key->kind == RJ_KEY_EPOCH)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: epoch %llu: an epoch's folder is never removed",
			s->url, (unsigned long long)key->number);
	o = find(l, key->number, &rc, err);
	if (rc)
		return rc;
	if (!o)
		return no_such(s, key, err);
	rj_mkdir_folder(l->journal, o->epoch, folder);
	rj_mkdir_name(o, name);
	rc = l->tree->ops->remove(l->tree, folder, name, err);
	if (rc != -RJ_E_NOTFOUND)
		return rc;
	l->have_view = false;
	return no_such(s, key, err);
}

/* ---- the rest ---- */

static int take_journal(
	void *arg, const char *name, uint64_t bytes, bool folder)
{
	uint8_t uuid[RJ_UUID_BYTES];
	char back[RJ_UUID_TEXT];

	if (!folder || strlen(name) != RJ_UUID_TEXT - 1 ||
		!rj_uuid_parse(name, uuid) ||
		strcmp(rj_uuid_text(uuid, back), name))
		return 0;
	return rj_buf_append(arg, uuid, sizeof(uuid));
}

static int by_uuid(const void *a, const void *b)
{
	return memcmp(a, b, RJ_UUID_BYTES);
}

static int mkdir_list_journals(struct rj_store *s, rj_store_journal_fn fn,
	void *arg, struct rj_error *err)
{
	struct mkdir_store *l = mkdir_of(s);
	struct rj_buf uuids = {0};
	size_t i;
	int rc;

	rc = l->tree->ops->list(l->tree, "", take_journal, &uuids, err);
	if (rc == -RJ_E_NOMEM)
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory for a listing");
	if (rc == -RJ_E_NOTFOUND)
		rc = 0;
	if (!rc && uuids.len)
		qsort(uuids.data, uuids.len / RJ_UUID_BYTES, RJ_UUID_BYTES,
			by_uuid);
	for (i = 0; !rc && i < uuids.len; i += RJ_UUID_BYTES)
		rc = fn(arg, uuids.data + i);
	rj_buf_free(&uuids);
	return rc;
}

static int mkdir_dup(
	struct rj_store *s, struct rj_store **out, struct rj_error *err)
{
	struct mkdir_store *l = mkdir_of(s), *d = malloc(sizeof(*d));
	int rc;

	if (!d)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	*d = *l;
	d->reader = true;
	memset(&d->view, 0, sizeof(d->view));
	d->view.after = l->view.after;
	d->have_view = l->have_view &&
		!rj_buf_append(&d->view.objects, l->view.objects.data,
			l->view.objects.len);
	rc = l->tree->ops->dup(l->tree, &d->tree, err);
	if (rc) {
		rj_mkdir_view_free(&d->view);
		free(d);
		return rc;
	}
	d->tree->socket = -1; /* it has no connection yet */
	*out = &d->base;
	return 0;
}

static int mkdir_adopt(struct rj_store *s, const uint8_t journal[RJ_UUID_BYTES],
	uint64_t epoch, uint64_t fence, struct rj_error *err)
{
	struct mkdir_store *l = mkdir_of(s);

	turn_to(l, journal);
	l->own = epoch;
	l->reader = l->know_before = l->have_view = false;
	l->first = fence;
	l->acked = true;
	l->fenced_by = 0;
	return 0;
}

static void mkdir_close(struct rj_store *s)
{
	struct mkdir_store *l = mkdir_of(s);

	rj_tree_close(l->tree);
	rj_mkdir_view_free(&l->view);
	free(l);
}

static const struct rj_store_ops mkdir_ops = {
	.put_new = mkdir_put_new,
	.put_copy = mkdir_put_copy,
	.get = mkdir_get,
	.list = mkdir_list,
	.last = mkdir_last,
	.remove = mkdir_remove,
	.list_journals = mkdir_list_journals,
	.dup = mkdir_dup,
	.adopt = mkdir_adopt,
	.close = mkdir_close,
};

int rj_mkdir_epoch_open(
	struct rj_tree *tree, struct rj_store **out, struct rj_error *err)
{
	struct mkdir_store *l = calloc(1, sizeof(*l));

	if (!l) {
		rj_tree_close(tree);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	l->base.ops = &mkdir_ops;
	l->base.caps = (struct rj_store_caps){
		.exclusive_container = true,
		.foreign = true,
		.list_consistent = true,
		.durability = tree->durability,
	};
	snprintf(l->base.url, sizeof(l->base.url), "%s", tree->url);
	l->tree = tree;
	tree->socket = -1;
	*out = &l->base;
	return 0;
}

struct rj_tree *rj_mkdir_epoch_tree(struct rj_store *s)
{
	return mkdir_of(s)->tree;
}
