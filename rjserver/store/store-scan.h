/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the records of a log, file by file; used by store-load.c. */
#ifndef RJSERVER_STORE_SCAN_H
#define RJSERVER_STORE_SCAN_H

#include "store-checkpoint.h"

struct scan_file {
	uint32_t number;
	const char *path;
	const uint8_t *data; /* the whole file; zero where it could not be read */
	uint64_t len;
	uint64_t from;     /* offset of the first record that is wanted */
	uint64_t data_end; /* out: end of all that is not zero */
};

struct scan_end {
	uint64_t last; /* place of the last record that stays; 0: none */
	uint64_t end;  /* place of its end; 0: none */
	uint64_t cut;  /* not 0: a torn batch begins here, to be cut */
};

struct scan;

/* FIRST_FILE: the lowest number of a data file that exists. */
struct scan *scan_new(struct store *s, uint32_t first_file);
/* Everything before AT is known already. */
void scan_resume(struct scan *sc, const struct checkpoint_place *at);
void scan_free(struct scan *sc); /* NULL-safe */
/* Before a file is taken: what lies from place FROM up to TO in it could not be read. */
int scan_unreadable(struct scan *sc, uint64_t from, uint64_t to,
	struct rj_error *err);
/* The first place from FROM up to TO that could not be read; 0: there is none. */
uint64_t scan_find_unreadable(
	const struct scan *sc, uint64_t from, uint64_t to);
/* Take the records of one file; files come in ascending order. */
int scan_file(struct scan *sc, struct scan_file *sf, struct rj_error *err);
/* RJ_E_IO: the end of the log could not be read, and must not be written to. */
int scan_finish(struct scan *sc, struct scan_end *end, struct rj_error *err);

#endif
