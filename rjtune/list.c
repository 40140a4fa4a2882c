// SPDX-License-Identifier: GPL-2.0-or-later
/* -l: what there is to know of a volume's journal. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "journal/info.h"
#include "rjtune.h"
#include "text/when.h"
#include "tools/json.h"
#include "util/hex.h"

#define NS_PER_S 1000000000LL

static bool all_zero(const uint8_t *bytes, size_t count)
{
	while (count--)
		if (*bytes++)
			return false;
	return true;
}

static const char *features(const struct rj_jbd2_sb *sb, char *out, size_t size)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{RJ_JBD2_INCOMPAT_REVOKE, "journal_incompat_revoke"},
		{RJ_JBD2_INCOMPAT_64BIT, "journal_64bit"},
		{RJ_JBD2_INCOMPAT_ASYNC, "journal_async_commit"},
		{RJ_JBD2_INCOMPAT_CSUM_V2, "journal_checksum_v2"},
		{RJ_JBD2_INCOMPAT_CSUM_V3, "journal_checksum_v3"},
		{RJ_JBD2_INCOMPAT_FAST_COMMIT, "fast_commit"},
	};
	size_t i, at = 0;

	snprintf(out, size, "%s", sb->compat & RJ_JBD2_COMPAT_CHECKSUM
					  ? "journal_checksum"
					  : "");
	at = strlen(out);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (sb->incompat & names[i].bit)
			at += (size_t)snprintf(out + at, size - at, "%s%s",
				at ? " " : "", names[i].name);
	return out;
}

static const char *on_loss_name(enum rj_on_loss l)
{
	return l == RJ_LOSS_ERROR ? "error"
	       : l == RJ_LOSS_LOCAL ? "local"
				    : "block";
}

static void line(const char *name, const char *value)
{
	printf("%-24s %s\n", name, value);
}

static const char *probed_mode(const struct rj_sbx *s)
{
	return s->probed & RJ_SBX_PROBED_A ? "A"
	       : s->probed & RJ_SBX_PROBED_B ? "B"
					     : "none";
}

/* The day of a number of days since 1970. */
static const char *day_text(uint16_t day, char out[64])
{
	rj_when_rfc3339(day * (86400 * NS_PER_S), out);
	out[10] = 0; /* without the time */
	return out;
}

static void print_remote(const struct rj_journal_info *i)
{
	const struct rj_sbx *s = &i->volume.sbx;
	char text[64];

	line("Journal URL:", s->url);
	printf("%-24s %" PRIu64 "\n", "Epoch:", s->epoch);
	if (i->epochs > s->epoch)
		printf("%-24s %" PRIu64 "\n", "Epoch at the store:", i->epochs);
	printf("%-24s %" PRIu64 "\n", "Acknowledged floor:", s->floor);
	line("Key fingerprint:",
		all_zero(s->key_fingerprint, 16)
			? "none, not encrypted"
			: rj_hex_text(s->key_fingerprint, 16, text));
	line("When the store is lost:", on_loss_name(s->on_loss));
	if (s->fallback[0])
		printf("%-24s %s%s\n", "Fallback:", s->fallback,
			s->fallback_empty ? "" : " (in use, or to be looked at)");
	if (rj_volume_no_mark(&i->volume))
		printf("%-24s no: %s\n", "Older copies are known:", rj_volume_no_mark(&i->volume));
	line("Acknowledged when:", s->ack_received ? "received" : "durable");
	if (s->probed)
		printf("%-24s mode %s (%s), %s%s%s\n", "Store when attached:",
			probed_mode(s),
			s->probed & RJ_SBX_PROBED_RACED ? "tried" : "not tried",
			s->probed & RJ_SBX_PROBED_DURABLE ? "durable"
							 : "received",
			s->probed_day ? ", on " : "",
			s->probed_day ? day_text(s->probed_day, text) : "");
}

static void print_text(const struct options *o, const struct rj_journal_info *i)
{
	const struct rj_volume_facts *f = &i->volume;
	char uuid[RJ_UUID_TEXT], text[256];

	line("Device:", o->device);
	line("Filesystem UUID:", rj_uuid_text(f->uuid, uuid));
	line("Journal:", rj_placement_name(i->journal.placement));
	if (i->journal.placement == RJ_PLACE_DEVICE && i->journal.where[0])
		line("Journal device:", i->journal.where);
	if (!rj_uuid_is_null(i->journal.uuid))
		line("Journal UUID:", rj_uuid_text(i->journal.uuid, uuid));
	if (i->journal.blocks)
		printf("%-24s %u blocks of %u bytes\n", "Journal size:",
			i->journal.blocks, f->block_size);
	if (i->have_super) {
		line("Journal features:",
			features(&i->super, text, sizeof(text)));
		if (i->super.num_fc_blocks)
			printf("%-24s %u\n", "Fast commit blocks:",
				i->super.num_fc_blocks);
	}
	if (i->journal.placement == RJ_PLACE_REMOTE)
		print_remote(i);
	line("Default mount options:",
		rj_mount_opts_text(f->mount_opts, text, sizeof(text)));
	line("Needs recovery:", f->needs_recovery ? "yes" : "no");
	line("Clean:", f->clean ? "yes" : "no");
	if (i->journal.placement != RJ_PLACE_NONE)
		printf("%-24s %s%s\n", "Journal reachable:",
			i->reachable ? "yes" : "no: ",
			i->reachable ? "" : i->why_not.msg);
	if (i->served)
		line("Served by rjournald:", "yes");
	if (i->pending)
		line("Move under way:", "yes: run rjtune --resume");
	if (f->has_sbx && f->sbx.moved_at)
		printf("%-24s from %s to %s, %s\n", "Last move:",
			rj_placement_name(f->sbx.moved_from),
			rj_placement_name(f->sbx.moved_to),
			rj_when_seconds((int64_t)f->sbx.moved_at, text));
}

static struct json_object *json_probed(const struct rj_sbx *s)
{
	struct json_object *p = json_object_new_object();
	char text[64];

	add_text(p, "mode", probed_mode(s));
	add_bool(p, "raced", s->probed & RJ_SBX_PROBED_RACED);
	add_text(p, "durability",
		s->probed & RJ_SBX_PROBED_DURABLE ? "durable" : "received");
	if (s->probed_day)
		add_text(p, "day", day_text(s->probed_day, text));
	return p;
}

static struct json_object *json_journal(const struct rj_journal_info *i)
{
	struct json_object *j = json_object_new_object();
	const struct rj_sbx *s = &i->volume.sbx;
	char text[256];

	add_text(j, "placement", rj_placement_name(i->journal.placement));
	if (!rj_uuid_is_null(i->journal.uuid))
		add_text(j, "uuid", rj_uuid_text(i->journal.uuid, text));
	if (i->journal.placement == RJ_PLACE_DEVICE && i->journal.where[0])
		add_text(j, "device", i->journal.where);
	if (i->journal.blocks) {
		add_u64(j, "blocks", i->journal.blocks);
		add_u64(j, "bytes",
			(uint64_t)i->journal.blocks * i->volume.block_size);
	}
	if (i->have_super) {
		add_text(j, "features", features(&i->super, text, sizeof(text)));
		add_u64(j, "fast_commit_blocks", i->super.num_fc_blocks);
		add_u64(j, "users", i->super.nr_users);
	}
	if (i->journal.placement == RJ_PLACE_REMOTE) {
		add_text(j, "url", s->url);
		add_u64(j, "epoch", s->epoch);
		add_u64(j, "epoch_at_store", i->epochs);
		add_u64(j, "floor", s->floor);
		if (!all_zero(s->key_fingerprint, 16))
			add_text(j, "key_fingerprint",
				rj_hex_text(s->key_fingerprint, 16, text));
		add_text(j, "on_loss", on_loss_name(s->on_loss));
		if (s->fallback[0]) {
			add_text(j, "fallback", s->fallback);
			add_bool(j, "fallback_empty", s->fallback_empty);
		}
		add_text(j, "ack", s->ack_received ? "received" : "durable");
		if (s->probed)
			json_object_object_add(j, "probed", json_probed(s));
	}
	add_bool(j, "reachable", i->reachable);
	if (!i->reachable)
		add_text(j, "why_not", i->why_not.msg);
	return j;
}

static void print_json(const struct options *o, const struct rj_journal_info *i)
{
	struct json_object *top = json_object_new_object(), *m;
	const struct rj_volume_facts *f = &i->volume;
	char text[256];

	add_text(top, "device", o->device);
	add_text(top, "uuid", rj_uuid_text(f->uuid, text));
	add_u64(top, "block_size", f->block_size);
	add_u64(top, "blocks", f->blocks);
	json_object_object_add(top, "journal", json_journal(i));
	add_text(top, "mount_options",
		rj_mount_opts_text(f->mount_opts, text, sizeof(text)));
	add_bool(top, "needs_recovery", f->needs_recovery);
	add_bool(top, "clean", f->clean);
	add_bool(top, "served", i->served);
	add_bool(top, "move_under_way", i->pending);
	if (f->has_sbx && f->sbx.moved_at) {
		m = json_object_new_object();
		add_text(m, "from", rj_placement_name(f->sbx.moved_from));
		add_text(m, "to", rj_placement_name(f->sbx.moved_to));
		add_text(m, "at", rj_when_rfc3339((int64_t)f->sbx.moved_at * NS_PER_S, text));
		json_object_object_add(top, "last_move", m);
	}
	json_show(top, JSON_C_TO_STRING_PRETTY);
}

enum status list(const struct options *o)
{
	const char *devices[] = {o->old_device, NULL};
	struct rj_journal_info i;
	struct rj_error err;
	int rc = rj_journal_info(o->device, devices, &i, &err);

	if (rc) {
		fprintf(stderr, "rjtune: %s\n", err.msg);
		if (o->json)
			json_show_error("device", o->device, err.msg);
		return move_status(NULL, rc);
	}
	if (o->json)
		print_json(o, &i);
	else
		print_text(o, &i);
	return STATUS_OK;
}
