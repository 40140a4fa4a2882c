// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * sftp://host/folder: a tree on an SSH server. The path is absolute; /~/folder
 * is below the user's home.
 *
 * mkdir is the exclusive act. An object is uploaded under a temporary name and
 * then renamed. Whether rename overwrites depends on server and libssh2; that
 * does not matter here, because a name is only ever written with the same
 * bytes. "No such file" is a code of the protocol's own; but libcurl also gives
 * it, from an earlier answer, when the connection is lost: so it is believed
 * once the connection was seen to live on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/backend.h"
#include "store/conf.h"
#include "store/tree/curl-tree.h"

#define MAX_LIST (256u << 20)

static struct rj_net *net_of(struct rj_tree *t)
{
	return (struct rj_net *)t;
}

/* A path as the commands want it. */
static char *command_path(const struct rj_net *n, const char *folder,
	const char *name, char out[RJ_NET_PATH])
{
	char path[RJ_NET_PATH];

	rj_net_path(n, folder, name, path);
	if (!strncmp(path, "~/", 2))
		snprintf(out, RJ_NET_PATH, "%s", path + 2);
	else
		snprintf(out, RJ_NET_PATH, "/%.*s", RJ_NET_PATH - 2, path);
	return out;
}

/*
 * The server refused something. Is it the same connection still, and answers?
 * 0: so it was the server that refused.
 */
static int alive(struct rj_net *n, const char *doing, struct rj_error *err)
{
	char url[RJ_NET_URL], detail[CURL_ERROR_SIZE];
	struct rj_net_call c = {.url = url, .nobody = true};
	long connects = 1, when = -1;
	CURLcode code;
	int rc;

	memcpy(detail, n->detail, sizeof(detail));
	snprintf(url, sizeof(url), "%s", n->origin);
	curl_easy_setopt(n->easy, CURLOPT_FILETIME, 1L); /* asks for a stat */
	rc = rj_net_perform(n, &c, &code, err);
	curl_easy_setopt(n->easy, CURLOPT_FILETIME, 0L);
	if (rc)
		return rc;
	curl_easy_getinfo(n->easy, CURLINFO_NUM_CONNECTS, &connects);
	curl_easy_getinfo(n->easy, CURLINFO_FILETIME, &when);
	if (code || connects || when < 0)
		return rj_net_fail_lost(n, doing, err);
	memcpy(n->detail, detail, sizeof(detail));
	return 0;
}

/* RJ_E_NOTFOUND, with TEXT after it; or the connection is lost. */
static int not_found(struct rj_net *n, const char *folder, const char *name,
	const char *text, struct rj_error *err)
{
	int rc = alive(n, folder, err);

	if (rc)
		return rc;
	return rj_fail(err, RJ_E_NOTFOUND, "%s: %s%s%s: %s", n->base.url,
		folder, name ? "/" : "", name ? name : "", text);
}

static int fetch_list(struct rj_net *n, const char *folder, struct rj_buf *out,
	struct rj_error *err)
{
	char url[RJ_NET_URL];
	struct rj_net_call c = {.url = url, .out = out, .max = MAX_LIST};
	CURLcode code;
	int rc;

	rj_net_url(n, folder, NULL, true, url);
	rc = rj_net_perform(n, &c, &code, err);
	if (rc)
		return rc;
	if (code == CURLE_REMOTE_FILE_NOT_FOUND)
		return not_found(n, folder, NULL, "no such folder", err);
	return code ? rj_net_fail(n, code, err) : 0;
}

/* Is NAME (may be a folder's last part) in FOLDER? RJ_E_NOTFOUND: not even
 * FOLDER is there. */
static int is_there(struct rj_net *n, const char *folder, const char *name,
	bool *there, bool *is_folder, uint64_t *bytes, struct rj_error *err)
{
	struct rj_buf list = {0};
	int rc = fetch_list(n, folder, &list, err);

	*there = !rc && rj_net_in_list(&list, name, is_folder, bytes);
	rj_buf_free(&list);
	return rc;
}

static int command(struct rj_net *n, const char *text, bool *done,
	struct rj_error *err)
{
	char url[RJ_NET_URL];
	struct rj_net_call c = {.url = url, .nobody = true, .quote = {text}};
	CURLcode code;
	int rc;

	snprintf(url, sizeof(url), "%s", n->origin);
	rc = rj_net_perform(n, &c, &code, err);
	if (rc)
		return rc;
	*done = !code;
	if (code && code != CURLE_QUOTE_ERROR)
		return rj_net_fail(n, code, err);
	return code ? alive(n, text, err) : 0;
}

static int make_one(struct rj_net *n, const char *folder, bool *made,
	struct rj_error *err)
{
	char path[RJ_NET_PATH], text[RJ_NET_PATH + 8];

	snprintf(text, sizeof(text), "mkdir %s",
		command_path(n, folder, NULL, path));
	return command(n, text, made, err);
}

/* The folders above FOLDER, down from the store's own. Who makes them does not
 * matter, nor whether they are there. */
static int make_above(struct rj_net *n, const char *folder,
	struct rj_error *err)
{
	char up[RJ_TREE_FOLDER], *p;
	bool made;
	int rc;

	snprintf(up, sizeof(up), "%s", folder);
	rc = make_one(n, "", &made, err);
	for (p = up; !rc && (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		rc = make_one(n, up, &made, err);
	}
	return rc;
}

static int sftp_make(
	struct rj_tree *t, const char *folder, struct rj_error *err)
{
	struct rj_net *n = net_of(t);
	char up[RJ_TREE_FOLDER], why[CURL_ERROR_SIZE], *slash;
	bool made, there = false, is_folder;
	int tries, rc = 0;

	snprintf(up, sizeof(up), "%s", folder);
	slash = strrchr(up, '/');
	if (slash)
		*slash = '\0';
	rj_tree_meet(t);
	for (tries = 0; tries < 2; tries++) {
		rc = make_one(n, folder, &made, err);
		if (rc || made)
			return rc;
		snprintf(why, sizeof(why), "%s", n->detail);
		rc = is_there(n, slash ? up : "", slash ? slash + 1 : folder,
			&there, &is_folder, NULL, err);
		if (!rc && there)
			return rj_fail(err, RJ_E_EXISTS,
				"%s: %s is there already", t->url, folder);
		if (rc == -RJ_E_NOTFOUND)
			rc = make_above(n, folder, err);
		if (rc)
			return rc;
	}
	return rj_fail(err, RJ_E_DENIED,
		"%s: the SSH server does not let us make folder %s: %s", t->url,
		folder, why);
}

/* The upload went well and the rename did not: because an attempt of ours, its
 * answer lost, had done it already? */
static int settle_rename(struct rj_net *n, const char *folder, const char *name,
	const char *tmp, size_t len, struct rj_error *err)
{
	char path[RJ_NET_PATH], text[RJ_NET_PATH + 8], why[CURL_ERROR_SIZE];
	bool there, is_folder, done;
	uint64_t bytes;
	int rc;

	rc = alive(n, name, err);
	if (rc)
		return rc;
	snprintf(why, sizeof(why), "%s", n->detail);
	rc = is_there(n, folder, name, &there, &is_folder, &bytes, err);
	if (rc == -RJ_E_NOTFOUND || (!rc && (!there || bytes != len)))
		return rj_fail(err, RJ_E_DENIED,
			"%s: put %s: the SSH server does not rename: %s",
			n->base.url, name, why);
	if (rc)
		return rc;
	snprintf(text, sizeof(text), "rm %s",
		command_path(n, folder, tmp, path));
	command(n, text, &done, NULL); /* what stays wastes space only */
	return 0;
}

static int sftp_put(struct rj_tree *t, const char *folder, const char *name,
	const void *data, size_t len, struct rj_error *err)
{
	struct rj_net *n = net_of(t);
	char url[RJ_NET_URL], tmp[RJ_TREE_NAME + 64];
	char from[RJ_NET_PATH], to[RJ_NET_PATH], text[2 * RJ_NET_PATH + 16];
	struct rj_net_call c = {
		.url = url,
		.upload = true,
		.body = data,
		.body_len = len,
		.after = {text},
	};
	CURLcode code;
	int rc;

	rj_net_temporary(n, name, tmp);
	rj_net_url(n, folder, tmp, false, url);
	snprintf(text, sizeof(text), "rename %s %s",
		command_path(n, folder, tmp, from),
		command_path(n, folder, name, to));
	rc = rj_net_perform(n, &c, &code, err);
	if (rc)
		return rc;
	if (code == CURLE_QUOTE_ERROR)
		return settle_rename(n, folder, name, tmp, len, err);
	if (code == CURLE_REMOTE_FILE_NOT_FOUND)
		return not_found(n, folder, NULL, "no such folder", err);
	return code ? rj_net_fail(n, code, err) : 0;
}

static int sftp_get(struct rj_tree *t, const char *folder, const char *name,
	size_t max, struct rj_buf *out, struct rj_error *err)
{
	struct rj_net *n = net_of(t);
	char url[RJ_NET_URL];
	struct rj_net_call c = {.url = url, .out = out, .max = max};
	CURLcode code;
	int rc;

	rj_net_url(n, folder, name, false, url);
	rc = rj_net_perform(n, &c, &code, err);
	if (rc)
		return rc;
	if (code == CURLE_REMOTE_FILE_NOT_FOUND)
		return not_found(n, folder, name, "no such object", err);
	return code ? rj_net_fail(n, code, err) : 0;
}

static int sftp_list(struct rj_tree *t, const char *folder, rj_tree_list_fn fn,
	void *arg, struct rj_error *err)
{
	struct rj_buf list = {0};
	int rc = fetch_list(net_of(t), folder, &list, err);

	if (!rc)
		rc = rj_net_parse_list(&list, fn, arg);
	rj_buf_free(&list);
	return rc;
}

static int sftp_remove(struct rj_tree *t, const char *folder, const char *name,
	struct rj_error *err)
{
	struct rj_net *n = net_of(t);
	char path[RJ_NET_PATH], text[RJ_NET_PATH + 8];
	bool done, there, is_folder;
	int rc;

	snprintf(text, sizeof(text), "rm %s",
		command_path(n, folder, name, path));
	rc = command(n, text, &done, err);
	if (rc || done)
		return rc;
	rc = is_there(n, folder, name, &there, &is_folder, NULL, err);
	if (rc && rc != -RJ_E_NOTFOUND)
		return rc;
	if (!rc && there)
		return rj_fail(err, RJ_E_DENIED,
			"%s: the SSH server does not remove %s/%s", t->url,
			folder, name);
	return rj_fail(err, RJ_E_NOTFOUND, "%s: %s/%s: no such object", t->url,
		folder, name);
}

static const struct rj_tree_ops sftp_ops = {
	.make = sftp_make,
	.put = sftp_put,
	.get = sftp_get,
	.list = sftp_list,
	.remove = sftp_remove,
	.dup = rj_net_dup,
	.close = rj_net_close,
};

/* The host's key must be known, and ours is a file or a password. */
static CURLcode set_keys(CURL *e, const struct rj_conf *c)
{
	char home[400] = "";
	const char *known = c->known_hosts, *dir = getenv("HOME");
	CURLcode code = 0;

	if (!known && !c->insecure) {
		snprintf(home, sizeof(home), "%.360s/.ssh/known_hosts",
			dir ? dir : "/root");
		known = home;
	}
	if (known)
		code = curl_easy_setopt(e, CURLOPT_SSH_KNOWNHOSTS, known);
	if (!code && c->clientkey)
		code = curl_easy_setopt(
			e, CURLOPT_SSH_PRIVATE_KEYFILE, c->clientkey);
	/* the agent's keys are a user's, not the journal's */
	if (!code)
		code = curl_easy_setopt(e, CURLOPT_SSH_AUTH_TYPES,
			(long)(c->clientkey ? CURLSSH_AUTH_PUBLICKEY
					    : CURLSSH_AUTH_PASSWORD |
							CURLSSH_AUTH_KEYBOARD));
	curl_easy_setopt(e, CURLOPT_NEW_FILE_PERMS, 0600L);
	return code;
}

static const struct rj_net_kind sftp_kind = {
	.plain = "sftp",
	.plain_port = 22,
	.protocols = "sftp",
	.peer = "SSH server",
	.set_options = set_keys,
	.ops = &sftp_ops,
	.bytes = sizeof(struct rj_net),
};

int rj_store_sftp_open(const struct rj_url *url,
	const struct rj_store_opts *opts, struct rj_store **out,
	struct rj_error *err)
{
	return rj_net_open_store(&sftp_kind, url, opts, out, err);
}
