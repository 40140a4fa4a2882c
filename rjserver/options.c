// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "say.h"

enum {
	OPT_HELP = 256,
	OPT_CONFIG,
	OPT_CERT,
	OPT_KEY,
	OPT_CLIENT_CA,
	OPT_TOKENS,
	OPT_INSECURE,
	OPT_DURABILITY,
};

static const struct option long_options[] = {
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, 'V'},
	{"quiet", no_argument, NULL, 'q'},
	{"config", required_argument, NULL, OPT_CONFIG},
	{"cert", required_argument, NULL, OPT_CERT},
	{"key", required_argument, NULL, OPT_KEY},
	{"client-ca", required_argument, NULL, OPT_CLIENT_CA},
	{"tokens", required_argument, NULL, OPT_TOKENS},
	{"insecure", no_argument, NULL, OPT_INSECURE},
	{"durability", required_argument, NULL, OPT_DURABILITY},
	{0},
};

static const char help[] =
	"Usage: rjserver -d DIR -l ADDR:PORT [OPTION]...\n"
	"Keep the journals of ext3 and ext4 volumes for other machines.\n"
	"\n"
	"  -d DIR           where the store is kept; made if missing\n"
	"  -l ADDR:PORT     listen there; [ADDR]:PORT for IPv6; port 0: any "
	"free "
	"one\n"
	"  --insecure       serve without TLS and accounts, and do not warn\n"
	"  --durability=fsync|received\n"
	"                   answer a write when it is on stable storage "
	"(fsync, the\n"
	"                   default), or when the kernel has it (received)\n"
	"  --config FILE, --cert FILE, --key FILE, --client-ca FILE, "
	"--tokens FILE\n"
	"                   TLS and accounts: not in this version, refused\n"
	"  -q, --quiet      no notices on stderr\n"
	"  -V, --version    print the version\n"
	"  --help           print this\n"
	"\n"
	"Prints \"rjserver: listening on ADDR:PORT\" when ready. Stop it with "
	"SIGTERM.\n";

static int usage(void)
{
	fputs("rjserver: try 'rjserver --help'\n", stderr);
	return EXIT_USAGE;
}

static int refuse_later(const char *option)
{
	say_error("%s: this version has no TLS and no accounts; run it on a "
		  "trusted network only, without this option",
		option);
	return EXIT_USAGE;
}

static int durability(const char *text, struct options *out)
{
	out->received = !strcmp(text, "received");
	if (out->received || !strcmp(text, "fsync"))
		return -1;
	say_error("--durability=%s: it is fsync or received", text);
	return EXIT_USAGE;
}

/* One option; as options_parse(). */
static int take(int c, struct options *out)
{
	switch (c) {
	case 'd':
		out->dir = optarg;
		return -1;
	case 'l':
		out->listen = optarg;
		return -1;
	case 'q':
		out->quiet = true;
		return -1;
	case 'V':
		puts("rjserver (" PACKAGE_NAME ") " PACKAGE_VERSION);
		return 0;
	case OPT_HELP:
		fputs(help, stdout);
		return 0;
	case OPT_CONFIG:
		return refuse_later("--config");
	case OPT_CERT:
		return refuse_later("--cert");
	case OPT_KEY:
		return refuse_later("--key");
	case OPT_CLIENT_CA:
		return refuse_later("--client-ca");
	case OPT_TOKENS:
		return refuse_later("--tokens");
	case OPT_INSECURE:
		out->insecure = true;
		return -1;
	case OPT_DURABILITY:
		return durability(optarg, out);
	default:
		return usage();
	}
}

int options_parse(int argc, char **argv, struct options *out)
{
	static char name[] = "rjserver";
	int c, status;

	memset(out, 0, sizeof(*out));
	argv[0] = name; /* what getopt puts before its messages */
	while ((c = getopt_long(argc, argv, "d:l:qV", long_options, NULL)) !=
		-1) {
		status = take(c, out);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		say_error("%s: not an option", argv[optind]);
	else if (!out->dir || !*out->dir)
		say_error("say where the store is: -d DIR");
	else if (!out->listen)
		say_error("say where to listen: -l ADDR:PORT");
	else
		return -1;
	return usage();
}
