// SPDX-License-Identifier: LGPL-2.1-or-later
#include "module/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"

static struct {
	const char *name;
	const void *_Atomic functions; /* NULL: not loaded */
} modules[] = {
	[RJ_MODULE_CURL] = {"curl", NULL},
	[RJ_MODULE_OPENSSL] = {"openssl", NULL},
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool others_may_write(const struct stat *st)
{
	return st->st_mode & S_IWOTH;
}

/*
 * Is the file of MODULE no easier to write than that of LIBRARY, beside which it is? If all
 * users may write the folder, as they may /tmp, the file can be any user's.
 */
static int check_owner(const char *module, const char *library, struct rj_error *err)
{
	const char *slash = strrchr(library, '/');
	char folder[PATH_MAX];
	struct stat m, l, f;

	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - library) + 1, library);
	if (stat(library, &l))
		return rj_fail_errno(err, errno, "%s: cannot stat", library);
	if (stat(folder, &f))
		return rj_fail_errno(err, errno, "%s: cannot stat", folder);
	if (stat(module, &m))
		return rj_fail(err, RJ_E_REFUSED,
			"%s: the module is not there (%s): install it, of the same version; on Debian it is in the package librj0, on Fedora in librj",
			module, strerror(errno));
	if ((m.st_uid && m.st_uid != l.st_uid) || others_may_write(&m) ||
		(m.st_mode & S_IWGRP && !(l.st_mode & S_IWGRP && m.st_gid == l.st_gid)))
		return rj_fail(err, RJ_E_REFUSED,
			"%s: not loaded: it has another owner than %s, or more users may write it; install it again",
			module, library);
	if (others_may_write(&f))
		return rj_fail(err, RJ_E_REFUSED,
			"%s: not loaded: all users may write its folder; chmod o-w %s", module, folder);
	return 0;
}

/* The path of module NAME, in the folder of librj. */
static int find(const char *name, char path[PATH_MAX], struct rj_error *err)
{
	const char *slash;
	Dl_info self;

	/* a relative path comes from a search path of the caller's, and means a different file
	 * after a change of the working directory */
	if (!dladdr(modules, &self) || self.dli_fname[0] != '/')
		return rj_fail(err, RJ_E_REFUSED,
			"librj-%s: the module is not loaded: librj was not loaded from an absolute path",
			name);
	slash = strrchr(self.dli_fname, '/');
	if (snprintf(path, PATH_MAX, "%.*s/librj-%s-" PACKAGE_VERSION ".so",
		    (int)(slash - self.dli_fname), self.dli_fname, name) >= PATH_MAX)
		return rj_fail(err, RJ_E_REFUSED, "librj-%s: its path is too long", name);
	return check_owner(path, self.dli_fname, err);
}

/* Does the file FD, of SIZE bytes, end before what it says that it holds? What is no program
 * file is left to dlopen(), which says so. */
static bool is_cut(int fd, uint64_t size)
{
	ElfW(Ehdr) head;
	ElfW(Phdr) part;
	off_t at;
	int i;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
		memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_phentsize != sizeof(part))
		return false;
	at = (off_t)head.e_phoff;
	if (head.e_shoff > size || (uint64_t)head.e_shnum * head.e_shentsize > size - head.e_shoff)
		return true;
	for (i = 0; i < head.e_phnum; i++) {
		if (pread(fd, &part, sizeof(part), at) != sizeof(part) || part.p_offset > size ||
			part.p_filesz > size - part.p_offset)
			return true;
		at += (off_t)sizeof(part);
	}
	return false;
}

/* Refuse a file that a copy or a full disk has cut: dlopen() would map what is not there, and
 * the signal SIGBUS end the program. */
static int check_whole(const char *module, struct rj_error *err)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC);
	struct stat st;
	bool cut;

	if (fd < 0)
		return rj_fail(err, RJ_E_REFUSED, "%s: cannot read the module: %s; install it again",
			module, strerror(errno));
	cut = !fstat(fd, &st) && is_cut(fd, (uint64_t)st.st_size);
	close(fd);
	return cut ? rj_fail(err, RJ_E_REFUSED,
			     "%s: cannot load the module: the end of its file is missing; install it again",
			     module)
		   : 0;
}

static int load(enum rj_module which, struct rj_error *err)
{
	char path[PATH_MAX];
	void *handle;
	int rc = find(modules[which].name, path, err);

	if (!rc)
		rc = check_whole(path, err);
	if (rc)
		return rc;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle)
		modules[which].functions = dlsym(handle, "rj_module_functions");
	if (modules[which].functions)
		return 0;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: cannot load the module: %s; install it again, with the libraries that it needs",
		path, dlerror());
}

int rj_module_load(enum rj_module which, const void **functions, struct rj_error *err)
{
	int rc = 0;

	if (!modules[which].functions) {
		pthread_mutex_lock(&lock);
		if (!modules[which].functions)
			rc = load(which, err);
		pthread_mutex_unlock(&lock);
	}
	*functions = modules[which].functions;
	return rc;
}

bool rj_module_loaded(enum rj_module which)
{
	return modules[which].functions;
}
