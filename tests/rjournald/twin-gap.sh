#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One of two stores is away for so long that what it lacks has been trimmed in the
# other one. It is caught up over that gap, behind a bridge, and suffices then.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
. "$RJ_SRC/tests/rjournald/twins.sh"
command -v jq >/dev/null || skip_all "needs jq"
start_a && start_b || exit 99
export RJ_TRIM_INTERVAL=1

# twice round the ring, so that its tail has to move
use() {
	local i
	for ((i = 0; i < 24; i++)); do
		head -c 700000 /dev/urandom >"$mnt/f.$((i % 8))" &&
			timeout 30 sync "$mnt/f.$((i % 8))" || return 1
	done
}
# first URL: the number of its first segment that is no fence
first() { "$RJLOG" ls "$1/$UUID" | awk '$3 == "data" || $3 == "base" { print $1; exit }'; }
trimmed() { put_file "$mnt/turn" && [ "$(first "$A")" -gt $((behind + 1)) ]; }
check "a volume with two stores" volume "$img" ext4 1024 "$A,remote=$B"
UUID=$("$RJLOG" ls "$A" | cut -d' ' -f1)
check "served" serve "$img" -q
check "and mounted" mount_served "$img" "$mnt" data=journal
check "files whose fsync returned" fsynced "$mnt" 5 "$T_DIR/s"
behind=$(last "$B")
kill_pid "$B_PID"
check "without the second: written to" use
check "what it lacks is trimmed" wait_for 30 trimmed
start_b
both_have() { put_file "$mnt/again.$RANDOM" && both_needed; }
check "it is back: caught up over the gap" wait_for 30 both_have
rows "$B" b
is "behind a bridge, which has the first number that it lacks" \
	"$(awk '$3 == "bridge" { print $1; exit }' "$T_DIR/rows.b")" $((behind + 1))
check "which the first one has no need of" eval "rows '$A' a && ! grep -q bridge '$T_DIR/rows.a'"

# nobody needs what is missing
pruned() { put_file "$mnt/turn" && [ "$(first "$B")" -gt $((behind + 1)) ]; }
check "written to" use
check "what the second had before is trimmed" wait_for 30 pruned
status 0 "its log is sound" "$RJLOG" verify "$B"
note "$OUT"
like "the bridge stays" "$("$RJLOG" ls "$B/$UUID")" " bridge "
kill_pid "$A_PID"
check "without the first the fsync returns" one lost-a
files
check "the machine stops" crash "$img" "$mnt" "$T_DIR/c.img"
status 0 "recovered by the second alone" "$RJRECOVER" -p "$T_DIR/c.img"
note "$OUT"
img=$T_DIR/c.img
check "served and mounted" served
check "all that was acknowledged is there" intact
check "unmounted" timeout 30 umount "$mnt"
kill -TERM "$DPID"
check "ended" wait_for 30 gone "$DPID"
