// SPDX-License-Identifier: LGPL-2.1-or-later
#include "text/badopt.h"

#include <stdio.h>
#include <string.h>

/* Find the option that WORD spells as "--name" or "--name=value", and yields VALUE;
 * or NULL. */
static const struct option *spelled(
	const char *word, const struct option *longs, int value)
{
	size_t len;

	if (strncmp(word, "--", 2) != 0)
		return NULL;
	word += 2;
	len = strcspn(word, "=");
	for (; len && longs->name; longs++)
		if (longs->val == value && !strncmp(longs->name, word, len))
			return longs;
	return NULL;
}

/*
 * getopt says by optopt which option it is: 0 for a long one that it does not
 * know, else what the option yields. Only a long one is sure to be the word
 * before optind: a letter in a cluster ("-Zq") is still at optind.
 */
char *rj_badopt(int c, char *const argv[], const struct option *longs, char *out,
	size_t size)
{
	const char *word = argv[optind - 1];
	const struct option *o = optopt ? spelled(word, longs, optopt) : NULL;

	if (!optopt)
		snprintf(out, size, "unknown option %s", word);
	else if (o)
		snprintf(out, size, "--%s %s", o->name,
			c == ':' ? "needs a value" : "takes no value");
	else
		snprintf(out, size, c == ':' ? "-%c needs a value"
					     : "unknown option -%c",
			optopt);
	return out;
}
