// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ext4/volume.h"
#include "journal/attach.h"
#include "support/rjtest.h"

static struct rj_journal_opts o;
static struct rj_error err;

static int parse(const char *text)
{
	memset(&o, 0xEE, sizeof(o));
	memset(&err, 0, sizeof(err));
	return rj_journal_opts_parse(text, &o, &err);
}

static void remote_with_all_its_words(void)
{
	CU_ASSERT_EQUAL(parse("remote=rj://host:7400/vol,size=64,ack=received,"
			      "on_loss=error"),
		0);
	CU_ASSERT_EQUAL(o.placement, RJ_PLACE_REMOTE);
	CU_ASSERT_TRUE(o.given);
	CU_ASSERT_STRING_EQUAL(o.url, "rj://host:7400/vol");
	CU_ASSERT_EQUAL(o.size_mb, 64);
	CU_ASSERT_TRUE(o.ack_received);
	CU_ASSERT_EQUAL(o.on_loss, RJ_LOSS_ERROR);
	CU_ASSERT_TRUE(o.on_loss_given);
	CU_ASSERT_STRING_EQUAL(o.rest, "");
}

static void remote_alone(void)
{
	CU_ASSERT_EQUAL(parse("remote=file:///tmp"), 0);
	CU_ASSERT_EQUAL(o.placement, RJ_PLACE_REMOTE);
	CU_ASSERT_EQUAL(o.size_mb, 0);
	CU_ASSERT_FALSE(o.ack_received);
	CU_ASSERT_EQUAL(o.on_loss, RJ_LOSS_BLOCK);
	CU_ASSERT_FALSE(o.on_loss_given);
	CU_ASSERT_EQUAL(
		parse("ack=durable,on_loss=block,remote=file:///tmp"), 0);
	CU_ASSERT_FALSE(o.ack_received);
	CU_ASSERT_TRUE(o.on_loss_given);
}

static void other_places(void)
{
	CU_ASSERT_EQUAL(parse("size=0x10"), 0); /* as mke2fs: strtoul */
	CU_ASSERT_EQUAL(o.placement, RJ_PLACE_INTERNAL);
	CU_ASSERT_TRUE(o.given);
	CU_ASSERT_EQUAL(o.size_mb, 16);
	CU_ASSERT_EQUAL(parse("device=/dev/sdz9"), 0);
	CU_ASSERT_EQUAL(o.placement, RJ_PLACE_DEVICE);
	CU_ASSERT_STRING_EQUAL(o.device, "/dev/sdz9");
	CU_ASSERT_EQUAL(parse("none"), 0);
	CU_ASSERT_EQUAL(o.placement, RJ_PLACE_NONE);
	CU_ASSERT_TRUE(o.given);
	CU_ASSERT_EQUAL(parse("location=4096,size=8,fast_commit_size=1"), 0);
	CU_ASSERT_STRING_EQUAL(o.rest, "location=4096,fast_commit_size=1");
	CU_ASSERT_EQUAL(parse("location=4096"), 0);
	CU_ASSERT_EQUAL(o.placement, RJ_PLACE_INTERNAL);
	CU_ASSERT_FALSE(o.given);
}

/* Each names the word at fault, or what is missing, and leaves OUT alone. */
static void refusals(void)
{
	static const struct {
		const char *text, *says;
		enum rj_code code;
	} all[] = {
		{"", "empty word", RJ_E_INVAL},
		{"size=4,", "empty word", RJ_E_INVAL},
		{",size=4", "empty word", RJ_E_INVAL},
		{"remtoe=rj://h:1/n", "remtoe", RJ_E_INVAL},
		{"none=1", "none=1", RJ_E_INVAL},
		{"size", "\"size\": a value is missing", RJ_E_INVAL},
		{"size=", "\"size\": a value is missing", RJ_E_INVAL},
		{"size=0", "size=0", RJ_E_INVAL},
		{"size=-4", "size=-4", RJ_E_INVAL},
		{"size= 4", "size= 4", RJ_E_INVAL},
		{"size=4M", "size=4M", RJ_E_INVAL},
		{"size=99999999999999999999", "size=9999", RJ_E_INVAL},
		{"size=4,size=5", "\"size=\": given twice", RJ_E_INVAL},
		{"remote=rj://h:1/n,device=/x", "remote=, device=", RJ_E_INVAL},
		{"none,remote=rj://h:1/n", "already", RJ_E_INVAL},
		{"none,size=4", "none", RJ_E_INVAL},
		{"none,location=4", "none", RJ_E_INVAL},
		{"ack=durable", "ack=", RJ_E_INVAL},
		{"size=4,on_loss=block", "on_loss=", RJ_E_INVAL},
		{"remote=rj://h:1/n,ack=yes", "ack=yes", RJ_E_INVAL},
		{"remote=rj://h:1/n,on_loss=x", "on_loss=x", RJ_E_INVAL},
		{"remote=rj://h:1/n,location=1", "location=1", RJ_E_INVAL},
		{"remote=rj:/h", "rj:/h: not a store URL", RJ_E_INVAL},
		{"remote=rj://a:1/n,remote=rj://b:1/n", "\"remote=\": given twice",
			RJ_E_INVAL},
		{"remote=nix://h:1/n", "nix://", RJ_E_UNSUPPORTED},
		{"remote=rj://h:1/n,fallback=f", "fallback", RJ_E_INVAL},
		{"remote=rj://h:1/n,fallback_size=50",
			"fallback=PATH", RJ_E_INVAL},
		{"remote=rj://h:1/n,fallback=/f,fallback_size=x",
			"fallback_size=x", RJ_E_INVAL},
		{"remote=rj://h:1/n,fallback=/f,on_loss=block",
			"on_loss=block", RJ_E_INVAL},
		{"fallback=/f", "remote=URL", RJ_E_INVAL},
		{"remote=rj://h:1/n,on_loss=local", "on_loss=local",
			RJ_E_INVAL},
	};
	struct rj_journal_opts kept;
	size_t i;

	memset(&kept, 0xEE, sizeof(kept));
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		int rc = parse(all[i].text);

		if (rc != -(int)all[i].code || !strstr(err.msg, all[i].says))
			printf("# \"%s\": %d, %s\n", all[i].text, rc, err.msg);
		CU_ASSERT_EQUAL(rc, -(int)all[i].code);
		CU_ASSERT_EQUAL(err.code, all[i].code);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, all[i].says));
		CU_ASSERT_PTR_NULL(strchr(err.msg, '\n'));
		CU_ASSERT(!memcmp(&o, &kept, sizeof(o)));
	}
}

static void long_words(void)
{
	char text[6000], dir[] = "/tmp/rjtest.XXXXXX";

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	CU_ASSERT_EQUAL(parse(text), -RJ_E_INVAL);
	memcpy(text, "device=", 7);
	CU_ASSERT_EQUAL(parse(text), -RJ_E_INVAL);
	memcpy(text, "remote=", 7);
	CU_ASSERT_EQUAL(parse(text), -RJ_E_INVAL);
	memcpy(text, "location=", 9);
	CU_ASSERT_EQUAL(parse(text), -RJ_E_INVAL);
	/* a directory that is there, by a name too long for the superblock */
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	snprintf(text, sizeof(text), "remote=file://%s", dir);
	while (strlen(text) < 200)
		strcat(text, "/.");
	CU_ASSERT_EQUAL(parse(text), -RJ_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "127"));
	rmdir(dir);
}

static void journal_sizes(void)
{
	struct rj_journal_opts opts = {0};
	uint32_t n = 0;

	CU_ASSERT_EQUAL(
		rj_attach_blocks(&opts, 4096, 2047, &n, &err), -RJ_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "2047"));
	/* the kernel wants 1024 blocks without those before the superblock */
	CU_ASSERT_EQUAL(rj_attach_blocks(&opts, 4096, 2048, &n, &err), 0);
	CU_ASSERT_EQUAL(n, 1025);
	CU_ASSERT_EQUAL(rj_attach_blocks(&opts, 1024, 1u << 20, &n, &err), 0);
	CU_ASSERT_EQUAL(n, 16384);
	opts.size_mb = 1;
	CU_ASSERT_EQUAL(rj_attach_blocks(&opts, 1024, 2048, &n, &err), 0);
	CU_ASSERT_EQUAL(n, 1026);
	CU_ASSERT_EQUAL(
		rj_attach_blocks(&opts, 4096, 2048, &n, &err), -RJ_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "from 4 to 40000"));
	opts.size_mb = 4;
	CU_ASSERT_EQUAL(rj_attach_blocks(&opts, 4096, 2048, &n, &err), 0);
	CU_ASSERT_EQUAL(n, 1025);
	opts.size_mb = 40000;
	CU_ASSERT_EQUAL(rj_attach_blocks(&opts, 4096, 2048, &n, &err), 0);
	CU_ASSERT_EQUAL(n, 10240000);
	opts.size_mb = 40001;
	CU_ASSERT_EQUAL(
		rj_attach_blocks(&opts, 4096, 2048, &n, &err), -RJ_E_INVAL);
}

static void mount_words(void)
{
	uint32_t bits = 0x0C; /* what mke2fs sets: user_xattr, acl */
	char text[160];

	CU_ASSERT_EQUAL(rj_mount_opts_edit(&bits, "journal_data,^acl", &err), 0);
	CU_ASSERT_STRING_EQUAL(rj_mount_opts_text(bits, text, sizeof(text)),
		"user_xattr,journal_data");
	/* the modes are one field */
	CU_ASSERT_EQUAL(
		rj_mount_opts_edit(&bits, "journal_data_writeback", &err), 0);
	CU_ASSERT_EQUAL(bits, 0x64);
	CU_ASSERT_EQUAL(
		rj_mount_opts_edit(&bits, "^journal_data_writeback", &err), 0);
	CU_ASSERT_EQUAL(bits, 0x04);
	CU_ASSERT_EQUAL(
		rj_mount_opts_edit(&bits, "acl,nonsense", &err), -RJ_E_INVAL);
	CU_ASSERT_EQUAL(bits, 0x04);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(mount_words),
		RJTEST(remote_with_all_its_words),
		RJTEST(remote_alone),
		RJTEST(other_places),
		RJTEST(refusals),
		RJTEST(long_words),
		RJTEST(journal_sizes),
	};

	return RJTEST_RUN("journal options", tests);
}
