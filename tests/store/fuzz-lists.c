// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target for what servers say is in a folder; built and run by
 * scripts/fuzz. The first byte says which reader: FTP and SFTP ("ls -l"), WebDAV,
 * IMAP's lines, a mail, S3's lists of objects and of journals. What is handed on
 * is what the contract of the reader allows.
 *
 * With $RJ_SEEDS set the program writes a few inputs to that directory instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/curl/s3.h"
#include "store/tree/curl-tree.h"
#include "store/tree/dav-list.h"
#include "store/tree/imap-mail.h"

enum what { LS, DAV, MAIL_LINE, MAIL, S3, S3_JOURNALS, KINDS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* ---- the rest of S3: each page is the input ---- */

const char *const rj_s3_plain_headers[] = {NULL};
static struct rj_buf page;
static int pages;

int rj_s3_set_url(struct rj_s3 *s, const char *text, struct rj_error *err)
{
	s->url.len = 0;
	return rj_buf_printf(&s->url, "%s", text);
}

int rj_s3_fail(struct rj_s3 *s, const struct rj_http_call *c, const char *verb,
	const char *key, struct rj_error *err)
{
	return rj_fail(err, RJ_E_IO, "%s %s", verb, key);
}

int rj_s3_perform(
	struct rj_s3 *s, struct rj_http_call *call, struct rj_error *err)
{
	/* the same page for ever must be noticed at the second */
	must(++pages <= 2);
	call->status = 200;
	return rj_buf_append(call->out, page.data, page.len);
}

/* ---- what they hand on ---- */

static int thing(void *arg, const char *name, uint64_t bytes, bool folder)
{
	must(strlen(name) < 4096);
	return 0;
}

static int object(void *arg, uint64_t number, uint64_t bytes)
{
	uint64_t *last = arg;

	must(number > *last); /* ascending, and none that was not asked for */
	*last = number;
	return 0;
}

/* a list that goes on for ever would be found by its number of pages */
static int journal(void *arg, const uint8_t uuid[RJ_UUID_BYTES])
{
	char text[RJ_UUID_TEXT];

	must(rj_uuid_text(uuid, text)[0]);
	return 0;
}

static void try_mail(struct rj_error *err)
{
	struct rj_buf out = {0};

	if (!rj_mail_read(&page, "a", 4096, &out))
		must(out.len <= 4096);
	rj_buf_free(&out);
}

/* In two pieces, cut where the first byte says. */
static void try_dav(struct rj_error *err)
{
	struct rj_dav_list l = {
		.store = "dav", .path = "/a/", .fn = thing, .err = err};
	size_t cut = page.len ? page.data[0] % page.len : 0;

	if (!rj_dav_list_feed(&l, page.data, cut) &&
		!rj_dav_list_feed(&l, page.data + cut, page.len - cut))
		rj_dav_list_end(&l);
	rj_dav_list_free(&l);
}

static void try_line(void)
{
	struct rj_mail m;

	if (rj_mail_parse_line((const char *)page.data, page.len, &m))
		must(memchr(m.name, 0, sizeof(m.name)) && m.name[0]);
}

static void try_s3(bool journals, struct rj_error *err)
{
	struct rj_s3 s = {.base.url = "s3+http://h/b", .prefix = "p/"};
	struct rj_key dir = {.kind = RJ_KEY_LOG};
	uint64_t number = 2;

	pages = 0;
	if (journals)
		rj_s3_list_journals(&s.base, journal, NULL, err);
	else
		rj_s3_list(&s.base, &dir, 2, object, &number, err);
	rj_buf_free(&s.url);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rj_error err = {0};
	bool folder;
	uint64_t bytes;

	if (!size)
		return 0;
	page.len = 0;
	if (rj_buf_append(&page, data + 1, size - 1))
		abort();
	switch ((enum what)(data[0] % KINDS)) {
	case LS:
		rj_net_parse_list(&page, thing, NULL);
		rj_net_in_list(&page, "a", &folder, &bytes);
		break;
	case DAV:
		try_dav(&err);
		break;
	case MAIL_LINE:
		try_line();
		break;
	case MAIL:
		try_mail(&err);
		break;
	case S3:
		try_s3(false, &err);
		break;
	default:
		try_s3(true, &err);
	}
	must(!err.code || err.msg[0]);
	return 0;
}

static void write_seed(const char *dir, enum what what, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/kind-%d", dir, (int)what);
	f = fopen(path, "w");
	if (!f || putc((int)what, f) == EOF || fputs(text, f) == EOF ||
		fclose(f))
		exit(1);
}

#define ZERO_UUID "00000000-0000-0000-0000-000000000000"

static void write_seeds(const char *dir)
{
	struct rj_buf mail = {0};

	write_seed(dir, LS,
		"drwxr-xr-x 2 u g 4096 Nov 23 06:00 a\r\n"
		"-rw-r--r-- 1 u g 17 Nov 23 2025 b\r\n");
	write_seed(dir, DAV,
		"<D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>/a/"
		"</D:href></D:response><D:response><D:href>/a/%62</D:href>"
		"<D:propstat><D:prop><D:resourcetype/><D:getcontentlength>17"
		"</D:getcontentlength></D:prop><D:status>HTTP/1.1 200 OK"
		"</D:status></D:propstat></D:response></D:multistatus>");
	write_seed(dir, MAIL_LINE,
		"* 1 FETCH (UID 9 ENVELOPE (NIL \"rj a 17\" NIL NIL NIL NIL "
		"NIL NIL NIL NIL))");
	if (rj_mail_write("a", "seventeen bytes..", 17, &mail) ||
		rj_buf_append(&mail, "", 1))
		exit(1);
	write_seed(dir, MAIL, (const char *)mail.data);
	rj_buf_free(&mail);
	write_seed(dir, S3,
		"<ListBucketResult><Contents><Key>p/" ZERO_UUID
		"/log/00000000000000000003</Key><Size>17</Size></Contents>"
		"<IsTruncated>true</IsTruncated></ListBucketResult>");
	write_seed(dir, S3_JOURNALS,
		"<ListBucketResult><CommonPrefixes><Prefix>p/" ZERO_UUID
		"/</Prefix></CommonPrefixes></ListBucketResult>");
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
