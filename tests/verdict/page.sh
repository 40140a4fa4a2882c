#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# doc/verdict.md shows the table that the code has.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
"$RJ_BUILD/tests/verdict/show-table" >"$T_DIR/table"
sed -n '/^| # | row |/,/^$/p' "$RJ_SRC/doc/verdict.md" | sed '/^$/d' >"$T_DIR/page"
check "the page has a table" test -s "$T_DIR/page"
is "it is that of the code (tests/verdict/show-table prints it)" \
	"$(diff "$T_DIR/page" "$T_DIR/table")" ""
# what each fact means is said where the page says what the facts are
for name in $(sed 1,2d "$T_DIR/table" | cut -d '|' -f 4,5 | tr '|,' '\n\n' | sed 's/ //g' | sort -u); do
	grep -q "^| $name |" "$RJ_SRC/doc/verdict.md" || echo "$name"
done >"$T_DIR/unknown"
is "each fact of the table is explained" "$(cat "$T_DIR/unknown")" ""
exit 0
