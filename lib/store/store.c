// SPDX-License-Identifier: LGPL-2.1-or-later
/* Choose the backend by a URL's scheme, and open it with the settings of rj.conf. */
#include "store/store.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "format/sbx.h"
#include "store/backend.h"
#include "store/conf.h"
#include "store/url.h"
#include "util/environ.h"

#define NS_PER_S 1000000000LL

#define OF_CURL(name) NULL, offsetof(struct rj_curl_module, name)

static const struct {
	const char *scheme;
	rj_backend_open open; /* NULL: in the module librj-curl, at CURL */
	size_t curl;
} backends[] = {
	{"file", rj_store_file_open, 0},
	{"rj", rj_store_rj_open, 0},
	{"rjs", rj_store_rj_open, 0},
	{"s3+http", OF_CURL(s3)},
	{"s3+https", OF_CURL(s3)},
#ifdef RJ_TREE_STORES
	{"dav", OF_CURL(dav)},
	{"davs", OF_CURL(dav)},
	{"ftp", OF_CURL(ftp)},
	{"ftps", OF_CURL(ftp)},
	{"sftp", OF_CURL(sftp)},
	{"imap", OF_CURL(imap)},
	{"imaps", OF_CURL(imap)},
#endif
};

#define BACKENDS (sizeof(backends) / sizeof(backends[0]))

static int unsupported(const char *scheme, struct rj_error *err)
{
	char have[BACKENDS * 24], *p = have;
	size_t i;

	for (i = 0; i < BACKENDS; i++)
		p += sprintf(p, "%s%.16s://", i ? ", " : "",
			backends[i].scheme);
	return rj_fail(err, RJ_E_UNSUPPORTED,
		"%s://: this build has no store of that kind; it has %s",
		scheme, have);
}

static void complete(struct rj_store_opts *o)
{
	if (o->connect_timeout_ms <= 0)
		o->connect_timeout_ms = o->conf->connect_timeout_ms;
	if (o->connect_timeout_ms <= 0)
		o->connect_timeout_ms = 5000;
	if (o->request_timeout_ms <= 0)
		o->request_timeout_ms = o->conf->request_timeout_ms;
	if (o->request_timeout_ms <= 0)
		o->request_timeout_ms = 30000;
}

/* rj.conf's sections have the scheme in lower case. */
static int load_conf(const char *text, const struct rj_url *url,
	struct rj_conf **out, struct rj_error *err)
{
	char lower[RJ_URL_BYTES];

	snprintf(lower, sizeof(lower), "%s%s", url->scheme,
		strstr(text, "://"));
	return rj_conf_load(lower, out, err);
}

/* Get the function that opens stores of the I-th scheme. */
static int find_open(size_t i, rj_backend_open *out, struct rj_error *err)
{
	const struct rj_curl_module *curl;
	int rc;

	*out = backends[i].open;
	if (*out)
		return 0;
	rc = rj_curl_module(&curl, err);
	if (!rc)
		memcpy(out, (const char *)curl + backends[i].curl, sizeof(*out));
	else
		rj_fail_prefix(err, "%s://", backends[i].scheme);
	return rc;
}

static int open_url(const char *text, const struct rj_store_opts *opts,
	struct rj_store **out, struct rj_error *err)
{
	struct rj_store_opts o = {0};
	rj_backend_open open;
	struct rj_conf *conf;
	struct rj_url url;
	size_t i;
	int rc;

	rc = rj_url_parse(text, &url, err);
	if (rc)
		return rc;
	for (i = 0; i < BACKENDS; i++) {
		if (!strcmp(url.scheme, backends[i].scheme))
			break;
	}
	if (i == BACKENDS)
		return unsupported(url.scheme, err);
	rc = find_open(i, &open, err);
	if (rc)
		return rc;
	if (opts)
		o = *opts;
	conf = rj_conf_ref(o.conf);
	if (!conf)
		rc = load_conf(text, &url, &conf, err);
	if (rc)
		return rc;
	o.conf = conf;
	complete(&o);
	rc = open(&url, &o, out, err);
	if (!rc && out && conf->durable)
		(*out)->caps.durability = conf->durable == RJ_CONF_YES
						  ? RJ_DURABLE
						  : RJ_RECEIVED;
	rj_conf_release(conf);
	return rc == -RJ_E_INVAL ? rj_conf_fault(rc, err) : rc;
}

int rj_store_open(const char *url, const struct rj_store_opts *opts,
	struct rj_store **out, struct rj_error *err)
{
	return open_url(url, opts, out, err);
}

int rj_store_check_url(const char *url, struct rj_error *err)
{
	return open_url(url, NULL, NULL, err);
}

void rj_store_close(struct rj_store *s)
{
	if (s)
		s->ops->close(s);
}

struct below {
	struct rj_buf numbers;
	uint64_t limit, least;
};

static int note_below(void *arg, uint64_t number, uint64_t bytes)
{
	struct below *b = arg;

	if (number >= b->limit)
		return 1;
	if (bytes < b->least)
		return 0;
	return rj_buf_append(&b->numbers, &number, sizeof(number));
}

static int remove_each(struct rj_store *s, const struct rj_key *dir,
	const struct below *b, uint64_t *removed, struct rj_error *err)
{
	struct rj_key key = *dir;
	size_t i;
	int rc;

	for (i = 0; i < b->numbers.len; i += sizeof(key.number)) {
		memcpy(&key.number, b->numbers.data + i, sizeof(key.number));
		rc = rj_store_remove(s, &key, err);
		if (rc && rc != -RJ_E_NOTFOUND)
			return rc;
		*removed += !rc;
	}
	return 0;
}

int64_t rj_store_now(const struct rj_store *s, int64_t until_ns)
{
	int64_t now = rj_realtime_ns(), server = s->clock_s;

	if (server && server < now / NS_PER_S)
		now = server * NS_PER_S;
	return until_ns && until_ns < now ? until_ns : now;
}

const char *rj_nearly_full_text(unsigned bits)
{
	return bits & RJ_FULL_DISK      ? "its disk"
	       : bits & RJ_FULL_VOLUME  ? "the volume's limit there"
	       : bits & RJ_FULL_ACCOUNT ? "our account's limit there"
					: "";
}

int rj_store_remove_below(struct rj_store *s, const struct rj_key *dir,
	uint64_t below, uint64_t least, uint64_t *removed, struct rj_error *err)
{
	struct below b = {.limit = below, .least = least};
	uint64_t unseen;
	int rc;

	if (!removed)
		removed = &unseen;
	*removed = 0;
	if (s->ops->remove_below)
		return s->ops->remove_below(
			s, dir, below, least, removed, err);
	rc = rj_store_list(s, dir, 0, note_below, &b, err);
	if (rc == -RJ_E_NOMEM)
		rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (rc == 1)
		rc = 0;
	if (!rc)
		rc = remove_each(s, dir, &b, removed, err);
	rj_buf_free(&b.numbers);
	return rc;
}
