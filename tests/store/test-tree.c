// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What tree.h promises, tried on the tree of the mode B store whose URL is in
 * $RJ_TEST_STORE, or on one in memory. Each test has folders of its own.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/common.h"
#include "store/retrytree.h"
#include "store/tree/mkdir-view.h"
#include "store/tree/tree.h"
#include "support/memtree.h"
#include "support/rjtest.h"
#include "util/environ.h"

#define MiB (1u << 20)

static const char *url;
static struct memgrove *grove;
static struct rj_store *store;
static struct rj_tree *tree;
static struct rj_error err;

/* $RJ_TEST_RETRY: the way there is bad */
static bool retrying(void)
{
	return getenv("RJ_TEST_RETRY") != NULL;
}

static struct rj_store *open_store(void)
{
	struct rj_store *s;

	if (!url)
		return memtree_store(grove);
	if (rj_store_open(url, NULL, &s, &err)) {
		printf("Bail out! %s\n", err.msg);
		exit(99);
	}
	return s;
}

/* Names seen of an object that was put once. A put whose answer was lost was
 * repeated, and may stand beside itself. */
static bool once(unsigned found)
{
	return found == 1 || (found > 1 && retrying());
}

/* A tree of its own handle. */
static struct rj_tree *open_tree(void)
{
	struct rj_store *s = open_store();
	struct rj_tree *inner = rj_mkdir_epoch_tree(s), *t;

	if (inner->ops->dup(inner, &t, &err))
		exit(99);
	rj_store_close(s);
	return retrying() ? retrytree_open(t) : t;
}

/* A folder that only we make. The first attempt's answer may have been lost. */
static void make(const char *folder)
{
	int rc = tree->ops->make(tree, folder, &err);

	CU_ASSERT_TRUE(!rc || (rc == -RJ_E_EXISTS && retrying()));
	if (rc && rc != -RJ_E_EXISTS)
		printf("# message: %s\n", err.msg);
}

/* The folder of epoch NUMBER of a journal of its own; 0: above them. */
static void folder_of(const struct rj_key *log, uint64_t number, char *out)
{
	rj_mkdir_folder(log->journal_uuid, number, out);
}

static void new_folder(char *out)
{
	struct rj_key log = t_new_log(RJ_KEY_EPOCH);

	folder_of(&log, 1, out);
	make(out);
}

struct seen {
	char want[RJ_TREE_NAME];
	uint64_t bytes;
	unsigned found, folders, objects;
};

static int see(void *arg, const char *name, uint64_t bytes, bool folder)
{
	struct seen *s = arg;

	s->folders += folder;
	s->objects += !folder && !strpbrk(name, "._");
	if (!strcmp(name, s->want)) {
		s->found++;
		s->bytes = bytes;
	}
	return 0;
}

/* Is NAME shown in FOLDER? */
static struct seen look(struct rj_tree *t, const char *folder, const char *name)
{
	struct seen s = {0};

	snprintf(s.want, sizeof(s.want), "%s", name);
	T_WORKS(t->ops->list(t, folder, see, &s, &err));
	return s;
}

static void a_store_of_mode_b(void)
{
	CU_ASSERT_FALSE(store->caps.put_new);
	CU_ASSERT_TRUE(store->caps.exclusive_container);
	CU_ASSERT_TRUE(store->caps.list_consistent);
	CU_ASSERT_EQUAL(store->caps.durability, RJ_RECEIVED);
}

static void a_folder_is_made_once(void)
{
	struct rj_key log = t_new_log(RJ_KEY_EPOCH);
	char folder[RJ_TREE_FOLDER], above[RJ_TREE_FOLDER];
	struct seen s;

	folder_of(&log, 7, folder);
	folder_of(&log, 0, above);
	T_FAILS(tree->ops->list(tree, above, see, &s, &err), RJ_E_NOTFOUND,
		"no such folder");
	T_FAILS(tree->ops->list(tree, folder, see, &s, &err), RJ_E_NOTFOUND,
		"no such folder");
	make(folder);
	s = look(tree, above, strrchr(folder, '/') + 1);
	CU_ASSERT_EQUAL(s.found, 1);
	CU_ASSERT_EQUAL(s.folders, 1);
	s = look(tree, folder, "x");
	CU_ASSERT_EQUAL(s.objects + s.folders, 0);
	T_FAILS(tree->ops->make(tree, folder, &err), RJ_E_EXISTS,
		"there already");
	folder_of(&log, 6, folder);
	make(folder);
	CU_ASSERT_EQUAL(look(tree, above, "x").folders, 2);
	T_FAILS(tree->ops->list(tree, strcat(folder, "0"), see, &s, &err),
		RJ_E_NOTFOUND, "no such folder");
}

static void round_trip(const char *folder, const char *name, size_t len)
{
	uint8_t *data = t_bytes(len, (unsigned)len + 1);
	struct rj_buf out = {0};
	struct seen s;

	T_WORKS(tree->ops->put(tree, folder, name, data, len, &err));
	s = look(tree, folder, name);
	CU_ASSERT_TRUE(once(s.found));
	CU_ASSERT_EQUAL(s.bytes, len);
	T_WORKS(tree->ops->get(tree, folder, name, 16 * MiB, &out, &err));
	CU_ASSERT_EQUAL(out.len, len);
	if (out.len == len && len)
		CU_ASSERT_EQUAL(memcmp(out.data, data, len), 0);
	T_WORKS(tree->ops->remove(tree, folder, name, &err));
	CU_ASSERT_EQUAL(look(tree, folder, name).found, 0);
	rj_buf_free(&out);
	free(data);
}

static void objects_of_many_sizes(void)
{
	static const size_t sizes[] = {0, 1, 2, 56, 57, 58, 4096, 32768 + 640,
		65535, 65536, 65537, 256 * 1024 + 1, 16 * MiB};
	size_t count = sizeof(sizes) / sizeof(sizes[0]), i;
	char folder[RJ_TREE_FOLDER];

	/* on a bad way so many chunks hardly ever get through */
	count -= retrying();
	new_folder(folder);
	for (i = 0; i < count; i++)
		round_trip(folder, "00000000000000000001", sizes[i]);
}

static void the_same_again(void)
{
	char folder[RJ_TREE_FOLDER];
	struct rj_buf out = {0};
	unsigned i;

	new_folder(folder);
	for (i = 0; i < 3; i++)
		T_WORKS(tree->ops->put(tree, folder, "a-1", "same", 4, &err));
	CU_ASSERT_TRUE(look(tree, folder, "a-1").found >= 1);
	T_WORKS(tree->ops->get(tree, folder, "a-1", 4, &out, &err));
	CU_ASSERT_EQUAL(out.len, 4);
	T_FAILS(tree->ops->get(tree, folder, "a-1", 3, &out, &err),
		RJ_E_CORRUPT, "make sense");
	CU_ASSERT_EQUAL(out.len, 4);
	T_WORKS(tree->ops->remove(tree, folder, "a-1", &err));
	T_FAILS(tree->ops->get(tree, folder, "a-1", 9, &out, &err),
		RJ_E_NOTFOUND, "no such object");
	rj_buf_free(&out);
}

static void what_is_not_there(void)
{
	struct rj_key log = t_new_log(RJ_KEY_EPOCH);
	char folder[RJ_TREE_FOLDER];
	struct rj_buf out = {0};

	folder_of(&log, 1, folder);
	T_FAILS(tree->ops->get(tree, folder, "a", 9, &out, &err), RJ_E_NOTFOUND,
		"no such object");
	T_FAILS(tree->ops->remove(tree, folder, "a", &err), RJ_E_NOTFOUND,
		"no such object");
	CU_ASSERT_NOT_EQUAL(
		tree->ops->put(tree, folder, "a", "x", 1, &err), 0);
	make(folder);
	T_FAILS(tree->ops->get(tree, folder, "a", 9, &out, &err), RJ_E_NOTFOUND,
		"no such object");
	T_WORKS(tree->ops->put(tree, folder, "b", "x", 1, &err));
	T_FAILS(tree->ops->get(tree, folder, "a", 9, &out, &err), RJ_E_NOTFOUND,
		"no such object");
	T_FAILS(tree->ops->remove(tree, folder, "a", &err), RJ_E_NOTFOUND,
		"no such object");
	CU_ASSERT_EQUAL(out.len, 0);
}

/* The rule of one writer stands on this: what one handle was told is done, any
 * other handle's next list shows. */
static void a_list_shows_what_was_acknowledged(void)
{
	struct rj_key log = t_new_log(RJ_KEY_EPOCH);
	struct rj_tree *t = open_tree();
	char folder[RJ_TREE_FOLDER], above[RJ_TREE_FOLDER], name[32];
	unsigned i, missed = 0;

	folder_of(&log, 0, above);
	for (i = 1; i <= 40; i++) {
		folder_of(&log, i, folder);
		make(folder);
		missed += !look(t, above, strrchr(folder, '/') + 1).found;
		folder_of(&log, 1, folder);
		snprintf(name, sizeof(name), "%020u", i);
		T_WORKS(tree->ops->put(tree, folder, name, "x", 1, &err));
		missed += !look(t, folder, name).found;
	}
	CU_ASSERT_EQUAL(missed, 0);
	rj_tree_close(t);
}

#define RACERS 6
#define RACES  20

struct racer {
	pthread_t thread;
	pthread_barrier_t *gate;
	struct rj_key log;
	int result[RACES];
};

static void *race(void *arg)
{
	struct racer *r = arg;
	struct rj_tree *t = open_tree();
	char folder[RJ_TREE_FOLDER];
	struct rj_error e;
	unsigned i;

	for (i = 0; i < RACES; i++) {
		folder_of(&r->log, i + 1, folder);
		pthread_barrier_wait(r->gate);
		r->result[i] = t->ops->make(t, folder, &e);
		if (r->result[i] && r->result[i] != -RJ_E_EXISTS)
			printf("# racer: %s\n", e.msg);
	}
	rj_tree_close(t);
	return NULL;
}

static void one_of_many_racers_makes_it(void)
{
	static struct racer r[RACERS];
	struct rj_key log = t_new_log(RJ_KEY_EPOCH);
	unsigned i, j, winners, none = 0;
	pthread_barrier_t gate;

	pthread_barrier_init(&gate, NULL, RACERS);
	for (j = 0; j < RACERS; j++) {
		r[j] = (struct racer){.gate = &gate, .log = log};
		CU_ASSERT_EQUAL_FATAL(
			pthread_create(&r[j].thread, NULL, race, &r[j]), 0);
	}
	for (j = 0; j < RACERS; j++)
		pthread_join(r[j].thread, NULL);
	pthread_barrier_destroy(&gate);
	for (i = 0; i < RACES; i++) {
		for (j = winners = 0; j < RACERS; j++) {
			winners += !r[j].result[i];
			CU_ASSERT_TRUE(!r[j].result[i] ||
				       r[j].result[i] == -RJ_E_EXISTS);
		}
		CU_ASSERT_TRUE(winners <= 1);
		none += !winners;
	}
	/* a race that all lose costs a number, no more */
	printf("# %u races, %u without a winner\n", RACES, none);
	CU_ASSERT_TRUE(none < RACES);
}

#define WATCHED_BYTES  (MiB + 777)
#define WRITER_WAIT_NS 60000000000 /* its thread may not get a processor for long */

static void *write_watched(void *arg)
{
	struct rj_tree *t = open_tree();
	char name[RJ_TREE_NAME];
	struct rj_error e;
	uint8_t *data;
	unsigned i;
	long bad = 0;

	for (i = 1; i <= 6 && !bad; i++) {
		data = t_bytes(WATCHED_BYTES, i);
		snprintf(name, sizeof(name), "%020u", i);
		bad = t->ops->put(t, arg, name, data, WATCHED_BYTES, &e);
		free(data);
	}
	rj_tree_close(t);
	return (void *)bad;
}

static void readers_see_all_or_nothing(void)
{
	char folder[RJ_TREE_FOLDER], name[RJ_TREE_NAME];
	struct rj_buf out = {0};
	unsigned i, partial = 0;
	pthread_t writer;
	void *bad = NULL;
	uint8_t *want;
	struct seen s;
	int64_t end;
	int rc;

	new_folder(folder);
	CU_ASSERT_EQUAL_FATAL(
		pthread_create(&writer, NULL, write_watched, folder), 0);
	for (i = 1; i <= 6; i++) {
		snprintf(name, sizeof(name), "%020u", i);
		want = t_bytes(WATCHED_BYTES, i);
		end = rj_monotonic_ns() + WRITER_WAIT_NS;
		for (rc = -RJ_E_NOTFOUND; rc == -RJ_E_NOTFOUND && rj_monotonic_ns() < end;) {
			s = look(tree, folder, name);
			partial += s.found && s.bytes != WATCHED_BYTES;
			out.len = 0;
			rc = tree->ops->get(
				tree, folder, name, 2 * MiB, &out, &err);
		}
		if (rc)
			printf("# message: %s\n", err.msg);
		CU_ASSERT_EQUAL(rc, 0);
		partial += rc || out.len != WATCHED_BYTES ||
			   memcmp(out.data, want, out.len) != 0;
		free(want);
	}
	pthread_join(writer, &bad);
	CU_ASSERT_PTR_NULL(bad);
	CU_ASSERT_EQUAL(partial, 0);
	rj_buf_free(&out);
}

static void a_dup_is_a_handle_of_its_own(void)
{
	struct rj_tree *second = NULL;
	char folder[RJ_TREE_FOLDER];
	struct rj_buf out = {0};

	new_folder(folder);
	T_WORKS(tree->ops->put(tree, folder, "a", "one", 3, &err));
	T_WORKS(tree->ops->dup(tree, &second, &err));
	CU_ASSERT_PTR_NOT_NULL_FATAL(second);
	CU_ASSERT_STRING_EQUAL(second->url, tree->url);
	T_WORKS(second->ops->get(second, folder, "a", 9, &out, &err));
	T_WORKS(second->ops->put(second, folder, "b", "two", 3, &err));
	T_WORKS(tree->ops->get(tree, folder, "b", 9, &out, &err));
	CU_ASSERT_EQUAL(out.len, 6);
	rj_tree_close(second);
	rj_buf_free(&out);
}

/* The racers of a probe hold back what goes over the socket that the gate is called with. */
static void a_dup_has_no_connection_yet(void)
{
	struct rj_tree *first = rj_mkdir_epoch_tree(store);
	struct rj_store *second = NULL;
	int kept = first->socket;

	first->socket = 3;
	T_WORKS(rj_store_dup(store, &second, &err));
	first->socket = kept;
	CU_ASSERT_PTR_NOT_NULL_FATAL(second);
	CU_ASSERT_EQUAL(rj_mkdir_epoch_tree(second)->socket, -1);
	rj_store_close(second);
}

/*
 * libcurl refuses more than 300 KiB of lines to one request, and counts those of IMAP several
 * times: 60 mails are good, and 4,400 files. $RJ_TEST_FILES, the server's own folder, is the way
 * to make that many in a short time.
 */
#define LONG_MAILS 300
#define LONG_FILES 5000

static void put_many(const char *folder, const struct rj_mkdir_object *o, bool as_folder)
{
	const char *files = getenv("RJ_TEST_FILES");
	char name[RJ_TREE_NAME], path[1000];
	int fd;

	rj_mkdir_name(o, name);
	if (!files && as_folder) {
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		make(path);
		return;
	}
	if (!files) {
		T_WORKS(tree->ops->put(tree, folder, name, "object", o->bytes, &err));
		return;
	}
	snprintf(path, sizeof(path), "%s/%s/%s", files, folder, name);
	if (as_folder) {
		CU_ASSERT_EQUAL(mkdir(path, 0755), 0);
		return;
	}
	fd = open(path, O_CREAT | O_WRONLY, 0644);
	CU_ASSERT_EQUAL(write(fd, "object", o->bytes), (ssize_t)o->bytes);
	CU_ASSERT_EQUAL(close(fd), 0);
}

struct many {
	unsigned objects, folders;
	uint64_t bytes;
	unsigned char seen[LONG_FILES + 1];
};

static int see_many(void *arg, const char *name, uint64_t bytes, bool folder)
{
	struct many *m = arg;
	struct rj_mkdir_object o;

	if (!rj_mkdir_parse_name(name, &o) || o.number > LONG_FILES || m->seen[o.number]++)
		return 0;
	m->objects += !folder;
	m->folders += folder;
	m->bytes += bytes * !folder;
	return 0;
}

static void list_many(struct rj_tree *t, const char *folder, struct many *m)
{
	memset(m, 0, sizeof(*m));
	T_WORKS(t->ops->list(t, folder, see_many, m, &err));
}

static void long_lists(void)
{
	unsigned count = getenv("RJ_TEST_FILES") ? LONG_FILES : LONG_MAILS, i;
	struct rj_key log = t_new_log(RJ_KEY_EPOCH);
	char above[RJ_TREE_FOLDER], folder[RJ_TREE_FOLDER], name[RJ_TREE_NAME];
	struct rj_mkdir_object o = {0};
	struct rj_tree *other = open_tree();
	struct rj_buf out = {0};
	static struct many m;
	int rc;

	folder_of(&log, 0, above);
	folder_of(&log, 1, folder);
	make(folder);
	for (i = 1; i <= count; i++) {
		o.number = i;
		o.bytes = 1 + i % 5;
		put_many(folder, &o, false);
		if (i > 1)
			put_many(above, &o, true);
	}
	for (i = 0; i < 2; i++) { /* what was learned of the first serves the second */
		list_many(other, folder, &m);
		CU_ASSERT_EQUAL(m.objects, count);
		CU_ASSERT_EQUAL(m.bytes, count * 3);
		list_many(other, above, &m);
		CU_ASSERT_EQUAL(m.folders, count);
	}
	rj_mkdir_name(&o, name);
	T_WORKS(other->ops->get(other, folder, name, 9, &out, &err));
	CU_ASSERT_EQUAL(out.len, o.bytes);
	T_FAILS(other->ops->get(other, folder, "0", 9, &out, &err), RJ_E_NOTFOUND, "");
	rc = other->ops->remove(other, folder, name, &err);
	CU_ASSERT_TRUE(!rc || (rc == -RJ_E_NOTFOUND && retrying()));
	list_many(other, folder, &m);
	CU_ASSERT_EQUAL(m.objects, count - 1);
	rj_tree_close(other);
	rj_buf_free(&out);
}

/* They are under no epoch, and one that stands twice is listed once. */
static void come_and_go(enum rj_key_kind kind)
{
	struct rj_key dir = t_new_log(kind), key;
	struct rj_buf out = {0};
	struct rj_store *s = NULL;
	struct t_list l = {0};
	int rc;

	T_WORKS(rj_mkdir_epoch_open(open_tree(), &s, &err));
	T_WORKS(rj_store_list(s, &dir, 0, t_list_add, &l, &err));
	CU_ASSERT_EQUAL(l.count, 0);
	key = t_key(&dir, 9);
	T_FAILS(rj_store_get(s, &key, 9, &out, &err), RJ_E_NOTFOUND, "");
	T_WORKS(rj_store_put_new(s, &key, "nine", 4, &err));
	T_WORKS(rj_store_put_new(s, &key, "nine", 4, &err));
	key = t_key(&dir, 7);
	T_WORKS(rj_store_put_new(s, &key, "seven", 5, &err));
	T_WORKS(rj_store_list(s, &dir, 0, t_list_add, &l, &err));
	CU_ASSERT(l.count == 2 && l.number[0] == 7 && l.number[1] == 9);
	key = t_key(&dir, 9);
	T_WORKS(rj_store_get(s, &key, 9, &out, &err));
	CU_ASSERT_EQUAL(out.len, 4);
	rc = rj_store_remove(s, &key, &err);
	CU_ASSERT(!rc || (retrying() && rc == -RJ_E_NOTFOUND));
	T_FAILS(rj_store_remove(s, &key, &err), RJ_E_NOTFOUND, "");
	T_FAILS(rj_store_get(s, &key, 9, &out, &err), RJ_E_NOTFOUND, "");
	memset(&l, 0, sizeof(l));
	T_WORKS(rj_store_list(s, &dir, 0, t_list_add, &l, &err));
	CU_ASSERT(l.count == 1 && l.number[0] == 7);
	rj_store_close(s);
	rj_buf_free(&out);
}

static void holds_come_and_go(void)
{
	come_and_go(RJ_KEY_HOLD);
}

static void named_marks_come_and_go(void)
{
	come_and_go(RJ_KEY_POINT);
}

static void pieces_of_bases_come_and_go(void)
{
	come_and_go(RJ_KEY_BASE);
}

static void drills_come_and_go(void)
{
	come_and_go(RJ_KEY_DRILL);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(a_store_of_mode_b),
		RJTEST(a_folder_is_made_once),
		RJTEST(objects_of_many_sizes),
		RJTEST(the_same_again),
		RJTEST(what_is_not_there),
		RJTEST(a_list_shows_what_was_acknowledged),
		RJTEST(one_of_many_racers_makes_it),
		RJTEST(readers_see_all_or_nothing),
		RJTEST(a_dup_is_a_handle_of_its_own),
		RJTEST(a_dup_has_no_connection_yet),
		RJTEST(long_lists),
		RJTEST(holds_come_and_go),
		RJTEST(named_marks_come_and_go),
		RJTEST(pieces_of_bases_come_and_go),
		RJTEST(drills_come_and_go),
	};
	int status;

	url = getenv("RJ_TEST_STORE");
	if (!url)
		grove = memgrove_new();
	store = open_store();
	tree = open_tree();
	status = RJTEST_RUN("tree", tests);
	rj_tree_close(tree);
	rj_store_close(store);
	memgrove_free(grove);
	return status;
}
