// SPDX-License-Identifier: LGPL-2.1-or-later
/* Convert s_default_mount_opts from and to words, as e2p_edit_mntopts() of e2fsprogs. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ext4/ext4-priv.h"

static const struct {
	const char *word;
	uint32_t bits, mask;
} table[] = {
	{"debug", EXT2_DEFM_DEBUG, EXT2_DEFM_DEBUG},
	{"bsdgroups", EXT2_DEFM_BSDGROUPS, EXT2_DEFM_BSDGROUPS},
	{"user_xattr", EXT2_DEFM_XATTR_USER, EXT2_DEFM_XATTR_USER},
	{"acl", EXT2_DEFM_ACL, EXT2_DEFM_ACL},
	{"uid16", EXT2_DEFM_UID16, EXT2_DEFM_UID16},
	{"journal_data", EXT3_DEFM_JMODE_DATA, EXT3_DEFM_JMODE},
	{"journal_data_ordered", EXT3_DEFM_JMODE_ORDERED, EXT3_DEFM_JMODE},
	{"journal_data_writeback", EXT3_DEFM_JMODE_WBACK, EXT3_DEFM_JMODE},
	{"nobarrier", EXT4_DEFM_NOBARRIER, EXT4_DEFM_NOBARRIER},
	{"block_validity", EXT4_DEFM_BLOCK_VALIDITY, EXT4_DEFM_BLOCK_VALIDITY},
	{"discard", EXT4_DEFM_DISCARD, EXT4_DEFM_DISCARD},
	{"nodelalloc", EXT4_DEFM_NODELALLOC, EXT4_DEFM_NODELALLOC},
};

#define WORDS (sizeof(table) / sizeof(table[0]))

int rj_mount_opts_edit(uint32_t *bits, const char *words, struct rj_error *err)
{
	uint32_t now = *bits;
	bool clear;
	size_t len, i;

	while (*words) {
		clear = *words == '^' || *words == '-';
		words += clear || *words == '+';
		len = strcspn(words, ",");
		for (i = 0; i < WORDS; i++)
			if (strlen(table[i].word) == len &&
				!strncasecmp(words, table[i].word, len))
				break;
		if (i == WORDS)
			return rj_fail(err, RJ_E_INVAL,
				"default mount option \"%.*s\": not known",
				(int)len, words);
		now &= ~table[i].mask;
		if (!clear)
			now |= table[i].bits;
		words += len;
		words += *words == ',';
	}
	*bits = now;
	return 0;
}

const char *rj_mount_opts_text(uint32_t bits, char *out, size_t size)
{
	size_t at = 0, i;

	out[0] = 0;
	for (i = 0; i < WORDS; i++)
		if ((bits & table[i].mask) == table[i].bits && at < size)
			at += (size_t)snprintf(out + at, size - at, "%s%s",
				at ? "," : "", table[i].word);
	return out;
}
