#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# doc/stores.md: each row is remade by a script of tests/backends/stores, and each script has a row.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh"

# rows PAGE: the stores that it has a row of
rows() { sed -n 's/^| `\([a-z0-9-]*\)` |.*/\1/p' "$1" | sort; }
# scripts TREE
scripts() { (cd "$1" && find tests/backends/stores -mindepth 2 -name '*.sh') | sed 's|.*/||; s|\.sh$||' | sort; }
# whole SCRIPT: it has what stores/run needs of it
whole() {
	(
		. "$1" && [ -n "$STORE" ] && [ -n "${REMARK+set}" ] &&
			declare -F store_get store_start >/dev/null
	)
}

page=$RJ_SRC/doc/stores.md
is "a row for each script, and a script for each row" "$(rows "$page")" "$(scripts "$RJ_SRC")"
is "run prints those names" "$("$RJ_SRC/tests/backends/stores/run" -p | sort)" "$(scripts "$RJ_SRC")"
is "no name twice" "$(scripts "$RJ_SRC" | uniq -d)" ""
check "at least 25 rows" test "$(rows "$page" | wc -l)" -ge 25
for script in "$RJ_SRC"/tests/backends/stores/*/*.sh; do
	check "${script##*/}: has what run needs" whole "$script"
done
status 2 "run refuses a store that has no script" "$RJ_SRC/tests/backends/stores/run" floppy
is "each row has as many columns as the head" \
	"$(grep -E '^[|] (script|`)' "$page" | awk -F' [|] |^[|] | [|]$' '{ print NF }' | sort -u | wc -l)" 1

# what breaks it
mkdir -p "$T_DIR/bad/tests/backends/stores/s3"
printf 'STORE=x\nstore_get() { :; }\n' >"$T_DIR/bad/tests/backends/stores/s3/half.sh"
printf '| `whole` | x |\n|---|---|\n' >"$T_DIR/bad/page.md"
is "seen: a row without a script" "$(rows "$T_DIR/bad/page.md") $(scripts "$T_DIR/bad")" "whole half"
check "seen: a script that lacks a function" not whole "$T_DIR/bad/tests/backends/stores/s3/half.sh"
