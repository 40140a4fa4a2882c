// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the command line of rjserver and its subcommands. */
#include "options.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "log.h"
#include "text/badopt.h"

enum {
	OPT_HELP = 256,
	OPT_VALUE,  /* + its place in values[] */
	OPT_FLAG = OPT_VALUE + 64, /* + its place in flags[] */
};

/* Which subcommands take an option: a bit for each. */
#define SERVE (1u << COMMAND_SERVE)
#define ADD   (1u << COMMAND_ADDUSER)
#define DEL   (1u << COMMAND_DELUSER)
#define USERS (1u << COMMAND_USERS)
#define STATS (1u << COMMAND_STATS)
#define CHECK (1u << COMMAND_CHECK)

#define VALUE(field) offsetof(struct options, field)

static const struct {
	const char *name;
	unsigned who;
	size_t at; /* in struct options, a const char * */
} values[] = {
	{"config", SERVE | ADD | DEL | USERS | STATS, VALUE(config)},
	{"cert", SERVE, VALUE(cert)},
	{"key", SERVE, VALUE(key)},
	{"client-ca", SERVE, VALUE(client_ca)},
	{"accounts", SERVE | ADD | DEL | USERS, VALUE(accounts)},
	{"durability", SERVE, VALUE(durability)},
	{"min-free", SERVE, VALUE(min_free)},
	{"max-strangers", SERVE, VALUE(max_strangers)},
	{"file-size", SERVE, VALUE(file_size)},
	{"request-time", SERVE, VALUE(request_time)},
	{"rights", ADD, VALUE(rights)},
	{"volumes", ADD, VALUE(volumes)},
	{"certificate", ADD, VALUE(certificate)},
	{"max-bytes", ADD, VALUE(max_bytes)},
	{"max-objects", ADD, VALUE(max_objects)},
	{"max-volumes", ADD, VALUE(max_volumes)},
	/* the short ones */
	{"dir", SERVE | ADD | DEL | USERS | STATS | CHECK, VALUE(dir)},
	{"listen", SERVE, VALUE(listen)},
};
#define VALUES (sizeof(values) / sizeof(values[0]))
#define VALUE_DIR    (VALUES - 2)
#define VALUE_LISTEN (VALUES - 1)

static const struct {
	const char *name;
	unsigned who;
	size_t at; /* a bool */
} flags[] = {
	{"insecure", SERVE, VALUE(insecure)},
	{"quiet", SERVE | ADD | DEL | USERS | STATS | CHECK, VALUE(quiet)},
	{"new-token", ADD, VALUE(new_token)},
	{"add-token", ADD, VALUE(add_token)},
	{"drop-token", ADD, VALUE(drop_token)},
	{"no-token", ADD, VALUE(no_token)},
	{"json", STATS, VALUE(json)},
};
#define FLAGS      (sizeof(flags) / sizeof(flags[0]))
#define FLAG_QUIET 1

static const struct {
	const char *word;
	enum subcommand command;
} commands[] = {
	{"adduser", COMMAND_ADDUSER},
	{"deluser", COMMAND_DELUSER},
	{"users", COMMAND_USERS},
	{"stats", COMMAND_STATS},
	{"check", COMMAND_CHECK},
};

static const char help[] =
	"Usage: rjserver -d DIR -l ADDR:PORT [OPTION]...\n"
	"       rjserver adduser -d DIR [OPTION]... NAME\n"
	"       rjserver deluser -d DIR NAME\n"
	"       rjserver users -d DIR\n"
	"       rjserver stats -d DIR [--json]\n"
	"       rjserver check DIR\n"
	"Keep the journals of ext3 and ext4 volumes for other machines.\n"
	"\n"
	"  -d DIR           where the store is kept; made if missing\n"
	"  -l ADDR:PORT     listen there; [ADDR]:PORT for IPv6; port 0: any "
	"free one\n"
	"  --config FILE    read what is not said here from FILE\n"
	"  --cert FILE, --key FILE\n"
	"                   TLS: the server's certificate (chain) and key, "
	"PEM\n"
	"  --client-ca FILE\n"
	"                   take client certificates of this CA\n"
	"  --accounts FILE  accounts and their rights (default: DIR/accounts)\n"
	"  --insecure       no accounts: everybody on this machine may do "
	"all;\n"
	"                   only for a loopback address\n"
	"  --min-free SIZE  refuse writes when the disk has less left\n"
	"                   (default: 1% of it, at most 1G; two files at least)\n"
	"  --max-strangers N\n"
	"                   connections that one address may have open without "
	"a\n"
	"                   request that was let in (default: 256; 0: no "
	"limit)\n"
	"  --file-size SIZE the store's files are that large (default: a 32nd\n"
	"                   of the disk, 1M to 64M)\n"
	"  --request-time TIME\n"
	"                   end a connection whose request takes longer "
	"(default: 60s)\n"
	"  --durability=fsync|received\n"
	"                   answer a write when it is on stable storage "
	"(fsync, the\n"
	"                   default), or when the kernel has it (received)\n"
	"\n"
	"adduser makes the account NAME, or changes what is said of it; its "
	"new token\n"
	"is printed once, and only its hash kept.\n"
	"  --rights LIST    of append, read, trim, watch, admin "
	"(append,read,trim)\n"
	"  --volumes LIST   names of volumes; web* for a prefix, * for all "
	"(NAME)\n"
	"  --certificate CN the common name of its client certificate\n"
	"  --new-token      replace its token;  --no-token: it has none\n"
	"  --add-token      a second token, beside the one that it has\n"
	"  --drop-token     end the older one of two tokens\n"
	"  --max-bytes SIZE, --max-objects NUMBER, --max-volumes NUMBER\n"
	"                   what its volumes may hold together; 0: no limit\n"
	"\n"
	"  --json           stats as JSON\n"
	"  -q, --quiet      no notices on stderr\n"
	"  -V, --version    print the version\n"
	"  --help           print this\n"
	"\n"
	"Prints \"rjserver: listening on ADDR:PORT\" when ready. SIGHUP reads "
	"FILE, the\n"
	"certificates and the accounts again; SIGTERM stops it.\n";

static int usage(void)
{
	fputs("rjserver: try 'rjserver --help'\n", stderr);
	return EXIT_USAGE;
}

static int refuse(const char *option, enum subcommand command)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].command == command)
			log_error("--%s: not an option of %s", option,
				commands[i].word);
	if (command == COMMAND_SERVE)
		log_error("--%s: only an option of the subcommands", option);
	return usage();
}

/* One option; as options_parse(). */
static int take(int c, enum subcommand command, struct options *out)
{
	size_t i;

	switch (c) {
	case 'd':
		c = OPT_VALUE + (int)VALUE_DIR;
		break;
	case 'l':
		c = OPT_VALUE + (int)VALUE_LISTEN;
		break;
	case 'q':
		c = OPT_FLAG + FLAG_QUIET;
		break;
	case 'V':
		puts("rjserver (" PACKAGE_NAME ") " PACKAGE_VERSION);
		return 0;
	case OPT_HELP:
		fputs(help, stdout);
		return 0;
	default:
		break;
	}
	if (c < OPT_FLAG) {
		i = (size_t)(c - OPT_VALUE);
		if (!(values[i].who & 1u << command))
			return refuse(values[i].name, command);
		*(const char **)((char *)out + values[i].at) = optarg;
		return -1;
	}
	i = (size_t)(c - OPT_FLAG);
	if (!(flags[i].who & 1u << command))
		return refuse(flags[i].name, command);
	*(bool *)((char *)out + flags[i].at) = true;
	return -1;
}

/* The tables as getopt_long() wants them. */
static void long_options(struct option *to)
{
	size_t i;

	for (i = 0; i < VALUE_DIR; i++)
		*to++ = (struct option){values[i].name, required_argument, NULL,
			OPT_VALUE + (int)i};
	for (i = 0; i < FLAGS; i++)
		*to++ = (struct option){
			flags[i].name, no_argument, NULL, OPT_FLAG + (int)i};
	*to++ = (struct option){"help", no_argument, NULL, OPT_HELP};
	*to++ = (struct option){"version", no_argument, NULL, 'V'};
	*to = (struct option){0};
}

static int check(int argc, char **argv, enum subcommand command,
	struct options *out)
{
	bool named = command == COMMAND_ADDUSER || command == COMMAND_DELUSER;

	if (named && optind < argc)
		out->name = argv[optind++];
	if (command == COMMAND_CHECK && !out->dir && optind < argc)
		out->dir = argv[optind++];
	if (optind < argc)
		log_error("%s: not an option", argv[optind]);
	else if (out->dir && !*out->dir)
		log_error("say where the store is: -d DIR");
	else if (!out->dir && !out->config && !out->accounts)
		log_error("say where the store is: -d DIR");
	else if (command == COMMAND_SERVE && !out->listen && !out->config)
		log_error("say where to listen: -l ADDR:PORT");
	else if (named && !out->name)
		log_error("say which account");
	else if (out->new_token + out->add_token + out->drop_token + out->no_token > 1)
		log_error("--new-token, --add-token, --drop-token, --no-token: which of them?");
	else
		return -1;
	return usage();
}

int options_parse(int argc, char **argv, enum subcommand *command,
	struct options *out)
{
	struct option all[VALUES + FLAGS + 3];
	char why[128];
	int c, status;
	size_t i;

	memset(out, 0, sizeof(*out));
	*command = COMMAND_SERVE;
	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].word))
			*command = commands[i].command;
	if (*command != COMMAND_SERVE) {
		argc--;
		argv++;
	}
	long_options(all);
	while ((c = getopt_long(argc, argv, ":d:l:qV", all, NULL)) != -1) {
		if (c == '?' || c == ':') {
			log_error("%s", rj_badopt(c, argv, all, why,
						sizeof(why)));
			return usage();
		}
		status = take(c, *command, out);
		if (status >= 0)
			return status;
	}
	return check(argc, argv, *command, out);
}
