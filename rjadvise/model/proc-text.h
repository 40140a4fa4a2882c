/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's texts about a volume: pure parsers. */
#ifndef RJADVISE_PROC_TEXT_H
#define RJADVISE_PROC_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* /proc/fs/jbd2/NAME/info, see jbd2_seq_info_show() of the kernel. */
struct jbd2_text {
	uint64_t transactions, requested; /* since the mount */
	uint64_t max_blocks;		  /* of a transaction */
	/* of the mean transaction since the mount, whole numbers */
	uint64_t flushing_ms, logging_ms, handles, blocks, logged;
	uint64_t commit_us; /* mean of the last commits, weighted: the kernel's
			     * average for its own use */
};

/* False, and OUT is unchanged: TEXT is not such a text. Without a transaction since the
 * mount there are no means: they are 0. */
bool parse_jbd2_info(const char *text, struct jbd2_text *out);

/* /sys/dev/block/M:N/stat, see Documentation/block/stat.rst of the kernel. */
struct disk_text {
	uint64_t writes, write_sectors, write_ms; /* a sector has 512 bytes */
	uint64_t busy_ms;
	bool has_flushes; /* not of kernels before 5.5 */
	uint64_t flushes, flush_ms;
};

/* False, and OUT is unchanged: TEXT is not such a text. */
bool parse_disk_stat(const char *text, struct disk_text *out);

enum data_mode { MODE_ORDERED, MODE_WRITEBACK, MODE_JOURNAL, MODE_FLAGGED };

/* /proc/fs/ext4/NAME/options: what is in force, defaults too. */
struct mount_text {
	bool has_mode; /* not without a journal */
	enum data_mode mode;
	bool delalloc, barrier;
	uint64_t commit_s;
	uint64_t readahead_blocks; /* inode_readahead_blks */
};

/* False, and OUT is unchanged: TEXT has none of these. */
bool parse_ext4_options(const char *text, struct mount_text *out);

#endif
