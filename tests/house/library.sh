#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The library never prints and never exits, and exports only what begins with
# rj_: judged by the symbols of what was built.
. "$RJ_SRC/tests/support/lib.sh" || exit 99

# What no object of librj may refer to. With stdout and stderr out of reach,
# fprintf() and friends can only write to files.
forbidden='^(stdout|stderr|_IO_2_1_std(out|err)_|v?printf|__v?printf_chk'
forbidden+='|puts|putchar|putchar_unlocked|perror|psignal|psiginfo'
forbidden+='|v?err|v?errx|v?warn|v?warnx|error|error_at_line'
forbidden+='|v?syslog|__v?syslog_chk|com_err|com_err_va'
forbidden+='|exit|_exit|_Exit|quick_exit|abort|__assert_fail|__assert_perror_fail)$'
# FILE:SYMBOL that is right all the same, and why:
# the child of fork() that could not exec its program has to end
allowed='^lib/os/[^:]*proc\.o:_exit$'

# loud DIR: "FILE:SYMBOL" for each forbidden reference of the objects below it
loud() {
	(cd "$1" && find lib -path '*/.libs/*.o' | LC_ALL=C sort | while read -r o; do
		nm -u "$o" | awk '{print $NF}' | sed 's/@.*//' |
			grep -E "$forbidden" | sed "s|^|$o:|"
	done) | grep -vE "$allowed"
}
# foreign LIBRARY: exported names that are not rj_*
foreign() {
	nm -D --defined-only "$1" | awk '$2 != "A" {print $3}' | sed 's/@.*//' |
		grep -vE '^(rj_[a-z0-9_]+|_init|_fini)$'
}
# descriptors TREE: library sources that write to file descriptor 1 or 2
descriptors() {
	(cd "$1" && find lib -name '*.[ch]' | LC_ALL=C sort | xargs -r grep -nE \
		'STD(OUT|ERR)_FILENO|\<(v?dprintf|write|writev|rj_write_all)\((1|2),' /dev/null) |
		grep -v '^lib/os/proc\.c:' # gives a child its pipes
}

# clashes LIBRARY OBJECT...: names that the library exports, and that the objects of a module define
# too: the module would call its own function, by the other one's header
clashes() {
	LC_ALL=C comm -12 <(nm -D --defined-only "$1" | awk '{print $3}' | sed 's/@.*//' | LC_ALL=C sort -u) \
		<(nm -g --defined-only "${@:2}" | awk 'NF == 3 {print $3}' | LC_ALL=C sort -u)
}

library=$RJ_BUILD/lib/.libs/librj.so
mapfile -t of_modules < <(find "$RJ_BUILD"/lib/{crypto,store/curl,store/tree} -path '*/.libs/*.o')
check "the modules' objects are there (${#of_modules[@]})" test "${#of_modules[@]}" -gt 20
is "no module defines a name of librj's" "$(clashes "$library" "${of_modules[@]}")" ""
is "and exports one name alone" "$(nm -D --defined-only "$RJ_BUILD"/lib/.libs/librj-*-*.so |
	awk 'NF == 3 {print $3}' | sed 's/@.*//' | sort -u)" rj_module_functions
n=$(find "$RJ_BUILD/lib" -path '*/.libs/*.o' | wc -l)
check "the library's objects are there ($n)" test "$n" -gt 5
is "no object prints or exits" "$(loud "$RJ_BUILD")" ""
is "no source writes to stdout or stderr" "$(descriptors "$RJ_SRC")" ""
is "only rj_* is exported" "$(foreign "$library")" ""
like "and rj_* is" "$(nm -D --defined-only "$library")" ' rj_fail(@|$)'

# Does each check see what it is for? Objects that do wrong:
eval "$(make -s --no-print-directory -C "$RJ_BUILD" MAKEFLAGS= house-vars |
	sed -n "s/^CC=\(.*\)/CC='\1'/p")"
sample() {
	rm -rf "${T_DIR:?}/lib"
	mkdir -p "$T_DIR/lib/util/.libs"
	printf '%s\n' '#include <stdio.h>' '#include <stdlib.h>' '#include <unistd.h>' \
		'#include <assert.h>' '#include <err.h>' "$1" >"$T_DIR/lib/util/a.c"
	(cd "$T_DIR/lib/util" && ${CC:-cc} -O2 -fPIC -c -o .libs/a.o a.c) || exit 99
}
while IFS='|' read -r symbol body; do
	sample "int rj_f(int i); int rj_f(int i) { $body return i; }"
	like "seen: $symbol" "$(loud "$T_DIR")" ":$symbol\$"
done <<'END'
stderr|fprintf(stderr, "%d", i);
printf|printf("%d", i);
puts|puts("x");
perror|perror("x");
warnx|warnx("x");
exit|if (i) exit(1);
_exit|if (i) _exit(1);
abort|if (i) abort();
__assert_fail|assert(i);
END
sample 'int rj_f(FILE *f); int rj_f(FILE *f) { char b[9]; snprintf(b, 9, "%p", (void *)f); return fprintf(f, "%s", b); }'
is "a file and a buffer may be printed to" "$(loud "$T_DIR")" ""
sample 'int rj_f(int i); int rj_f(int i) { return write(2, "x", 1) + i; }'
like "seen: write(2, ...)" "$(descriptors "$T_DIR")" '^lib/util/a.c:6:'
echo 'int rj_a(void); int b(void); int rj_a(void) { return 1; } int b(void) { return 2; }' >"$T_DIR/e.c"
${CC:-cc} -shared -fPIC -o "$T_DIR/e.so" "$T_DIR/e.c" || exit 99
is "seen: an export that is not ours" "$(foreign "$T_DIR/e.so")" b
${CC:-cc} -c -o "$T_DIR/e.o" "$T_DIR/e.c" || exit 99
is "seen: a name of both" "$(clashes "$T_DIR/e.so" "$T_DIR/e.o" | tr '\n' ' ')" "b rj_a "
