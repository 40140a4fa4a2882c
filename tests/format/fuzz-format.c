// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target for the small structures that a stranger may have written; built
 * and run by scripts/fuzz. The first byte says which: superblock extension, epoch
 * claim, floor record, the fallback file's header, hold, a mount's note, manifest of a
 * base; the same with a right checksum.
 * What decodes is encoded to what decodes to the same again; an extension with an
 * unknown ro_compat bit is refused by the encoder.
 *
 * With $RJ_SEEDS set the program writes a few inputs to that directory instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "history/base/manifest.h"
#include "format/epoch-claim.h"
#include "format/floor-record.h"
#include "format/hold.h"
#include "format/mount-note.h"
#include "format/sbx.h"
#include "format/fallback-hdr.h"
#include "util/bytes.h"
#include "util/crc32c.h"

enum what { SBX, CLAIM, FLOOR, HEADER, HOLD, NOTE, MANIFEST, KINDS };
#define RIGHT_CRC 8 /* a bit of the first byte */
#define MOST	  512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void put_crc(uint8_t *raw, size_t bytes)
{
	rj_put_le32(raw + bytes - 4, rj_crc32c(~0u, raw, bytes - 4));
}

static void try_sbx(const uint8_t *raw, struct rj_error *err)
{
	uint8_t back[RJ_SBX_BYTES];
	struct rj_sbx a, b;

	if (rj_sbx_decode(raw, &a, err))
		return;
	if (a.ro_compat & ~(uint32_t)RJ_SBX_RO_COMPAT_KNOWN) {
		/* may be read, never rewritten */
		must(rj_sbx_encode(&a, back, err) == -RJ_E_UNSUPPORTED);
		return;
	}
	must(!rj_sbx_encode(&a, back, err));
	must(!rj_sbx_decode(back, &b, err));
	must(!strcmp(a.url, b.url) && !strcmp(a.fallback, b.fallback) &&
		a.epoch == b.epoch && a.floor == b.floor &&
		a.incompat == b.incompat && a.placement == b.placement);
}

static void try_claim(const uint8_t *text, size_t len, struct rj_error *err)
{
	struct rj_epoch_claim a, b;
	struct rj_buf buf = {0};

	if (rj_epoch_claim_decode(text, len, &a, err))
		return;
	must(strlen(a.host) < sizeof(a.host) && a.tagged <= len);
	must(!rj_epoch_claim_encode(&a, &buf));
	if (a.has_tag)
		must(!rj_epoch_claim_add_tag(a.tag, &buf));
	must(buf.len == len && !strncasecmp((char *)buf.data, (char *)text, len));
	must(!rj_epoch_claim_decode(buf.data, buf.len, &b, err));
	must(a.epoch == b.epoch && a.time == b.time &&
		a.continues == b.continues && a.has_tag == b.has_tag &&
		!memcmp(a.nonce, b.nonce, sizeof(a.nonce)) &&
		!strcmp(a.host, b.host));
	rj_buf_free(&buf);
}

static void try_hold(const uint8_t *text, size_t len, struct rj_error *err)
{
	struct rj_buf buf = {0};
	struct rj_hold h;

	if (rj_hold_decode(text, len, &h, err))
		return;
	must(h.number && h.first && h.until <= RJ_HOLD_LATEST);
	must(!rj_hold_encode(&h, &buf));
	must(buf.len == len && !strncasecmp((char *)buf.data, (char *)text, len));
	rj_buf_free(&buf);
}

static void try_manifest(const uint8_t *data, size_t len, struct rj_error *err)
{
	struct rj_base_manifest m;
	struct rj_buf buf = {0};

	if (rj_base_manifest_decode(data, len, &m, err))
		return;
	must(!rj_base_manifest_encode(&m, &buf, err));
	must(buf.len == len && !memcmp(buf.data, data, len));
	rj_base_manifest_free(&m);
	rj_buf_free(&buf);
}

static void try_floor(const uint8_t *raw, struct rj_error *err)
{
	uint8_t back[RJ_FLOOR_BYTES];
	struct rj_floor_record r;

	if (rj_floor_record_decode(raw, &r, err))
		return;
	rj_floor_record_encode(&r, back);
	must(!memcmp(raw, back, sizeof(back)));
}

static void try_header(const uint8_t *raw, struct rj_error *err)
{
	uint8_t back[RJ_FALLBACK_HEADER_BYTES];
	struct rj_fallback_header a, b;

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	if (rj_fallback_header_decode(raw, &a, err))
		return;
	rj_fallback_header_encode(&a, back);
	must(!rj_fallback_header_decode(back, &b, err));
	must(a.from == b.from && a.next == b.next && a.position == b.position &&
		a.floor_sequence == b.floor_sequence);
}

static void try_note(const uint8_t *raw)
{
	uint8_t back[RJ_MOUNT_NOTE_BYTES];
	struct rj_mount_note n;

	if (!rj_mount_note_decode(raw, &n))
		return;
	rj_mount_note_encode(&n, back);
	must(!memcmp(raw, back, sizeof(back)));
}

static const size_t sizes[KINDS] = {
	[SBX] = RJ_SBX_BYTES,
	[FLOOR] = RJ_FLOOR_BYTES,
	[HEADER] = RJ_FALLBACK_HEADER_BYTES,
	[NOTE] = RJ_MOUNT_NOTE_BYTES,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rj_error err = {0};
	uint8_t raw[MOST] = {0};
	enum what what;

	if (!size)
		return 0;
	what = (enum what)((data[0] & (RIGHT_CRC - 1)) % KINDS);
	memcpy(raw, data + 1, size - 1 < MOST ? size - 1 : MOST);
	if (data[0] & RIGHT_CRC && sizes[what])
		put_crc(raw, sizes[what]);
	if (what == SBX)
		try_sbx(raw, &err);
	else if (what == CLAIM)
		try_claim(data + 1, size - 1, &err);
	else if (what == HOLD)
		try_hold(data + 1, size - 1, &err);
	else if (what == MANIFEST)
		try_manifest(data + 1, size - 1, &err);
	else if (what == FLOOR)
		try_floor(raw, &err);
	else if (what == HEADER)
		try_header(raw, &err);
	else
		try_note(raw);
	must(!err.code || err.msg[0]);
	return 0;
}

static void write_seed(
	const char *dir, enum what what, const void *data, size_t len)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/kind-%d", dir, (int)what);
	f = fopen(path, "w");
	if (!f || putc((int)what | RIGHT_CRC, f) == EOF ||
		fwrite(data, len, 1, f) != 1 || fclose(f))
		exit(1);
}

static void write_seeds(const char *dir)
{
	struct rj_floor_record r = {.generation = 1, .epoch = 2, .sequence = 3};
	struct rj_fallback_header h = {.area_bytes = RJ_FALLBACK_ALIGN};
	struct rj_mount_note n = {.kind = RJ_NOTE_MOUNTED, .epoch = 7};
	struct rj_epoch_claim c = {.epoch = 7, .host = "-", .time = 1};
	struct rj_hold hold = {.number = 1, .first = 2, .host = "-",
		.program = "rjbackup", .time = 3, .until = 4};
	struct rj_sbx s = {.placement = RJ_PLACE_REMOTE,
		.journal_blocks = 1024,
		.epoch = 1,
		.url = "rj://127.0.0.1:7490/v"};
	struct rj_base_manifest m = {.record = {.from = 1, .whole = 2, .chain = UINT64_MAX},
		.block_size = 1024,
		.blocks = 9000};
	struct rj_buf buf = {0};
	uint8_t raw[MOST];

	if (rj_base_manifest_encode(&m, &buf, NULL))
		exit(1);
	write_seed(dir, MANIFEST, buf.data, buf.len);
	rj_buf_free(&buf);
	if (!rj_sbx_encode(&s, raw, NULL))
		write_seed(dir, SBX, raw, RJ_SBX_BYTES);
	if (rj_epoch_claim_encode(&c, &buf))
		exit(1);
	write_seed(dir, CLAIM, buf.data, buf.len);
	rj_buf_free(&buf);
	if (rj_hold_encode(&hold, &buf))
		exit(1);
	write_seed(dir, HOLD, buf.data, buf.len);
	rj_buf_free(&buf);
	rj_floor_record_encode(&r, raw);
	write_seed(dir, FLOOR, raw, RJ_FLOOR_BYTES);
	rj_fallback_header_encode(&h, raw);
	write_seed(dir, HEADER, raw, RJ_FALLBACK_HEADER_BYTES);
	rj_mount_note_encode(&n, raw);
	write_seed(dir, NOTE, raw, RJ_MOUNT_NOTE_BYTES);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *dir = getenv("RJ_SEEDS");

	if (dir) {
		write_seeds(dir);
		exit(0);
	}
	return 0;
}
