/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJSERVER_OPTIONS_H
#define RJSERVER_OPTIONS_H

#include <stdbool.h>

/* As on the command line; NULL or false: not said. */
struct options {
	const char *dir;
	const char *listen; /* ADDR:PORT */
	const char *config;
	const char *cert, *key, *client_ca;
	const char *accounts;
	const char *durability; /* fsync or received */
	const char *min_free;
	const char *max_strangers;
	const char *file_size, *request_time;
	bool insecure;
	bool quiet;
	/* of the subcommands: */
	const char *name; /* adduser, deluser: the account */
	const char *rights, *volumes, *certificate;
	const char *max_bytes, *max_objects, *max_volumes;
	bool new_token, add_token, drop_token, no_token;
	bool json;
};

enum subcommand {
	COMMAND_SERVE,
	COMMAND_ADDUSER,
	COMMAND_DELUSER,
	COMMAND_USERS,
	COMMAND_STATS,
	COMMAND_CHECK,
};

#define EXIT_USAGE  1
#define EXIT_FAILED 2

/* Returns -1 to go on, or the status to exit with (said all there is). */
int options_parse(int argc, char **argv, enum subcommand *command,
	struct options *out);

#endif
