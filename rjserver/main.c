// SPDX-License-Identifier: GPL-2.0-or-later
/* rjserver: keep the remote journals. One event loop does it all. */
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "log.h"
#include "options.h"
#include "reload.h"
#include "rjserver/access/become-owner.h"
#include "rjserver/http/listen.h"
#include "rjserver/status/control.h"
#include "server.h"
#include "settings.h"
#include "store-check.h"
#include "users.h"

/* Each data file stays open. */
static void raise_file_limit(void)
{
	struct rlimit rl;

	if (!getrlimit(RLIMIT_NOFILE, &rl) && rl.rlim_cur < rl.rlim_max) {
		rl.rlim_cur = rl.rlim_max;
		setrlimit(RLIMIT_NOFILE, &rl);
	}
}

/* Refuse before anything is made or read of the store. */
static int look_first(const struct settings *set, bool loopback)
{
	struct rj_error err = {0};
	struct accounts a = {0};
	int rc = live_check(set, loopback, &a, &err);

	accounts_free(&a);
	if (!rc)
		return 0;
	log_error("%s", err.msg);
	return rc == -RJ_E_REFUSED || rc == -RJ_E_INVAL ? EXIT_USAGE
							: EXIT_FAILED;
}

static int run_server(const struct options *o, struct settings *set)
{
	char shown[ADDRESS_TEXT];
	struct rj_error err = {0};
	bool loopback;
	int status, fd;

	if (!set->dir[0] || !set->listen[0]) {
		log_error("say %s, on the command line or in the file of "
			  "--config",
			set->dir[0] ? "where to listen: -l ADDR:PORT"
				    : "where the store is: -d DIR");
		return EXIT_USAGE;
	}
	raise_file_limit();
	fd = listen_on(set->listen, shown, &loopback, &err);
	if (fd < 0) {
		log_error("%s", err.msg);
		return fd == -RJ_E_INVAL ? EXIT_USAGE : EXIT_FAILED;
	}
	status = look_first(set, loopback);
	if (status) {
		close(fd); /* never used */
		return status;
	}
	return serve(o, set, fd, shown, loopback);
}

/* A command on the directory DIR, or on the accounts file (else NULL). */
static bool as_owner(const char *dir, const char *accounts)
{
	struct rj_error err = {0};
	char path[PATH_MAX + 2];

	snprintf(path, sizeof(path), "%s/", dir);
	if (!owner_become(accounts ? accounts : path, &err))
		return true;
	log_error("%s", err.msg);
	return false;
}

int main(int argc, char **argv)
{
	static struct settings set;
	struct rj_error err = {0};
	enum subcommand command;
	struct options o;
	int status;

	status = options_parse(argc, argv, &command, &o);
	if (status >= 0)
		return status;
	if (command == COMMAND_CHECK)
		return as_owner(o.dir, NULL) ? store_check_main(o.dir)
					     : EXIT_FAILED;
	if (settings_make(&o, &set, &err)) {
		log_error("%s", err.msg);
		return err.code == RJ_E_INVAL ? EXIT_USAGE : EXIT_FAILED;
	}
	if (set.quiet)
		log_set_quiet();
	signal(SIGPIPE, SIG_IGN);
	if (command != COMMAND_SERVE &&
		!as_owner(set.dir,
			command == COMMAND_STATS ? NULL : set.accounts))
		return EXIT_FAILED;
	switch (command) {
	case COMMAND_ADDUSER:
		return users_add(&o, &set);
	case COMMAND_DELUSER:
		return users_delete(&o, &set);
	case COMMAND_USERS:
		return users_list(&set);
	case COMMAND_STATS:
		return control_stats(set.dir, o.json);
	default:
		return run_server(&o, &set);
	}
}
