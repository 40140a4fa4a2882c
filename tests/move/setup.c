// SPDX-License-Identifier: GPL-2.0-or-later
#include "setup.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "program.h"
#include "util/environ.h"

/* Small groups, so that there are backup superblocks and several bitmaps. */
const struct features features[] = {
	{"ext3-1k", "-t ext3 -b 1024 -g 2048", 1024, 8192},
	{"ext3-2k", "-t ext3 -b 2048 -g 2048", 2048, 6144},
	{"ext3-4k", "-t ext3 -b 4096 -g 1024", 4096, 5120},
	{"ext4-1k", "-t ext4 -b 1024 -g 2048 -O ^metadata_csum,^64bit", 1024,
		8192},
	{"ext4-4k", "-t ext4 -b 4096 -g 1024 -O ^metadata_csum,^64bit", 4096,
		5120},
	{"ext4-map", "-t ext4 -b 1024 -g 2048 -O ^extent,^64bit,metadata_csum",
		1024, 8192},
	{"uninit_bg",
		"-t ext4 -b 1024 -g 2048 -O ^metadata_csum,^64bit,uninit_bg",
		1024, 8192},
	{"csum-1k", "-t ext4 -b 1024 -g 2048 -O metadata_csum,64bit", 1024,
		8192},
	{"csum-2k", "-t ext4 -b 2048 -g 2048 -O metadata_csum,64bit", 2048,
		6144},
	{"csum-4k", "-t ext4 -b 4096 -g 1024 -O metadata_csum,64bit", 4096,
		5120},
	{"64bit", "-t ext4 -b 1024 -g 2048 -O ^metadata_csum,64bit", 1024,
		8192},
	{"one-group", "-t ext4 -b 1024 -O metadata_csum,64bit", 1024, 6144},
	{"meta_bg",
		"-t ext4 -b 1024 -g 512 -O meta_bg,^resize_inode,metadata_csum",
		1024, 8192},
	{"sparse_super2",
		"-t ext4 -b 1024 -g 1024 -O sparse_super2,metadata_csum", 1024,
		8192},
	{"quota", "-t ext4 -b 1024 -g 2048 -O quota,metadata_csum", 1024, 8192},
	{"orphan_file", "-t ext4 -b 1024 -g 2048 -O orphan_file,metadata_csum",
		1024, 8192},
	{"fast_commit", "-t ext4 -b 1024 -g 4096 -O fast_commit,metadata_csum",
		1024, 8192},
	{"bigalloc", "-t ext4 -b 1024 -C 4096 -O bigalloc,metadata_csum", 1024,
		16384},
};
const unsigned features_count = sizeof(features) / sizeof(features[0]);

const char *const spot_names[SPOTS] = {
	"none", "internal", "device", "remote-a", "remote-b"};

/* 29 entries of all kinds, and nothing that depends on the machine. */
static const char make_files[] =
	"rm -rf src; mkdir -p src/d/e; cd src; "
	"i=0; while [ $i -lt 20 ]; do i=$((i + 1)); "
	"seq $((i * 100)) $((i * 450)) >f$i; done; "
	"ln -s f1 link; ln f2 d/hard; seq 1 9 >d/e/deep; : >empty; "
	"ln -s $(printf '%0100d' 7) d/long; "
	"find . -exec touch -h -d @1600000000 {} +";

/* Blocks, for one that is full: what is left then is 1 %, or a journal and that. */
static unsigned long long space_to_leave(const struct move *m)
{
	return m->f->blocks / 100 +
	       (m->to == SPOT_INTERNAL ? 1100 + (1 << 20) / m->f->block_size
				       : 0);
}

int setup_volume(struct world *w, const struct move *m, const char *words,
	char *why, size_t size)
{
	const char *path = w->disks[VOLUME].path;
	uint64_t blocks = m->f->blocks;

	if (program_shell(w->dir, why, size, "set -e; cd '%s'; %s", w->dir,
		    make_files))
		return -1;
	if (m->aged && !strcmp(m->aged, "grown"))
		blocks = blocks / 4 * 3;
	/* mke2fs -d counts no quota: e2fsck does, and says 1 */
	if (program_shell(w->dir, why, size,
		    "E2FSPROGS_FAKE_TIME=1700000000; "
		    "export E2FSPROGS_FAKE_TIME; mke2fs -q -F -N 512 %s "
		    "%s -U 11111111-2222-3333-4444-555555555555 "
		    "-E hash_seed=11111111-2222-3333-4444-555555555555,"
		    "lazy_itable_init=0 -d '%s/src' '%s' %llu && { "
		    "[ %s != quota ] || e2fsck -fy '%s' || [ $? = 1 ]; }",
		    m->f->words, words, w->dir, path,
		    (unsigned long long)blocks, m->f->name, path))
		return -1;
	if (!m->aged)
		return 0;
	return program_shell(w->dir, why, size,
		"bash \"$RJ_SRC/tests/support/aged-volume\" %s '%s' %llu",
		m->aged, path, space_to_leave(m));
}

/* ---- the same world each time ---- */

static uint64_t random_state;

static int64_t fixed_time(void *arg)
{
	return 1700000000ll * 1000000000;
}

static int64_t monotonic(void *arg)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static void no_sleep(void *arg, int64_t ns)
{
}

static int next_bytes(void *arg, void *out, size_t len)
{
	uint8_t *p = out;

	while (len--) { /* splitmix64, a byte at a time */
		uint64_t z = (random_state += 0x9E3779B97F4A7C15ull);

		z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
		z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
		*p++ = (uint8_t)(z >> 56);
	}
	return 0;
}

void setup_seed(unsigned long seed)
{
	static const struct rj_environ env = {
		.realtime_ns = fixed_time,
		.monotonic_ns = monotonic,
		.sleep_ns = no_sleep,
		.random_bytes = next_bytes,
	};

	random_state = seed;
	rj_environ_set(&env);
}
