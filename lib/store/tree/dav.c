// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dav://host[:port]/path, davs://...: WebDAV, as a tree (tree.h) and so always a
 * store of mode B. Apache's mod_dav lets two racers win a PUT with
 * If-None-Match, a MOVE with Overwrite: F, and a LOCK now and then; nginx does
 * not look at such conditions at all. MKCOL has one winner on both.
 *
 * An object is put under a temporary name and moved: what other servers do
 * with half an upload is not known.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/backend.h"
#include "store/conf.h"
#include "store/curl/http.h"
#include "store/tree/dav-list.h"
#include "store/tree/tree.h"
#include "util/environ.h"

#define DAV_URL_BYTES (RJ_URL_BYTES + RJ_TREE_FOLDER + RJ_TREE_NAME + 64)

struct dav {
	struct rj_tree tree;
	struct rj_http *http;
	size_t origin; /* length of "http://host:port" */
	size_t root;   /* and of that with the path: "http://host:port/path/" */
	char url[DAV_URL_BYTES]; /* that, and the current object after it */
};

static const char *const plain_headers[] = {"Accept:", NULL};
static const char *const put_headers[] = {
	"Accept:",
	"Expect:", /* it would cost a round trip */
	"Content-Type: application/octet-stream",
	NULL,
};
static const char *const list_headers[] = {
	"Accept:",
	"Expect:",
	"Content-Type: application/xml",
	"Depth: 1",
	NULL,
};
static const char *const look_headers[] = {
	"Accept:",
	"Expect:",
	"Content-Type: application/xml",
	"Depth: 0",
	NULL,
};
static const char *const move_headers[] = {"Accept:", "Overwrite: T", NULL};

static const char list_body[] =
	"<?xml version=\"1.0\"?>\n<propfind xmlns=\"DAV:\"><prop>"
	"<resourcetype/><getcontentlength/></prop></propfind>\n";

static struct dav *dav_of(struct rj_tree *t)
{
	return (struct dav *)t;
}

/* Point d->url at FOLDER ("" or with a slash after it) or at NAME in it. */
static void set_url(struct dav *d, const char *folder, const char *name)
{
	snprintf(d->url + d->root, sizeof(d->url) - d->root, "%s%s%s", folder,
		*folder ? "/" : "", name);
}

static int fail_status(struct dav *d, const struct rj_http_call *c,
	const char *verb, struct rj_error *err)
{
	char doing[DAV_URL_BYTES + 16];
	const char *why = NULL;

	if ((c->status == 405 || c->status == 501) && !strcmp(c->method, "PROPFIND"))
		why = "it lists no folders; name another store";
	snprintf(doing, sizeof(doing), "%s %s", verb, d->url + d->root);
	return rj_http_fail_status(rj_http_peer_of(d->http), c, doing, why, err);
}

/* What MKCOL of d->url was answered with, in STATUS. */
static int mkcol(struct dav *d, struct rj_http_call *c, struct rj_error *err)
{
	int rc;

	*c = (struct rj_http_call){
		.method = "MKCOL",
		.url = d->url,
		.headers = plain_headers,
	};
	rc = rj_http_perform(d->http, c, err);
	d->tree.socket = rj_http_socket(d->http);
	return rc;
}

/* Make all folders above the one of d->url, from the uppermost. Those that are
 * there, or not ours to make, show when the last one is made. */
static int make_parents(struct dav *d, struct rj_error *err)
{
	struct rj_http_call c;
	char *p, kept;
	int rc = 0;

	for (p = d->url + d->origin + 1; !rc && (p = strchr(p, '/')); p++) {
		if (!p[1])
			break;
		kept = p[1];
		p[1] = '\0';
		rc = mkcol(d, &c, err);
		/* "not now" is no answer to the question whether it is there */
		if (!rc && (c.status >= 500 || c.status == 429 ||
				   c.status == 408 || c.status == 423))
			rc = fail_status(d, &c, "make the folders above", err);
		p[1] = kept;
	}
	return rc;
}

/* Is d->url there? 0: yes. RJ_E_NOTFOUND: no. */
static int look_folder(struct dav *d, struct rj_error *err)
{
	struct rj_http_call c = {
		.method = "PROPFIND",
		.url = d->url,
		.headers = look_headers,
		.has_body = true,
		.body = list_body,
		.body_len = sizeof(list_body) - 1,
	};
	int rc = rj_http_perform(d->http, &c, err);

	if (!rc && c.status == 404)
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: no such folder",
			d->tree.url);
	else if (!rc && c.status != 207)
		rc = fail_status(d, &c, "look at", err);
	return rc;
}

static int dav_make(
	struct rj_tree *t, const char *folder, struct rj_error *err)
{
	struct dav *d = dav_of(t);
	struct rj_http_call c;
	int rc;

	set_url(d, folder, "");
	rj_tree_meet(t);
	rc = mkcol(d, &c, err);
	if (!rc && c.status == 409) {
		rc = make_parents(d, err);
		if (!rc)
			rc = mkcol(d, &c, err);
	}
	if (rc || c.status == 201)
		return rc;
	/* 405: it is there, or this is no WebDAV at all. 403: we may not; but so
	 * says mod_dav, too, when another one made it between its look and its
	 * own attempt. */
	if (c.status != 405 && c.status != 403)
		return fail_status(d, &c, "make", err);
	rc = look_folder(d, err);
	if (rc == -RJ_E_NOTFOUND)
		return fail_status(d, &c, "make", err);
	if (rc)
		return rc;
	return rj_fail(err, RJ_E_EXISTS, "%s: %s is there already", t->url,
		folder);
}

static int upload(struct dav *d, const void *data, size_t len,
	struct rj_error *err)
{
	struct rj_http_call c = {
		.method = "PUT",
		.url = d->url,
		.headers = put_headers,
		.has_body = true,
		.body = data,
		.body_len = len,
	};
	int rc = rj_http_perform(d->http, &c, err);

	if (!rc && c.status != 201 && c.status != 204 && c.status != 200)
		rc = fail_status(d, &c, "put", err);
	return rc;
}

static int move(struct dav *d, const char *destination, struct rj_error *err)
{
	struct rj_http_call c = {
		.method = "MOVE",
		.url = d->url,
		.headers = move_headers,
		.extra = {destination},
	};
	int rc = rj_http_perform(d->http, &c, err);

	/* libcurl sends a request again when a connection that it had kept dies
	 * before an answer: the first one may have been done */
	if (!rc && c.status == 404)
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: name %s: it is gone: named already?", d->tree.url,
			d->url + d->root);
	if (!rc && c.status != 201 && c.status != 204)
		rc = fail_status(d, &c, "name", err);
	return rc;
}

static int dav_put(struct rj_tree *t, const char *folder, const char *name,
	const void *data, size_t len, struct rj_error *err)
{
	struct dav *d = dav_of(t);
	char destination[DAV_URL_BYTES + 16], temporary[64];
	uint64_t salt;
	int rc;

	if (rj_random_bytes(&salt, sizeof(salt)))
		return rj_fail(err, RJ_E_IO, "%s: no random bytes", t->url);
	set_url(d, folder, name);
	snprintf(destination, sizeof(destination), "Destination: %s", d->url);
	snprintf(temporary, sizeof(temporary), "tmp_%016llx",
		(unsigned long long)salt);
	set_url(d, folder, temporary);
	rc = upload(d, data, len, err);
	return rc ? rc : move(d, destination, err);
}

static int dav_get(struct rj_tree *t, const char *folder, const char *name,
	size_t max, struct rj_buf *out, struct rj_error *err)
{
	struct dav *d = dav_of(t);
	struct rj_http_call c = {
		.method = "GET",
		.url = d->url,
		.headers = plain_headers,
		.out = out,
		.max = max,
	};
	int rc;

	set_url(d, folder, name);
	rc = rj_http_perform(d->http, &c, err);
	if (rc == -RJ_E_CORRUPT)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: %s: longer than the %zu bytes that make sense",
			t->url, d->url + d->root, max);
	if (rc || c.status == 200)
		return rc;
	if (c.status == 404)
		return rj_fail(err, RJ_E_NOTFOUND, "%s: %s: no such object",
			t->url, d->url + d->root);
	return fail_status(d, &c, "get", err);
}

static int dav_list(struct rj_tree *t, const char *folder, rj_tree_list_fn fn,
	void *arg, struct rj_error *err)
{
	struct dav *d = dav_of(t);
	struct rj_dav_list l = {
		.store = t->url,
		.path = d->url + d->origin,
		.fn = fn,
		.arg = arg,
		.err = err,
	};
	struct rj_http_call c = {
		.method = "PROPFIND",
		.url = d->url,
		.headers = list_headers,
		.has_body = true,
		.body = list_body,
		.body_len = sizeof(list_body) - 1,
		.sink = rj_dav_list_feed,
		.sink_arg = &l,
	};
	int rc;

	set_url(d, folder, "");
	rc = rj_http_perform(d->http, &c, err);
	if (!rc && c.status == 404)
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: %s: no such folder",
			t->url, folder);
	else if (!rc && c.status != 207)
		rc = fail_status(d, &c, "list of", err);
	else if (!rc)
		rc = rj_dav_list_end(&l);
	rj_dav_list_free(&l);
	return rc;
}

static int dav_remove(struct rj_tree *t, const char *folder, const char *name,
	struct rj_error *err)
{
	struct dav *d = dav_of(t);
	struct rj_http_call c = {
		.method = "DELETE",
		.url = d->url,
		.headers = plain_headers,
	};
	int rc;

	set_url(d, folder, name);
	rc = rj_http_perform(d->http, &c, err);
	if (rc || c.status == 204 || c.status == 200)
		return rc;
	if (c.status == 404)
		return rj_fail(err, RJ_E_NOTFOUND, "%s: %s: no such object",
			t->url, d->url + d->root);
	return fail_status(d, &c, "remove", err);
}

static int dav_dup(
	struct rj_tree *t, struct rj_tree **out, struct rj_error *err)
{
	struct dav *d = malloc(sizeof(*d));
	int rc;

	if (!d)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	*d = *dav_of(t);
	rc = rj_http_dup(dav_of(t)->http, &d->http, err);
	if (rc) {
		free(d);
		return rc;
	}
	*out = &d->tree;
	return 0;
}

static void dav_close(struct rj_tree *t)
{
	rj_http_free(dav_of(t)->http);
	free(t);
}

static const struct rj_tree_ops dav_ops = {
	.make = dav_make,
	.put = dav_put,
	.get = dav_get,
	.list = dav_list,
	.remove = dav_remove,
	.dup = dav_dup,
	.close = dav_close,
};

/* The path without a slash at its end; of characters that mean themselves. */
static int check_url(
	const struct rj_url *u, size_t *path_len, struct rj_error *err)
{
	static const char fine[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "-._~/";
	size_t len = strlen(u->path);

	while (len && u->path[len - 1] == '/')
		len--;
	*path_len = len;
	if (u->host[0] && strspn(u->path, fine) >= len &&
		!strstr(u->path, "//") && !strstr(u->path, "/."))
		return 0;
	return rj_fail(err, RJ_E_INVAL,
		"%s: write %s://host/path, the path of letters, digits, "
		"dashes, dots, underscores and tildes, no part of it beginning "
		"with a dot",
		u->text, u->scheme);
}

/* The tree of URL, whose path is LEN bytes long. */
static int open_tree(const struct rj_url *u, size_t len,
	const struct rj_store_opts *opts, struct rj_tree **out,
	struct rj_error *err)
{
	struct dav *d = calloc(1, sizeof(*d));
	struct rj_http_setup setup = {
		.peer = "WebDAV server",
		.host = u->host,
		.tls = !strcmp(u->scheme, "davs"),
		.opts = opts,
	};
	char port[8] = "";
	int rc;

	if (!d)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (u->port)
		snprintf(port, sizeof(port), ":%u", u->port);
	d->tree.ops = &dav_ops;
	/* neither Apache nor nginx flushes what it stores to its disk */
	d->tree.durability =
		opts->conf->durable == RJ_CONF_YES ? RJ_DURABLE : RJ_RECEIVED;
	snprintf(d->tree.url, sizeof(d->tree.url), "%s://%s%s%.*s", u->scheme,
		u->host, port, (int)len, u->path);
	d->origin = (size_t)snprintf(d->url, sizeof(d->url), "%s://%s%s",
		setup.tls ? "https" : "http", u->host, port);
	d->root = d->origin + (size_t)sprintf(d->url + d->origin, "%.*s/",
				      (int)len, u->path);
	setup.name = d->tree.url;
	rc = rj_http_new(&setup, &d->http, err);
	if (rc) {
		free(d);
		return rc;
	}
	*out = &d->tree;
	return 0;
}

int rj_store_dav_open(const struct rj_url *url,
	const struct rj_store_opts *opts, struct rj_store **out,
	struct rj_error *err)
{
	struct rj_tree *tree = NULL;
	size_t len;
	int rc;

	rc = check_url(url, &len, err);
	if (rc || !out)
		return rc;
	rc = open_tree(url, len, opts, &tree, err);
	return rc ? rc : rj_mkdir_epoch_open(tree, out, err);
}
