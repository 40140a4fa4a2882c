// SPDX-License-Identifier: GPL-2.0-or-later
/* Sort the words of -o and of fstab: ext4's own, mount(8)'s, and our x-rj.*. */
#include <blkid/blkid.h>
#include <ctype.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "util/error.h"

/* Words that are for mount(8), fstab(5) and the boot, not for the kernel. A
 * word that ends with '=' or '-' means all that begin so. */
static const char *const helper_words[] = {"_netdev", "auto", "noauto", "user",
	"nouser", "users", "nousers", "owner", "noowner", "group", "nogroup", "nofail",
	"helper=", "uhelper=", "user=", "comment=", "x-", "X-"};

static bool is_word(const char *text, size_t len, const char *word)
{
	size_t n = strlen(word);

	if (word[n - 1] == '=' || word[n - 1] == '-')
		return len >= n && strncmp(text, word, n) == 0;
	return len == n && strncmp(text, word, n) == 0;
}

static bool for_helpers(const char *text, size_t len)
{
	unsigned i;

	for (i = 0; i < sizeof(helper_words) / sizeof(*helper_words); i++)
		if (is_word(text, len, helper_words[i]))
			return true;
	return false;
}

size_t rj_mount_word_length(const char *text)
{
	bool quoted = false;
	size_t n;

	for (n = 0; text[n] && (quoted || text[n] != ','); n++)
		if (text[n] == '"')
			quoted = !quoted;
	return n;
}

/* The number of seconds, up to a comma or the end. */
static bool stop_timeout(const char *text, unsigned *seconds)
{
	char *end;
	unsigned long n = isdigit((unsigned char)*text) ? strtoul(text, &end, 10)
							: 0;

	if (!n || n > RJ_STOP_TIMEOUT_MAX || (*end && *end != ','))
		return false;
	*seconds = (unsigned)n;
	return true;
}

static bool same_place(const char *a, const char *b)
{
	char *real_a = realpath(a, NULL), *real_b = realpath(b, NULL);
	bool same = real_a && real_b && !strcmp(real_a, real_b);

	free(real_a);
	free(real_b);
	return same;
}

/* Is DEVICE, as in fstab ("UUID=..." too), the one of O? */
static bool is_device(const struct rj_mount_options *o, const char *device)
{
	char *found = blkid_evaluate_spec(device, NULL);
	bool same = same_place(found ? found : device, o->device);

	free(found);
	return same;
}

/* Keep the value if the word of LEN bytes at TEXT is one of ours. */
static int take_own(struct rj_mount_options *o, const char *text, size_t len)
{
	const size_t timeout = strlen(RJ_STOP_TIMEOUT_NAME);
	const size_t metrics = strlen(RJ_METRICS_NAME "=");

	if (len >= timeout && !strncmp(text, RJ_STOP_TIMEOUT_NAME, timeout) &&
		(len == timeout || text[timeout] == '='))
		return len > timeout && stop_timeout(text + timeout + 1,
						&o->stop_timeout)
			       ? 0
			       : -RJ_E_INVAL;
	if (!is_word(text, len, RJ_METRICS_NAME "="))
		return 0;
	o->metrics.len = 0;
	return rj_buf_printf(&o->metrics, "%.*s", (int)(len - metrics),
		       text + metrics)
		       ? -RJ_E_NOMEM
		       : 0;
}

/* The words of OPTIONS, a field of fstab, that O does not have yet. */
static int take_missing(struct rj_mount_options *o, const char *options)
{
	struct rj_mount_options found = {0};
	const char *text = options;
	size_t len;
	int rc;

	do {
		len = rj_mount_word_length(text);
		rc = take_own(&found, text, len);
		/* a bad number is no matter where another one was given */
		if (rc == -RJ_E_INVAL && o->stop_timeout)
			rc = 0;
		text += len + 1;
	} while (!rc && text[-1]);
	if (!o->stop_timeout)
		o->stop_timeout = found.stop_timeout;
	if (!rc && !o->metrics.len && found.metrics.len) {
		rj_buf_free(&o->metrics);
		o->metrics = found.metrics;
		found.metrics = (struct rj_buf){0};
	}
	rj_buf_free(&found.metrics);
	return rc;
}

int rj_mount_fstab(struct rj_mount_options *o)
{
	FILE *f = setmntent("/etc/fstab", "re");
	const struct mntent *m;
	int rc = 0;

	while (f && !rc && (m = getmntent(f)) != NULL)
		if (!strcmp(m->mnt_type, "rj") &&
			same_place(m->mnt_dir, o->dir) &&
			is_device(o, m->mnt_fsname))
			rc = take_missing(o, m->mnt_opts);
	if (f)
		endmntent(f);
	return rc;
}

/* logdev=/dev/... is the kernel's own. */
static bool is_log_url(const char *text, size_t len)
{
	return is_word(text, len, "logdev=") && memmem(text, len, "://", 3);
}

static int take_log_url(struct rj_mount_options *o, const char *text, size_t len)
{
	const size_t name = strlen("logdev=");

	o->log_url.len = 0;
	return rj_buf_printf(&o->log_url, "%.*s", (int)(len - name), text + name);
}

int rj_mount_words(struct rj_mount_options *o, const char *text)
{
	size_t len;
	int rc;

	for (;; text += len + 1) {
		len = rj_mount_word_length(text);
		rc = take_own(o, text, len);
		if (rc)
			return rc;
		if (is_word(text, len, "noload") ||
			is_word(text, len, "norecovery"))
			o->no_journal = true;
		if (is_word(text, len, "remount"))
			o->remount = true;
		if (is_word(text, len, "ro") || is_word(text, len, "rw"))
			o->read_only = is_word(text, len, "ro");
		if (is_log_url(text, len)) {
			if (take_log_url(o, text, len))
				return -RJ_E_NOMEM;
		} else if (len && !for_helpers(text, len) &&
			rj_buf_printf(&o->words, "%s%.*s",
				o->words.len ? "," : "", (int)len, text))
			return -RJ_E_NOMEM;
		if (!text[len])
			return 0;
	}
}

void rj_mount_options_release(struct rj_mount_options *o)
{
	rj_buf_free(&o->words);
	rj_buf_free(&o->metrics);
	rj_buf_free(&o->log_url);
}
