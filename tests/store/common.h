/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of the stores share. */
#ifndef RJ_TEST_STORE_COMMON_H
#define RJ_TEST_STORE_COMMON_H

#include "store/store.h"

/* For t_open(): what is put is a copy of another store's, which may begin in the
 * middle of a log. */
extern bool t_copies;

/* A log of its own for each test: a random journal UUID. */
struct rj_key t_new_log(enum rj_key_kind kind);
/* The same log's object NUMBER. */
struct rj_key t_key(const struct rj_key *dir, uint64_t number);
/* The way to the store is bad ($RJ_TEST_RETRY), or a layer of faults over it
 * ($RJ_TEST_FAULTS=percent): t_open()'s handles go on trying. */
bool t_retrying(void);
/* Open URL with default options, or end the program. */
struct rj_store *t_open(const char *url);
/* LEN bytes that depend on SEED, in memory of malloc. */
uint8_t *t_bytes(size_t len, unsigned seed);

/* A listing's numbers and sizes. */
struct t_list {
	uint64_t number[64], bytes[64];
	unsigned count;
	unsigned stop_at; /* return 77 at this many; 0: never */
};

int t_list_add(void *arg, uint64_t number, uint64_t bytes);

/* CODE is what a call returned; SUBSTRING must be in ERR's message. */
#define T_FAILS(call, want_code, substring)                                    \
	do {                                                                   \
		err = (struct rj_error){0};                                    \
		CU_ASSERT_EQUAL((call), -(int)(want_code));                    \
		CU_ASSERT_EQUAL(err.code, (want_code));                        \
		CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, (substring)));          \
		CU_ASSERT_PTR_NULL(strchr(err.msg, '\n'));                     \
		if (!strstr(err.msg, (substring)))                             \
			printf("# message: %s\n", err.msg);                    \
	} while (0)

/* As CU_ASSERT_EQUAL(call, 0), and shows the message if not. */
#define T_WORKS(call)                                                          \
	do {                                                                   \
		int t_rc;                                                      \
		err = (struct rj_error){0};                                    \
		t_rc = (call);                                                 \
		CU_ASSERT_EQUAL(t_rc, 0);                                      \
		if (t_rc)                                                      \
			printf("# message: %s\n", err.msg);                    \
	} while (0)

#endif
