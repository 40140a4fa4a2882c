// SPDX-License-Identifier: LGPL-2.1-or-later
#include "util/mountinfo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Undo the kernel's \ooo for blanks and backslashes, in place. */
static void unescape(char *s)
{
	char *to = s;
	int i, value;

	while (*s) {
		value = 0;
		for (i = 1; *s == '\\' && i <= 3 && s[i] >= '0' && s[i] <= '7';
			i++)
			value = value * 8 + (s[i] - '0');
		if (*s == '\\' && i == 4) {
			*to++ = (char)value;
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = 0;
}

/* The fields of one line: "36 35 98:0 /root /dir options [tags] - type source
 * options". False if it is not such a line. */
static bool fields(char *line, char **dir, char **source)
{
	char *save = NULL, *word = strtok_r(line, " ", &save);
	int i;

	for (i = 0; word && i < 4; i++)
		word = strtok_r(NULL, " ", &save);
	*dir = word;
	while (word && strcmp(word, "-") != 0)
		word = strtok_r(NULL, " ", &save);
	if (!word || !strtok_r(NULL, " ", &save))
		return false;
	*source = strtok_r(NULL, " ", &save);
	if (!*source)
		return false;
	unescape(*dir);
	unescape(*source);
	return true;
}

/* DIR NULL: any. The last match counts: it is on top. */
static bool find(const char *dir, const char *device, char *source, size_t size)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, *d, *s;
	bool found = false;
	size_t room = 0;

	if (!file)
		return false;
	while (getline(&line, &room, file) != -1) {
		line[strcspn(line, "\n")] = 0;
		if (!fields(line, &d, &s))
			continue;
		if ((dir && strcmp(d, dir) == 0) ||
			(device && strcmp(s, device) == 0)) {
			snprintf(source, size, "%s", s);
			found = true;
		}
	}
	free(line);
	fclose(file);
	return found;
}

bool rj_mountinfo_source(const char *dir, char *source, size_t size)
{
	char *real = realpath(dir, NULL);
	bool found = find(real ? real : dir, real ? real : dir, source, size);

	free(real);
	return found;
}

bool rj_mountinfo_mounted(const char *source)
{
	char same[4096];

	return find(NULL, source, same, sizeof(same));
}
