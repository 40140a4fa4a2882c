// SPDX-License-Identifier: LGPL-2.1-or-later
#include "util/printable.h"

#include <stddef.h>

/* Bytes of the character at S: 1 to 4; 0: a control character, or not UTF-8 as
 * RFC 3629 has it. */
static size_t printable(const unsigned char *s)
{
	static const unsigned smallest[] = {0, 0x20, 0xa0, 0x800, 0x10000};
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
	return c < smallest[bytes] || c == 0x7f || c > 0x10ffff ||
			       (c >= 0xd800 && c < 0xe000)
		       ? 0
		       : bytes;
}

void rj_make_printable(char *text)
{
	size_t n;

	for (; *text; text += n) {
		n = printable((unsigned char *)text);
		if (!n) {
			*text = '?';
			n = 1;
		}
	}
}
