// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "store/common.h"
#include "support/rjtest.h"

static struct rj_error err;

struct bad {
	const char *url;
	enum rj_code code;
	const char *text;
};

static void check_all(const struct bad *bad, size_t count)
{
	struct rj_store *s = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		T_FAILS(rj_store_check_url(bad[i].url, &err), bad[i].code,
			bad[i].text);
		T_FAILS(rj_store_open(bad[i].url, NULL, &s, &err), bad[i].code,
			bad[i].text);
		CU_ASSERT_PTR_NULL(s);
	}
}

#define CHECK_ALL(bad) check_all(bad, sizeof(bad) / sizeof((bad)[0]))

static void good_urls(void)
{
	static const struct {
		const char *url, *shown;
	} good[] = {
		{"rj://127.0.0.1:7490/vol", "rj://127.0.0.1:7490/vol"},
		{"rj://journal.example.org/v-1_a.b",
			"rj://journal.example.org:7490/v-1_a.b"},
		{"rjs://journal.example.org/v",
			"rjs://journal.example.org:7490/v"},
		{"RJ://Host:1/x", "rj://Host:1/x"},
		{"rj://[::1]/x", "rj://[::1]:7490/x"},
		{"rj://[fe80::1:2]:65535/x", "rj://[fe80::1:2]:65535/x"},
		{"file:///", "file:///"},
		{"file:///dev/../tmp", "file:///dev/../tmp"},
	};
	struct rj_store *s;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		s = NULL;
		T_WORKS(rj_store_check_url(good[i].url, &err));
		T_WORKS(rj_store_open(good[i].url, NULL, &s, &err));
		if (s)
			CU_ASSERT_STRING_EQUAL(s->url, good[i].shown);
		rj_store_close(s);
	}
	rj_store_close(NULL);
}

static void not_a_url(void)
{
	static const struct bad bad[] = {
		{"", RJ_E_INVAL, "not a store URL"},
		{"/var/store", RJ_E_INVAL, "not a store URL"},
		{"rj:host/vol", RJ_E_INVAL, "not a store URL"},
		{"://host/vol", RJ_E_INVAL, "not a store URL"},
		{"1rj://host/vol", RJ_E_INVAL, "not a store URL"},
		{"r j://host/vol", RJ_E_INVAL, "not a store URL"},
		{"rj://ho\nst/vol", RJ_E_INVAL, "control character"},
		{"rj://", RJ_E_INVAL, "no host"},
		{"rj:///vol", RJ_E_INVAL, "no host"},
		{"rj://host", RJ_E_INVAL, "rj://host:port/name"},
		{"rj://host/", RJ_E_INVAL, "rj://host:port/name"},
		{"rj://host/a/b", RJ_E_INVAL, "rj://host:port/name"},
		{"rj://host/vol/", RJ_E_INVAL, "rj://host:port/name"},
		{"rj://host/vol?x=1", RJ_E_INVAL, "rj://host:port/name"},
		{"rj://host/%41", RJ_E_INVAL, "rj://host:port/name"},
		{"rj://host/.hidden", RJ_E_INVAL, "rj://host:port/name"},
		{"rj://ho st/vol", RJ_E_INVAL, "not a host name"},
		{"rj://h#st/vol", RJ_E_INVAL, "not a host name"},
		{"rj://::1/vol", RJ_E_INVAL, "not a host name"},
		{"rj://[::1/vol", RJ_E_INVAL, "not a host name"},
		{"rj://[]/vol", RJ_E_INVAL, "not a host name"},
		{"rj://:7490/vol", RJ_E_INVAL, "not a host name"},
		{"rj://host:/vol", RJ_E_INVAL, "port"},
		{"rj://host:0/vol", RJ_E_INVAL, "port"},
		{"rj://host:65536/vol", RJ_E_INVAL, "port"},
		{"rj://host:123456/vol", RJ_E_INVAL, "port"},
		{"rj://host:-1/vol", RJ_E_INVAL, "port"},
		{"rj://host:74x/vol", RJ_E_INVAL, "port"},
		{"file://var/store", RJ_E_INVAL, "three slashes"},
		{"file://", RJ_E_INVAL, "three slashes"},
		{"file:///nonexistent-dir/x", RJ_E_NOTFOUND, "make it first"},
		{"file:///dev/null", RJ_E_IO, "Not a directory"},
	};

	CHECK_ALL(bad);
}

static void scheme_of_another_build(void)
{
	static const struct bad bad[] = {
		{"gopher://host/x", RJ_E_UNSUPPORTED, "file://, rj://, rjs://"},
		{"https://host/bucket", RJ_E_UNSUPPORTED,
			"https://: this build"},
		{"s3://host/bucket", RJ_E_UNSUPPORTED, "it has file://"},
	};

	CHECK_ALL(bad);
}

static void credentials_are_refused_and_not_repeated(void)
{
	static const struct bad bad[] = {
		{"rj://a:1/v,rj://b:1/v", RJ_E_INVAL, "a log is in one store"},
		{"rj://user:s3cret@host/vol", RJ_E_INVAL, "user name or pass"},
		{"rj://user@host/vol", RJ_E_INVAL, "user name or password"},
		{"rj://user:s3/cret@host/vol", RJ_E_INVAL, "user name or pass"},
		{"rj://user:s3cret@h:x/vol", RJ_E_INVAL, "user name or pass"},
		{"file://user:s3cret@/dir", RJ_E_INVAL, "user name or pass"},
		{"s3+https://k:s3cret@host/b", RJ_E_INVAL, "user name or pass"},
		{"rj:user:s3cret@host/vol", RJ_E_INVAL, "not a store URL"},
	};
	size_t i;

	CHECK_ALL(bad);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rj_store_check_url(bad[i].url, &err);
		CU_ASSERT_PTR_NULL(strstr(err.msg, "s3cret"));
		CU_ASSERT_PTR_NULL(strstr(err.msg, "user:"));
	}
}

static void too_long(void)
{
	char url[600];

	memset(url, 'a', sizeof(url));
	memcpy(url, "file:///", 8);
	url[512] = '\0';
	T_FAILS(rj_store_check_url(url, &err), RJ_E_INVAL, "511 bytes");
	url[511] = '\0';
	/* now it is the system that does not want it */
	CU_ASSERT_EQUAL(rj_store_check_url(url, &err), -RJ_E_IO);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(good_urls),
		RJTEST(not_a_url),
		RJTEST(scheme_of_another_build),
		RJTEST(credentials_are_refused_and_not_repeated),
		RJTEST(too_long),
	};

	return RJTEST_RUN("store-url", tests);
}
