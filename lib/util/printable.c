// SPDX-License-Identifier: LGPL-2.1-or-later
#include "util/printable.h"

#include <stdbool.h>

size_t rj_utf8_bytes(const char *text)
{
	static const unsigned smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *s = (const unsigned char *)text;
	size_t bytes = *s < 0x80             ? 1
		       : (*s & 0xe0) == 0xc0 ? 2
		       : (*s & 0xf0) == 0xe0 ? 3
		       : (*s & 0xf8) == 0xf0 ? 4
					     : 0;
	unsigned c = bytes > 1 ? *s & (0x7fu >> bytes) : *s;
	size_t i;

	for (i = 1; i < bytes; i++) {
		if ((s[i] & 0xc0) != 0x80) /* the NUL, too */
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return c < smallest[bytes] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : bytes;
}

/* One of ASCII, or of U+0080 to U+009F */
static bool is_control(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	return *s < 0x20 || *s == 0x7f || (*s == 0xc2 && s[1] < 0xa0);
}

void rj_make_printable(char *text)
{
	size_t n;

	for (; *text; text += n) {
		n = rj_utf8_bytes(text);
		if (!n || is_control(text)) {
			*text = '?';
			n = 1;
		}
	}
}
