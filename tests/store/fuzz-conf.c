// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target for rj.conf; built and run by scripts/fuzz. An input is the
 * file's text. It is read for three URLs, and for [local]; what is not taken is
 * refused with a line and a reason.
 *
 * With $RJ_SEEDS set the program writes an input to that directory instead.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "store/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static int fd = -1;

/* a process that is not dumpable cannot be looked at for leaks */
int prctl(int option, ...)
{
	return 0;
}

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void read_for(const char *url)
{
	struct rj_conf *c = NULL;
	struct rj_error err = {0};
	int rc = rj_conf_load(url, &c, &err);

	must(rc ? rc == -(int)err.code && err.msg[0] : c && !strcmp(c->url, url));
	if (rc)
		return;
	must(!c->password || c->password[0]);
	must(!c->token || c->token[0]);
	must(!c->ca || c->ca[0] == '/');
	must(!c->floor || strstr(c->floor, "://"));
	must(c->request_timeout_ms >= 0 && c->prefer <= RJ_PREFER_POWER);
	rj_conf_release(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rj_conf_local local;
	struct rj_error err = {0};

	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	read_for("rj://h:7490/v");
	read_for("s3+https://s3.example.com/logs/a");
	read_for("file:///d");
	if (!rj_conf_local_load(&local, &err))
		must(local.floor_dir[0] == '/' && local.fallback_dirs[0] == '/' &&
			local.drill_dir[0] == '/' && local.drill_max_age_s);
	else
		must(err.msg[0]);
	rj_conf_local_free(&local);
	return 0;
}

static const char seed[] = "# all\n[*]\nuser = u\nconnect_timeout = 1.5\n"
			   "retain = 7d\nprefer=power\nfloor = file:///f\n"
			   "disk_energy = wakeup=9J awake=4W idle=1m commit=0.1J\n"
			   "[rj://h]\ntoken = t\ninsecure = yes\n"
			   "[s3+https://s3.example.com]\npassword = p\n"
			   "session_token = s\nstyle = virtual\nregion = r\n"
			   "[local]\nfloor_dir = /f\nfallback_dirs = /a /b\n"
			   "drill_dir = /d\ndrill_max_age = 8d\n";

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *dir = getenv("RJ_SEEDS");
	char path[512];
	FILE *f;

	if (dir) {
		snprintf(path, sizeof(path), "%s/all", dir);
		f = fopen(path, "w");
		exit(!f || fputs(seed, f) == EOF || fclose(f));
	}
	unsetenv("RJ_CREDENTIALS");
	if (setenv("RJ_CONF", "fuzzed.conf", 1))
		exit(1);
	fd = open("fuzzed.conf", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd == -1)
		exit(1);
	return 0;
}
