# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the shell tests: TAP, a scratch directory, and clean-up that also
# runs when the test fails. Needs RJ_BUILD and RJ_SRC (set by make check).
set -u
# a test changes its directory
RJ_BUILD=$(realpath "${RJ_BUILD:-.}") RJ_SRC=$(realpath "${RJ_SRC:-.}")
T_NUM=0 T_BAD=0
T_DIR=$(mktemp -d "${TMPDIR:-/tmp}/rjtest.XXXXXX") || exit 99
export RJ_RUN=$T_DIR/run RJ_STATE=$T_DIR/state RJ_CONF=$T_DIR/rj.conf LC_ALL=C.UTF-8
T_CLEANUP=()
# [local] of rj.conf, apart from the file, which tests write as they like.
# local_conf PATH...: where fallback files may be; RJ_FRONT=ublk: the front end
local_conf() { export RJ_CREDENTIALS="[local]
${RJ_FRONT:+front = $RJ_FRONT}
floor_dir = ${FLOOR_DIR:-$T_DIR/floor}
drill_dir = $T_DIR/drill
fallback_dirs = $*"; }
local_conf "$T_DIR"

# at_exit COMMAND...: run at the end, last one first
at_exit() { T_CLEANUP+=("$(printf '%q ' "$@")"); }

# loop_over FILE: attach it to a loop device; sets DEV. At the end it is detached
# only if it still holds FILE: by then the number may be another test's.
loop_over() {
	DEV=$(losetup -f --show "$1") &&
		at_exit loop_detach "$DEV" "$(realpath "$1")"
}
loop_detach() {
	case $(losetup -n -O BACK-FILE "$1" 2>/dev/null) in
	"$2" | "$2 (deleted)") losetup -d "$1" ;;
	*) false ;;
	esac
}

t_finish() {
	local i status=$?
	trap - EXIT INT TERM
	for ((i = ${#T_CLEANUP[@]} - 1; i >= 0; i--)); do
		eval "${T_CLEANUP[i]}" >/dev/null 2>&1
	done
	# whatever a failed test left mounted below the scratch directory
	awk -v d="$T_DIR/" 'index($2, d) == 1 {print $2}' /proc/mounts | sort -r |
		while read -r m; do umount -l "$(printf '%b' "$m")"; done 2>/dev/null
	rm -rf --one-file-system "$T_DIR"
	if ((T_NUM == 0 && status == 0)); then status=99; fi
	echo "1..$T_NUM"
	((T_BAD == 0)) || exit 1
	exit "$status"
}
trap t_finish EXIT
trap 'exit 99' INT TERM

ok() { T_NUM=$((T_NUM + 1)); echo "ok $T_NUM - $1"; }
not_ok() { T_NUM=$((T_NUM + 1)); T_BAD=$((T_BAD + 1)); echo "not ok $T_NUM - $1"; }
skip() { T_NUM=$((T_NUM + 1)); echo "ok $T_NUM - $1 # SKIP $2"; }
note() { printf '%s\n' "$@" | sed 's/^/# /'; }

# sanitized PROGRAM: is this built one instrumented by --enable-sanitize?
sanitized() { "$RJ_BUILD/libtool" --mode=execute grep -q __asan_init "$1"; }

# skip_all WHY: the machine lacks what this file needs. A file that has results
# already cannot say "1..0" any more: there it is the rest that is skipped.
skip_all() {
	if ((T_NUM > 0)); then skip "the rest of this file" "$1"; exit 0; fi
	echo "1..0 # SKIP $1"; T_NUM=-1; trap - EXIT; rm -rf "$T_DIR"; exit 0
}
# RJ_TEST_SKIP_SYSTEM: why tests of the real system are not wanted in this run
need_root() {
	[ -z "${RJ_TEST_SKIP_SYSTEM:-}" ] || skip_all "$RJ_TEST_SKIP_SYSTEM"
	[ "$(id -u)" = 0 ] || skip_all "needs root"
}
need_fuse_loop() {
	need_root
	[ -c /dev/fuse ] && [ -c /dev/loop-control ] || skip_all "no FUSE or loop devices"
}

# listens PORT: does a process listen there? By the kernel's table: a connection would be one
# more that the server counts.
listens() {
	grep -qsiE "^ *[0-9]+: [0-9A-F]+:$(printf %04X "$1") [0-9A-F]+:0000 0A " /proc/net/tcp /proc/net/tcp6
}
# free_port: a port on which nobody listens just now, below the ephemeral ones, which a
# client may have got when a server comes back to its port
free_port() {
	local p
	while :; do
		p=$((10240 + (RANDOM * 32768 + RANDOM) % 22000))
		listens "$p" || break
	done
	echo "$p"
}

# check NAME COMMAND...: ok if the command succeeds; its output shown if not.
# Not in a subshell: the command may set variables.
check() {
	local name=$1 rc; shift
	"$@" >"$T_DIR/.check" 2>&1
	rc=$?
	if ((rc == 0)); then ok "$name"; else
		note "status $rc: $*" "$(tail -n 50 "$T_DIR/.check")"; not_ok "$name"; fi
}
# status WANT NAME COMMAND...: ok if it exits with WANT; output kept in $OUT
status() {
	local want=$1 name=$2 got; shift 2
	OUT=$("$@" 2>&1); got=$?
	if [ "$got" = "$want" ]; then ok "$name"; else
		note "wanted status $want, got $got: $*" "$OUT"; not_ok "$name"; fi
}
# is NAME GOT WANT
is() { if [ "$2" = "$3" ]; then ok "$1"; else note "got: $2" "wanted: $3"; not_ok "$1"; fi; }
# like NAME TEXT REGEX
like() { if grep -Eq -- "$3" <<<"$2"; then ok "$1"; else note "no match of $3 in:" "$2"; not_ok "$1"; fi; }
# flip FILE OFFSET: change one byte, whatever it was
flip() {
	local b
	b=$(od -An -tu1 -j "$2" -N 1 "$1")
	printf "\\x$(printf %02x $((b ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
# wait_for SECONDS COMMAND...: poll until it succeeds. The limit, a minute or more, only
# keeps a failed test from hanging: a busy machine takes its time. Check it (check, or
# "|| exit 99"): what comes after it shows nothing of what was waited for otherwise.
wait_for() {
	local end=$((EPOCHSECONDS + ($1 < 60 ? 60 : $1))); shift
	while ! "$@" >/dev/null 2>&1; do
		((EPOCHSECONDS < end)) || { note "waited in vain: $*" >&2; return 1; }
		sleep 0.05
	done
}
