// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/common.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/retrystore.h"
#include "support/fault.h"
#include "util/uuid.h"

struct rj_key t_new_log(enum rj_key_kind kind)
{
	struct rj_key key = {.kind = kind};

	if (rj_uuid_random(key.journal_uuid))
		exit(99);
	return key;
}

struct rj_key t_key(const struct rj_key *dir, uint64_t number)
{
	struct rj_key key = *dir;

	key.number = number;
	return key;
}

bool t_retrying(void)
{
	return getenv("RJ_TEST_RETRY") || getenv("RJ_TEST_FAULTS");
}

bool t_copies;

struct rj_store *t_open(const char *url)
{
	struct rj_error err;
	struct rj_store *s;

	if (rj_store_open(url, NULL, &s, &err)) {
		printf("Bail out! %s\n", err.msg);
		exit(99);
	}
	s->copying = t_copies;
	if (getenv("RJ_TEST_FAULTS") && rj_fault_open(s, &s, &err))
		exit(99);
	s->copying = t_copies;
	/* the way there is bad: go on trying */
	return t_retrying() ? retrystore_open(s) : s;
}

uint8_t *t_bytes(size_t len, unsigned seed)
{
	uint8_t *p = malloc(len ? len : 1);
	uint32_t x = seed * 2654435761u + 1;
	size_t i;

	if (!p)
		exit(99);
	for (i = 0; i < len; i++) {
		x = x * 1664525u + 1013904223u;
		p[i] = (uint8_t)(x >> 24);
	}
	return p;
}

int t_list_add(void *arg, uint64_t number, uint64_t bytes)
{
	struct t_list *l = arg;

	if (l->count < 64) {
		l->number[l->count] = number;
		l->bytes[l->count] = bytes;
	}
	l->count++;
	return l->count == l->stop_at ? 77 : 0;
}
