/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keep what a worker leaves to the next one, which may be of another release, in
 * fixed-width structs of this file: other rooms may change theirs without harm.
 * Each list has the members of one room's struct with their types here and their
 * offsets in bytes, which the compiler asserts. A change of a list, or of a
 * member's meaning, counts up RJ_WORKER_SHM_VERSION.
 */
#ifndef RJ_JOURNALD_SHM_RECORDS_H
#define RJ_JOURNALD_SHM_RECORDS_H

#include <stdint.h>

#include "ext4/volume.h"
#include "log/write/writer-state.h"
#include "journal-track.h"
#include "util/error.h"

/* N: a number, type, member, offset. A: an array, type, member, length, offset.
 * S: another record, name, member, offset. */

/* struct rj_log_tail */
#define RJ_SHM_TAIL(N, A, S)                                                   \
	N(uint64_t, sequence, 0)                                               \
	N(uint64_t, epoch, 8)                                                  \
	N(uint64_t, oldest, 16)                                                \
	A(uint8_t, chain, RJ_SEG_HASH_BYTES, 24)

/* struct rj_error */
#define RJ_SHM_ERROR(N, A, S)                                                  \
	N(uint32_t, code, 0)                                                   \
	N(uint32_t, cause, 4)                                                  \
	N(int32_t, sys_errno, 8)                                               \
	A(char, msg, RJ_ERROR_BYTES, 12)

/* struct rj_track */
#define RJ_SHM_TRACK(N, A, S)                                                  \
	N(uint32_t, sb_block, 0)                                               \
	N(uint32_t, first, 4)                                                  \
	N(uint32_t, last, 8)                                                   \
	N(uint32_t, maxlen, 12)                                                \
	N(uint32_t, start, 16)                                                 \
	N(uint32_t, running_tid, 20)                                           \
	N(uint32_t, commit_end, 24)                                            \
	N(uint32_t, head, 28)                                                  \
	N(uint32_t, fast_blocks, 32)                                           \
	N(uint8_t, sb_good, 36)                                                \
	N(uint8_t, known, 37)                                                  \
	N(uint8_t, head_known, 38)

/* struct rj_log_writer_state */
#define RJ_SHM_WRITER(N, A, S)                                                 \
	S(tail, tail, 0)                                                       \
	S(tail, next, 56)                                                      \
	N(uint64_t, epoch, 112)                                                \
	N(uint64_t, floor, 120)                                                \
	N(uint8_t, pending, 128)                                               \
	N(uint8_t, must_base, 129)                                             \
	A(uint8_t, nonce, RJ_SEG_NONCE_BYTES, 130)

/* struct rj_sbx */
#define RJ_SHM_SBX(N, A, S)                                                    \
	N(uint64_t, epoch, 0)                                                  \
	N(uint64_t, floor, 8)                                                  \
	N(uint64_t, redo_block, 16)                                            \
	N(uint64_t, moved_at, 24)                                              \
	N(uint32_t, incompat, 32)                                              \
	N(uint32_t, ro_compat, 36)                                             \
	N(uint32_t, compat, 40)                                                \
	N(uint32_t, placement, 44)                                             \
	N(uint32_t, on_loss, 48)                                               \
	N(uint32_t, generation, 52)                                            \
	N(uint32_t, journal_blocks, 56)                                        \
	N(uint32_t, intent_blocks, 60)                                         \
	N(uint32_t, moved_from, 64)                                            \
	N(uint32_t, moved_to, 68)                                              \
	N(uint16_t, probed_day, 72)                                            \
	N(uint8_t, ack_received, 74)                                           \
	N(uint8_t, intent_op, 75)                                              \
	N(uint8_t, intent_state, 76)                                           \
	N(uint8_t, intent_placement, 77)                                       \
	N(uint8_t, probed, 78)                                                 \
	N(uint8_t, fallback_empty, 79)                                         \
	A(uint8_t, journal_uuid, RJ_UUID_BYTES, 80)                            \
	A(uint8_t, key_fingerprint, 16, 96)                                    \
	A(uint8_t, intent_uuid, RJ_UUID_BYTES, 112)                            \
	A(char, url, RJ_SBX_URL_BYTES, 128)                                    \
	A(char, fallback, RJ_SBX_URL_BYTES, 256)

/* struct rj_volume_facts, without sbx_error */
#define RJ_SHM_FACTS(N, A, S)                                                  \
	S(sbx, sbx, 0)                                                         \
	N(uint64_t, blocks, 384)                                               \
	N(uint64_t, broken_unmount, 392)                                       \
	N(uint64_t, born, 400)                                                 \
	N(uint64_t, desc_block, 408)                                           \
	N(uint64_t, mark_at, 416)                                              \
	N(uint64_t, mark, 424)                                                 \
	N(uint32_t, block_size, 432)                                           \
	N(uint32_t, groups, 436)                                               \
	N(uint32_t, first_block, 440)                                          \
	N(uint32_t, group_blocks, 444)                                         \
	N(uint32_t, cluster_bits, 448)                                         \
	N(uint32_t, desc_bytes, 452)                                           \
	N(uint32_t, mount_opts, 456)                                           \
	N(uint32_t, journal_inode, 460)                                        \
	N(uint32_t, journal_device, 464)                                       \
	N(uint32_t, backups, 468)                                              \
	N(uint32_t, super, 472)                                                \
	N(uint32_t, super_group, 476)                                          \
	N(uint8_t, has_journal, 480)                                           \
	N(uint8_t, needs_recovery, 481)                                        \
	N(uint8_t, orphan_file, 482)                                           \
	N(uint8_t, orphans, 483)                                               \
	N(uint8_t, clean, 484)                                                 \
	N(uint8_t, has_errors, 485)                                            \
	N(uint8_t, metadata_csum, 486)                                         \
	N(uint8_t, ext4_features, 487)                                         \
	N(uint8_t, fast_commit, 488)                                           \
	N(uint8_t, inline_data, 489)                                           \
	N(uint8_t, meta_bg, 490)                                               \
	N(uint8_t, has_sbx, 491)                                               \
	A(uint8_t, uuid, RJ_UUID_BYTES, 492)                                   \
	A(char, label, 17, 508)                                                \
	A(uint8_t, journal_uuid, RJ_UUID_BYTES, 525)                           \
	N(uint8_t, placed, 541) /* zero from a release before 0.2 */

#define RJ_SHM_N(type, member, at)        type member;
#define RJ_SHM_A(type, member, count, at) type member[count];
#define RJ_SHM_S(name, member, at)        struct rj_shm_##name member;

struct rj_shm_tail {
	RJ_SHM_TAIL(RJ_SHM_N, RJ_SHM_A, RJ_SHM_S)
} __attribute__((aligned(8)));
struct rj_shm_error {
	RJ_SHM_ERROR(RJ_SHM_N, RJ_SHM_A, RJ_SHM_S)
};
struct rj_shm_track {
	RJ_SHM_TRACK(RJ_SHM_N, RJ_SHM_A, RJ_SHM_S)
};
struct rj_shm_writer {
	RJ_SHM_WRITER(RJ_SHM_N, RJ_SHM_A, RJ_SHM_S)
} __attribute__((aligned(8)));
struct rj_shm_sbx {
	RJ_SHM_SBX(RJ_SHM_N, RJ_SHM_A, RJ_SHM_S)
} __attribute__((aligned(8)));
struct rj_shm_facts {
	RJ_SHM_FACTS(RJ_SHM_N, RJ_SHM_A, RJ_SHM_S)
} __attribute__((aligned(8)));

/* Both directions, one pair for each record. */
void rj_shm_save_error(struct rj_shm_error *to, const struct rj_error *from);
void rj_shm_load_error(struct rj_error *to, const struct rj_shm_error *from);
void rj_shm_save_track(struct rj_shm_track *to, const struct rj_track *from);
void rj_shm_load_track(struct rj_track *to, const struct rj_shm_track *from);
void rj_shm_save_writer(
	struct rj_shm_writer *to, const struct rj_log_writer_state *from);
void rj_shm_load_writer(
	struct rj_log_writer_state *to, const struct rj_shm_writer *from);
void rj_shm_save_facts(
	struct rj_shm_facts *to, const struct rj_volume_facts *from);
void rj_shm_load_facts(
	struct rj_volume_facts *to, const struct rj_shm_facts *from);

#endif
