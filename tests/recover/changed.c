// SPDX-License-Identifier: GPL-2.0-or-later
/* changed IMAGE: rj_recover() of a volume that is mounted and unmounted, as its superblock has it,
 * when its log was just read. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <ext2fs/ext2_fs.h>

#include "recover/recover.h"

#define AT (1024 + (off_t)__builtin_offsetof(struct ext2_super_block, s_mnt_count))

static void change(void *arg, const struct rj_jbd2_plan *plan)
{
	const char *image = arg;
	int fd = open(image, O_RDWR | O_CLOEXEC);
	unsigned char count;

	if (fd < 0 || pread(fd, &count, 1, AT) != 1)
		return;
	count++;
	if (pwrite(fd, &count, 1, AT) != 1 || close(fd))
		perror(image);
}

int main(int argc, char **argv)
{
	struct rj_recover_opts o = {.planned = change};
	struct rj_recover_report report;
	struct rj_error err = {0};

	if (argc != 2)
		return 2;
	o.arg = argv[1];
	if (!rj_recover(argv[1], &o, &report, &err))
		return 0;
	fprintf(stderr, "changed: %s\n", err.msg);
	return err.code == RJ_E_BUSY ? 3 : 1;
}
