#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One of two stores takes requests and answers none: it is waited for as long as
# rj.conf's loss_timeout says, whichever it is. Then it is back, and used again
# though nobody writes. What rjctl says of it.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
command -v jq >/dev/null || skip_all "needs jq"
. "$RJ_SRC/tests/rjournald/twins.sh"
start_a && start_b || exit 99

check "a volume with two stores" volume "$img" ext4 4096 "$A,remote=$B"
UUID=$("$RJLOG" ls "$A" | cut -d' ' -f1)
check "served" serve "$img" -q
# nothing that the kernel writes by itself
check "mounted" mount_served "$img" "$mnt" noinit_itable,noatime
check "files whose fsync returned" fsynced "$mnt" 3 "$T_DIR/s"
check "both are needed" wait_for 30 both_needed
acked() { $LIMIT "$RJCTL" status --json "$img" | jq .acknowledged; }
words() { $LIMIT "$RJCTL" status "$img"; }
# soon NAME: a file whose fsync returns well below the 30 s of a request; one that
# does not cannot be killed, so it is not waited for
soon() {
	dd if=/dev/urandom of="$mnt/$1" bs=9000 count=1 conv=fsync status=none &
	wait_for 15 gone $! && wait $!
}
# whatever waits for a store that hangs ends then
at_exit kill -CONT "$A_PID" "$B_PID"

# yes A = B: as jq has it
yes() { [ "$@" ] && echo true || echo false; }
# hung PID WHICH URL OTHER: the store WHICH (1, 2) hangs, the other has URL
hung() {
	local pid=$1 which=$2 url=$3 other=$((3 - $2)) before
	kill -STOP "$pid"
	check "store $which hangs: the fsync returns all the same" soon "hung.$which"
	check "store $other says that it is alone" alone "$url" "$other"
	check "two more" soon "more.$which"
	is "mode" "$($LIMIT "$RJCTL" status --json "$img" | jq -r .mode)" alone
	check "rjctl: store $other is alone" stores .alone "[$(yes $other = 1),$(yes $other = 2)]"
	check "and the only one that is needed" stores .needed "[$(yes $other = 1),$(yes $other = 2)]"
	is "store $which lacks what the other has" \
		"$($LIMIT "$RJCTL" status --json "$img" | jq ".stores[$which - 1] | [.behind_segments, .behind_bytes] | @csv" -r)" \
		"$(lacks "$url")"
	like "in words" "$(words)" "^  store $which +rj://.*: behind by [0-9]+ segments? \([0-9]+ bytes\)$"
	like "and the other" "$(words)" "^  store $other +rj://.*: needed, alone$"
	before=$(acked)
	kill -CONT "$pid"
	check "it answers again: both are needed, though nothing is written" wait_for 30 both_needed
	is "one segment says so" "$(acked)" $((before + 1))
	check "both have it, and they are the same" same
	is "no mark at the end" "$(tail -n 1 "$T_DIR/rows.a" | grep alone)" ""
	is "mode again" "$($LIMIT "$RJCTL" status --json "$img" | jq -r .mode)" online
}
# lacks URL: from the first segment that says "alone", and the one before it, on:
# how many, and their bytes
lacks() {
	"$RJLOG" ls --json "$1/$UUID" | jq -r '.segments |
		(map(.alone // 0) | rindex(0)) as $i | .[$i:] | "\(length),\(map(.bytes) | add)"'
}
hung "$A_PID" 1 "$B"
hung "$B_PID" 2 "$A"

# ---- both hang ----
kill -STOP "$A_PID" "$B_PID"
soon both &
writer=$!
waiting() { [ "$($LIMIT "$RJCTL" status --json "$img" | jq -r .mode)" = waiting ]; }
check "both hang: the volume waits, and rjctl answers" wait_for 12 waiting
like "and says for which store" "$($LIMIT "$RJCTL" status "$img")" "^  because .* ($A|$B): no answer"
kill -CONT "$A_PID" "$B_PID"
check "both answer: the fsync returns" eval 'wait_for 30 gone "$writer" && wait "$writer"'
check "both are needed" wait_for 60 both_needed
status 0 "the first log is sound" "$RJLOG" verify "$A"
status 0 "the second too" "$RJLOG" verify "$B"
check "unmounted" timeout 30 umount "$mnt"
check "ended" unserve
