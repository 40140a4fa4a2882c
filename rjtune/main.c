// SPDX-License-Identifier: GPL-2.0-or-later
/* rjtune: put a volume's journal elsewhere, and say where it is. */
#include <signal.h>
#include <stdio.h>

#include "os/fileio.h"
#include "rjtune.h"
#include "segment/sealkey.h"
#include "tools/json.h"
#include "tools/start/device.h"
#include "util/log.h"

static enum status change_device(const struct options *o)
{
	static struct result r;

	change(o, &r);
	if (o->json)
		report_json(stdout, o->device, &r, false);
	if (!o->json || r.failed)
		report_text(o, &r);
	return r.status;
}

static enum status genkey(const struct options *o)
{
	struct rj_error err;
	int rc = rj_sealkey_generate(o->genkey, &err);

	if (rc)
		fprintf(stderr, "rjtune: %s\n", err.msg);
	return move_status(NULL, rc);
}

int main(int argc, char **argv)
{
	static struct options o;
	enum status status;
	struct rj_error err;

	rj_fill_standard_fds();
	switch (options_parse(argc, argv, &o)) {
	case OPTIONS_DONE:
		return fflush(stdout) ? STATUS_FAILED : STATUS_OK;
	case OPTIONS_BAD:
		return STATUS_USAGE;
	case OPTIONS_RUN:
		break;
	}
	rj_log_set(report_log, &o);
	/* the reader of a pipe that goes away must not cut a move */
	signal(SIGPIPE, SIG_IGN);
	if (o.device && tool_device(o.device, &o.device, &err)) {
		fprintf(stderr, "rjtune: %s\n", err.msg);
		if (o.json)
			json_show_error("device", o.device, err.msg);
		return move_status(NULL, -(int)err.code);
	}
	status = o.genkey ? genkey(&o)
		 : o.list ? list(&o)
		 : o.all  ? change_all(&o)
			  : change_device(&o);
	if ((fflush(stdout) || ferror(stdout)) && status == STATUS_OK)
		status = STATUS_FAILED;
	return status;
}
