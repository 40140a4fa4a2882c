// SPDX-License-Identifier: GPL-2.0-or-later
/* rjserver stats: ask the server that has the store, and print. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "os/fileio.h"
#include "rjserver/log.h"
#include "rjserver/options.h"
#include "text/when.h"

#define SECONDS 20 /* of silence */

static int ask(const char *dir, struct rj_buf *out, struct rj_error *err)
{
	const struct timeval limit = {.tv_sec = SECONDS};
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	ssize_t got = -1;
	int fd, rc = 0;

	if (snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/control", dir) >=
		(int)sizeof(sa.sun_path))
		return rj_fail(err, RJ_E_INVAL,
			"%s: too long a path for a socket", dir);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return rj_fail_errno(err, errno, "cannot make a socket");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ||
		connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
		rc = rj_fail_errno(err, errno,
			"%s: no rjserver that runs has this store, or you are "
			"not its owner",
			dir);
	while (!rc && got) {
		rc = rj_buf_reserve(out, 65536);
		got = rc ? 0 : read(fd, out->data + out->len, 65536);
		if (got < 0)
			rc = rj_fail_errno(err, errno, "%s: no answer", dir);
		else
			out->len += (size_t)got;
	}
	close(fd); /* only read */
	return rc;
}

static long long number(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_int64(v)
						     : 0;
}

static const char *text(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_string(v)
						     : "?";
}

/* A key that a server of an earlier version does not have is "". */
static const char *optional(struct json_object *o, const char *key)
{
	return json_object_object_get_ex(o, key, NULL) ? text(o, key) : "";
}

/* What WHICH, of "limit" or "nearly_full", is. */
static const char *limit_text(const char *which)
{
	return !strcmp(which, "disk")	  ? "the disk"
	       : !strcmp(which, "volume") ? "the limit of the volume"
					  : "the limit of its account";
}

static void print_volume(struct json_object *v)
{
	time_t last = (time_t)(number(v, "last_commit_ms") / 1000);
	const char *host = text(v, "host"), *account = text(v, "account");
	const char *nearly = text(v, "nearly_full");
	char when[RJ_WHEN_TEXT];

	printf("%s/%s: %lld bytes in %lld segments; ", text(v, "name"),
		text(v, "journal"), number(v, "bytes"), number(v, "segments"));
	if (last)
		printf("last commit %s from %s%s%s, lag %.1f ms\n", rj_when_seconds(last, when), host,
			*account ? " as " : "", account,
			(double)number(v, "lag_us") / 1000);
	else
		printf("no commit since the start\n");
	if (number(v, "holds"))
		printf("  holds: %lld, which keep a part of it (rjbackup ls URL says which)\n",
			number(v, "holds"));
	if (number(v, "verified_s"))
		printf("  verified %s by rjbackup drill\n",
			rj_when_seconds(number(v, "verified_s"), when));
	if (*optional(v, "full"))
		printf("  FULL, its last commit was refused: %s\n", limit_text(text(v, "full")));
	else if (*nearly)
		printf("  NEARLY FULL: %s\n", limit_text(nearly));
}

static int print(const char *dir, const struct rj_buf *answer)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *all = NULL, *s, *volumes;
	char when[RJ_WHEN_TEXT];
	size_t i;

	if (tok)
		all = json_tokener_parse_ex(
			tok, (const char *)answer->data, (int)answer->len);
	json_tokener_free(tok);
	if (!json_object_object_get_ex(all, "server", &s) ||
		!json_object_object_get_ex(all, "volumes", &volumes)) {
		log_error("%s: the answer is malformed", dir);
		json_object_put(all);
		return EXIT_FAILED;
	}
	printf("rjserver %s: %s", text(s, "version"), text(s, "health"));
	if (*optional(s, "limit_of"))
		printf(" (%s: %s)", text(s, "limit_of"), limit_text(text(s, "limit")));
	printf("; up %lld s; answers when %s\n", number(s, "uptime_s"), text(s, "durability"));
	printf("%lld commits, half within %.1f ms, 99%% within %.1f ms; %lld "
	       "refused\n",
		number(s, "commits"), (double)number(s, "commit_p50_us") / 1000,
		(double)number(s, "commit_p99_us") / 1000,
		number(s, "refused"));
	printf("disk: %lld of %lld bytes free, writes end at %lld\n",
		number(s, "free_bytes"), number(s, "disk_bytes"),
		number(s, "min_free_bytes"));
	if (number(s, "certificate_end_s"))
		printf("certificate: until %s\n", rj_when_seconds(number(s, "certificate_end_s"), when));
	for (i = 0; i < json_object_array_length(volumes); i++)
		print_volume(json_object_array_get_idx(volumes, i));
	json_object_put(all);
	return 0;
}

static void print_error(const char *dir, const char *message)
{
	struct json_object *top = json_object_new_object();

	json_object_object_add(top, "dir", json_object_new_string(dir));
	json_object_object_add(top, "error", json_object_new_string(message));
	puts(json_object_to_json_string_ext(top,
		JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}

int control_stats(const char *dir, bool json)
{
	struct rj_error err = {0};
	struct rj_buf answer = {0};
	int status = EXIT_FAILED;

	if (ask(dir, &answer, &err)) {
		log_error("%s", err.msg);
		if (json)
			print_error(dir, err.msg);
	} else if (json) {
		status = fwrite(answer.data, 1, answer.len, stdout) ==
					 answer.len
				 ? 0
				 : EXIT_FAILED;
	} else {
		status = print(dir, &answer);
	}
	if (fflush(stdout) || ferror(stdout)) {
		log_error("stdout: cannot write");
		status = EXIT_FAILED;
	}
	rj_buf_free(&answer);
	return status;
}
