#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each line of the table in doc/trust.md names a test, and each test it names is there.
. "$RJ_SRC/tests/support/lib.sh"
page=$RJ_SRC/doc/trust.md
ROWS=$(grep '^| ' "$page" | tail -n +2)
is "the table has lines" "$([ "$(wc -l <<<"$ROWS")" -gt 20 ] && echo yes)" yes
is "each has five columns" "$(awk -F'|' 'NF != 7' <<<"$ROWS")" ""
is "each names a test" "$(awk -F'|' '$6 !~ /`tests\//' <<<"$ROWS")" ""
is "each test is there" "$(grep -o '`tests/[^`]*`' "$page" | tr -d '\140' | sort -u |
	while read -r t; do [ -e "$RJ_SRC/$t" ] || echo "$t"; done)" ""
exit 0
