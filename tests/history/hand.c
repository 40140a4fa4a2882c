// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What rjbackup refuses, by hand:
 * hand base FILE FROM WHOLE: FILE, a copy of a volume, becomes a base with these segments.
 * hand encrypt DEVICE DIR: the volume that is mounted from DEVICE gets the feature encrypt,
 * and DIR, an empty folder of it, a key.
 * hand shrink DEVICE: the superblock of the volume that is mounted from DEVICE says that it
 * has 100 blocks less. The kernel has it in its log when it logs its superblock next.
 *
 * hand mapped FILE collapse|insert [fsync]: FILE is written by mmap(2), and synced, or not; then
 * two blocks of 4096 bytes are taken out of it, or put into it.
 * hand wrong FILE collapse|insert: how many of its other blocks are not as they were written.
 */
#include <ext2fs/ext2_fs.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fscrypt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ext4/renew.h"
#include "format/sbx-base.h"

#define GRAIN  4096u
#define GRAINS 16u
#define MOVED  4u /* the first one that goes, or that comes behind new ones */
#define BY     2u
#define RAW    64 /* bytes of a key */

static int failed(const char *what)
{
	perror(what);
	return 1;
}

static int make_base(const char *path, const struct rj_base_record *record)
{
	uint8_t raw[1024], sbx[RJ_SBX_BYTES];
	int fd = open(path, O_RDWR);

	if (fd < 0 || pread(fd, raw, sizeof(raw), 1024) != sizeof(raw))
		return failed(path);
	memcpy(sbx, raw + RJ_SBX_OFFSET, sizeof(sbx));
	rj_sbx_base_put(sbx, record);
	rj_super_make_base(raw, sbx);
	if (pwrite(fd, raw, sizeof(raw), 1024) != sizeof(raw) || close(fd))
		return failed(path);
	return 0;
}

static void set_encrypt(struct ext2_super_block *sb)
{
	sb->s_feature_incompat |= EXT4_FEATURE_INCOMPAT_ENCRYPT;
	sb->s_encrypt_algos[0] = 1;
	sb->s_encrypt_algos[1] = 4;
}

static void shrink(struct ext2_super_block *sb)
{
	sb->s_blocks_count -= 100;
}

/* As tune2fs does it: into the page cache, where the kernel has its superblock. */
static int change_super(const char *device, void (*change)(struct ext2_super_block *sb))
{
	struct ext2_super_block sb;
	uint8_t sbx[RJ_SBX_BYTES], *raw = (uint8_t *)&sb;
	int fd = open(device, O_RDWR);

	if (fd < 0 || pread(fd, &sb, sizeof(sb), 1024) != sizeof(sb))
		return failed(device);
	change(&sb);
	memcpy(sbx, raw + RJ_SBX_OFFSET, sizeof(sbx));
	rj_super_extend(raw, sbx);
	if (pwrite(fd, &sb, sizeof(sb), 1024) != sizeof(sb) || close(fd))
		return failed(device);
	return 0;
}

static int set_policy(const char *dir)
{
	union {
		struct fscrypt_add_key_arg arg;
		uint8_t bytes[sizeof(struct fscrypt_add_key_arg) + RAW];
	} key = {.arg = {.key_spec.type = FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER, .raw_size = RAW}};
	struct fscrypt_policy_v2 policy = {
		.version = FSCRYPT_POLICY_V2,
		.contents_encryption_mode = FSCRYPT_MODE_AES_256_XTS,
		.filenames_encryption_mode = FSCRYPT_MODE_AES_256_CTS,
		.flags = FSCRYPT_POLICY_FLAGS_PAD_32,
	};
	int fd = open(dir, O_RDONLY);

	memset(key.arg.raw, 7, RAW);
	if (fd < 0 || ioctl(fd, FS_IOC_ADD_ENCRYPTION_KEY, &key))
		return failed("a key");
	memcpy(policy.master_key_identifier, key.arg.key_spec.u.identifier,
		sizeof(policy.master_key_identifier));
	if (ioctl(fd, FS_IOC_SET_ENCRYPTION_POLICY, &policy) || close(fd))
		return failed(dir);
	return 0;
}

static int map_and_move(const char *path, bool insert, bool sync)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	uint8_t *p;
	unsigned i;

	if (fd < 0 || ftruncate(fd, GRAINS * GRAIN))
		return failed(path);
	p = mmap(NULL, GRAINS * GRAIN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return failed(path);
	for (i = 0; i < GRAINS; i++)
		memset(p + i * GRAIN, (int)('A' + i), GRAIN);
	if (munmap(p, GRAINS * GRAIN) || (sync && fsync(fd)))
		return failed(path);
	if (fallocate(fd, insert ? FALLOC_FL_INSERT_RANGE : FALLOC_FL_COLLAPSE_RANGE,
		    MOVED * GRAIN, BY * GRAIN) || close(fd))
		return failed(path);
	return 0;
}

static int print_wrong(const char *path, bool insert)
{
	uint8_t found[GRAIN], wanted[GRAIN];
	int fd = open(path, O_RDONLY);
	unsigned i, at, wrong = 0;

	if (fd < 0)
		return failed(path);
	for (i = 0; i < GRAINS; i++) {
		if (!insert && i >= MOVED && i < MOVED + BY)
			continue;
		at = i < MOVED ? i : insert ? i + BY : i - BY;
		memset(wanted, (int)('A' + i), GRAIN);
		if (pread(fd, found, GRAIN, at * GRAIN) != GRAIN)
			return failed(path);
		wrong += memcmp(found, wanted, GRAIN) != 0;
	}
	printf("%u\n", wrong);
	return close(fd) ? failed(path) : 0;
}

int main(int argc, char **argv)
{
	struct rj_base_record record = {0};

	if (argc == 5 && !strcmp(argv[1], "base")) {
		record.from = strtoull(argv[3], NULL, 10);
		record.whole = strtoull(argv[4], NULL, 10);
		return make_base(argv[2], &record);
	}
	if (argc == 4 && !strcmp(argv[1], "encrypt"))
		return change_super(argv[2], set_encrypt) || set_policy(argv[3]);
	if (argc == 3 && !strcmp(argv[1], "shrink"))
		return change_super(argv[2], shrink);
	if (argc >= 4 && !strcmp(argv[1], "mapped"))
		return map_and_move(argv[2], !strcmp(argv[3], "insert"), argc > 4);
	if (argc == 4 && !strcmp(argv[1], "wrong"))
		return print_wrong(argv[2], !strcmp(argv[3], "insert"));
	fprintf(stderr, "usage: hand base FILE FROM WHOLE | encrypt DEVICE DIR | shrink DEVICE |\n"
			"       mapped FILE collapse|insert [fsync] | wrong FILE collapse|insert\n");
	return 2;
}
