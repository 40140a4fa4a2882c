// SPDX-License-Identifier: GPL-2.0-or-later
/* Segments with a key and with zstd: what opens, and what must not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "draft.h"
#include "segment/segment.h"
#include "support/rjtest.h"
#include "util/environ.h"

#define BLOCK  1024
#define BLOCKS 16

static uint8_t ring[BLOCKS * BLOCK];
static const struct rj_seg_run runs[] = {{2, 1}, {5, 2}};
static struct rj_sealkey *key, *other;

static struct rj_seg_draft draft(void)
{
	return seg_draft(runs, 2, ring, BLOCKS);
}

static struct rj_buf seal(const struct rj_seg_draft *d)
{
	uint8_t chain[RJ_SEG_HASH_BYTES];
	struct rj_buf out = {0};
	struct rj_error err = {0};

	CU_ASSERT_EQUAL_FATAL(rj_segment_seal(d, &out, chain, &err), 0);
	return out;
}

/* Open LEN bytes on the heap with K, and forget them. */
static int code(
	const uint8_t *data, size_t len, const struct rj_sealkey *k)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct rj_segment seg;
	struct rj_error err = {0};
	int rc;

	memcpy(copy, data, len);
	rc = rj_segment_open_with(copy, len, k, &seg, &err);
	CU_ASSERT_EQUAL(rc, -(int)err.code);
	if (rc) {
		CU_ASSERT_PTR_NULL(seg.runs);
		CU_ASSERT_PTR_NULL(seg.own);
	}
	rj_segment_release(&seg);
	free(copy);
	return rc;
}

static void opens_as_sealed(const struct rj_seg_draft *d)
{
	struct rj_buf b = seal(d);
	struct rj_segment seg;
	struct rj_error err = {0};

	CU_ASSERT_EQUAL_FATAL(
		rj_segment_open_with(b.data, b.len, d->key, &seg, &err), 0);
	CU_ASSERT_EQUAL(seg.header.sequence, 9);
	CU_ASSERT_EQUAL(seg.body.last_tid, 99);
	CU_ASSERT_EQUAL_FATAL(seg.block_count, 3);
	CU_ASSERT_EQUAL(memcmp(seg.blocks, ring + 2 * BLOCK, BLOCK), 0);
	CU_ASSERT_EQUAL(
		memcmp(seg.blocks + BLOCK, ring + 5 * BLOCK, 2 * BLOCK), 0);
	rj_segment_release(&seg);
	rj_buf_free(&b);
}

static void every_combination_opens(void)
{
	struct rj_seg_draft d = draft();
	int i;

	for (i = 0; i < 4; i++) {
		d.key = i & 1 ? key : NULL;
		d.compress = i & 2;
		opens_as_sealed(&d);
	}
}

/* Sealed in place with space for MAX parts, D is EXPECTED parts and the same bytes. */
static void same_in_place(const struct rj_seg_draft *d, int max, int expected)
{
	uint8_t chain[2][RJ_SEG_HASH_BYTES];
	struct rj_buf whole = {0}, out = {0}, joined = {0};
	struct iovec parts[4];
	int i, count;

	CU_ASSERT_EQUAL(rj_segment_seal(d, &whole, chain[0], NULL), 0);
	CU_ASSERT_EQUAL_FATAL(rj_segment_seal_in_place(d, &out, parts, max,
				      &count, chain[1], NULL),
		0);
	CU_ASSERT_EQUAL(count, expected);
	for (i = 0; i < count; i++)
		rj_buf_append(&joined, parts[i].iov_base, parts[i].iov_len);
	CU_ASSERT_EQUAL_FATAL(joined.len, whole.len);
	CU_ASSERT_EQUAL(memcmp(joined.data, whole.data, whole.len), 0);
	CU_ASSERT_EQUAL(memcmp(chain[0], chain[1], sizeof(chain[0])), 0);
	rj_buf_free(&whole);
	rj_buf_free(&out);
	rj_buf_free(&joined);
}

static void in_place_it_is_the_same_segment(void)
{
	static const struct rj_seg_run three[] = {{9, 3}, {2, 1}, {5, 2}};
	struct rj_seg_draft d = draft();

	same_in_place(&d, 3, 3);
	same_in_place(&d, 2, 1);
	d.runs = three;
	d.run_count = 3;
	same_in_place(&d, 4, 4);
	same_in_place(&d, 3, 1);
	d.compress = true;
	same_in_place(&d, 4, 1);
	d.key = key;
	same_in_place(&d, 4, 1);
	d.compress = false;
	same_in_place(&d, 4, 1);
}

static void a_fence_is_encrypted_too(void)
{
	struct rj_seg_draft d = draft();
	struct rj_buf b;

	d.header.kind = RJ_SEG_FENCE;
	memset(&d.body, 0, sizeof(d.body));
	d.run_count = 0;
	d.key = key;
	d.compress = true;
	b = seal(&d);
	CU_ASSERT_EQUAL(code(b.data, b.len, key), 0);
	CU_ASSERT_EQUAL(code(b.data, b.len, NULL), -RJ_E_KEY);
	rj_buf_free(&b);
}

static bool holds(const struct rj_buf *b, const void *what, size_t len)
{
	return memmem(b->data, b->len, what, len) != NULL;
}

static void nothing_readable_with_a_key(void)
{
	struct rj_seg_draft d = draft();
	struct rj_buf plain, sealed;

	plain = seal(&d);
	d.key = key;
	sealed = seal(&d);
	CU_ASSERT_TRUE(holds(&plain, ring + 2 * BLOCK, 32));
	CU_ASSERT_FALSE(holds(&sealed, ring + 2 * BLOCK, 32));
	CU_ASSERT_EQUAL(plain.len, sealed.len);
	rj_buf_free(&plain);
	rj_buf_free(&sealed);
}

static void the_wrong_key(void)
{
	struct rj_seg_draft d = draft();
	struct rj_buf b;

	d.key = key;
	b = seal(&d);
	CU_ASSERT_EQUAL(code(b.data, b.len, key), 0);
	CU_ASSERT_EQUAL(code(b.data, b.len, other), -RJ_E_KEY);
	CU_ASSERT_EQUAL(code(b.data, b.len, NULL), -RJ_E_KEY);
	rj_buf_free(&b);
	/* whoever may write to the store can make this one */
	d.key = NULL;
	b = seal(&d);
	CU_ASSERT_EQUAL(code(b.data, b.len, key), -RJ_E_CORRUPT);
	rj_buf_free(&b);
}

/* Each byte in turn, each bit of the header's. With the key it is damage, never
 * "another key" or "a newer version"; only an unknown version or flag may pass
 * for one, because an AES-GCM tag cannot be tried without knowing the rules. */
static void every_flipped_byte(void)
{
	struct rj_seg_draft d = draft();
	struct rj_buf b;
	unsigned bit;
	size_t i;
	int rc, way;

	for (way = 0; way < 2; way++) {
		d.key = key;
		d.compress = way;
		b = seal(&d);
		for (i = 0; i < b.len; i++) {
			for (bit = 0; bit < (i < 256 ? 8u : 1u); bit++) {
				b.data[i] ^= (uint8_t)(1u << bit);
				rc = code(b.data, b.len, key);
				b.data[i] ^= (uint8_t)(1u << bit);
				if (rc == -RJ_E_UNSUPPORTED && i >= 8 && i < 20)
					continue;
				if (rc == -RJ_E_CORRUPT)
					continue;
				printf("# byte %zu bit %u: %d\n", i, bit, rc);
				CU_FAIL("a flipped bit was not seen");
			}
		}
		for (i = 0; i < b.len; i++)
			CU_ASSERT_EQUAL(code(b.data, i, key), -RJ_E_CORRUPT);
		rj_buf_free(&b);
	}
}

/* No two segments of one key and nonce: another writer, journal or number. */
static void each_writer_has_its_own_key(void)
{
	struct rj_seg_draft d = draft();
	struct rj_buf a, b;

	d.key = key;
	a = seal(&d);
	d.header.nonce[0] ^= 1;
	b = seal(&d);
	CU_ASSERT_NOT_EQUAL(memcmp(a.data + 256, b.data + 256, 512), 0);
	rj_buf_free(&b);
	d = draft();
	d.key = key;
	d.header.journal_uuid[0] ^= 1;
	b = seal(&d);
	CU_ASSERT_NOT_EQUAL(memcmp(a.data + 256, b.data + 256, 512), 0);
	rj_buf_free(&b);
	d = draft();
	d.key = key;
	d.header.sequence++;
	b = seal(&d);
	CU_ASSERT_NOT_EQUAL(memcmp(a.data + 256, b.data + 256, 512), 0);
	/* the body of one under the header of the other */
	memcpy(b.data + 256, a.data + 256, a.len - 256);
	CU_ASSERT_EQUAL(code(b.data, b.len, key), -RJ_E_CORRUPT);
	rj_buf_free(&b);
	/* and the first writer's again: the same bytes, from the same draft */
	d = draft();
	d.key = key;
	b = seal(&d);
	CU_ASSERT_EQUAL_FATAL(a.len, b.len);
	CU_ASSERT_EQUAL(memcmp(a.data, b.data, a.len), 0);
	rj_buf_free(&a);
	rj_buf_free(&b);
}

static void compresses_where_it_pays(void)
{
	struct rj_seg_draft d = draft();
	struct rj_buf plain, packed;
	uint8_t noise[sizeof(ring)], keep[sizeof(ring)];

	plain = seal(&d);
	d.compress = true;
	packed = seal(&d);
	CU_ASSERT_TRUE(packed.len < plain.len / 2);
	rj_buf_free(&packed);
	memcpy(keep, ring, sizeof(keep));
	CU_ASSERT_EQUAL_FATAL(rj_random_bytes(noise, sizeof(noise)), 0);
	memcpy(ring, noise, sizeof(noise));
	packed = seal(&d);
	CU_ASSERT_EQUAL(packed.len, plain.len);
	opens_as_sealed(&d);
	memcpy(ring, keep, sizeof(keep));
	rj_buf_free(&plain);
	rj_buf_free(&packed);
}

/* A body that claims another length than it expands to, under a right seal. */
static void a_lying_length(void)
{
	struct rj_seg_draft d = draft();
	struct rj_buf b;
	int by;

	d.compress = true;
	for (by = -1; by <= 1; by++) {
		b = seal(&d);
		b.data[64] = (uint8_t)(b.data[64] + by); /* raw_bytes */
		seg_reseal(b.data, b.len, RJ_SEG_VERSION);
		CU_ASSERT_EQUAL(code(b.data, b.len, NULL),
			by ? -RJ_E_CORRUPT : 0);
		rj_buf_free(&b);
	}
}

static char dir[] = "/tmp/rjtest.sealed.XXXXXX";

static int load_text(const char *text, mode_t mode)
{
	char path[64];
	struct rj_sealkey *k = NULL;
	struct rj_error err = {0};
	FILE *f;
	int rc;

	snprintf(path, sizeof(path), "%s/k", dir);
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) || chmod(path, mode))
		CU_FAIL_FATAL("cannot write a key file");
	rc = rj_sealkey_load(path, &k, &err);
	CU_ASSERT_TRUE(!rc == !!k);
	if (rc)
		CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, path));
	rj_sealkey_free(k);
	unlink(path);
	return rc;
}

#define DIGITS "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF"

static void key_files(void)
{
	CU_ASSERT_EQUAL(load_text("rj-key 1\n" DIGITS "\n", 0600), 0);
	CU_ASSERT_EQUAL(load_text("rj-key 1\n" DIGITS, 0400), 0);
	CU_ASSERT_EQUAL(
		load_text("rj-key 1\n" DIGITS "\n", 0640), -RJ_E_DENIED);
	CU_ASSERT_EQUAL(
		load_text("rj-key 1\n" DIGITS "\n", 0604), -RJ_E_DENIED);
	CU_ASSERT_EQUAL(
		load_text("rj-key 2\n" DIGITS "\n", 0600), -RJ_E_CORRUPT);
	CU_ASSERT_EQUAL(
		load_text("rj-key 1\n" DIGITS "0\n", 0600), -RJ_E_CORRUPT);
	CU_ASSERT_EQUAL(
		load_text("rj-key 1\ng" DIGITS "\n", 0600), -RJ_E_CORRUPT);
	CU_ASSERT_EQUAL(load_text("", 0600), -RJ_E_CORRUPT);
	CU_ASSERT_EQUAL(load_text(DIGITS "\n", 0600), -RJ_E_CORRUPT);
}

static void generated_keys(void)
{
	struct rj_sealkey *k = NULL, *again = NULL;
	struct rj_error err = {0};
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "%s/new", dir);
	CU_ASSERT_EQUAL(rj_sealkey_generate(path, &err), 0);
	CU_ASSERT_EQUAL(stat(path, &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 07777, 0600);
	CU_ASSERT_EQUAL_FATAL(rj_sealkey_load(path, &k, &err), 0);
	CU_ASSERT_EQUAL(rj_sealkey_generate(path, &err), -RJ_E_EXISTS);
	CU_ASSERT_EQUAL_FATAL(rj_sealkey_load(path, &again, &err), 0);
	CU_ASSERT_EQUAL(memcmp(rj_sealkey_fingerprint(k),
				rj_sealkey_fingerprint(again),
				RJ_SEALKEY_FINGERPRINT_BYTES),
		0);
	CU_ASSERT_NOT_EQUAL(memcmp(rj_sealkey_fingerprint(k),
				    rj_sealkey_fingerprint(key),
				    RJ_SEALKEY_FINGERPRINT_BYTES),
		0);
	rj_sealkey_free(k);
	rj_sealkey_free(again);
	unlink(path);
	snprintf(path, sizeof(path), "%s/none/new", dir);
	CU_ASSERT_EQUAL(rj_sealkey_generate(path, &err), -RJ_E_NOTFOUND);
}

/* HKDF-SHA256 by another program (python: hmac) for the same input, so that a
 * log can be read by somebody else's implementation. */
static void derivation_is_as_documented(void)
{
	static const uint8_t fingerprint[] = {
		0x63, 0x9c, 0x00, 0x62, 0xf9, 0x23, 0x85, 0x01,
		0xb3, 0xd6, 0x73, 0xba, 0x33, 0x96, 0x9c, 0x70};
	static const uint8_t derived[] = {
		0x1f, 0xa0, 0xd3, 0x3c, 0x2c, 0x8c, 0xe1, 0x41,
		0xf3, 0x3a, 0x03, 0x31, 0x5c, 0x93, 0xf7, 0x05,
		0x86, 0xc2, 0x14, 0xc2, 0x5a, 0x31, 0xd2, 0x23,
		0x00, 0x12, 0x1b, 0xa4, 0x6a, 0xcf, 0xaf, 0x4c};
	uint8_t bytes[RJ_SEALKEY_BYTES], uuid[16], nonce[16], out[32];
	struct rj_sealkey *k = NULL;
	int i;

	for (i = 0; i < RJ_SEALKEY_BYTES; i++)
		bytes[i] = (uint8_t)i;
	memset(uuid, 0x20, sizeof(uuid));
	memset(nonce, 0x30, sizeof(nonce));
	CU_ASSERT_EQUAL_FATAL(rj_sealkey_from_bytes(bytes, &k, NULL), 0);
	CU_ASSERT_EQUAL(memcmp(rj_sealkey_fingerprint(k), fingerprint,
				sizeof(fingerprint)),
		0);
	CU_ASSERT_EQUAL(prctl(PR_GET_DUMPABLE), 0); /* a core would have it */
	CU_ASSERT_EQUAL(rj_sealkey_derive(k, uuid, nonce, out, NULL), 0);
	CU_ASSERT_EQUAL(memcmp(out, derived, sizeof(derived)), 0);
	rj_sealkey_free(k);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(every_combination_opens),
		RJTEST(in_place_it_is_the_same_segment),
		RJTEST(a_fence_is_encrypted_too),
		RJTEST(nothing_readable_with_a_key),
		RJTEST(the_wrong_key),
		RJTEST(every_flipped_byte),
		RJTEST(each_writer_has_its_own_key),
		RJTEST(compresses_where_it_pays),
		RJTEST(a_lying_length),
		RJTEST(key_files),
		RJTEST(generated_keys),
		RJTEST(derivation_is_as_documented),
	};
	uint8_t bytes[RJ_SEALKEY_BYTES] = {1};
	int status;
	size_t i;

	for (i = 0; i < sizeof(ring); i++)
		ring[i] = (uint8_t)(i / 7);
	if (!mkdtemp(dir) || rj_sealkey_from_bytes(bytes, &key, NULL))
		return 99;
	bytes[0] = 2;
	if (rj_sealkey_from_bytes(bytes, &other, NULL))
		return 99;
	status = RJTEST_RUN("sealed", tests);
	rj_sealkey_free(key);
	rj_sealkey_free(other);
	rmdir(dir);
	return status;
}
