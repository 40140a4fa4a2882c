// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "util/error.h"

/* Words that are for mount(8), fstab(5) and the boot, not for the kernel. A
 * word that ends with '=' or '-' stands for all that begin so. */
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

int rj_mount_fstab(struct rj_mount_options *o)
{
	static const char name[] = RJ_STOP_TIMEOUT_NAME;
	FILE *f = setmntent("/etc/fstab", "re");
	const struct mntent *m;
	const char *word;
	int rc = 0;

	while (f && !rc && (m = getmntent(f)) != NULL) {
		if (strcmp(m->mnt_type, "rj") != 0 ||
			!same_place(m->mnt_dir, o->dir))
			continue;
		word = hasmntopt(m, name);
		if (word && (word[sizeof(name) - 1] != '=' ||
			!stop_timeout(word + sizeof(name), &o->stop_timeout)))
			rc = -RJ_E_INVAL;
	}
	if (f)
		endmntent(f);
	return rc;
}

int rj_mount_words(struct rj_mount_options *o, const char *text)
{
	const size_t limit = strlen(RJ_STOP_TIMEOUT_WORD);
	size_t len;

	for (;; text += len + 1) {
		len = rj_mount_word_length(text);
		if (is_word(text, len, RJ_STOP_TIMEOUT_WORD) &&
			!stop_timeout(text + limit, &o->stop_timeout))
			return -RJ_E_INVAL;
		if (is_word(text, len, "noload") ||
			is_word(text, len, "norecovery"))
			o->no_journal = true;
		if (is_word(text, len, "remount"))
			o->remount = true;
		if (len && !for_helpers(text, len) &&
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
}
