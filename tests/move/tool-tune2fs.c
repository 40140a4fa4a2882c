// SPDX-License-Identifier: GPL-2.0-or-later
/* The moves that tune2fs has, recorded by the LD_PRELOAD recorder. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"
#include "setup.h"

static bool has(const struct move *m)
{
	if (!strcmp(m->f->name, "orphan_file"))
		return false; /* there is none without a journal */
	return m->change == CHANGE_PLACE && m->from != m->to &&
	       m->from <= SPOT_DEVICE && m->to <= SPOT_DEVICE &&
	       (m->from == SPOT_NONE || m->to == SPOT_NONE);
}

/* COMMAND with $J as the journal's loop device if there is to be one, and with
 * blkid's cache out of the way of everybody else's. */
static int with_device(struct world *w, bool device, const char *command,
	char *why, size_t size)
{
	return program_shell(w->dir, why, size,
		       "set -e; export BLKID_FILE='%s/blkid.tab'; J=; "
		       "[ %d = 0 ] || { J=$(losetup -f --show '%s'); "
		       "trap 'losetup -d $J' EXIT; }; %s",
		       w->dir, device, w->disks[DEVICE].path, command)
		       ? -1
		       : 0;
}

static unsigned journal_mb(const struct move *m)
{
	return (1024 * m->f->block_size) >> 20;
}

static bool needs_device(const struct move *m)
{
	return m->from == SPOT_DEVICE || m->to == SPOT_DEVICE;
}

static int setup(
	struct world *w, const struct move *m, char *why, size_t size)
{
	char words[4200] = "-O ^has_journal", command[12000];

	if (world_disk(w, VOLUME, m->f->blocks * m->f->block_size) ||
		world_disk(w, DEVICE, 1024ull * m->f->block_size + 65536)) {
		snprintf(why, size, "cannot make the disks");
		return -1;
	}
	if (m->from == SPOT_INTERNAL)
		snprintf(words, sizeof(words), "-J size=%u", journal_mb(m));
	if (needs_device(m)) {
		snprintf(command, sizeof(command),
			"mke2fs -q -F -O journal_dev -b %u "
			"-U 99999999-2222-3333-4444-555555555555 $J",
			m->f->block_size);
		if (with_device(w, true, command, why, size))
			return -1;
	}
	if (setup_volume(w, m, words, why, size))
		return -1;
	if (m->from != SPOT_DEVICE)
		return 0;
	snprintf(command, sizeof(command), "tune2fs -J device=$J '%.4000s'",
		w->disks[VOLUME].path);
	return with_device(w, true, command, why, size);
}

static const char *recorder(void)
{
	const char *path = getenv("RJ_RECORDER");

	return path ? path : "";
}

static int run(struct world *w, const struct move *m, struct trace *t,
	char *why, size_t size)
{
	char command[16000], path[PATH_MAX], words[64];
	int fd, rc;

	if (m->to == SPOT_NONE)
		snprintf(words, sizeof(words), "-O ^has_journal");
	else if (m->to == SPOT_INTERNAL)
		snprintf(words, sizeof(words), "-J size=%u", journal_mb(m));
	else
		snprintf(words, sizeof(words), "-J device=$J");
	snprintf(path, sizeof(path), "%.4000s/trace", w->dir);
	snprintf(command, sizeof(command),
		"ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 "
		"RJ_RECORD_FILES='%.4000s'${J:+:$J} RJ_RECORD_TO='%.4000s' "
		"LD_PRELOAD='%.2000s' tune2fs %s '%.4000s'",
		w->disks[VOLUME].path, path, recorder(), words,
		w->disks[VOLUME].path);
	unlink(path);
	if (with_device(w, needs_device(m), command, why, size))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	rc = fd < 0 || trace_load(t, fd) ? -1 : 0;
	if (rc)
		snprintf(why, size, "%s: no trace", path);
	if (fd >= 0)
		close(fd);
	return rc;
}

const struct tool tool_tune2fs = {
	.name = "tune2fs",
	.has = has,
	.setup = setup,
	.run = run,
	/* there is nothing to run: the volume is as good as it is found */
	.resume = NULL,
};
