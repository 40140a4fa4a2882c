// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What rjbackup refuses, by hand:
 * hand base FILE FROM WHOLE: FILE, a copy of a volume, becomes a base with these segments.
 * hand encrypt DEVICE DIR: the volume that is mounted from DEVICE gets the feature encrypt,
 * and DIR, an empty folder of it, a key.
 * hand shrink DEVICE: the superblock of the volume that is mounted from DEVICE says that it
 * has 100 blocks less. The kernel has it in its log when it logs its superblock next.
 */
#include <ext2fs/ext2_fs.h>
#include <fcntl.h>
#include <linux/fscrypt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ext4/renew.h"
#include "format/sbx-base.h"

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
	struct {
		struct fscrypt_add_key_arg arg;
		uint8_t raw[64];
	} key = {.arg = {.key_spec.type = FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER, .raw_size = 64}};
	struct fscrypt_policy_v2 policy = {
		.version = FSCRYPT_POLICY_V2,
		.contents_encryption_mode = FSCRYPT_MODE_AES_256_XTS,
		.filenames_encryption_mode = FSCRYPT_MODE_AES_256_CTS,
		.flags = FSCRYPT_POLICY_FLAGS_PAD_32,
	};
	int fd = open(dir, O_RDONLY);

	memset(key.raw, 7, sizeof(key.raw));
	if (fd < 0 || ioctl(fd, FS_IOC_ADD_ENCRYPTION_KEY, &key))
		return failed("a key");
	memcpy(policy.master_key_identifier, key.arg.key_spec.u.identifier,
		sizeof(policy.master_key_identifier));
	if (ioctl(fd, FS_IOC_SET_ENCRYPTION_POLICY, &policy) || close(fd))
		return failed(dir);
	return 0;
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
	fprintf(stderr, "usage: hand base FILE FROM WHOLE | encrypt DEVICE DIR | shrink DEVICE\n");
	return 2;
}
