// SPDX-License-Identifier: GPL-2.0-or-later
#include "said.h"

#include <stdio.h>
#include <string.h>

/* LINE after HEAD and ": "; NULL if it does not begin so. */
static char *behind(char *line, const char *head)
{
	size_t n = strlen(head);

	return !strncmp(line, head, n) && !strncmp(line + n, ": ", 2)
		       ? line + n + 2
		       : NULL;
}

const char *rj_said(char *text, const char *program, const char *device)
{
	char *line, *save = NULL, *reason = NULL, *rest;
	size_t len;

	for (line = strtok_r(text, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		rest = behind(line, program);
		if (rest && reason)
			fprintf(stderr, "%s: %s\n", program, reason);
		if (rest)
			reason = rest;
		else if (!strstr(line, "dmesg(1)"))
			fprintf(stderr, "%s\n", line);
	}
	if (!reason)
		return NULL;
	rest = behind(reason, device);
	reason = rest ? rest : reason;
	len = strlen(reason);
	if (len && reason[len - 1] == '.')
		reason[len - 1] = 0;
	return reason;
}
