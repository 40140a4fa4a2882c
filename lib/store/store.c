// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/store.h"

#include <string.h>

#include "store/backend.h"
#include "store/url.h"

static const struct {
	const char *scheme;
	rj_backend_open open;
} backends[] = {
	{"file", rj_store_file_open},
	{"rj", rj_store_rj_open},
};

#define BACKENDS (sizeof(backends) / sizeof(backends[0]))

static int unsupported(const char *scheme, struct rj_error *err)
{
	char have[128] = "";
	size_t i;

	for (i = 0; i < BACKENDS; i++) {
		if (i)
			strcat(have, ", ");
		strcat(have, backends[i].scheme);
		strcat(have, "://");
	}
	return rj_fail(err, RJ_E_UNSUPPORTED,
		"%s://: this build has no store of that kind; it has %s",
		scheme, have);
}

static int open_url(const char *text, const struct rj_store_opts *opts,
	struct rj_store **out, struct rj_error *err)
{
	struct rj_store_opts o = {0};
	struct rj_url url;
	size_t i;
	int rc;

	rc = rj_url_parse(text, &url, err);
	if (rc)
		return rc;
	if (opts)
		o = *opts;
	if (o.connect_timeout_ms <= 0)
		o.connect_timeout_ms = 5000;
	if (o.request_timeout_ms <= 0)
		o.request_timeout_ms = 30000;
	for (i = 0; i < BACKENDS; i++) {
		if (!strcmp(url.scheme, backends[i].scheme))
			return backends[i].open(&url, &o, out, err);
	}
	return unsupported(url.scheme, err);
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
