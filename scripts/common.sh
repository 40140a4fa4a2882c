# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by scripts/check and scripts/demo: where the tree is, messages with
# the time that has gone by, and the build.

SRC=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || exit 1
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
processors=$(nproc 2>/dev/null || echo 2)
# beside other load more jobs get more of the processors
JOBS=${JOBS:-$((processors * 2))}
# tests wait for disks, servers and the kernel as often as for a processor
TEST_JOBS=${TEST_JOBS:-$((processors * 3))}
BOLD='' DIM='' RED='' GREEN='' PLAIN=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
	BOLD=$'\e[1m' DIM=$'\e[2m' RED=$'\e[31m' GREEN=$'\e[32m' PLAIN=$'\e[0m'
fi

# say TEXT: a step begins
say() { printf '%s[%4ds] %s%s\n' "$BOLD" "$SECONDS" "$*" "$PLAIN"; }
complain() { printf '%s%s: %s%s\n' "$RED" "${0##*/}" "$*" "$PLAIN" >&2; }

# logged WHAT LOG COMMAND...: run it with its output in LOG; on a failure show
# the end of LOG. One dot per 20 lines, so that a long step is seen to move.
logged() {
	local what=$1 log=$2 status; shift 2
	printf '[%4ds] %s ' "$SECONDS" "$what"
	"$@" 2>&1 </dev/null |
		awk -v log_file="$log" '{print > log_file; fflush(log_file)}
			NR % 20 == 0 {printf "."; fflush()}'
	status=${PIPESTATUS[0]}
	if [ "$status" = 0 ]; then
		echo " done"
		return 0
	fi
	echo " FAILED (status $status)"
	tail -n 60 "$log" | sed 's/^/    | /'
	complain "$what failed; the whole log: $log"
	return "$status"
}

# Make configure, unless it is there and newer than what it is made from. One
# at a time: a check and a demo may start together in one clone.
generate() {
	local lock newer
	exec {lock}<"$SRC/configure.ac"
	flock "$lock"
	newer=$(find "$SRC" -path "$SRC/build*" -prune -o \
		\( -name Makemodule.am -o -name Makefile.am -o -name configure.ac \) \
		-newer "$SRC/Makefile.in" -print -quit 2>/dev/null)
	if [ ! -x "$SRC/configure" ] || [ ! -f "$SRC/Makefile.in" ] || [ "$newer" ]; then
		# the log is named before build dirs exist: $1 is its folder
		(cd "$SRC" && logged "autoreconf -fi" "$1/autoreconf.log" autoreconf -fi) ||
			return 1
	fi
	exec {lock}<&-
}

# build DIR [CONFIGURE-ARGUMENT...]: configure and make in DIR
build() {
	local dir=$1; shift
	mkdir -p "$dir" && generate "$dir" && cd "$dir" || return 1
	logged "configure $*" "$dir/configure.out" "$SRC/configure" "$@" &&
		logged "make -j$JOBS" "$dir/make.out" make -j"$JOBS"
}

# build_tests DIR: the test programs of a build, none of them run
build_tests() {
	(cd "$1" && logged "make -j$JOBS check TESTS=" "$1/tests.out" make -j"$JOBS" check TESTS=)
}
