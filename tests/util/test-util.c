// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "log/retry.h"
#include "os/bio.h"
#include "support/rjtest.h"
#include "text/quantity.h"
#include "util/buf.h"
#include "util/bytes.h"
#include "util/crc32c.h"
#include "util/environ.h"
#include "util/error-class.h"
#include "util/error.h"
#include "util/log.h"
#include "util/uuid.h"

static void crc32c_known_answer(void)
{
	/* RFC 3720 B.4: 32 bytes of zeros, with the usual inversions */
	uint8_t zeros[32] = {0};

	CU_ASSERT_EQUAL(~rj_crc32c(~0u, zeros, 32), 0x8A9136AAu);
	CU_ASSERT_EQUAL(~rj_crc32c(~0u, "123456789", 9), 0xE3069283u);
}

static void crc32c_continues(void)
{
	uint8_t data[100];
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	for (i = 0; i <= sizeof(data); i++)
		CU_ASSERT_EQUAL(rj_crc32c(rj_crc32c(~0u, data, i), data + i,
					sizeof(data) - i),
			rj_crc32c(~0u, data, sizeof(data)));
}

/* Bit by bit, as the polynomial says. */
static uint32_t crc32c_slow(uint32_t crc, uint8_t byte)
{
	int i;

	for (crc ^= byte, i = 0; i < 8; i++)
		crc = (crc >> 1) ^ (crc & 1 ? 0x82F63B78u : 0);
	return crc;
}

/* Each length up to where all ways of computing it have been taken several
 * times, each alignment, and one long one. */
static void crc32c_is_what_it_is(void)
{
	static uint8_t data[1 << 20];
	uint64_t x = rjtest_seed();
	uint32_t want, bad = 0;
	size_t i, at;

	for (i = 0; i < sizeof(data); i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		data[i] = (uint8_t)(x >> 56);
	}
	for (at = 0; at < 16; at++)
		for (want = (uint32_t)x, i = 0; i < 7000; i++) {
			bad += rj_crc32c((uint32_t)x, data + at, i) != want;
			want = crc32c_slow(want, data[at + i]);
		}
	for (want = ~0u, i = 0; i < sizeof(data); i++)
		want = crc32c_slow(want, data[i]);
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(rj_crc32c(~0u, data, sizeof(data)), want);
}

static void crc32_be_known_answer(void)
{
	/* CRC-32/MPEG-2 of the check string */
	CU_ASSERT_EQUAL(rj_crc32_be(~0u, "123456789", 9), 0x0376E6E7u);
}

static void byte_order(void)
{
	uint8_t b[8] = {1, 2, 3, 4, 5, 6, 7, 8};

	CU_ASSERT_EQUAL(rj_get_le32(b), 0x04030201u);
	CU_ASSERT_EQUAL(rj_get_be32(b), 0x01020304u);
	CU_ASSERT_EQUAL(rj_get_be64(b), 0x0102030405060708ull);
	rj_put_le16(b, 0xABCD);
	CU_ASSERT_EQUAL(b[0], 0xCD);
}

static void uuid_text_and_back(void)
{
	static const char text[] = "0fedcba9-8765-4321-0123-456789abcdef";
	uint8_t u[RJ_UUID_BYTES];
	char out[RJ_UUID_TEXT];

	CU_ASSERT_TRUE(rj_uuid_parse(text, u));
	CU_ASSERT_STRING_EQUAL(rj_uuid_text(u, out), text);
	CU_ASSERT_FALSE(rj_uuid_parse("0fedcba9-8765-4321-0123-456789abcde", u));
	CU_ASSERT_FALSE(
		rj_uuid_parse("0fedcba9-8765-4321-0123-456789abcdef0", u));
	CU_ASSERT_FALSE(rj_uuid_parse("0fedcba9087654321-0123-456789abcdef", u));
	CU_ASSERT_FALSE(rj_uuid_parse("", u));
}

static void uuid_random_is_version_4(void)
{
	uint8_t a[RJ_UUID_BYTES], b[RJ_UUID_BYTES];

	CU_ASSERT_EQUAL(rj_uuid_random(a), 0);
	CU_ASSERT_EQUAL(rj_uuid_random(b), 0);
	CU_ASSERT_EQUAL(a[6] >> 4, 4);
	CU_ASSERT_FALSE(rj_uuid_equal(a, b));
}

static void error_carries_context(void)
{
	struct rj_error err;
	int rc = rj_fail_errno(&err, ENOENT, "%s: cannot open", "vol.img");

	CU_ASSERT_EQUAL(rc, -RJ_E_NOTFOUND);
	CU_ASSERT_STRING_EQUAL(
		err.msg, "vol.img: cannot open: No such file or directory");
	rc = rj_fail_prefix(&err, "attach");
	CU_ASSERT_EQUAL(rc, -RJ_E_NOTFOUND);
	CU_ASSERT_EQUAL(strncmp(err.msg, "attach: vol.img:", 16), 0);
	CU_ASSERT_EQUAL(rj_fail(NULL, RJ_E_GAP, "no one listens"), -RJ_E_GAP);
}

/* What to do next is never cut off, and the buffer is never left. */
static void suffix_is_whole(void)
{
	struct {
		struct rj_error err;
		char after[8];
	} e = {.after = "intact"};
	char text[RJ_ERROR_BYTES + 100];
	size_t last = RJ_ERROR_BYTES - 1;

	rj_fail(&e.err, RJ_E_GAP, "a hole");
	CU_ASSERT_EQUAL(rj_fail_suffix(&e.err, "; run %s", "x"), -RJ_E_GAP);
	CU_ASSERT_STRING_EQUAL(e.err.msg, "a hole; run x");
	memset(text, 'm', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	rj_fail(&e.err, RJ_E_GAP, "%s", text);
	rj_fail_suffix(&e.err, "; run x");
	CU_ASSERT_EQUAL(strlen(e.err.msg), last);
	CU_ASSERT_STRING_EQUAL(e.err.msg + last - 8, "m; run x");
	rj_fail_suffix(&e.err, "%s", text);
	CU_ASSERT_EQUAL(strlen(e.err.msg), last);
	CU_ASSERT_STRING_EQUAL(e.after, "intact");
	CU_ASSERT_EQUAL(rj_fail_suffix(NULL, "x"), -RJ_E_IO);
}

/* What is waited for, and what it is called: one policy for all. */
static void error_says_whether_to_wait(void)
{
	static const struct {
		enum rj_code code;
		enum rj_cause cause;
		bool final;
		const char *name;
	} all[] = {
		{RJ_E_UNREACHABLE, RJ_CAUSE_CODE, false, "unreachable"},
		{RJ_E_UNREACHABLE, RJ_CAUSE_MISSING, false, "segments missing"},
		{RJ_E_NOSPACE, RJ_CAUSE_CODE, false, "no space"},
		{RJ_E_DENIED, RJ_CAUSE_TOKEN, false, "refused: token"},
		{RJ_E_DENIED, RJ_CAUSE_CODE, false, "refused"},
		{RJ_E_DENIED, RJ_CAUSE_EXPIRED, false,
			"refused: certificate expired"},
		{RJ_E_PROTOCOL, RJ_CAUSE_REDIRECT, false, "redirected"},
		{RJ_E_PROTOCOL, RJ_CAUSE_CODE, false, "not understood"},
		{RJ_E_CORRUPT, RJ_CAUSE_CODE, false, "damaged"},
		{RJ_E_IO, RJ_CAUSE_CODE, false, "io"},
		{RJ_E_NOMEM, RJ_CAUSE_CODE, false, "no-memory"},
		{RJ_E_INVAL, RJ_CAUSE_SETTINGS, false, "rj.conf"},
		{RJ_E_INVAL, RJ_CAUSE_CODE, true, "invalid"},
		{RJ_E_NOMEM, RJ_CAUSE_SEALING, true, "not sealed"},
		{RJ_E_FENCED, RJ_CAUSE_CODE, true, "fenced"},
		{RJ_E_CORRUPT, RJ_CAUSE_TAKEN, true, "taken over"},
		{RJ_E_CANCELLED, RJ_CAUSE_CODE, true, "cancelled"},
		{RJ_E_KEY, RJ_CAUSE_CODE, true, "key"},
	};
	struct rj_error err;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		rj_fail_cause(rj_fail(&err, all[i].code, "x"), all[i].cause,
			&err);
		CU_ASSERT_EQUAL(rj_error_final(&err), all[i].final);
		CU_ASSERT_STRING_EQUAL(rj_error_cause(&err), all[i].name);
	}
	rj_fail_cause(0, RJ_CAUSE_TOKEN, &err);
	rj_fail(&err, RJ_E_UNREACHABLE, "x");
	CU_ASSERT_EQUAL(err.cause, RJ_CAUSE_CODE);
}

/* What each code means for the next step: one policy for all. */
static void code_says_what_it_means(void)
{
	static const char *const want[] = {
		[RJ_OK] = "",
		[RJ_E_IO] = "",
		[RJ_E_NOMEM] = "ours",
		[RJ_E_INVAL] = "",
		[RJ_E_NOTFOUND] = "lost",
		[RJ_E_EXISTS] = "",
		[RJ_E_UNREACHABLE] = "transient away lost",
		[RJ_E_DENIED] = "away lost",
		[RJ_E_CORRUPT] = "damage lost",
		[RJ_E_GAP] = "damage lost",
		[RJ_E_FOREIGN] = "damage lost",
		[RJ_E_FENCED] = "",
		[RJ_E_BUSY] = "ours",
		[RJ_E_UNSUPPORTED] = "lost",
		[RJ_E_NOTRJ] = "",
		[RJ_E_NOSPACE] = "",
		[RJ_E_PROTOCOL] = "lost",
		[RJ_E_CANCELLED] = "",
		[RJ_E_REFUSED] = "ours",
		[RJ_E_KEY] = "ours",
	};
	int code, n = sizeof(want) / sizeof(want[0]);
	struct rj_error err;
	char is[64];

	for (code = 0; code < n; code++) {
		rj_fail(&err, (enum rj_code)code, "x");
		snprintf(is, sizeof(is), "%s%s%s%s%s",
			rj_code_transient(-code) ? "transient " : "",
			rj_code_away(-code) ? "away " : "",
			rj_code_damage(-code) ? "damage " : "",
			rj_error_log_lost(&err) ? "lost " : "",
			rj_error_ours(&err) ? "ours " : "");
		if (is[0]) /* the last blank */
			is[strlen(is) - 1] = 0;
		CU_ASSERT_STRING_EQUAL(is, want[code]);
		if (strcmp(is, want[code]))
			printf("# %s: %s\n", rj_code_name((enum rj_code)code), is);
		/* rj.conf, or a key file, is at fault: of the log that says nothing */
		rj_fail_cause(0, RJ_CAUSE_SETTINGS, &err);
		CU_ASSERT_TRUE(rj_error_ours(&err) && !rj_error_log_lost(&err));
	}
	/* a new code needs a line above */
	CU_ASSERT_STRING_EQUAL(rj_code_name((enum rj_code)n), "unknown");
	rj_fail(&err, (enum rj_code)n, "x");
	CU_ASSERT_FALSE(rj_error_ours(&err) || rj_error_log_lost(&err));
}

static int same_byte(void *arg, void *out, size_t len)
{
	if (!arg)
		return -RJ_E_IO;
	memset(out, *(unsigned char *)arg, len);
	return 0;
}

/* Twice as long each time, never over the cap, and 75 to 125 percent of it. */
static void backoff_doubles_to_its_cap(void)
{
	static const int64_t plain[] = {20, 40, 80, 100, 100, 100};
	unsigned char least = 0, most = 0xff;
	struct rj_environ env = {.random_bytes = same_byte};
	unsigned i;

	rj_environ_set(&env);
	for (i = 0; i < 6; i++) {
		int64_t ns = plain[i] * 1024;

		env.arg = NULL; /* no random bytes: no jitter */
		CU_ASSERT_EQUAL(rj_backoff_ns(i, 20 * 1024, 100 * 1024), ns);
		env.arg = &least;
		CU_ASSERT_EQUAL(
			rj_backoff_ns(i, 20 * 1024, 100 * 1024), ns * 3 / 4);
		env.arg = &most;
		CU_ASSERT_EQUAL(rj_backoff_ns(i, 20 * 1024, 100 * 1024),
			ns * 3 / 4 + ns / 2 * 1023 / 1024);
	}
	env.arg = NULL;
	CU_ASSERT_EQUAL(rj_backoff_ns(UINT32_MAX, 1, 7), 7);
	CU_ASSERT_EQUAL(rj_backoff_ns(0, 9, 7), 7);
	rj_environ_set(NULL);
}

static void keep_line(void *arg, enum rj_log_level level, const char *line)
{
	snprintf(arg, 64, "%s", line);
}

/* What a server says of itself can do nothing to a terminal. */
static void messages_are_printable(void)
{
	static const struct {
		const char *said, *shown;
	} cases[] = {
		{"plain text ~", "plain text ~"},
		{"\033[2Jgone\r\nnext\tx\177", "?[2Jgone??next?x?"},
		{"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x92\xbe",
			"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x92\xbe"},
		{"caf\xe9", "caf?"},
		{"cut \xe2\x82", "cut ??"},
		{"CSI \xc2\x9b" "2J", "CSI ??2J"},
		{"long \xc0\x9b \xe0\x80\x9b", "long ?? ???"},
		{"none \xed\xa0\x80 \xf4\x90\x80\x80 \xff",
			"none ??? ???? ?"},
	};
	char line[64] = "";
	struct rj_error err;
	size_t i;

	rj_log_set(keep_line, line);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rj_fail(&err, RJ_E_DENIED, "%s", cases[i].said);
		CU_ASSERT_STRING_EQUAL(err.msg, cases[i].shown);
		rj_fail_prefix(&err, "%s", cases[i].said);
		CU_ASSERT_EQUAL(strncmp(err.msg, cases[i].shown,
					strlen(cases[i].shown)), 0);
		rj_log(RJ_LOG_ERROR, "%s", cases[i].said);
		CU_ASSERT_STRING_EQUAL(line, cases[i].shown);
	}
	rj_log_set(NULL, NULL);
}

static void buf_grows(void)
{
	struct rj_buf b = {0};
	int i;

	for (i = 0; i < 1000; i++)
		CU_ASSERT_EQUAL(rj_buf_printf(&b, "%d,", i % 10), 0);
	CU_ASSERT_EQUAL(b.len, 2000);
	CU_ASSERT_EQUAL(b.data[1999], ',');
	CU_ASSERT_EQUAL(rj_buf_reserve(&b, SIZE_MAX), -RJ_E_NOMEM);
	CU_ASSERT_EQUAL(b.len, 2000);
	rj_buf_free(&b);
	CU_ASSERT_PTR_NULL(b.data);
}

static void bio_refuses_past_its_end(void)
{
	uint8_t mem[64] = {0}, out[16];
	struct rj_bio *bio = rj_bio_new_mem(mem, sizeof(mem), "mem");
	struct rj_error err;

	CU_ASSERT_EQUAL(bio->write(bio, "0123456789abcdef", 16, 48, &err), 0);
	CU_ASSERT_EQUAL(bio->read(bio, out, 16, 48, &err), 0);
	CU_ASSERT_EQUAL(out[15], 'f');
	CU_ASSERT_EQUAL(bio->write(bio, "x", 1, 64, &err), -RJ_E_INVAL);
	CU_ASSERT_EQUAL(bio->read(bio, out, 16, 49, &err), -RJ_E_INVAL);
	CU_ASSERT_EQUAL(bio->read(bio, out, 1, UINT64_MAX, &err), -RJ_E_INVAL);
	rj_bio_free(bio);
}

static void sizes_for_people(void)
{
	static const struct {
		double bytes;
		const char *text;
	} cases[] = {
		{0, "0 bytes"}, {1023, "1023 bytes"}, {1024, "1.00 KiB"}, {10235, "10.0 KiB"},
		{95949, "93.7 KiB"}, {1023 * 1024.0, "1.00 MiB"}, {577121808, "550 MiB"},
		{1.2 * 1099511627776.0, "1.20 TiB"}, {5e18, "4441 PiB"},
	};
	char text[RJ_SIZE_TEXT];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_STRING_EQUAL(rj_size_text(cases[i].bytes, text), cases[i].text);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(sizes_for_people),
		RJTEST(crc32c_known_answer),
		RJTEST(crc32c_continues),
		RJTEST(crc32c_is_what_it_is),
		RJTEST(crc32_be_known_answer),
		RJTEST(byte_order),
		RJTEST(uuid_text_and_back),
		RJTEST(uuid_random_is_version_4),
		RJTEST(error_carries_context),
		RJTEST(suffix_is_whole),
		RJTEST(error_says_whether_to_wait),
		RJTEST(code_says_what_it_means),
		RJTEST(backoff_doubles_to_its_cap),
		RJTEST(messages_are_printable),
		RJTEST(buf_grows),
		RJTEST(bio_refuses_past_its_end),
	};

	return RJTEST_RUN("util", tests);
}
