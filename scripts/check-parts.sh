# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by scripts/check: what it can run. A part counts its results, and adds lines to the
# summary.

# fresh DIR: remove a build; a distcheck that was cut off leaves read-only directories behind
fresh() { [ ! -e "$1" ] || { chmod -R u+w "$1" && rm -rf "${1:?}"; } || exit 1; }

# fresh_build NAME CONFIGURE-ARGUMENT...: a new build, with its tests, in build-check/NAME
fresh_build() {
	local name=$1 dir=$top/$1; shift
	say "$name build in ${dir#"$SRC"/}"
	fresh "$dir"
	build "$dir" --enable-werror --enable-in-place "$@" 9>&- && build_tests "$dir" && return
	broke "$name build"
	return 1
}

normal_part() {
	fresh_build normal CFLAGS="-g -O2" &&
		run_make normal "$top/normal" check "TESTS=$(part_tests "$top/normal" 0)"
}

sanitize_part() {
	fresh_build sanitize --enable-sanitize CFLAGS="-g -O1" &&
		UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1} run_make sanitize \
			"$top/sanitize" check "TESTS=$(part_tests "$top/sanitize" 1)"
}

# What make dist packs builds outside its folder, passes the quick tests, and is installed and
# removed again, with the fewest stores. The normal build has optimised the same sources.
dist_part() {
	[ -e "$top/normal/Makefile" ] || fresh_build normal CFLAGS="-g -O2" || return
	RJ_TEST_SKIP_SYSTEM="not in distcheck" \
		run_make distcheck "$top/normal" distcheck "TESTS=$(quick_tests "$top/normal")" \
		DISTCHECK_CONFIGURE_FLAGS="--enable-werror --without-tree-stores CFLAGS=-O0"
}

# What needs no mounted volume, and beside it the main job once.
quick_part() {
	local demos
	if [ -z "$ready" ]; then
		fresh_build normal CFLAGS="-g -O2" || return
		ready=$top/normal
	fi
	(run_demo demo; run_demo demo-backup; run_demo demo-history) &
	demos=$!
	run_make quick "$ready" check "TESTS=$(quick_tests "$ready")"
	wait $demos
	count demo
	count demo-backup
	count demo-history
}

# The demos, with the programs of the normal build; each counts as one test.
demos_part() {
	local demo
	for demo in demo demo-backup demo-history; do
		say "scripts/$demo"
		run_demo $demo
		count $demo
	done
}
run_demo() {
	timeout -k 10 600 "$SRC/scripts/$1" --no-deps --build="${ready:-$top/normal}" \
		</dev/null >"$top/$1.out" 2>&1 9>&-
	echo $? >"$top/$1.status"
}

# Those that speak TAP.
fuzz_part() { run_tap fuzz scripts/fuzz --short; }
analyze_part() { run_tap analyze scripts/analyze; }
distros_part() { run_tap distros tests/distros/run; }
boot_part() { run_tap boot tests/boot/run; }
run_tap() {
	local name=$1; shift
	say "$*"
	timeout -k 30 5400 "$SRC/$1" "${@:2}" </dev/null >"$top/$name.out" 2>&1 9>&-
	echo $? >"$top/$name.status"
	count "$name"
}

# count NAME: add up a command's results: those of its TAP, or else one, by its status; 77 is
# skipped, with the reason in the last line
count() {
	local name=$1 log=$top/$1.out status p f s
	status=$(cat "$top/$1.status") || status=99
	p=$(grep '^ok ' "$log" | grep -vc '# SKIP')
	s=$(grep -c '^ok .*# SKIP' "$log")
	f=$(grep -c '^not ok ' "$log")
	case $status in
	0) [ $((p + s + f)) != 0 ] || p=1 ;;
	77) s=$((s + 1)) ;;
	*) [ "$f" != 0 ] || f=1 ;;
	esac
	[ "$f" = 0 ] || tail -n 60 "$log" | sed 's/^/    | /'
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	summary+=("$name: $p passed, $f failed, $s skipped$([ "$status" != 77 ] || echo ": $(tail -n 1 "$log")")")
}
