/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exit status of the tools that read logs: rjlog and rjbackup. */
#ifndef TOOLS_STATUS_H
#define TOOLS_STATUS_H

/* The largest that applies wins. */
enum status {
	STATUS_GOOD = 0,
	STATUS_REFUSED = 1, /* rjlog rm: a volume may need the log; rjbackup: no history */
	STATUS_DAMAGED = 4, /* the log, or what came out; a part is missing, or another's */
	STATUS_FAILED = 8,  /* operational: not reached, no log, no memory */
	STATUS_USAGE = 16,
	STATUS_KEY = 32, /* encrypted, and the key is missing or another */
};

/* What an error of the library means; never STATUS_REFUSED, which a tool decides. */
enum status status_of(int rc);

#endif
