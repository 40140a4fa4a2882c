/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJBACKUP_OPTIONS_H
#define RJBACKUP_OPTIONS_H

#include <stdbool.h>

#include "history/history.h"
#include "journal/attach.h"
#include "recover/recover.h"
#include "tools/command-line.h"
#include "tools/status.h"

enum command {
	COMMAND_BASE,
	COMMAND_LS,
	COMMAND_RESTORE,
	COMMAND_EXPIRE,
	COMMAND_DRILL,
	COMMAND_MOUNT,
	COMMAND_FOLLOW,
	COMMAND_FOLD,
	COMMAND_PROMOTE,
	COMMAND_BISECT,
	COMMAND_DIFF,
	COMMAND_UNDELETE,
	COMMAND_LOG,
	COMMAND_FIND,
};

struct options {
	enum command command;
	bool dry_run, json, accept_loss;
	bool writable; /* mount */
	struct rj_moment good, bad; /* bisect; RJ_AT_LATEST: BAD was not given */
	bool good_given;
	struct rj_moment from; /* diff: the first moment; log --since */
	bool from_given;
	const char *path; /* diff, log: NULL: all; undelete, find: a pattern */
	bool stat;	  /* diff, log: sums alone */
	const char *dir;  /* base: where the volume is mounted, or its device; mount: where to */
	const char *out;  /* -o; undelete --to: a folder */
	const char *base; /* --base, and FILE of ls (or URL#NUMBER), promote; NULL: ls URL */
	uint64_t base_number; /* expire --base; 0: not given */
	const char *url;  /* NULL: as the base says */
	const char *hold_text; /* --hold */
	uint64_t hold;         /* base, follow, fold: seconds; expire: number; 0: not given */
	const char *delay_text; /* follow --delay */
	uint64_t delay_s;
	bool once, quiet;	/* follow */
	/* fold, log; diff: the second moment; undelete --before; RJ_AT_LATEST: the log's end */
	struct rj_moment until;
	const char *keep;      /* expire; NULL: holds and marks at URL */
	char *const *files;    /* expire --keep: FILE_COUNT of them */
	int file_count;
	const char *keyfile; /* NULL: rj.conf's */
	struct rj_moment at;
	enum rj_verify_level verify;
	struct rj_journal_opts journal; /* restore -J */
	bool journal_given;
	bool at_random;	     /* drill */
	uint64_t every;	     /* drill --at=every:N; 0: another moment */
	unsigned jobs;	     /* the same */
	const char *scratch; /* a folder */
	const char *compare, *exec; /* drill; may be NULL */
	uint64_t rate;	 /* base: bytes a second; 0: no limit */
	int progress_fd; /* base, restore: -C; 0: a bar; -1: not given */
	const char *metrics; /* drill, follow: the file; may be NULL */
};

enum options_verdict options_parse(int argc, char **argv, struct options *o);

#endif
