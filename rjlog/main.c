// SPDX-License-Identifier: GPL-2.0-or-later
/* rjlog: look at remote logs, and check them. */
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "print.h"
#include "rjlog/probe.h"
#include "rm.h"
#include "target.h"
#include "tools/json.h"

/* An rjserver without the name of a store: rj://HOST or rjs://HOST, with a port or not. */
static bool is_server(const char *url)
{
	const char *host = !strncmp(url, "rj://", 5)    ? url + 5
			   : !strncmp(url, "rjs://", 6) ? url + 6
							: "";

	return *host && strcspn(host, "/") + (host[strcspn(host, "/")] == '/') == strlen(host);
}

static enum status run(const struct options *o)
{
	enum status (*const commands[])(
		const struct options *, struct target *) = {
		[COMMAND_LS] = run_ls,
		[COMMAND_SHOW] = run_show,
		[COMMAND_VERIFY] = run_verify,
		[COMMAND_PRUNE] = run_prune,
		[COMMAND_COPY] = run_copy,
		[COMMAND_RM] = run_rm,
	};
	struct target t = {0};
	enum status status;
	struct rj_error err;
	int rc;

	if (o->command == COMMAND_PROBE)
		return run_probe(o);
	if (o->command == COMMAND_LS && is_server(o->url))
		return run_ls_names(o, o->url);
	rc = target_open(&t, o, o->url, &err);
	if (!rc && o->command == COMMAND_RM)
		rc = rm_check_words(o, &t, &err);
	/* a URL that cannot be read is wrong usage, as a missing one is */
	if (!rc && (o->command != COMMAND_LS || t.named))
		rc = target_choose(&t, &err);
	if (rc) {
		complain(err.msg);
		if (o->json)
			json_show_error("url", o->url, err.msg);
		status = status_of(rc);
	} else {
		status = commands[o->command](o, &t);
	}
	target_close(&t);
	return status;
}

int main(int argc, char **argv)
{
	struct options o;
	enum status status = STATUS_GOOD;

	switch (options_parse(argc, argv, &o)) {
	case OPTIONS_DONE:
		break;
	case OPTIONS_BAD:
		return STATUS_USAGE;
	case OPTIONS_RUN:
		status = run(&o);
		break;
	}
	if (fflush(stdout) || ferror(stdout)) {
		complain("cannot write the results to standard output");
		return status > STATUS_FAILED ? status : STATUS_FAILED;
	}
	return status;
}
