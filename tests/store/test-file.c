// SPDX-License-Identifier: GPL-2.0-or-later
/* What is special about file://: its files, a full disk, a killed writer. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fileio.h"
#include "store/common.h"
#include "support/rjtest.h"

static char dir[400], url[420];
static struct rj_error err;

static unsigned files_in(const char *path)
{
	char command[1024];
	unsigned count = 0;
	FILE *p;

	snprintf(command, sizeof(command), "find '%s' -type f 2>/dev/null | wc -l", path);
	p = popen(command, "r");
	if (!p || fscanf(p, "%u", &count) != 1)
		exit(99);
	pclose(p);
	return count;
}

static void names_are_as_documented(void)
{
	struct rj_key log = t_new_log(RJ_KEY_LOG), key = t_key(&log, 42);
	char uuid[RJ_UUID_TEXT], path[600];
	struct rj_store *s = t_open(url);
	struct rj_buf out = {0};
	struct stat st = {0};

	T_WORKS(rj_store_put_new(s, &key, "bytes", 5, &err));
	snprintf(path, sizeof(path), "%s/%s/log/00000000000000000042", dir,
		rj_uuid_text(key.journal_uuid, uuid));
	T_WORKS(rj_read_file(path, 100, &out, &err));
	CU_ASSERT_EQUAL(out.len, 5);
	/* a journal holds what the volume's files hold: for the owner only */
	CU_ASSERT_EQUAL(stat(path, &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 07777, 0600);
	CU_ASSERT_EQUAL(st.st_nlink, 1);
	rj_store_close(s);
	rj_buf_free(&out);
}

static void strange_files_are_not_listed(void)
{
	static const char *const names[] = {".tmp-1-0-0123456789abcdef", "42",
		"0000000000000000000x", "00000000000000000000",
		"99999999999999999999", "000000000000000000001"};
	struct rj_key log = t_new_log(RJ_KEY_LOG), key = t_key(&log, 7);
	char uuid[RJ_UUID_TEXT], path[600];
	struct rj_store *s = t_open(url);
	struct t_list l = {0};
	unsigned i;
	int fd;

	T_WORKS(rj_store_put_new(s, &key, "bytes", 5, &err));
	rj_uuid_text(key.journal_uuid, uuid);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s/log/%s", dir, uuid,
			names[i]);
		fd = open(path, O_CREAT | O_WRONLY, 0600);
		CU_ASSERT_TRUE(fd >= 0);
		close(fd);
	}
	T_WORKS(rj_store_list(s, &log, 0, t_list_add, &l, &err));
	CU_ASSERT_EQUAL(l.count, 1);
	CU_ASSERT_EQUAL(l.number[0], 7);
	rj_store_close(s);
}

static void a_deleted_directory_is_made_again(void)
{
	struct rj_key log = t_new_log(RJ_KEY_LOG), key = t_key(&log, 1);
	char uuid[RJ_UUID_TEXT], command[600];
	struct rj_store *s = t_open(url);

	T_WORKS(rj_store_put_new(s, &key, "bytes", 5, &err));
	snprintf(command, sizeof(command), "rm -r '%s/%s'", dir,
		rj_uuid_text(key.journal_uuid, uuid));
	CU_ASSERT_EQUAL(system(command), 0);
	T_WORKS(rj_store_put_new(s, &key, "bytes", 5, &err));
	rj_store_close(s);
}

/* Opened as a writer opens it: t_open()'s may begin anywhere. */
static struct rj_store *open_writer(void)
{
	struct rj_store *s;

	if (rj_store_open(url, NULL, &s, &err))
		exit(99);
	return s;
}

static void a_log_without_its_beginning_is_not_gone_on_with(void)
{
	struct rj_key log = t_new_log(RJ_KEY_LOG), key = t_key(&log, 1);
	char uuid[RJ_UUID_TEXT], command[600];
	struct rj_store *s = open_writer();

	for (; key.number < 4; key.number++)
		T_WORKS(rj_store_put_new(s, &key, "bytes", 5, &err));
	rj_uuid_text(key.journal_uuid, uuid);
	snprintf(command, sizeof(command), "rm '%s/%s/log/'*3", dir, uuid);
	CU_ASSERT_EQUAL(system(command), 0);
	CU_ASSERT_EQUAL(rj_store_put_new(s, &key, "bytes", 5, &err),
		-RJ_E_UNREACHABLE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "segment 3 was stored"));
	snprintf(command, sizeof(command), "rm -r '%s/%s'", dir, uuid);
	CU_ASSERT_EQUAL(system(command), 0);
	CU_ASSERT_EQUAL(rj_store_put_new(s, &key, "bytes", 5, &err),
		-RJ_E_UNREACHABLE);
	snprintf(command, sizeof(command), "%s/%s", dir, uuid);
	CU_ASSERT_EQUAL(files_in(command), 0);
	rj_store_close(s);
}

static void a_directory_that_was_moved_away_gets_nothing(void)
{
	struct rj_key log = t_new_log(RJ_KEY_LOG), key = t_key(&log, 1);
	char uuid[RJ_UUID_TEXT], command[1800];
	struct rj_store *s = open_writer();

	T_WORKS(rj_store_put_new(s, &key, "bytes", 5, &err));
	rj_uuid_text(key.journal_uuid, uuid);
	snprintf(command, sizeof(command),
		"mv '%s/%s' '%s/away' && cp -a '%s/away' '%s/%s'", dir, uuid,
		dir, dir, dir, uuid);
	CU_ASSERT_EQUAL(system(command), 0);
	key.number = 2;
	T_WORKS(rj_store_put_new(s, &key, "bytes", 5, &err));
	snprintf(command, sizeof(command), "%s/%s/log", dir, uuid);
	CU_ASSERT_EQUAL(files_in(command), 2);
	snprintf(command, sizeof(command), "%s/away/log", dir);
	CU_ASSERT_EQUAL(files_in(command), 1);
	rj_store_close(s);
}

/* Not only the log's directory: that of the URL itself. */
static void a_directory_that_was_deleted_and_put_back_is_found(void)
{
	struct rj_key log = t_new_log(RJ_KEY_LOG), key = t_key(&log, 1);
	char sub[420], at[440], command[1800];
	struct rj_buf got = {0};
	struct rj_store *s, *other;

	snprintf(sub, sizeof(sub), "%s/sub", dir);
	snprintf(at, sizeof(at), "file://%s", sub);
	if (mkdir(sub, 0700) || rj_store_open(at, NULL, &s, &err) ||
		rj_store_dup(s, &other, &err))
		exit(99);
	for (; key.number < 3; key.number++)
		T_WORKS(rj_store_put_new(s, &key, "bytes", 5, &err));
	snprintf(command, sizeof(command),
		"cp -a '%s' '%s/copy' && rm -r '%s'", sub, dir, sub);
	CU_ASSERT_EQUAL(system(command), 0);
	CU_ASSERT_EQUAL(rj_store_put_new(s, &key, "bytes", 5, &err),
		-RJ_E_UNREACHABLE);
	if (mkdir(sub, 0700))
		exit(99);
	CU_ASSERT_EQUAL(rj_store_put_new(s, &key, "bytes", 5, &err),
		-RJ_E_UNREACHABLE);
	snprintf(command, sizeof(command), "rmdir '%s' && mv '%s/copy' '%s'",
		sub, dir, sub);
	CU_ASSERT_EQUAL(system(command), 0);
	T_WORKS(rj_store_put_new(s, &key, "bytes", 5, &err));
	CU_ASSERT_EQUAL(files_in(sub), 3);
	T_WORKS(rj_store_get(other, &key, 100, &got, &err));
	rj_buf_free(&got);
	rj_store_close(other);
	rj_store_close(s);
}

static void a_log_that_was_trimmed_is_gone_on_with(void)
{
	struct rj_key log = t_new_log(RJ_KEY_LOG), key = t_key(&log, 1);
	struct rj_store *s = open_writer();

	s->copying = true;
	key.number = 6;
	T_WORKS(rj_store_put_new(s, &key, "bytes", 5, &err));
	s->copying = false;
	key.number = 7;
	T_WORKS(rj_store_put_new(s, &key, "bytes", 5, &err));
	key.number = 5;
	T_WORKS(rj_store_put_new(s, &key, "bytes", 5, &err));
	rj_store_close(s);
}

static void a_file_in_the_way(void)
{
	struct rj_key log = t_new_log(RJ_KEY_LOG), key = t_key(&log, 1);
	char uuid[RJ_UUID_TEXT], path[600];
	struct rj_store *s = t_open(url);
	struct rj_buf out = {0};
	struct t_list l = {0};
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir,
		rj_uuid_text(key.journal_uuid, uuid));
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	CU_ASSERT_TRUE(fd >= 0);
	close(fd);
	T_FAILS(rj_store_put_new(s, &key, "x", 1, &err), RJ_E_IO, uuid);
	T_FAILS(rj_store_get(s, &key, 9, &out, &err), RJ_E_IO, uuid);
	T_FAILS(rj_store_list(s, &log, 0, t_list_add, &l, &err), RJ_E_IO, uuid);
	rj_store_close(s);
}

/* All that a store does, with segment 1 of LOG, while a link of its directory leads elsewhere. */
static void no_way_through(const struct rj_key *log)
{
	struct rj_key key = t_key(log, 1);
	struct rj_store *s = t_open(url);
	struct rj_buf out = {0};
	struct t_list l = {0};

	T_FAILS(rj_store_get(s, &key, 9, &out, &err), RJ_E_DENIED, "a symbolic link is in the way");
	T_FAILS(rj_store_list(s, log, 0, t_list_add, &l, &err), RJ_E_DENIED, "a symbolic link");
	T_FAILS(rj_store_remove(s, &key, &err), RJ_E_DENIED, "a symbolic link");
	T_FAILS(rj_store_put_new(s, &key, "x", 1, &err), RJ_E_DENIED, "a symbolic link");
	key.number = 2;
	T_FAILS(rj_store_put_new(s, &key, "x", 1, &err), RJ_E_DENIED, "a symbolic link");
	rj_store_close(s);
}

/* Who made the volume may own the directory, and root writes there. */
static void no_link_is_followed(void)
{
	struct rj_key log = t_new_log(RJ_KEY_LOG), key = t_key(&log, 1);
	char uuid[RJ_UUID_TEXT], path[600], away[600], file[700];
	struct rj_store *s = t_open(url);
	struct rj_buf out = {0};

	T_WORKS(rj_store_put_new(s, &key, "bytes", 5, &err));
	snprintf(path, sizeof(path), "%s/%s", dir, rj_uuid_text(key.journal_uuid, uuid));
	snprintf(away, sizeof(away), "%s.away", dir);
	CU_ASSERT_EQUAL(rename(path, away), 0);
	CU_ASSERT_EQUAL(symlink(away, path), 0);
	no_way_through(&log);
	CU_ASSERT_EQUAL(unlink(path), 0);
	CU_ASSERT_EQUAL(rename(away, path), 0);
	strcat(path, "/log");
	CU_ASSERT_EQUAL(rename(path, away), 0);
	CU_ASSERT_EQUAL(symlink(away, path), 0);
	no_way_through(&log);
	CU_ASSERT_EQUAL(files_in(away), 1);
	CU_ASSERT_EQUAL(unlink(path), 0);
	CU_ASSERT_EQUAL(rename(away, path), 0);
	/* an object: its bytes are not those of another file */
	snprintf(file, sizeof(file), "%s/00000000000000000001", path);
	CU_ASSERT_EQUAL(rename(file, away), 0);
	CU_ASSERT_EQUAL(symlink(away, file), 0);
	T_FAILS(rj_store_get(s, &key, 9, &out, &err), RJ_E_DENIED, "a symbolic link");
	CU_ASSERT_EQUAL(unlink(away), 0);
	rj_store_close(s);
}

/* Runs in a child with a mount namespace of its own. */
static void fill_disk(void)
{
	struct rj_key log = t_new_log(RJ_KEY_LOG), key;
	uint8_t *data = t_bytes(30000, 1);
	struct rj_buf out = {0};
	struct rj_store *s;
	struct t_list l = {0};
	uint64_t n;
	int rc = 0;

	if (!rjtest_own_mounts() ||
		mount("tmpfs", dir, "tmpfs", 0, "size=256k"))
		_exit(77);
	s = t_open(url);
	for (n = 1; n < 20 && !rc; n++) {
		key = t_key(&log, n);
		rc = rj_store_put_new(s, &key, data, 30000, &err);
	}
	if (rc != -RJ_E_NOSPACE || !strstr(err.msg, "No space left"))
		_exit(1);
	/* nothing of it is there, not even a temporary; the rest is */
	if (rj_store_list(s, &log, 0, t_list_add, &l, &err) ||
		l.count != n - 2 || files_in(dir) != n - 2)
		_exit(2);
	if (rj_store_get(s, &key, 30000, &out, &err) != -RJ_E_NOTFOUND)
		_exit(3);
	/* and room makes it work again */
	key.number = 1;
	if (rj_store_remove(s, &key, &err))
		_exit(4);
	key.number = n - 1;
	if (rj_store_put_new(s, &key, data, 30000, &err))
		_exit(5);
	_exit(0);
}

static void a_full_disk_leaves_nothing_behind(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		fill_disk();
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_TRUE(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		rjtest_skip("cannot mount a tmpfs");
	else
		CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
}

#define KILLED_BYTES 200000

static void put_until_killed(const struct rj_key *log, int ready)
{
	struct rj_store *s = t_open(url);
	struct rj_key key;
	uint8_t *data;
	uint64_t n;

	for (n = 1;; n++) {
		data = t_bytes(KILLED_BYTES, (unsigned)n);
		key = t_key(log, n);
		if (rj_store_put_new(s, &key, data, KILLED_BYTES, &err))
			_exit(1);
		if (write(ready, &n, sizeof(n)) != sizeof(n))
			_exit(1);
		free(data);
	}
}

/* Every object that is listed is whole; every one reported is listed. */
static void check_killed(const struct rj_key *log, uint64_t reported)
{
	struct rj_store *s = t_open(url);
	struct rj_buf out = {0};
	struct t_list l = {0};
	struct rj_key key;
	uint8_t *want;
	unsigned i;

	T_WORKS(rj_store_list(s, log, 0, t_list_add, &l, &err));
	CU_ASSERT_TRUE(l.count >= reported && l.count <= reported + 1);
	for (i = 0; i < l.count && i < 64; i++) {
		key = t_key(log, l.number[i]);
		want = t_bytes(KILLED_BYTES, (unsigned)l.number[i]);
		out.len = 0;
		CU_ASSERT_EQUAL(l.number[i], i + 1);
		T_WORKS(rj_store_get(s, &key, KILLED_BYTES, &out, &err));
		CU_ASSERT_TRUE(out.len == KILLED_BYTES &&
			       !memcmp(out.data, want, out.len));
		free(want);
	}
	rj_store_close(s);
	rj_buf_free(&out);
}

static void a_killed_writer_leaves_whole_objects(void)
{
	uint64_t n, reported;
	struct rj_key log;
	int round, ready[2];
	pid_t pid;

	srandom((unsigned)rjtest_seed());
	fflush(stdout);
	for (round = 0; round < 12; round++) {
		log = t_new_log(RJ_KEY_LOG);
		CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
		pid = fork();
		if (!pid) {
			close(ready[0]);
			put_until_killed(&log, ready[1]);
		}
		close(ready[1]);
		reported = 0;
		if (read(ready[0], &n, sizeof(n)) == sizeof(n))
			reported = n;
		usleep((unsigned)(random() % 4000));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		while (read(ready[0], &n, sizeof(n)) == sizeof(n))
			reported = n;
		close(ready[0]);
		CU_ASSERT_TRUE(reported > 0);
		check_killed(&log, reported);
	}
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(names_are_as_documented),
		RJTEST(strange_files_are_not_listed),
		RJTEST(a_deleted_directory_is_made_again),
		RJTEST(a_log_without_its_beginning_is_not_gone_on_with),
		RJTEST(a_directory_that_was_moved_away_gets_nothing),
		RJTEST(a_directory_that_was_deleted_and_put_back_is_found),
		RJTEST(a_log_that_was_trimmed_is_gone_on_with),
		RJTEST(a_file_in_the_way),
		RJTEST(no_link_is_followed),
		RJTEST(a_full_disk_leaves_nothing_behind),
		RJTEST(a_killed_writer_leaves_whole_objects),
	};
	const char *tmp = getenv("TMPDIR");
	char command[420];
	int status;

	snprintf(dir, sizeof(dir), "%s/rjtest.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return 99;
	snprintf(url, sizeof(url), "file://%s", dir);
	t_copies = true;
	status = RJTEST_RUN("store-files", tests);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command))
		status = 99;
	return status;
}
