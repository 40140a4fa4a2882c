// SPDX-License-Identifier: GPL-2.0-or-later
/* Convert the structs of other rooms to the fixed-width records and back. */
#include "shm-records.h"

#include <stddef.h>
#include <string.h>

#define ASSERT_N(type, member, at)        AT(member, at)
#define ASSERT_A(type, member, count, at) AT(member, at)
#define ASSERT_S(name, member, at)        AT(member, at)
#define AT(member, at)                                                         \
	_Static_assert(offsetof(struct rj_shm_tail, member) == (at), "offset");
RJ_SHM_TAIL(ASSERT_N, ASSERT_A, ASSERT_S)
#undef AT
_Static_assert(sizeof(struct rj_shm_tail) == 56, "size");
#define AT(member, at)                                                         \
	_Static_assert(offsetof(struct rj_shm_error, member) == (at), "offset");
RJ_SHM_ERROR(ASSERT_N, ASSERT_A, ASSERT_S)
#undef AT
_Static_assert(sizeof(struct rj_shm_error) == 1036, "size");
#define AT(member, at)                                                         \
	_Static_assert(offsetof(struct rj_shm_track, member) == (at), "offset");
RJ_SHM_TRACK(ASSERT_N, ASSERT_A, ASSERT_S)
#undef AT
_Static_assert(sizeof(struct rj_shm_track) == 40, "size");
#define AT(member, at)                                                         \
	_Static_assert(                                                        \
		offsetof(struct rj_shm_writer, member) == (at), "offset");
RJ_SHM_WRITER(ASSERT_N, ASSERT_A, ASSERT_S)
#undef AT
_Static_assert(sizeof(struct rj_shm_writer) == 152, "size");
#define AT(member, at)                                                         \
	_Static_assert(offsetof(struct rj_shm_sbx, member) == (at), "offset");
RJ_SHM_SBX(ASSERT_N, ASSERT_A, ASSERT_S)
#undef AT
_Static_assert(sizeof(struct rj_shm_sbx) == 384, "size");
#define AT(member, at)                                                         \
	_Static_assert(offsetof(struct rj_shm_facts, member) == (at), "offset");
RJ_SHM_FACTS(ASSERT_N, ASSERT_A, ASSERT_S)
#undef AT
_Static_assert(sizeof(struct rj_shm_facts) == 544, "size");

#define COPY_N(type, member, at) to->member = from->member;
#define COPY_A(type, member, count, at)                                        \
	_Static_assert(sizeof(to->member) == sizeof(from->member), "length");  \
	memcpy(to->member, from->member, sizeof(to->member));
#define SAVE_N(type, member, at) to->member = (type)from->member;
#define SAVE_S(name, member, at) save_##name(&to->member, &from->member);
#define LOAD_S(name, member, at) load_##name(&to->member, &from->member);

static void save_tail(struct rj_shm_tail *to, const struct rj_log_tail *from)
{
	memset(to, 0, sizeof(*to));
	RJ_SHM_TAIL(SAVE_N, COPY_A, SAVE_S)
}

static void load_tail(struct rj_log_tail *to, const struct rj_shm_tail *from)
{
	memset(to, 0, sizeof(*to));
	RJ_SHM_TAIL(COPY_N, COPY_A, LOAD_S)
}

static void save_sbx(struct rj_shm_sbx *to, const struct rj_sbx *from)
{
	memset(to, 0, sizeof(*to));
	RJ_SHM_SBX(SAVE_N, COPY_A, SAVE_S)
}

static void load_sbx(struct rj_sbx *to, const struct rj_shm_sbx *from)
{
	memset(to, 0, sizeof(*to));
	RJ_SHM_SBX(COPY_N, COPY_A, LOAD_S)
}

void rj_shm_save_error(struct rj_shm_error *to, const struct rj_error *from)
{
	memset(to, 0, sizeof(*to));
	RJ_SHM_ERROR(SAVE_N, COPY_A, SAVE_S)
}

void rj_shm_load_error(struct rj_error *to, const struct rj_shm_error *from)
{
	memset(to, 0, sizeof(*to));
	RJ_SHM_ERROR(COPY_N, COPY_A, LOAD_S)
}

void rj_shm_save_track(struct rj_shm_track *to, const struct rj_track *from)
{
	memset(to, 0, sizeof(*to));
	RJ_SHM_TRACK(SAVE_N, COPY_A, SAVE_S)
}

void rj_shm_load_track(struct rj_track *to, const struct rj_shm_track *from)
{
	memset(to, 0, sizeof(*to));
	RJ_SHM_TRACK(COPY_N, COPY_A, LOAD_S)
}

void rj_shm_save_writer(
	struct rj_shm_writer *to, const struct rj_log_writer_state *from)
{
	memset(to, 0, sizeof(*to));
	RJ_SHM_WRITER(SAVE_N, COPY_A, SAVE_S)
}

void rj_shm_load_writer(
	struct rj_log_writer_state *to, const struct rj_shm_writer *from)
{
	memset(to, 0, sizeof(*to));
	RJ_SHM_WRITER(COPY_N, COPY_A, LOAD_S)
}

void rj_shm_save_facts(
	struct rj_shm_facts *to, const struct rj_volume_facts *from)
{
	memset(to, 0, sizeof(*to));
	RJ_SHM_FACTS(SAVE_N, COPY_A, SAVE_S)
}

void rj_shm_load_facts(
	struct rj_volume_facts *to, const struct rj_shm_facts *from)
{
	memset(to, 0, sizeof(*to));
	RJ_SHM_FACTS(COPY_N, COPY_A, LOAD_S)
}
