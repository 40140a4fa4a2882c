// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdbool.h>
#include <string.h>

#include "options.h"
#include "util/error.h"

/* Words that are for mount(8), fstab(5) and the boot, not for the kernel. A
 * word that ends with '=' or '-' stands for all that begin so. */
static const char *const helper_words[] = {"_netdev", "auto", "noauto", "user",
	"nouser", "users", "owner", "noowner", "group", "nogroup", "nofail",
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

/* Up to the next comma that is not in quotes. */
static size_t word_length(const char *text)
{
	bool quoted = false;
	size_t n;

	for (n = 0; text[n] && (quoted || text[n] != ','); n++)
		if (text[n] == '"')
			quoted = !quoted;
	return n;
}

int rj_mount_words(struct rj_mount_options *o, const char *text)
{
	size_t len;

	for (;; text += len + 1) {
		len = word_length(text);
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
