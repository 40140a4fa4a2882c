// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A server that cuts long lists without a word (pure-ftpd's -L): what its list does not show must
 * not be taken for the end of the log, by a reader, nor by a claim, whose fence would take the
 * place of acknowledged segments.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/common.h"
#include "store/tree/mkdir-view.h"
#include "store/tree/tree.h"
#include "support/memtree.h"
#include "support/rjtest.h"

static struct memgrove *grove;
static struct rj_error err;

/* Its lists do not show the segments from HIDE_FROM to HIDE_TO; HIDE_LISTS of them. */
static uint64_t hide_from, hide_to;
static unsigned hide_lists;
static const struct rj_tree_ops *real_ops;

struct pass {
	rj_tree_list_fn fn;
	void *arg;
};

static int all_but(void *arg, const char *name, uint64_t bytes, bool folder)
{
	struct rj_mkdir_object o;
	struct pass *p = arg;

	if (!folder && rj_mkdir_parse_name(name, &o) && o.number >= hide_from &&
		o.number <= hide_to)
		return 0;
	return p->fn(p->arg, name, bytes, folder);
}

static int cut_list(struct rj_tree *t, const char *folder, rj_tree_list_fn fn, void *arg,
	struct rj_error *e)
{
	const char *slash = strrchr(folder, '/');
	struct pass p = {fn, arg};

	if (!slash || strlen(slash) != 21 || !hide_lists) /* no epoch's */
		return real_ops->list(t, folder, fn, arg, e);
	hide_lists--;
	return real_ops->list(t, folder, all_but, &p, e);
}

static struct rj_store *open_cut(void)
{
	static struct rj_tree_ops ops;
	struct rj_tree *t = memtree_open(grove, NULL, NULL);
	struct rj_store *s = NULL;

	if (!t)
		exit(99);
	real_ops = t->ops;
	ops = *real_ops;
	ops.list = cut_list;
	t->ops = &ops;
	if (rj_mkdir_epoch_open(t, &s, &err))
		exit(99);
	return s;
}

static void put(struct rj_store *s, const struct rj_key *dir, uint64_t number)
{
	struct rj_key key = t_key(dir, number);

	T_WORKS(rj_store_put_new(s, &key, "segment", 7, &err));
}

/* Epoch 1 with the segments 1 to 9. */
static struct rj_store *write_log(struct rj_key *log, struct rj_key *epoch)
{
	struct rj_store *s = memtree_store(grove);
	uint64_t i;

	*log = t_new_log(RJ_KEY_LOG);
	*epoch = *log;
	epoch->kind = RJ_KEY_EPOCH;
	put(s, epoch, 1);
	for (i = 1; i < 10; i++)
		put(s, log, i);
	return s;
}

static void the_end(void)
{
	struct rj_store *s = open_cut(), *w;
	struct rj_key log, epoch, key;
	struct t_list l = {0};
	uint64_t last;

	w = write_log(&log, &epoch);
	hide_from = 6, hide_to = 99, hide_lists = 99;
	T_FAILS(rj_store_list(s, &log, 0, t_list_add, &l, &err), RJ_E_PROTOCOL,
		"does not show segment 6, which is there");
	T_FAILS(s->ops->last(s, &log, &last, &err), RJ_E_PROTOCOL, "segment 6");
	/* a claim puts no fence there */
	put(s, &epoch, 2);
	key = t_key(&log, 6);
	T_FAILS(rj_store_put_new(s, &key, "fence", 5, &err), RJ_E_PROTOCOL, "segment 6");
	hide_lists = 0;
	T_WORKS(rj_store_list(s, &log, 0, t_list_add, &l, &err));
	CU_ASSERT_EQUAL(l.count, 9);
	put(s, &log, 10);
	rj_store_close(w);
	rj_store_close(s);
}

/* A segment that was put between list and question is in the next list. */
static void a_log_that_grows(void)
{
	struct rj_store *s = open_cut(), *w;
	struct rj_key log, epoch;
	struct t_list l = {0};

	w = write_log(&log, &epoch);
	hide_from = 9, hide_to = 99, hide_lists = 1;
	T_WORKS(rj_store_list(s, &log, 0, t_list_add, &l, &err));
	CU_ASSERT_EQUAL(l.count, 9);
	rj_store_close(w);
	rj_store_close(s);
}

/* What lies between listed segments is found by its name. */
static void the_middle(void)
{
	struct rj_store *s = open_cut(), *w;
	struct rj_key log, epoch, key;
	struct rj_buf out = {0};

	w = write_log(&log, &epoch);
	hide_from = 4, hide_to = 5, hide_lists = 99;
	key = t_key(&log, 4);
	T_WORKS(rj_store_get(s, &key, 9, &out, &err));
	CU_ASSERT_EQUAL(out.len, 7);
	hide_lists = 0;
	key = t_key(&log, 5);
	T_WORKS(rj_store_remove(s, &key, &err));
	T_FAILS(rj_store_get(s, &key, 9, &out, &err), RJ_E_NOTFOUND, "");
	rj_store_close(w);
	rj_store_close(s);
	rj_buf_free(&out);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(the_end),
		RJTEST(a_log_that_grows),
		RJTEST(the_middle),
	};
	int status;

	grove = memgrove_new();
	status = RJTEST_RUN("cut-list", tests);
	memgrove_free(grove);
	return status;
}
