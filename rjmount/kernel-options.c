// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file system context takes or refuses each option by itself (fsconfig(2));
 * without FSCONFIG_CMD_CREATE nothing is mounted. ext4 parses its options there
 * since Linux 5.17 (ext4_parse_param()); before, all of them pass.
 */
#include "kernel-options.h"

#include <errno.h>
#include <linux/mount.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "options.h"
#include "util/buf.h"

/* What mount(8) makes mount flags of, does itself, or translates for a security
 * module; each with or without a value ("ro=vfs"). */
static const char *const not_of_fs[] = {"defaults", "ro", "rw", "exec",
	"noexec", "suid", "nosuid", "dev", "nodev", "sync", "async", "dirsync",
	"mand", "nomand", "iversion", "noiversion", "atime", "noatime",
	"diratime", "nodiratime", "relatime", "norelatime", "strictatime",
	"nostrictatime", "lazytime", "nolazytime", "symfollow", "nosymfollow",
	"loud", "silent", "bind", "rbind", "private", "rprivate", "slave",
	"rslave", "shared", "rshared", "unbindable", "runbindable", "loop",
	"offset", "sizelimit", "encryption", "context", "fscontext",
	"defcontext", "rootcontext", "seclabel"};

#define FSCONFIG_VALUE_MOST 255 /* bytes, fsconfig(2) */

static bool of_fs(const char *text, size_t len)
{
	const char *equals = memchr(text, '=', len);
	size_t name = equals ? (size_t)(equals - text) : len, i;

	for (i = 0; i < sizeof(not_of_fs) / sizeof(*not_of_fs); i++)
		if (strlen(not_of_fs[i]) == name &&
			!memcmp(text, not_of_fs[i], name))
			return false;
	return true;
}

/* The first error of the context's log, without its level, "e ": one line a read. */
static void read_log(int fd, char *out, size_t size)
{
	ssize_t n;

	do {
		n = read(fd, out, size - 1);
		out[n > 0 ? n : 0] = 0;
	} while (n > 0 && strncmp(out, "e ", 2) != 0);
	out[strcspn(out, "\n")] = 0;
	if (out[0])
		memmove(out, out + 2, strlen(out + 2) + 1);
}

static int check_word(int fd, const char *device, const char *type, const char *text,
	size_t len, struct rj_error *err)
{
	struct rj_buf word = {0};
	char *name, *value, why[256];
	int rc = 0;

	if (rj_buf_printf(&word, "%.*s", (int)len, text))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	name = (char *)word.data;
	value = strchr(name, '=');
	if (value)
		*value++ = 0;
	/* a longer value fails here, not with older programs of mount(8) */
	if (value && strlen(value) > FSCONFIG_VALUE_MOST) {
		rj_buf_free(&word);
		return 0;
	}
	if (syscall(SYS_fsconfig, fd,
		    value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, name,
		    value, 0) == -1 &&
		errno == EINVAL) {
		read_log(fd, why, sizeof(why));
		rc = rj_fail(err, RJ_E_INVAL,
			"%s: mount option %.*s: %s; see %s(5)", device,
			(int)len, text, *why ? why : strerror(EINVAL), type);
	}
	rj_buf_free(&word);
	return rc;
}

int rj_mount_check_words(const char *device, const char *type,
	const char *words, struct rj_error *err)
{
	int fd = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC), rc = 0;
	size_t len;

	if (fd == -1)
		return errno == ENODEV
			       ? rj_fail(err, RJ_E_INVAL,
					 "%s: this kernel has no file system "
					 "%s",
					 device, type)
			       : 0;
	for (; !rc && words && *words; words += len + (words[len] == ',')) {
		len = rj_mount_word_length(words);
		if (len && of_fs(words, len))
			rc = check_word(fd, device, strcmp(type, "xfs") ? "ext4" : type, words, len,
				err);
	}
	close(fd);
	return rc;
}
