// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * replay-log [-n] LOG SB_BLOCK VOLUME: replay a journal (a device, or a file
 * with the bytes of the journal inode) into VOLUME with librj, for the shell
 * tests. Does not empty the journal. Exit status: 0, 1 damage, 2 error.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jbd2/jbd2.h"

static void show(const struct rj_jbd2_info *i)
{
	printf("empty=%d first_tid=%u last_tid=%u next_tid=%u wrapped=%d "
	       "end=%u compat=0x%x incompat=0x%x\n",
		i->empty, i->first_tid, i->last_tid, i->next_tid, i->wrapped,
		i->end_block, i->sb.compat, i->sb.incompat);
	printf("transactions=%llu descriptors=%llu tags=%llu revokes=%llu "
	       "escapes=%llu suppressed=%llu duplicates=%llu blocks=%llu\n",
		(unsigned long long)i->transactions,
		(unsigned long long)i->descriptors, (unsigned long long)i->tags,
		(unsigned long long)i->revokes, (unsigned long long)i->escapes,
		(unsigned long long)i->suppressed,
		(unsigned long long)i->duplicates,
		(unsigned long long)i->blocks);
	if (i->damage)
		printf("damage=%d %s\n", i->damage, i->damage_text);
}

int main(int argc, char **argv)
{
	struct rj_jbd2_scan_opts opts = {0};
	struct rj_jbd2_plan *plan = NULL;
	struct rj_bio *log = NULL, *fs = NULL;
	struct rj_error err = {0};
	int dry = argc == 5 && !strcmp(argv[1], "-n"), status = 2, lfd, ffd;

	if (argc - dry != 4) {
		fprintf(stderr, "usage: replay-log [-n] LOG SB_BLOCK VOLUME\n");
		return 2;
	}
	argv += dry;
	lfd = open(argv[1], O_RDONLY | O_CLOEXEC);
	ffd = open(argv[3], (dry ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	if (lfd < 0 || ffd < 0) {
		perror("open");
		return 2;
	}
	log = rj_bio_new_fd(lfd, argv[1], &err);
	fs = rj_bio_new_fd(ffd, argv[3], &err);
	if (!log || !fs)
		goto out;
	opts.sb_block = strtoull(argv[2], NULL, 0);
	opts.fs_blocks = UINT64_MAX;
	/* of logs of more than 4 MiB a part is read again, as of huge ones */
	opts.keep_bytes = 4u << 20;
	rj_bio_use_direct(log);
	rj_bio_use_direct(fs);
	if (rj_jbd2_scan(log, &opts, &plan, &err))
		goto out;
	/* the volume's size in its blocks is known only now */
	opts.fs_blocks =
		fs->size_bytes / rj_jbd2_plan_info(plan)->sb.block_size;
	rj_jbd2_plan_free(plan);
	plan = NULL;
	if (rj_jbd2_scan(log, &opts, &plan, &err))
		goto out;
	show(rj_jbd2_plan_info(plan));
	if (!dry && rj_jbd2_replay(plan, log, fs, NULL, NULL, &err))
		goto out;
	status = rj_jbd2_plan_info(plan)->damage ? 1 : 0;
out:
	if (status == 2)
		fprintf(stderr, "replay-log: %s\n", err.msg);
	rj_jbd2_plan_free(plan);
	rj_bio_free(log);
	rj_bio_free(fs);
	close(lfd);
	if (close(ffd)) {
		perror("close");
		status = 2;
	}
	return status;
}
