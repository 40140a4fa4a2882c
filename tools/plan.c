// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/json.h"
#include "tools/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *plan_time_text(int64_t ns, char out[RJ_WHEN_TEXT])
{
	return ns ? rj_when_text(ns / 1000000000 * 1000000000, out) : "-";
}

static void count_one(void *arg, const struct rj_jbd2_transaction *t)
{
	(void)t;
	++*(size_t *)arg;
}

static void take_one(void *arg, const struct rj_jbd2_transaction *t)
{
	struct plan_list *list = arg;

	list->v[list->n++] = *t;
}

void plan_list_take(struct plan_list *list, const struct rj_jbd2_plan *plan)
{
	size_t n = 0;

	plan_list_free(list);
	rj_jbd2_plan_each(plan, count_one, &n);
	list->v = calloc(n + 1, sizeof(*list->v));
	if (list->v)
		rj_jbd2_plan_each(plan, take_one, list);
	else
		list->short_of_memory = true;
}

void plan_list_free(struct plan_list *list)
{
	free(list->v);
	*list = (struct plan_list){0};
}

static void print_transaction(
	const struct rj_jbd2_transaction *t, uint32_t block_size)
{
	char when[64];

	printf("  tid %u  %s  log block %u  copies %u  blocks %u (%" PRIu64
	       " bytes)  revoked %u  freed %u  revokes %u\n",
		t->tid, plan_time_text(t->commit_ns, when), t->first_block,
		t->tags, t->blocks, (uint64_t)t->blocks * block_size,
		t->suppressed, t->freed, t->revokes);
}

static const struct {
	uint32_t bit;
	const char *name;
} features[] = {
	{RJ_JBD2_INCOMPAT_REVOKE, "revoke"},
	{RJ_JBD2_INCOMPAT_64BIT, "64bit"},
	{RJ_JBD2_INCOMPAT_ASYNC, "async_commit"},
	{RJ_JBD2_INCOMPAT_CSUM_V2, "checksum_v2"},
	{RJ_JBD2_INCOMPAT_CSUM_V3, "checksum_v3"},
	{RJ_JBD2_INCOMPAT_FAST_COMMIT, "fast_commit"},
};

/* Of a feature word that was decoded: nothing unknown is in it. */
static const char *features_text(const struct rj_jbd2_sb *sb, char out[128])
{
	size_t i, n = 0;

	out[0] = '\0';
	if (sb->compat & RJ_JBD2_COMPAT_CHECKSUM)
		n = (size_t)snprintf(out, 128, " checksum_v1");
	for (i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (sb->incompat & features[i].bit)
			n += (size_t)snprintf(
				out + n, 128 - n, " %s", features[i].name);
	return n ? out + 1 : "none";
}

void plan_print_super(const struct rj_jbd2_sb *sb)
{
	char text[128], uuid[RJ_UUID_TEXT];

	printf("  journal: version %d, %u blocks of %u bytes, log from %u to %u, "
	       "starts at %u with transaction %u, error %d\n",
		sb->version, sb->maxlen, sb->block_size, sb->first,
		sb->last - 1, sb->start, sb->sequence, (int)sb->fs_errno);
	printf("  journal features: %s; UUID %s\n", features_text(sb, text),
		rj_uuid_text(sb->uuid, uuid));
}

static void print_full(const struct rj_jbd2_info *p)
{
	char when[64];

	printf("  first commit: %s\n",
		plan_time_text(p->first_commit_ns, when));
	printf("  last commit: %s\n", plan_time_text(p->last_commit_ns, when));
	printf("  copies in the log: %" PRIu64 ", %" PRIu64
	       " superseded, %" PRIu64 " revoked, %" PRIu64
	       " of freed blocks, %" PRIu64 " escaped\n",
		p->tags, p->duplicates, p->suppressed, p->freed, p->escapes);
	printf("  revoke records: %" PRIu64 "\n", p->revokes);
	printf("  next transaction: %u\n", p->next_tid);
}

void plan_print(const struct rj_jbd2_info *p, bool done, bool full,
	const struct plan_list *list)
{
	const char *verb = done ? "replayed" : "to replay";
	size_t i;

	if (p->empty) {
		printf("  nothing to replay; next transaction: %u\n",
			p->next_tid);
		return;
	}
	printf("  transactions %s: %" PRIu64 " (tid %u to %u)\n", verb,
		p->transactions, p->first_tid, p->last_tid);
	printf("  blocks %s: %" PRIu64 " (%" PRIu64 " bytes)\n", verb,
		p->blocks, p->blocks * p->sb.block_size);
	if (p->zeroed)
		printf("  blocks of files that were being shortened: %" PRIu64
		       " (replayed; the checksums are of their earlier bytes)\n",
			p->zeroed);
	if (full)
		print_full(p);
	if (p->damage)
		printf("  damage: %s\n", p->damage_text);
	for (i = 0; list && i < list->n; i++)
		print_transaction(&list->v[i], p->sb.block_size);
	if (list && list->short_of_memory)
		printf("  (no memory to list the transactions)\n");
}

static struct json_object *transaction_json(
	const struct rj_jbd2_transaction *t, uint32_t block_size)
{
	struct json_object *o = json_object_new_object();

	add_u64(o, "tid", t->tid);
	add_i64(o, "commit_ns", t->commit_ns);
	add_u64(o, "first_block", t->first_block);
	add_u64(o, "tags", t->tags);
	add_u64(o, "blocks", t->blocks);
	add_u64(o, "bytes", (uint64_t)t->blocks * block_size);
	add_u64(o, "revoked", t->suppressed);
	add_u64(o, "freed", t->freed);
	add_u64(o, "revokes", t->revokes);
	return o;
}

static struct json_object *super_json(const struct rj_jbd2_sb *sb)
{
	struct json_object *o = json_object_new_object();
	char text[128], uuid[RJ_UUID_TEXT];

	add_text(o, "uuid", rj_uuid_text(sb->uuid, uuid));
	add_u64(o, "version", (uint64_t)sb->version);
	add_u64(o, "block_size", sb->block_size);
	add_u64(o, "blocks", sb->maxlen);
	add_u64(o, "first", sb->first);
	add_u64(o, "start", sb->start);
	add_u64(o, "sequence", sb->sequence);
	add_i64(o, "error", sb->fs_errno);
	add_u64(o, "fast_commit_blocks", sb->num_fc_blocks);
	add_text(o, "features", features_text(sb, text));
	return o;
}

static void add_damage(struct json_object *o, const struct rj_jbd2_info *p)
{
	add_text(o, "damage", p->damage_text);
	add_u64(o, "damage_block", p->damage_block);
	add_u64(o, "damage_tid", p->damage_tid);
	add_bool(o, "damage_committed", p->damage_committed);
}

struct json_object *plan_json(
	const struct rj_jbd2_info *p, const struct plan_list *list)
{
	struct json_object *o = json_object_new_object(), *all;
	size_t i;

	add_bool(o, "empty", p->empty);
	add_u64(o, "transactions", p->transactions);
	add_u64(o, "first_tid", p->first_tid);
	add_u64(o, "last_tid", p->last_tid);
	add_u64(o, "next_tid", p->next_tid);
	add_u64(o, "tags", p->tags);
	add_u64(o, "blocks", p->blocks);
	add_u64(o, "bytes", p->blocks * p->sb.block_size);
	add_u64(o, "duplicates", p->duplicates);
	add_u64(o, "revokes", p->revokes);
	add_u64(o, "revoked", p->suppressed);
	add_u64(o, "freed", p->freed);
	add_u64(o, "escapes", p->escapes);
	add_u64(o, "zeroed", p->zeroed);
	add_bool(o, "wrapped", p->wrapped);
	add_i64(o, "first_commit_ns", p->first_commit_ns);
	add_i64(o, "last_commit_ns", p->last_commit_ns);
	json_object_object_add(o, "journal", super_json(&p->sb));
	if (p->damage)
		add_damage(o, p);
	if (!list || list->short_of_memory)
		return o;
	all = json_object_new_array();
	for (i = 0; i < list->n; i++)
		json_object_array_add(
			all, transaction_json(&list->v[i], p->sb.block_size));
	json_object_object_add(o, "list", all);
	return o;
}
