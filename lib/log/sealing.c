// SPDX-License-Identifier: LGPL-2.1-or-later
/* Load the key of a log, and check that it is the volume's. */
#include "log/sealing.h"

#include <stdio.h>
#include <string.h>

#include "format/sbx.h"
#include "store/conf.h"

/* KEY, of the file PATH, must be the one that FINGERPRINT names. */
static int check_key(const char *path, const uint8_t *fingerprint,
	const struct rj_sealkey *key, struct rj_error *err)
{
	char ours[RJ_SEALKEY_FINGERPRINT_TEXT];

	if (!memcmp(fingerprint, rj_sealkey_fingerprint(key),
		    RJ_SEALKEY_FINGERPRINT_BYTES))
		return 0;
	rj_sealkey_fingerprint_text(rj_sealkey_fingerprint(key), ours);
	return rj_fail(err, RJ_E_KEY, "%s holds the key %s", path, ours);
}

/* The key that FINGERPRINT names, from the file PATH. */
static int load_old_key(const char *url, const char *path,
	const uint8_t *fingerprint, struct rj_sealkey **out,
	struct rj_error *err)
{
	char theirs[RJ_SEALKEY_FINGERPRINT_TEXT];
	int rc;

	if (path)
		rc = rj_sealkey_load(path, out, err);
	else
		rc = rj_fail(err, RJ_E_KEY, "name its file as keyfile in rj.conf(5)");
	if (!rc)
		rc = check_key(path, fingerprint, *out, err);
	if (!rc)
		return 0;
	rj_sealkey_free(*out);
	*out = NULL;
	rj_sealkey_fingerprint_text(fingerprint, theirs);
	rj_fail_prefix(err, "%s: the log is encrypted with the key %s", url, theirs);
	rj_fail_suffix(err, " (if that key is lost for good: rjtune(8), --old-key=none)");
	return rc;
}

/* The user says that there is no copy of the key: then it is the log that is lost. */
static int key_lost(const char *url, const uint8_t *fingerprint, struct rj_error *err)
{
	char theirs[RJ_SEALKEY_FINGERPRINT_TEXT];

	rj_sealkey_fingerprint_text(fingerprint, theirs);
	return rj_fail(err, RJ_E_NOTFOUND,
		"%s: the log is encrypted with the key %s, which is lost", url, theirs);
}

int rj_log_sealing_load(const char *url, const char *keyfile,
	const uint8_t *fingerprint, struct rj_log_sealing *out,
	struct rj_error *err)
{
	bool sealed = fingerprint && rj_sealkey_fingerprint_set(fingerprint);
	struct rj_conf *conf = NULL;
	const char *path;
	int rc;

	memset(out, 0, sizeof(*out));
	if (sealed && keyfile && !strcmp(keyfile, RJ_SEALING_KEY_LOST))
		return key_lost(url, fingerprint, err);
	rc = rj_conf_load(url, &conf, err);
	if (rc)
		return rc;
	out->compress = conf->compress == RJ_CONF_YES;
	path = keyfile ? keyfile : conf->keyfile;
	if (sealed)
		rc = load_old_key(url, path, fingerprint, &out->key, err);
	else if (!fingerprint && path)
		rc = rj_sealkey_load(path, &out->key, err);
	else if (keyfile)
		rc = rj_fail(err, RJ_E_KEY,
			"%s: the log is not encrypted, and the key %s was "
			"named for it",
			url, keyfile);
	rj_conf_release(conf);
	return rj_conf_fault(rc, err);
}

void rj_log_sealing_use(const struct rj_log_sealing *s, struct rj_log_id *id)
{
	id->key = s->key;
	id->compress = s->compress;
}

void rj_log_sealing_free(struct rj_log_sealing *s)
{
	if (!s)
		return;
	rj_sealkey_free(s->key);
	s->key = NULL;
}
