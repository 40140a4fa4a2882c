// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reseal FILE N: invert the last byte of the Nth journal block from the end of
 * the segment in FILE, and seal it anew: what a writer would have sent whose
 * memory was bad. Its chain is still right; only JBD2's checksums can tell.
 * reseal FILE 0 KEYFILE: take the encryption off, and change nothing.
 */
#include <stdio.h>
#include <stdlib.h>

#include "log/ring.h"
#include "segment/segment.h"

static int read_file(const char *path, struct rj_buf *out)
{
	FILE *f = fopen(path, "rb");
	int rc = !f || rj_buf_reserve(out, RJ_SEG_MAX_BYTES);

	if (!rc)
		out->len = fread(out->data, 1, RJ_SEG_MAX_BYTES, f);
	if (f)
		fclose(f);
	return rc;
}

static int write_file(const char *path, const struct rj_buf *b)
{
	FILE *f = fopen(path, "wb");
	int rc = !f || fwrite(b->data, 1, b->len, f) != b->len;

	if (f && fclose(f))
		rc = 1;
	return rc;
}

int main(int argc, char **argv)
{
	uint8_t chain[RJ_SEG_HASH_BYTES];
	struct rj_buf in = {0}, out = {0};
	struct rj_ring *ring = NULL;
	struct rj_seg_draft draft;
	struct rj_sealkey *key = NULL;
	struct rj_segment seg = {0};
	struct rj_error err = {.msg = "cannot read or write the file"};
	uint64_t n;
	int rc;

	if (argc != 3 && argc != 4)
		return 2;
	n = strtoul(argv[2], NULL, 10);
	rc = read_file(argv[1], &in);
	if (!rc && argc == 4)
		rc = rj_sealkey_load(argv[3], &key, &err);
	if (!rc)
		rc = rj_segment_open_with(in.data, in.len, key, &seg, &err);
	if (!rc && (n < !key || n > (key ? 0 : seg.block_count)))
		rc = rj_fail(&err, RJ_E_INVAL, "it has %llu blocks",
			(unsigned long long)seg.block_count);
	if (!rc)
		rc = rj_ring_new(seg.body.block_size, seg.body.journal_blocks,
			&ring, &err);
	if (!rc) {
		if (n)
			in.data[in.len - (n - 1) * seg.body.block_size - 1] ^=
				0xFF;
		rc = rj_ring_apply(ring, &seg, &err);
	}
	if (!rc) {
		draft = (struct rj_seg_draft){
			.header = seg.header,
			.body = seg.body,
			.runs = seg.runs,
			.run_count = seg.body.run_count,
			.ring = ring->data,
		};
		draft.header.flags &= ~(RJ_SEG_F_AESGCM | RJ_SEG_F_ZSTD);
		rc = rj_segment_seal(&draft, &out, chain, &err);
	}
	if (!rc)
		rc = write_file(argv[1], &out);
	if (rc)
		fprintf(stderr, "reseal: %s: %s\n", argv[1], err.msg);
	rj_segment_release(&seg);
	rj_sealkey_free(key);
	rj_ring_free(ring);
	rj_buf_free(&in);
	rj_buf_free(&out);
	return rc ? 1 : 0;
}
