#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make dist has all files of the tree but findings/, which are about other software. What
# make install puts in place is enough to write a program with: every public header compiles
# alone, and a program built through pkg-config runs.
. "$RJ_SRC/tests/support/lib.sh" || exit 99

vars=$(make -s --no-print-directory -C "$RJ_BUILD" MAKEFLAGS= house-vars)
var() { sed -n "s/^$1=//p" <<<"$vars"; }
root=$T_DIR/root CC=$(var CC) sanitize=$(var SANITIZE)
libdir=$(var libdir) include=$root$(var includedir)/rj

# undistributed: of the files of stdin those that neither make dist nor a folder in it has
undistributed() {
	awk -v d="$(var DISTFILES)" -v s="$(var srcdir)/" '
		BEGIN { n = split(d, f, " ")
			for (i = 1; i <= n; i++)
				has[index(f[i], s) == 1 ? substr(f[i], length(s) + 1) : f[i]] }
		{ for (p = $0; !(p in has) && sub("/[^/]*$", "", p);) {}
			if (!(p in has)) print }'
}
if git -C "$RJ_SRC" ls-files >"$T_DIR/tree" 2>/dev/null; then
	is "make dist has all files of the tree" \
		"$(grep -vxE '\.gitignore|findings/.*' "$T_DIR/tree" | undistributed)" ""
else
	skip "make dist has all files of the tree" "no work tree of git"
fi
is "seen: a file that it has not" "$(printf '%s\n' doc/x tests/x.sh Makefile.am | undistributed)" tests/x.sh

status 0 "make install DESTDIR=" make -s -C "$RJ_BUILD" MAKEFLAGS= install DESTDIR="$root"
# that would be in its place, where other tests load it
is "make install links no library again" "$(grep -o "relinking '.*\.la'" <<<"$OUT")" ""
is "nothing outside the prefix" "$(cd "$root" && find . ! -type d |
	grep -vE "^\.($(var prefix)|$(var mandir)|$libdir)/")" ""

PKG_CONFIG_PATH=$root$(var pkgconfigdir) PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
flags=$(pkg-config --cflags --libs librj) || flags=
like "pkg-config finds it: $flags" "$flags" "-I$include .*-lrj"

# alone TREE HEADER: compiles as the first thing of a source
alone() {
	echo "#include \"$2\"" >"$T_DIR/alone.c"
	$CC -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror -I"$1" \
		-fsyntax-only "$T_DIR/alone.c"
}
headers=$(cd "$include" && find . -name '*.h' | sed 's|^\./||' | LC_ALL=C sort)
for h in $headers; do check "$h stands alone" alone "$include" "$h"; done
is "all public headers are there" "$(wc -w <<<"$headers")" "$(var PUBLIC_HEADERS | wc -w)"
mkdir -p "$T_DIR/bad"
echo 'int f(uint8_t x);' >"$T_DIR/bad/bad.h"
status 1 "seen: a header that needs another before it" alone "$T_DIR/bad" bad.h

{
	for h in $headers; do echo "#include \"$h\""; done
	cat <<'END'
#include <stdio.h>
#include <string.h>

int main(void)
{
	struct rj_error err = {0};
	struct rj_key key = {.kind = RJ_KEY_LOG, .number = 7};
	struct rj_key back;
	char text[RJ_KEY_TEXT];
	struct rj_store *store = NULL;

	if (rj_uuid_random(key.journal_uuid))
		return 1;
	rj_key_text(&key, text);
	if (!rj_key_parse(text, strlen(text), &back) || back.number != 7)
		return 2;
	if (rj_store_open("gopher://host/x", NULL, &store, &err) != -RJ_E_UNSUPPORTED)
		return 3;
	printf("%s: %s\n", rj_code_name(err.code), err.msg);
	return 0;
}
END
} >"$T_DIR/user.c"
# shellcheck disable=SC2086
check "a program compiles against it" $CC -std=gnu11 -Wall -Wextra \
	-Wno-unused-parameter -Werror $sanitize -o "$T_DIR/user" "$T_DIR/user.c" $flags
status 0 "and runs" env LD_LIBRARY_PATH="$root$libdir" "$T_DIR/user"
like "and the library answers: $OUT" "$OUT" '^unsupported: .*gopher'

# what the units of systemd start is what was installed
named=$(cat "$root$(var unitdir)"/*.service | sed -n 's/^Exec/&/p' | grep -oE "/[^ ']*/rj[a-z]+ " | sort -u)
is "the units name six programs" "$(wc -w <<<"$named")" 6
for p in $named; do check "$p is there" test -x "$root$p"; done

# installed programs start without the build tree's help
for p in $(var PROGRAMS); do
	p=$(cd "$root" && find . -type f -name "${p##*/}" | head -n 1)
	status 0 "installed ${p##*/} starts" \
		env LD_LIBRARY_PATH="$root$libdir" "$root/$p" --help
done
check "fsck -t rj finds its name" test -x "$(find "$root" -name fsck.rj)"
check "make uninstall" make -s -C "$RJ_BUILD" MAKEFLAGS= uninstall DESTDIR="$root"
is "leaves no file" "$(find "$root" ! -type d)" ""
