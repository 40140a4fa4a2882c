#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# No source files of the product call each other in a circle: seen in the symbols
# of their objects.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
command -v nm >/dev/null || skip_all "nm is not installed"

# circles: of lines "object kind symbol" (D: defined there, U: used there), the calls
# that are part of a circle, or lie between two. Objects
# that call none of the rest, or that none of the rest calls, are struck out until
# none is left to strike. A symbol that is defined twice says nothing.
circles() {
	awk '
	$2 == "D" { count[$3]++; home[$3] = $1 }
	$2 == "U" { uses[++n] = $1 "\t" $3 }
	END {
		for (i = 1; i <= n; i++) {
			split(uses[i], u, "\t")
			if (count[u[2]] == 1 && home[u[2]] != u[1])
				arrow[u[1] "\t" home[u[2]]] = u[2]
		}
		do {
			struck = 0
			split("", from); split("", to)
			for (a in arrow) {
				split(a, u, "\t")
				from[u[1]] = to[u[2]] = 1
			}
			for (a in arrow) {
				split(a, u, "\t")
				if (!(u[2] in from) || !(u[1] in to)) {
					delete arrow[a]
					struck = 1
				}
			}
		} while (struck)
		for (a in arrow) {
			split(a, u, "\t")
			print u[1] " " u[2] ": " arrow[a]
		}
	}' | LC_ALL=C sort
}

# objects: those of the product, once each, whose source is still there
objects() {
	local o dir name
	find lib tools mkrjfs rjtune rjrecover rjmount rjadvise rjbackup rjctl rjlog \
		rjournald rjserver \
		-name '*.o' |
		while read -r o; do
			dir=${o%/*} name=${o##*/} name=${name%.o}
			[[ $o == */.libs/* || ! -e $dir/.libs/$name.o ]] || continue
			dir=$RJ_SRC/${dir%/.libs}
			# a program's objects have its name in front
			[[ $o == lib/* ]] || [ -e "$dir/$name.c" ] || name=${name#*-}
			[ ! -e "$dir/$name.c" ] || echo "$o"
		done
}

cd "$RJ_BUILD" || exit 99
objects=$(objects)
count=$(wc -w <<<"$objects")
check "there are objects to look at ($count)" test "$count" -gt 200
xargs nm -A -gP <<<"$objects" 2>/dev/null | awk '{
	sub(/:$/, "", $1)
	sub(/\.libs\//, "", $1)
	print $1, ($3 == "U" || $3 == "w") ? "U" : "D", $2
}' >"$T_DIR/symbols"
is "no circle of files" "$(circles <"$T_DIR/symbols")" ""

is "a circle is found, and what leads to it is not blamed" "$(circles <<'END'
a.o D a
a.o U b
b.o D b
b.o U c
c.o D c
c.o U b
c.o U d
d.o D d
END
)" "b.o c.o: c
c.o b.o: b"
is "a symbol of two objects says nothing" "$(printf '%s\n' 'a.o D x' 'b.o D x' 'a.o U y' 'b.o D y' 'b.o U x' | circles)" ""
