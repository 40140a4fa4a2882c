// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a host keeps fallback files and floors: the paths of rj.conf. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/floor-record.h"
#include "log/fallback/fallback-log-priv.h"
#include "log/floor/floor.h"
#include "log/sealing.h"
#include "store/conf.h"
#include "store/store.h"
#include "support/rjtest.h"

#define UUID_NAME "00000000-0000-0000-0000-000000000000.rjfallback"

static char dir[] = "/tmp/rjplaces.XXXXXX";
static struct rj_error err;

static const char *in_dir(const char *name)
{
	static char path[2][PATH_MAX];
	static int i;

	i = !i;
	snprintf(path[i], PATH_MAX, "%s%s", dir, name);
	return path[i];
}

/* KEY of [local] is what stands in the test's directory under NAME. */
static void configure(const char *key, const char *name)
{
	FILE *f = fopen(getenv("RJ_CONF"), "w");

	if (!f || fprintf(f, "[local]\n%s = %s\n", key, in_dir(name)) < 0 ||
		fclose(f) || chmod(getenv("RJ_CONF"), 0600))
		exit(99);
}

/* fallback=PATH is the file WANT; NULL: refused. */
static void is(const char *path, const char *want)
{
	static const struct rj_log_id id;
	struct rj_fallback_path p;
	char seen[PATH_MAX], link[64];
	ssize_t n;
	int rc = rj_fallback_path_find(path, &id, &p, &err);

	if (!want) {
		CU_ASSERT_EQUAL(rc, -RJ_E_REFUSED);
		return;
	}
	CU_ASSERT_EQUAL(rc, 0);
	if (rc) {
		printf("# %s: %s\n", path, err.msg);
		return;
	}
	CU_ASSERT_STRING_EQUAL(p.path, want);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", p.dir);
	n = readlink(link, seen, sizeof(seen) - 1);
	seen[n < 0 ? 0 : n] = 0;
	CU_ASSERT_EQUAL(strlen(seen) + 1 + strlen(p.name), strlen(want));
	CU_ASSERT_NSTRING_EQUAL(seen, want, strlen(seen));
	rj_fallback_path_close(&p);
}

static void fallback_paths(void)
{
	static const char *const confs[] = {"/x", "/x/", "/x//"};
	static const struct rj_log_id id;
	struct rj_fallback_path p;
	unsigned i;

	CU_ASSERT_EQUAL(mkdir(in_dir("/x"), 0700), 0);
	CU_ASSERT_EQUAL(mkdir(in_dir("/x/sub"), 0700), 0);
	for (i = 0; i < 3; i++) {
		configure("fallback_dirs", confs[i]);
		is(in_dir("/x"), in_dir("/x/" UUID_NAME));
		is(in_dir("/x/"), in_dir("/x/" UUID_NAME));
		is(in_dir("/x/file"), in_dir("/x/file"));
		is(in_dir("/x/sub"), in_dir("/x/sub/" UUID_NAME));
		is(in_dir("/x/sub/"), in_dir("/x/sub/" UUID_NAME));
		is(in_dir("/xy"), NULL);
		is(in_dir("/x/../xy"), NULL);
		is(in_dir(""), NULL);
	}
	/* named as a directory, and not there */
	CU_ASSERT_EQUAL(
		rj_fallback_path_find(in_dir("/x/none/"), &id, &p, &err),
		-RJ_E_NOTFOUND);
	CU_ASSERT_EQUAL(rj_fallback_path_find(in_dir("/x/none"), &id, &p, &err), 0);
	rj_fallback_path_close(&p);
}

/* What may be done to /var/lib: it is one of our own. */
static bool own_var_lib(void)
{
	return rjtest_own_mounts() &&
	       !mount("none", "/var/lib", "tmpfs", 0, NULL);
}

static void default_directory_is_missing(void)
{
	struct stat st;

	if (!own_var_lib()) {
		rjtest_skip("no mount namespace here");
		return;
	}
	configure("floor_dir", "/y"); /* and no word of fallback_dirs */
	is(RJ_FALLBACK_DIRS, RJ_FALLBACK_DIRS "/" UUID_NAME);
	CU_ASSERT_TRUE(!stat(RJ_FALLBACK_DIRS, &st) && S_ISDIR(st.st_mode));
	rmdir(RJ_FALLBACK_DIRS);
	is(RJ_FALLBACK_DIRS "/v", RJ_FALLBACK_DIRS "/v");
}

/* A floor on the volume itself: refused, and no directory is made for it. */
static void floor_on_the_volume(void)
{
	static const uint8_t journal[RJ_UUID_BYTES] = {1};
	struct rj_floor *f = NULL;
	struct stat st;

	configure("floor_dir", "/y/floor");
	CU_ASSERT_EQUAL_FATAL(stat(dir, &st), 0);
	if (mknod(in_dir("/volume"), S_IFBLK | 0600, st.st_dev)) {
		rjtest_skip("no device nodes here");
		return;
	}
	CU_ASSERT_EQUAL(rj_floor_open(journal, in_dir("/volume"), &f, &err),
		-RJ_E_REFUSED);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "itself"));
	CU_ASSERT_EQUAL(access(in_dir("/y"), F_OK), -1);
	/* on another one it is made */
	CU_ASSERT_EQUAL(rj_floor_open(journal, dir, &f, &err), 0);
	CU_ASSERT_EQUAL(access(in_dir("/y/floor"), F_OK), 0);
	rj_floor_close(f, true);
}

/* The byte at OFF of the local floor is another one. */
static void flip(const char *path, long off)
{
	FILE *f = fopen(path, "r+");
	int c;

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fseek(f, off, SEEK_SET);
	c = fgetc(f);
	fseek(f, off, SEEK_SET);
	fputc(c ^ 1, f);
	fclose(f);
}

/* Of the two last notes the newer one is torn: the older one is still there. */
static void floor_is_torn(void)
{
	static const uint8_t journal[RJ_UUID_BYTES] = {2};
	struct rj_log_tail tail = {.epoch = 1}, saw;
	char name[RJ_UUID_TEXT], path[PATH_MAX];
	struct rj_floor *f = NULL;
	uint64_t sum = 0;
	long slot;

	configure("floor_dir", "/z");
	CU_ASSERT_EQUAL_FATAL(rj_floor_open(journal, "/dev/null", &f, &err), 0);
	while (tail.sequence++ < 3)
		CU_ASSERT_EQUAL(rj_floor_write(f, &tail, &err), 0);
	snprintf(path, sizeof(path), "%s/z/%s", dir, rj_uuid_text(journal, name));
	for (slot = 0; slot <= RJ_FLOOR_BYTES; slot += RJ_FLOOR_BYTES) {
		flip(path, slot + 40);
		rj_floor_load(journal, 1, &saw);
		sum += saw.sequence;
		flip(path, slot + 40);
	}
	CU_ASSERT_EQUAL(sum, 2 + 3);
	rj_floor_close(f, true);
}

static void is_settings(int rc)
{
	CU_ASSERT_NOT_EQUAL(rc, 0);
	CU_ASSERT_STRING_EQUAL(rj_error_cause(&err), "rj.conf");
}

/* What rj.conf says can be mended, and so is worth waiting for. */
static void settings_are_the_cause(void)
{
	static const uint8_t key[RJ_SEALKEY_FINGERPRINT_BYTES] = {1};
	struct rj_log_sealing sealing;

	configure("floor_dir", "/y"); /* names no keyfile */
	CU_ASSERT_EQUAL(rj_log_sealing_load("file:///x", NULL, key, &sealing,
				&err), -RJ_E_KEY);
	CU_ASSERT_FALSE(rj_error_final(&err));
	CU_ASSERT_STRING_EQUAL(rj_error_cause(&err), "rj.conf");
	configure("no_such_key", "/y");
	CU_ASSERT_EQUAL(rj_log_sealing_load("file:///x", NULL, NULL, &sealing,
				&err), -RJ_E_INVAL);
	CU_ASSERT_FALSE(rj_error_final(&err));
	is_settings(rj_store_check_url("file:///x", &err));
	CU_ASSERT_EQUAL(chmod(getenv("RJ_CONF"), 0666), 0);
	is_settings(rj_store_check_url("file:///x", &err));
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(settings_are_the_cause),
		RJTEST(floor_is_torn),
		RJTEST(fallback_paths),
		RJTEST(floor_on_the_volume),
		RJTEST(default_directory_is_missing),
	};
	char clean[64];
	int rc;

	if (!mkdtemp(dir))
		return 99;
	setenv("RJ_CONF", in_dir("/rj.conf"), 1);
	rc = RJTEST_RUN("log places", tests);
	snprintf(clean, sizeof(clean), "rm -rf %s", dir);
	return system(clean) ? 99 : rc;
}
