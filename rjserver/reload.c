// SPDX-License-Identifier: GPL-2.0-or-later
#include "reload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "notify.h"
#include "rjserver/http/tls.h"
#include "text/when.h"

static struct tls_files files_of(const struct settings *set)
{
	return (struct tls_files){
		.cert = set->cert,
		.key = set->key,
		.client_ca = set->client_ca[0] ? set->client_ca : NULL,
	};
}

int live_check(const struct settings *set, bool loopback, struct accounts *a,
	struct rj_error *err)
{
	int rc;

	*a = (struct accounts){0};
	if (set->insecure && !loopback)
		return rj_fail(err, RJ_E_REFUSED,
			"--insecure is for loopback addresses: anyone who "
			"reaches %s could read and write all journals; give "
			"it accounts (rjserver adduser) and TLS (--cert, "
			"--key)",
			set->listen);
	if (set->insecure)
		return 0;
	if (!loopback && !set->cert[0])
		return rj_fail(err, RJ_E_REFUSED,
			"%s: tokens would cross the network in clear: give TLS "
			"a certificate (--cert, --key)",
			set->listen);
	rc = accounts_load(set->accounts, a, err);
	if (!rc && a->count)
		return 0;
	if (rc && rc != -RJ_E_NOTFOUND)
		return rc;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: there are no accounts; make one with \"rjserver adduser "
		"-d DIR NAME\"%s",
		set->accounts,
		loopback ? ", or let everybody on this machine do all with "
			   "--insecure"
			 : "");
}

static void note_certificate(struct live *live, const struct settings *set)
{
	int64_t end = live->tls ? tls_own_end(live->tls) : 0;
	char when[RJ_WHEN_TEXT];

	live->access.cert_until_s = end;
	if (rj_when_ends(end) != RJ_END_LATER)
		log_warning("%s: the certificate ends %s: renew it, then reload rjserver", set->cert,
			rj_when_seconds(end, when));
}

int live_begin(struct live *live, struct store *store, struct rj_error *err)
{
	const struct settings *set = live->set;
	struct tls_files files = files_of(set);
	struct accounts a = {0};
	int rc = live_check(set, live->loopback, &a, err);

	rc = rc ? rc : access_start(&live->access, store, set, &a, err);
	if (!rc && set->cert[0])
		rc = tls_new(&files, access_refused_tls, &live->access,
			&live->tls, err);
	if (!rc)
		note_certificate(live, set);
	accounts_free(&a);
	return rc;
}

void live_end(struct live *live)
{
	tls_free(live->tls);
	access_free(&live->access);
}

/* What cannot change while the server runs is named, and stays. */
static void keep(const char *name, char *now, size_t size, const char *was)
{
	if (strcmp(now, was))
		log_warning("%s is still %s: it needs a restart", name, was);
	snprintf(now, size, "%s", was);
}

static void keep_fixed(struct settings *now, const struct settings *was)
{
	keep("dir", now->dir, sizeof(now->dir), was->dir);
	keep("listen", now->listen, sizeof(now->listen), was->listen);
	if (now->received != was->received)
		log_warning("durability is still %s: it needs a restart",
			was->received ? "received" : "fsync");
	now->received = was->received;
	if (now->file_bytes != was->file_bytes)
		log_warning("file-size is as before: it needs a restart");
	now->file_bytes = was->file_bytes;
	if (now->insecure != was->insecure)
		log_warning("insecure is still %s: it needs a restart",
			was->insecure ? "yes" : "no");
	now->insecure = was->insecure;
	if (!now->cert[0] != !was->cert[0]) {
		log_warning("TLS is still %s: it needs a restart",
			was->cert[0] ? "on" : "off");
		strcpy(now->cert, was->cert);
		strcpy(now->key, was->key);
		strcpy(now->client_ca, was->client_ca);
	}
}

static int reload(struct live *live, struct settings *now, struct rj_error *err)
{
	struct tls_files files;
	struct accounts a = {0};
	int rc = settings_make(live->options, now, err);

	if (rc)
		return rc;
	keep_fixed(now, live->set);
	rc = live_check(now, live->loopback, &a, err);
	files = files_of(now);
	/* all that can fail comes before what takes effect */
	rc = rc ? rc : usage_prepare(&live->access.usage, &a, err);
	if (!rc && live->tls)
		rc = tls_reload(live->tls, &files, err);
	if (!rc)
		rc = access_reload(&live->access, &a, err);
	if (!rc) {
		*live->set = *now;
		note_certificate(live, now);
	}
	accounts_free(&a);
	return rc;
}

void live_reload(struct live *live)
{
	struct settings *now = calloc(1, sizeof(*now));
	struct rj_error err = {0};

	notify_reloading();
	log_forget_repeats();
	if (!now)
		log_error("not reloaded: out of memory");
	else if (reload(live, now, &err))
		log_error("not reloaded, all stays as it was: %s", err.msg);
	else
		log_notice(
			"reloaded: %zu accounts", live->access.accounts.count);
	free(now);
	notify_send("READY=1");
}
