#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The public API is one thing said twice: what the installed headers declare
# and what librj.map lists in RJ_0.1. And the library really exports it.
. "$RJ_SRC/tests/support/lib.sh" || exit 99

# declared HEADER...: functions, sorted
declared() { awk -f "$RJ_SRC/tests/house/declared.awk" "$@" | LC_ALL=C sort; }
# listed MAP: names in the public nodes of the version script, sorted
listed() {
	awk '/^RJ_[0-9.]+ \{/ {inside = 1; next} /^}/ {inside = 0}
		inside && /^\t[a-z0-9_]+;/ {sub(/;.*/, ""); sub(/^\t/, ""); print}' "$1" |
		LC_ALL=C sort
}
# exported LIBRARY: names with a public version, sorted
exported() {
	nm -D --defined-only --with-symbol-versions "$1" | awk '{print $NF}' |
		sed -n 's/@@*RJ_[0-9.]*$//p' | LC_ALL=C sort
}
# only TEXT-A TEXT-B: the lines that only A has
only() { LC_ALL=C comm -23 <(echo "$1") <(echo "$2") | tr '\n' ' '; }

headers=$(make -s --no-print-directory -C "$RJ_BUILD" MAKEFLAGS= house-vars |
	sed -n 's/^PUBLIC_HEADERS=//p')
cd "$RJ_SRC" || exit 99
# shellcheck disable=SC2086
in_headers=$(declared $headers)
in_map=$(listed lib/librj.map)
in_library=$(exported "$RJ_BUILD/lib/.libs/librj.so")
n=$(wc -l <<<"$in_headers")
check "there are public functions ($n)" test "$n" -gt 50
is "declared and not in RJ_0.1 of lib/librj.map" "$(only "$in_headers" "$in_map")" ""
is "in RJ_0.1 of lib/librj.map and not declared" "$(only "$in_map" "$in_headers")" ""
is "exported as public and not declared" "$(only "$in_library" "$in_headers")" ""
is "declared and not exported: nobody has written it" \
	"$(only "$in_headers" "$in_library")" ""
is "no function is declared twice" "$(uniq -d <<<"$in_headers")" ""

# The reading of headers and maps itself, and that a difference is seen
cat >"$T_DIR/a.h" <<'END'
/* int rj_comment(void); */
#define RJ_MACRO(x) \
	rj_macro(x);
typedef int (*rj_typedef)(void *arg);
struct rj_x { int (*rj_member)(int); /* not
	int rj_comment2(void); */
};
struct rj_x *rj_one(int a,
	int (*fn)(void *arg, int b), void *arg)
	__attribute__((format(printf, 1, 2)));
static inline int rj_inline(int a)
{
	if (a) { return rj_called(a); }
	return 0;
}
const char *rj_two(void); extern int rj_variable; void rj_three(void);
END
is "prototypes are found, and nothing else" "$(declared "$T_DIR/a.h" | tr '\n' ' ')" \
	"rj_one rj_three rj_two "
printf 'RJ_0.1 {\nglobal:\n\t/* x */\n\trj_one;\n\trj_two;\n\trj_four;\n};\nRJ_PRIVATE {\nglobal:\n\trj_*;\n\trj_priv;\n};\n' \
	>"$T_DIR/a.map"
is "seen: declared, not listed" \
	"$(only "$(declared "$T_DIR/a.h")" "$(listed "$T_DIR/a.map")")" "rj_three "
is "seen: listed, not declared" \
	"$(only "$(listed "$T_DIR/a.map")" "$(declared "$T_DIR/a.h")")" "rj_four "
