// SPDX-License-Identifier: GPL-2.0-or-later
#include "proc-text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number before WORD at the begin of a line: "  12ms WORD". False: there is none. */
static bool number_before(const char *text, const char *word, uint64_t *out)
{
	const char *at = strstr(text, word), *line;
	uint64_t n;

	if (!at)
		return false;
	for (line = at; line > text && line[-1] != '\n'; line--)
		;
	if (sscanf(line, " %" SCNu64, &n) != 1)
		return false;
	*out = n;
	return true;
}

bool parse_jbd2_info(const char *text, struct jbd2_text *out)
{
	struct jbd2_text t = {0};

	if (sscanf(text, "%" SCNu64 " transactions (%" SCNu64 " requested), each up to %" SCNu64 " blocks",
		    &t.transactions, &t.requested, &t.max_blocks) != 3)
		return false;
	if (!number_before(text, "ms flushing data", &t.flushing_ms) ||
		!number_before(text, "ms logging transaction", &t.logging_ms) ||
		!number_before(text, "us average transaction commit time", &t.commit_us) ||
		!number_before(text, " handles per transaction", &t.handles) ||
		!number_before(text, " blocks per transaction", &t.blocks) ||
		!number_before(text, " logged blocks per transaction", &t.logged)) {
		if (t.transactions)
			return false;
		t = (struct jbd2_text){.max_blocks = t.max_blocks};
	}
	*out = t;
	return true;
}

bool parse_disk_stat(const char *text, struct disk_text *out)
{
	uint64_t f[17] = {0};
	struct disk_text t = {0};
	char *end;
	int n;

	for (n = 0; n < 17; n++) {
		text += strspn(text, " \t");
		if (*text < '0' || *text > '9')
			break;
		f[n] = strtoull(text, &end, 10);
		text = end;
	}
	if (n < 11)
		return false;
	t.writes = f[4];
	t.write_sectors = f[6];
	t.write_ms = f[7];
	t.busy_ms = f[9];
	t.has_flushes = n == 17;
	t.flushes = f[15];
	t.flush_ms = f[16];
	*out = t;
	return true;
}

bool parse_ext4_options(const char *text, struct mount_text *out)
{
	struct mount_text t = {.commit_s = 5, .readahead_blocks = 32};
	bool any = false;
	char line[256];
	size_t n;

	for (; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)(n < 255 ? n : 255), text);
		if (!strncmp(line, "data=", 5)) {
			t.has_mode = true;
			t.mode = !strcmp(line + 5, "journal")	 ? MODE_JOURNAL
				 : !strcmp(line + 5, "writeback") ? MODE_WRITEBACK
								  : MODE_ORDERED;
		} else if (!strcmp(line, "delalloc")) {
			t.delalloc = any = true;
		} else if (!strcmp(line, "nodelalloc")) {
			any = true;
		} else if (!strcmp(line, "barrier")) {
			t.barrier = true;
		} else if (sscanf(line, "commit=%" SCNu64, &t.commit_s) == 1 ||
			   sscanf(line, "inode_readahead_blks=%" SCNu64, &t.readahead_blocks) == 1) {
			any = true;
		}
	}
	if (!any && !t.has_mode)
		return false;
	*out = t;
	return true;
}
