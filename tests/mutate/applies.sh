#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each mutation of the table still applies, exactly once, compiles, and has all that run needs.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
cd "$RJ_SRC" || exit 99
applies() {
	awk -v name="$1" -f tests/mutate/edit.awk tests/mutate/table "$2" >"$T_DIR/new" &&
		! cmp -s "$2" "$T_DIR/new"
}
flags=$(sed -n 's/^[A-Z0-9]*_CFLAGS = \([^$]*\)$/\1/p' "$RJ_BUILD/Makefile")
compiles() { # FILE, which $T_DIR/new is the edited form of
	# shellcheck disable=SC2086
	$(sed -n 's/^CC = //p' "$RJ_BUILD/Makefile") -fsyntax-only -x c -DHAVE_CONFIG_H -D_GNU_SOURCE $flags \
		-I"$RJ_BUILD" -I. -Ilib -iquote "$(dirname "$1")" -Wno-error \
		-Werror=implicit-function-declaration "$T_DIR/new"
}
while read -r name file; do
	check "$name applies to $file" applies "$name" "$file"
	check "... and compiles" compiles "$file"
done < <(sed -n 's/^= //p' tests/mutate/table)
is "each name is there once" "$(sed -n 's/^= \([^ ]*\) .*/\1/p' tests/mutate/table | sort | uniq -d)" ""
is "each mutation has its rule and its parts" "$(grep -c '^: ' tests/mutate/table) $(grep -c '^> ' tests/mutate/table)" \
	"$(grep -c '^= ' tests/mutate/table) $(grep -c '^= ' tests/mutate/table)"
missing() { # parts that are neither a test of make check nor one of the campaign
	sed -n 's/^> //p' tests/mutate/table | tr ' ' '\n' | sort -u | while read -r part; do
		case $part in
		*.sh) [ -e "$part" ] ;;
		*/*) [ -e "$part.c" ] ;;
		*) grep -q "^unit_${part%@*}()" tests/campaign ;;
		esac || echo "$part"
	done
}
is "each part is there" "$(missing)" ""
exit 0
