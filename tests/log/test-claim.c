// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of an epoch's object: read strictly, and with a key believed only if it
 * was written with that key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/common.h"
#include "log/listing.h"
#include "log/write/epoch.h"
#include "segment/sealkey.h"
#include "store/store.h"
#include "util/log.h"

static const uint8_t nonce[RJ_SEG_NONCE_BYTES] = {1, 2, 3};
static struct rj_error err;

static struct rj_log_id id_with(const struct rj_sealkey *key)
{
	struct rj_log_id id = {.key = key};

	memset(id.volume_uuid, 0x11, RJ_UUID_BYTES);
	memset(id.journal_uuid, 0x22, RJ_UUID_BYTES);
	return id;
}

static struct rj_sealkey *key_of(uint8_t byte)
{
	uint8_t bytes[RJ_SEALKEY_BYTES];
	struct rj_sealkey *key = NULL;

	memset(bytes, byte, sizeof(bytes));
	CU_ASSERT_EQUAL_FATAL(rj_sealkey_from_bytes(bytes, &key, &err), 0);
	return key;
}

static void set(struct rj_buf *b, const char *text)
{
	b->len = 0;
	CU_ASSERT_EQUAL_FATAL(rj_buf_append(b, text, strlen(text)), 0);
}

static void there_and_back(void)
{
	struct rj_log_id id = id_with(NULL);
	struct rj_epoch_claim c = {0};
	struct rj_buf text = {0};

	CU_ASSERT_EQUAL(rj_epoch_text(&id, 7, nonce, 5, &text, &err), 0);
	CU_ASSERT_TRUE_FATAL(rj_epoch_read(&id, 7, &text, &c));
	CU_ASSERT_EQUAL(c.epoch, 7);
	CU_ASSERT_EQUAL(c.continues, 5);
	CU_ASSERT_EQUAL(memcmp(c.nonce, nonce, sizeof(nonce)), 0);
	CU_ASSERT_FALSE(c.has_tag);
	CU_ASSERT_FALSE(rj_epoch_read(&id, 8, &text, &c)); /* in its place */
	id.journal_uuid[0] ^= 1;
	CU_ASSERT_FALSE(rj_epoch_read(&id, 7, &text, &c));
	rj_buf_free(&text);
}

#define HEAD \
	"rj-epoch 1\nepoch 7\nvolume 0fedcba9-8765-4321-0123-456789abcdef\n" \
	"journal 00112233-4455-6677-8899-aabbccddeeff\n"
#define NONCE "nonce 00112233445566778899aabbccddeeff\n"
#define REST  "host server.example\ntime 2026-01-31T23:59:59Z\n"

static void nothing_else_is_a_claim(void)
{
	static const char *const bad[] = {"", "rj-epoch 1\n", HEAD, HEAD REST,
		HEAD NONCE "host server.example\n", HEAD NONCE REST "x 1\n",
		HEAD NONCE REST "\n", HEAD NONCE REST "continues x\n",
		HEAD NONCE REST "continues 05\n",
		HEAD NONCE REST "continues 99999999999999999999\n",
		HEAD NONCE REST "continues 5\ncontinues 5\n",
		HEAD NONCE REST "tag 00\n", HEAD NONCE REST "tag\n",
		HEAD "nonce 00\n" REST, HEAD NONCE "host a b\n",
		HEAD NONCE "host h\ntime yesterday\n",
		HEAD NONCE "host h\ntime 2026-1-31T23:59:59Z\n",
		HEAD NONCE "host h\ntime 1969-12-31T23:59:59Z\n",
		HEAD NONCE "continues 5\n" REST, HEAD NONCE REST "continues 5"};
	static const char nul[] = HEAD NONCE "host h\ntime 2026-01-31T23:59:59Z\0\n";
	struct rj_epoch_claim c;
	size_t i;

	CU_ASSERT_EQUAL(rj_epoch_claim_decode(HEAD NONCE REST,
				strlen(HEAD NONCE REST), &c, &err), 0);
	CU_ASSERT_STRING_EQUAL(c.host, "server.example");
	CU_ASSERT_EQUAL(c.time, 1769903999);
	CU_ASSERT_NOT_EQUAL(rj_epoch_claim_decode(nul, sizeof(nul) - 1, &c, &err), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!rj_epoch_claim_decode(bad[i], strlen(bad[i]), &c, &err))
			CU_FAIL(bad[i]);
}

static void no_changed_byte_passes_with_a_key(void)
{
	struct rj_sealkey *key = key_of(1), *other = key_of(2);
	struct rj_log_id id = id_with(key), bare = id_with(NULL);
	struct rj_epoch_claim c;
	struct rj_buf text = {0}, forged = {0};
	size_t i;
	int bit;

	CU_ASSERT_EQUAL(rj_epoch_text(&id, 7, nonce, 5, &text, &err), 0);
	CU_ASSERT_TRUE(rj_epoch_read(&id, 7, &text, &c));
	CU_ASSERT_STRING_EQUAL(c.host, "-");
	for (i = 0; i < text.len; i++)
		for (bit = 0; bit < 8; bit++) {
			text.data[i] ^= (uint8_t)(1 << bit);
			/* a digit of the tag may be in capitals */
			if (rj_epoch_read(&id, 7, &text, &c) &&
				(i < c.tagged || bit != 5))
				CU_FAIL("a changed claim was believed");
			text.data[i] ^= (uint8_t)(1 << bit);
		}
	id.key = other;
	CU_ASSERT_FALSE(rj_epoch_read(&id, 7, &text, &c));
	id.key = key;
	/* one without a tag: of the store, or of before there were tags */
	CU_ASSERT_EQUAL(rj_epoch_text(&bare, 7, nonce, 5, &forged, &err), 0);
	CU_ASSERT_FALSE(rj_epoch_read(&id, 7, &forged, &c));
	set(&forged, HEAD NONCE REST);
	CU_ASSERT_FALSE(rj_epoch_read(&id, 7, &forged, &c));
	/* a reader without a key reads it, too */
	CU_ASSERT_TRUE(rj_epoch_read(&bare, 7, &text, &c));
	rj_buf_free(&text);
	rj_buf_free(&forged);
	rj_sealkey_free(key);
	rj_sealkey_free(other);
}

static char said[1024];

static void keep_line(void *arg, enum rj_log_level level, const char *line)
{
	(void)arg;
	if (level == RJ_LOG_WARNING)
		snprintf(said, sizeof(said), "%s", line);
}

/* A claim that is not believed is named, with what to do. */
static void unbelieved_claim_is_named(void)
{
	char dir[] = "/tmp/rjclaim.XXXXXX", url[64], clean[64];
	struct rj_sealkey *key = key_of(1);
	struct rj_log_id id = id_with(key), bare = id_with(NULL);
	struct rj_key at = rj_log_key(&id, RJ_KEY_EPOCH, 7);
	struct rj_store *store = NULL;
	struct rj_buf text = {0};
	uint64_t since;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	setenv("RJ_CONF", "/dev/null", 1);
	snprintf(url, sizeof(url), "file://%s", dir);
	CU_ASSERT_EQUAL_FATAL(rj_store_open(url, NULL, &store, &err), 0);
	CU_ASSERT_EQUAL(rj_epoch_text(&bare, 7, nonce, 5, &text, &err), 0);
	CU_ASSERT_EQUAL(
		rj_store_put_new(store, &at, text.data, text.len, &err), 0);
	rj_log_set(keep_line, NULL);
	CU_ASSERT_EQUAL(rj_log_served_since(store, &bare, 7, 0, &since, &err), 0);
	CU_ASSERT_EQUAL(since, 5);
	CU_ASSERT_STRING_EQUAL(said, "");
	CU_ASSERT_EQUAL(rj_log_served_since(store, &id, 7, 0, &since, &err), 0);
	CU_ASSERT_EQUAL(since, 7);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "the claim of epoch 7"));
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "rjrecover(8)"));
	rj_log_set(NULL, NULL);
	rj_store_close(store);
	rj_buf_free(&text);
	rj_sealkey_free(key);
	snprintf(clean, sizeof(clean), "rm -rf %s", dir);
	CU_ASSERT_EQUAL(system(clean), 0);
}

/* Two look for the first free number above the same one: each gets its own, and no worker
 * takes over from the first by what the second has claimed. */
static void a_number_is_for_one_writer(void)
{
	const uint8_t other[RJ_SEG_NONCE_BYTES] = {4, 5, 6};
	struct rj_epoch_want want = {.nonce = nonce};
	uint64_t epoch, newest;
	struct t_log t;

	t_log_begin(&t);
	CU_ASSERT_EQUAL(rj_epoch_claim(t.store, &t.id, &want, &epoch, &t.err), 0);
	CU_ASSERT_EQUAL(epoch, 1);
	want.nonce = other;
	CU_ASSERT_EQUAL(rj_epoch_claim(t.store, &t.id, &want, &epoch, &t.err), 0);
	CU_ASSERT_EQUAL(epoch, 2);
	CU_ASSERT_EQUAL(rj_log_successor(t.store, &t.id, 1, nonce, true, 0, &newest,
				&t.err),
		-RJ_E_FENCED);
	CU_ASSERT_EQUAL(rj_log_successor(t.store, &t.id, 1, other, true, 0, &newest, &t.err),
		0);
	CU_ASSERT_EQUAL(newest, 2);
	t_log_end(&t);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(there_and_back),
		RJTEST(nothing_else_is_a_claim),
		RJTEST(no_changed_byte_passes_with_a_key),
		RJTEST(unbelieved_claim_is_named),
		RJTEST(a_number_is_for_one_writer),
	};
	int rc = RJTEST_RUN("claim", tests);

	t_store_done();
	return rc;
}
