// SPDX-License-Identifier: GPL-2.0-or-later
#include "fuzz-server.h"

#include <event2/event.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "rjserver/access/access.h"
#include "rjserver/dispatch.h"
#include "rjserver/store/commit.h"
#include "util/crc32c.h"
#include "util/environ.h"

#define CONNECTIONS 100 /* more descriptors than that are not given back */
#define VOLUMES	    64	/* that the gate may know before it starts anew */

struct outcome outcome;
char server_token[TOKEN_TEXT];

static char dir[200];
static struct settings set;
static struct store *store;
static struct event_base *base;
static struct event *flush;
static struct access_control control;
static struct sockaddr_un address;
static socklen_t address_len = sizeof(address);
static bool insecure_now;

void broken(const char *what)
{
	fprintf(stderr, "fuzz-request: %s\n", what);
	abort();
}

static int64_t stands(void *arg)
{
	return 1700000000000000000;
}

static void no_sleep(void *arg, int64_t ns)
{
}

static int same_bytes(void *arg, void *out, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		((uint8_t *)out)[i] = (uint8_t)(i * 37 + 11);
	return 0;
}

static struct okey key_of(const char *name, uint64_t n)
{
	struct okey k = {.key = {.kind = RJ_KEY_LOG, .number = n}};

	snprintf(k.name, sizeof(k.name), "%s", name);
	if (!rj_uuid_parse(UUID, k.key.journal_uuid))
		broken("its own UUID");
	return k;
}

static bool is_kept(const struct okey *k)
{
	struct okey same = key_of(k->name, k->key.number);

	return k->key.number && k->key.number <= KEPT &&
	       (!strcmp(k->name, OTHER) || !strcmp(k->name, OWN)) &&
	       k->key.kind == RJ_KEY_LOG &&
	       !memcmp(k->key.journal_uuid, same.key.journal_uuid,
		       RJ_UUID_BYTES);
}

static void put_kept(const char *name, const char *bytes)
{
	uint32_t len = (uint32_t)strlen(bytes);
	struct commit_body body = {
		(uint8_t *)bytes, len, rj_crc32c(~0u, bytes, len), false};
	struct rj_error err = {0};
	struct okey k;
	uint64_t n;

	for (n = 1; n <= KEPT; n++) {
		k = key_of(name, n);
		if (!idx_find(store->index, &k) &&
			commit_put(store->commit, &k, &body, NULL, NULL, &err))
			broken(err.msg);
	}
}

struct found {
	struct okey *keys;
	size_t count, room;
};

static void find(void *arg, const struct okey *k, const struct idx_entry *e)
{
	struct found *f = arg;

	if (f->count == f->room) {
		f->room = f->room * 2 + 16;
		f->keys = reallocarray(f->keys, f->room, sizeof(*f->keys));
		if (!f->keys)
			broken("out of memory");
	}
	f->keys[f->count++] = *k;
}

static void look_at(const struct okey *k, bool secret)
{
	struct rj_buf b = {0};
	struct rj_error err;

	if (store_get(store, k, &b, &err))
		broken("an object of the index cannot be read");
	if (secret &&
		(b.len != strlen(SECRET) || memcmp(b.data, SECRET, b.len)))
		broken("an account changed an object of others");
	rj_buf_free(&b);
}

static void start_gate(void)
{
	struct accounts accounts = {0};
	struct rj_error err = {0};
	struct account *x = accounts_add(&accounts, OWN);

	if (!x)
		broken("out of memory");
	x->rights = RIGHT_APPEND | RIGHT_READ | RIGHT_TRIM;
	x->max_bytes = 20000;
	x->max_volumes = 10;
	if (account_add_volumes(x, OWN "*", &err) ||
		account_new_token(x, server_token, &err) ||
		access_start(&control, store, &set, &accounts, &err))
		broken(err.msg);
}

void server_restore(bool insecure)
{
	struct found f = {0};
	struct rj_error err = {0};
	size_t i, foreign = 0;
	bool others;

	idx_each(store->index, find, &f);
	for (i = 0; i < f.count; i++) {
		others = strncmp(f.keys[i].name, OWN, strlen(OWN)) != 0;
		foreign += others;
		look_at(&f.keys[i], others && !insecure);
		if (!is_kept(&f.keys[i]) && commit_delete(store->commit,
						    &f.keys[i], NULL, NULL,
						    &err))
			broken(err.msg);
	}
	free(f.keys);
	if (!insecure && foreign != KEPT)
		broken("an account changed a volume of others");
	put_kept(OWN, "one of its own");
	/* under --insecure another may have put what is now to be the secret */
	if (insecure) {
		for (i = 1; i <= KEPT; i++) {
			struct okey k = key_of(OTHER, i);

			commit_delete(store->commit, &k, NULL, NULL, &err);
		}
		commit_flush(store->commit);
	}
	put_kept(OTHER, SECRET);
	commit_flush(store->commit);
	if (store->failed)
		broken("a write to the store failed");
	if (control.usage.count > VOLUMES) {
		access_free(&control);
		start_gate();
	}
}

static void on_flush(evutil_socket_t fd, short what, void *arg)
{
	commit_flush(store->commit);
}

static void on_wanted(void *arg)
{
	event_active(flush, 0, 0);
}

static bool on_request(void *arg, const struct http_request *req)
{
	outcome.asked++;
	return dispatch_request(arg, req);
}

static void on_done(void *arg, void *tag, int status, uint64_t sent)
{
	outcome.answered++;
	outcome.stored += status == 201 || status == 204;
	/* 0: the client left in the middle of the body */
	if (status != 401)
		outcome.let_in = true;
	/* 507: the account's limit */
	if (status >= 500 && (status != 507 || insecure_now))
		outcome.strange = status;
	dispatch_done(arg, tag, status, sent);
}

static int remove_one(
	const char *path, const struct stat *st, int type, struct FTW *where)
{
	return remove(path);
}

static void clean_up(void)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void listen_there(int fd)
{
	address.sun_family = AF_UNIX; /* and no name: the kernel finds one */
	if (fd < 0 || bind(fd, (void *)&address, sizeof(address.sun_family)) ||
		listen(fd, 16) ||
		getsockname(fd, (void *)&address, &address_len))
		broken("no socket to listen on");
}

void server_start(void)
{
	static const struct rj_environ world = {stands, stands, no_sleep,
		same_bytes, NULL};
	const char *in = getenv("RJ_FUZZ_DIR");
	struct store_opts opts = {
		.dir = dir, .received = true, .file_bytes = 4 << 20};
	struct rj_error err = {0};
	struct http_handlers handlers = {
		.request = on_request,
		.body = dispatch_body,
		.done = on_done,
		.arg = &control,
	};
	struct http_limits limits = {.connections = 1 << 20};
	struct http *http;
	int fd;

	signal(SIGPIPE, SIG_IGN);
	snprintf(dir, sizeof(dir), "%s/rjfuzz-store.XXXXXX", in ? in : "/tmp");
	if (!mkdtemp(dir))
		broken("no directory for the store; see RJ_FUZZ_DIR");
	atexit(clean_up);
	rj_environ_set(&world);
	set.min_free_set = true; /* and it is 0 */
	set.rule_count = 1;
	snprintf(set.rules[0].pattern, NAME_BYTES, "%s-kept", OWN);
	set.rules[0].keep_s = 3600;
	if (store_open(&opts, &store, &err))
		broken(err.msg);
	start_gate();
	base = event_base_new();
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	listen_there(fd);
	if (!base || event_base_priority_init(base, 3))
		broken("no event loop");
	flush = event_new(base, -1, 0, on_flush, NULL);
	http = http_new(base, fd, &handlers, &limits);
	if (!flush || !http || event_priority_set(flush, 2))
		broken("no server");
	commit_on_wanted(store->commit, on_wanted, NULL);
	server_restore(true);
}

int server_connect(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (void *)&address, address_len))
		broken("cannot connect");
	if (fd > CONNECTIONS)
		broken("connections that are over are not closed");
	return fd;
}

void server_reset(bool insecure)
{
	outcome = (struct outcome){0};
	control.open = insecure_now = insecure;
}

void server_turn(void)
{
	event_base_loop(base, EVLOOP_NONBLOCK);
}
