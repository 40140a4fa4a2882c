// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lib/ext4 for shell tests:
 *   facts DEV             what the library knows, one key=value a line
 *   patch DEV WORD...     undo=FILE, remote (extension and journal fields),
 *                         plain (no journal), epoch=N (primary only),
 *                         recover=0|1, error
 *   scribble DEV UNDO SEED   random writes through the bio, then a patch
 *   flip DEV SEED         each byte of the superblock changed in turn, and
 *                         opened, plainly, by force, and by its backups; DEV is as
 *                         it was after
 *   journal-super BS BLOCKS UUID   1024 bytes on stdout
 *   in-use DEV            the blocks in use, one a line
 * Exit status 0, or the rj_code with the message on stderr.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ext4/in-use.h"
#include "ext4/volume.h"
#include "util/log.h"

static int complain(const struct rj_error *err)
{
	fprintf(stderr, "%s: %s\n", rj_code_name(err->code), err->msg);
	return err->code;
}

static void log_line(void *arg, enum rj_log_level level, const char *line)
{
	fprintf(stderr, "log: %s\n", line);
}

static int facts(const char *path)
{
	const struct rj_volume_facts *f;
	struct rj_error err = {0};
	struct rj_volume *v;
	char text[RJ_UUID_TEXT];

	if (rj_volume_open(path, 0, NULL, &v, &err))
		return complain(&err);
	f = rj_volume_facts(v);
	printf("uuid=%s\n", rj_uuid_text(f->uuid, text));
	printf("block_size=%u\nblocks=%llu\ngroups=%u\nlabel=%s\n",
		f->block_size, (unsigned long long)f->blocks, f->groups,
		f->label);
	printf("has_journal=%d\nneeds_recovery=%d\nclean=%d\nhas_errors=%d\n",
		f->has_journal, f->needs_recovery, f->clean, f->has_errors);
	printf("metadata_csum=%d\next4_features=%d\nbackups=%u\n",
		f->metadata_csum, f->ext4_features, f->backups);
	printf("journal_inode=%u\njournal_device=%u\njournal_uuid=%s\n",
		f->journal_inode, f->journal_device,
		rj_uuid_text(f->journal_uuid, text));
	printf("born=%llu\n", (unsigned long long)f->born);
	printf("default_journal_blocks=%u\n",
		rj_volume_default_journal_blocks(v));
	printf("has_sbx=%d\n", f->has_sbx);
	if (f->has_sbx)
		printf("generation=%u\nplacement=%s\nurl=%s\nepoch=%llu\n"
		       "floor=%llu\njournal_blocks=%u\n",
			f->sbx.generation, rj_placement_name(f->sbx.placement),
			f->sbx.url, (unsigned long long)f->sbx.epoch,
			(unsigned long long)f->sbx.floor,
			f->sbx.journal_blocks);
	else
		printf("sbx_error=%s\n", rj_code_name(f->sbx_error.code));
	return rj_volume_close(v, &err) ? complain(&err) : 0;
}

static void remote_fields(struct rj_volume_patch *p)
{
	p->set_sbx = p->set_journal = p->has_journal = true;
	p->journal_device = RJ_JOURNAL_DEVICE_REMOTE;
	memset(p->journal_uuid, 0x5A, sizeof(p->journal_uuid));
	p->sbx.placement = RJ_PLACE_REMOTE;
	p->sbx.journal_blocks = 1024;
	p->sbx.epoch = p->sbx.floor = 1;
	memset(p->sbx.journal_uuid, 0x5A, sizeof(p->sbx.journal_uuid));
	snprintf(p->sbx.url, sizeof(p->sbx.url), "rj://127.0.0.1:1/test");
}

static int patch(const char *path, char **words)
{
	const char *undo = NULL, *epoch = NULL;
	struct rj_volume_patch p = {0};
	struct rj_error err = {0};
	struct rj_volume *v;

	for (; *words; words++) {
		if (!strncmp(*words, "undo=", 5))
			undo = *words + 5;
		else if (!strcmp(*words, "remote"))
			remote_fields(&p);
		else if (!strcmp(*words, "plain"))
			p.set_sbx = p.set_journal = true;
		else if (!strncmp(*words, "epoch=", 6))
			epoch = *words + 6;
		else if (!strncmp(*words, "recover=", 8))
			p.set_needs_recovery = true,
			p.needs_recovery = (*words)[8] == '1';
		else if (!strcmp(*words, "error"))
			p.set_error_flag = true;
		else
			return 99;
	}
	if (rj_volume_open(path, RJ_VOLUME_WRITE, undo, &v, &err))
		return complain(&err);
	if (epoch) {
		p.set_sbx = p.primary_only = true;
		p.sbx = rj_volume_facts(v)->sbx;
		p.sbx.epoch = strtoull(epoch, NULL, 0);
	}
	if (rj_volume_patch(v, &p, &err)) {
		rj_volume_close(v, NULL);
		return complain(&err);
	}
	return rj_volume_close(v, &err) ? complain(&err) : 0;
}

/* Like a replay: whole blocks here and there, long runs, the last block, and
 * the same block twice. */
static int scribble(const char *path, const char *undo, unsigned seed)
{
	struct rj_volume_patch p = {0};
	struct rj_error err = {0};
	const size_t max = 3u << 20;
	uint8_t *buf = malloc(max);
	struct rj_volume *v;
	struct rj_bio *bio;
	uint64_t off, len;
	uint32_t bs;
	int i, rc;

	srandom(seed);
	if (!buf || rj_volume_open(path, RJ_VOLUME_WRITE, undo, &v, &err))
		return complain(&err);
	bio = rj_volume_bio(v);
	bs = rj_volume_facts(v)->block_size;
	for (i = 0; i < 200; i++) {
		memset(buf, (int)random(), max);
		len = i % 50 == 7 ? max : bs * (uint64_t)(random() % 6 + 1);
		off = (uint64_t)random() * bs % (bio->size_bytes - len);
		off -= off % bs;
		if (i == 0)
			off = bio->size_bytes - (len = bs);
		if (off < 8192)
			off = 8192; /* keeps the primary: patch looks at it */
		if (bio->write(bio, buf, len, off, &err))
			break;
	}
	remote_fields(&p);
	rc = i < 200 || rj_volume_patch(v, &p, &err);
	free(buf);
	if (rc) {
		rj_volume_close(v, NULL);
		return complain(&err);
	}
	return rj_volume_close(v, &err) ? complain(&err) : 0;
}

/* Nothing that a superblock says may crash the one who reads it. */
static int flip(const char *path, unsigned seed)
{
	static const unsigned flags[] = {
		0, RJ_VOLUME_FORCE, RJ_VOLUME_SALVAGE};
	static const uint8_t masks[] = {0x01, 0x80, 0xFF, 0};
	struct rj_error err;
	struct rj_volume *v;
	uint8_t old, byte;
	int i, fd, opened = 0;
	size_t m, f;

	srandom(seed);
	fd = open(path, O_RDWR);
	if (fd < 0)
		return 1;
	for (i = 0; i < 1024; i++) {
		if (pread(fd, &old, 1, 1024 + i) != 1)
			return 1;
		for (m = 0; m < sizeof(masks); m++) {
			byte = old ^ (masks[m] ? masks[m] : (uint8_t)random());
			if (pwrite(fd, &byte, 1, 1024 + i) != 1)
				return 1;
			for (f = 0; f < sizeof(flags) / sizeof(flags[0]); f++)
				if (!rj_volume_open(
					    path, flags[f], NULL, &v, &err))
					opened++, rj_volume_close(v, NULL);
		}
		if (pwrite(fd, &old, 1, 1024 + i) != 1)
			return 1;
	}
	close(fd);
	printf("opened %d of %d\n", opened, 1024 * 4 * 3);
	return 0;
}

/* As a mount does: for a minute nobody else gets the device exclusively. */
static int hold(const char *path)
{
	if (open(path, O_RDWR | O_EXCL | O_CLOEXEC) < 0)
		return 1;
	puts("held");
	fflush(stdout);
	sleep(60);
	return 0;
}

/* Also that a stretch that begins in the middle of one ends where that ends. */
static int in_use(const char *path)
{
	uint64_t at = 0, begin, end, half, middle, size;
	struct rj_in_use *u = NULL;
	struct rj_error err = {0};
	uint8_t raw[1024];
	int fd = open(path, O_RDONLY), rc;
	uint32_t bs;

	if (fd < 0 || pread(fd, raw, sizeof(raw), 1024) != sizeof(raw))
		return 1;
	bs = 1024u << raw[24];
	size = (uint64_t)lseek(fd, 0, SEEK_END) / bs * bs;
	rc = rj_in_use_new(fd, path, raw, &u, &err);
	while (!rc && !(rc = rj_in_use_next(u, at, &begin, &end, &err)) && begin < end) {
		middle = begin + (end - begin) / 2;
		rc = rj_in_use_next(u, middle, &half, &at, &err);
		if (rc || half != middle || at != end)
			return 2;
		for (; begin < end; begin += bs)
			printf("%llu\n", (unsigned long long)(begin / bs));
	}
	if (!rc && begin != size)
		return 3;
	rj_in_use_free(u);
	close(fd);
	return rc ? complain(&err) : 0;
}

int main(int argc, char **argv)
{
	uint8_t uuid[RJ_UUID_BYTES], raw[1024];

	rj_log_set(log_line, NULL);
	if (argc >= 3 && !strcmp(argv[1], "facts"))
		return facts(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "in-use"))
		return in_use(argv[2]);
	if (argc >= 3 && !strcmp(argv[1], "patch"))
		return patch(argv[2], argv + 3);
	if (argc == 3 && !strcmp(argv[1], "hold"))
		return hold(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "scribble"))
		return scribble(
			argv[2], argv[3], (unsigned)strtoul(argv[4], NULL, 0));
	if (argc == 4 && !strcmp(argv[1], "flip"))
		return flip(argv[2], (unsigned)strtoul(argv[3], NULL, 0));
	if (argc == 5 && !strcmp(argv[1], "journal-super") &&
		rj_uuid_parse(argv[4], uuid)) {
		rj_journal_device_super(raw,
			(uint32_t)strtoul(argv[2], NULL, 0),
			(uint32_t)strtoul(argv[3], NULL, 0), uuid);
		return fwrite(raw, sizeof(raw), 1, stdout) == 1 ? 0 : 1;
	}
	return 99;
}
