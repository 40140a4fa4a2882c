// SPDX-License-Identifier: GPL-2.0-or-later
/* mark DEVICE void|loss=block|loss=error|blocks=N|show: look at, or change, what the
 * superblock extension says. mark DEVICE mark|mark=N[,N]: the mark of a backup; by one
 * who has seen it once. mark
 * FILE two-stores: of an ext3 volume, as a version left it that kept one log in
 * two stores. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ext4/volume.h"
#include "util/bytes.h"
#include "util/crc32c.h"

#define SUPER 1024
#define CRC   252 /* in the extension */

/* No encoder writes that any more. */
static int two_stores(const char *path)
{
	uint8_t super[SUPER], *sbx;
	FILE *f = fopen(path, "r+e");
	bool ok = f && !fseek(f, SUPER, SEEK_SET) &&
		  fread(super, sizeof(super), 1, f) == 1;

	sbx = ok ? memmem(super, sizeof(super), RJ_SBX_MAGIC, 4) : NULL;
	if (sbx) {
		rj_put_le32(sbx + 8,
			rj_get_le32(sbx + 8) | RJ_SBX_INCOMPAT_TWO_STORES);
		rj_put_le32(sbx + CRC, rj_crc32c(~0u, sbx, CRC));
	}
	ok = sbx && !fseek(f, SUPER, SEEK_SET) &&
	     fwrite(super, sizeof(super), 1, f) == 1;
	return f && !fclose(f) && ok ? 0 : 1;
}

/* Of the volume V at PATH. WORD: what to make of it. */
static int mark(const char *path, struct rj_volume *v, const char *word,
	struct rj_error *err)
{
	const struct rj_volume_facts *f = rj_volume_facts(v);
	char *end;
	int fd, rc;

	if (!strcmp(word, "mark")) {
		printf("%llu\n", (unsigned long long)f->mark);
		return 0;
	}
	fd = open(path, O_RDWR | O_DSYNC | O_CLOEXEC);
	word += strlen("mark");
	do {
		rc = rj_volume_mark_put(
			fd, fd, path, f, strtoull(word + 1, &end, 0), err);
		word = end;
	} while (!rc && *word == ',');
	close(fd);
	return rc;
}

int main(int argc, char **argv)
{
	struct rj_volume_patch patch = {.set_sbx = true, .primary_only = true};
	struct rj_volume *v = NULL;
	struct rj_error err = {0};
	bool show = argc == 3 && !strcmp(argv[2], "show");
	bool look = argc == 3 && (show || !strncmp(argv[2], "mark", 4));
	int rc;

	if (argc != 3)
		return 2;
	if (!strcmp(argv[2], "two-stores"))
		return two_stores(argv[1]);
	rc = rj_volume_open(
		argv[1], look ? 0 : RJ_VOLUME_WRITE, NULL, &v, &err);
	if (rc)
		goto out;
	patch.sbx = rj_volume_facts(v)->sbx;
	if (look && !show)
		rc = mark(argv[1], v, argv[2], &err);
	else if (show)
		printf("epoch=%llu floor=%llu\n",
			(unsigned long long)patch.sbx.epoch,
			(unsigned long long)patch.sbx.floor);
	else if (!strcmp(argv[2], "void"))
		patch.sbx.incompat |= RJ_SBX_INCOMPAT_LOG_VOID;
	else if (!strcmp(argv[2], "loss=error"))
		patch.sbx.on_loss = RJ_LOSS_ERROR;
	else if (!strcmp(argv[2], "loss=block"))
		patch.sbx.on_loss = RJ_LOSS_BLOCK;
	else if (!strncmp(argv[2], "blocks=", 7))
		patch.sbx.journal_blocks = (uint32_t)atoi(argv[2] + 7);
	if (!look)
		rc = rj_volume_patch(v, &patch, &err);
	if (rc)
		rj_volume_close(v, NULL);
	else
		rc = rj_volume_close(v, &err);
out:
	if (rc)
		fprintf(stderr, "mark: %s\n", err.msg);
	return rc ? 1 : 0;
}
