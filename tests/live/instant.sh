#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# instant.sh [MINUTES]: a machine stops, and each byte that it wrote is judged, what
# nobody synced, too (tests/crash/ops.h). Each round is a volume of another kind, over
# a network of another kind, unmounted and mounted again on the way. Two rounds; or
# as many as begin within MINUTES.
#
# The volume's copy and the log's end are of one instant without stopping either:
# first the daemon stands still, so that no commit ends any more, then the writer. What
# the kernel writes to the volume after that is what a power cut may find unflushed.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/live/frame.sh" || exit 99
need_wire
seed=${RJ_SEED:-$RANDOM$RANDOM}
note "RJ_SEED=$seed"; seed=$((seed - 1))
CLIENT=2 MNT=$T_DIR/mnt
THREADS=3
short_patience
hosts 2 "$seed" || exit 99
mkdir "$T_DIR/srv1" && mount -t tmpfs -o size=512m live "$T_DIR/srv1" || exit 99
at_exit umount -l "$T_DIR/srv1"
server 1 || exit 99

# written: how many operations were acknowledged
written() { wc -l <"$RECORD"; }
writes_on() {
	local from; from=$(written)
	wait_for 120 eval "[ \$(written) -ge $((from + $1)) ] || gone $WRITER" && not gone "$WRITER"
}
start_writer() {
	"$RJ_BUILD/tests/power/writer" -f "$RECORD" "$seed" $THREADS "$MNT" >"$RECORD.said" 2>&1 &
	WRITER=$!
	kill_at_end "$WRITER"
}
# stands_still PID: each of its threads has stopped, or waits in the kernel
stands_still() { ! sed 's/.*) //' /proc/"$1"/task/*/stat 2>/dev/null | grep -q '^[RS]'; }
# machine_stops_now COPY: and the writer's record as of then in COPY.acks
machine_stops_now() {
	local rc=0
	freeze_daemon "$DPID" && kill -STOP "$WRITER" && wait_for 60 stands_still "$WRITER" &&
		cp "$RECORD" "$1.acks" && cp --sparse=always "$IMG" "$1" || rc=1
	kill -KILL "$WRITER"
	kill_pid "$DPID"
	umount -l "$MNT"
	wait_for 60 gone "$WRITER" && wait_for 60 not grep -qF "$MNT " /proc/mounts || return 1
	return $rc
}
# again: unmounted and mounted again between two operations
again() {
	kill -TERM "$WRITER" && wait "$WRITER" && "$UMOUNT_RJ" "$MNT" &&
		wait_for 60 gone "$DPID" && mount_on "$1" && start_writer
}
# step NAME COMMAND...: what follows needs it
step() { check "$@" && ((T_BAD == 0)) || { note "$(cat "$RECORD.said")"; return 1; }; }
reborn() { kill_pid "${SERVER[1]}" && server 1; }
judged() { "$RJ_BUILD/tests/crash/judge" "$1" "$seed" $THREADS "$1.acks"; }

round() {
	local n=$1 type block data net what copy=$T_DIR/crash.img
	seed=$((seed + 1)) RANDOM=$((seed % 32768))
	type=ext$((3 + RANDOM % 2)) block=$((1024 << (RANDOM % 2 * 2)))
	((RANDOM % 2)) && data=data=journal || data=data=ordered
	case $((RANDOM % 4)) in
	0) net="delay=3 jitter=5" ;;
	1) net="loss=1" ;;
	2) net="dup=10" ;;
	3) net="delay=0" ;;
	esac
	what="seed $seed: $type, $block, $data, $net"
	((RANDOM % 2)) && SHIP_EARLY=16k || SHIP_EARLY=
	short_patience
	IMG=$T_DIR/v$n.img RECORD=$T_DIR/record.$n
	: >"$RECORD"
	SIZE=32M volume_on "$(server_url 1)/v$n" "$type" "$block" size=4,on_loss=block &&
		mount_on "$data" || { not_ok "$what: a volume, mounted"; return 1; }
	# shellcheck disable=SC2086
	net set 1 $net >/dev/null
	start_writer
	step "$what: written to" writes_on $((20 + RANDOM % 100)) &&
		step "$what: mounted again" again "$data" &&
		step "$what: the server dies, and is back" reborn &&
		step "$what: written to again" writes_on $((20 + RANDOM % 300)) &&
		step "$what: the machine stops" machine_stops_now "$copy" &&
		net heal 1 >/dev/null &&
		step "$what: recovery" recover_on "$copy" &&
		step "$what: each byte is of a version that it may be of" judged "$copy"
	note "$(tail -n 1 "$T_DIR/.check"); $(written) acknowledged"
	((T_BAD)) && [ -n "${RJ_KEEP:-}" ] && cp --sparse=always "$copy" "$copy.acks" "$RJ_KEEP"
	rm -f "$IMG"
}
end=$((SECONDS + ${1:-0} * 60))
for ((n = 0; n < 2 || SECONDS < end; n++)); do
	round $n || break
	((T_BAD == 0)) || break
done

# a judge who is told of operations that never were misses them
if [ -s "$T_DIR/crash.img.acks" ]; then
	n=$(grep -c '^0 0 ' "$T_DIR/crash.img.acks")
	for ((i = n; i < n + 40; i++)); do echo "0 0 $i"; done >>"$T_DIR/crash.img.acks"
	status 1 "what never was is missed" judged "$T_DIR/crash.img"
fi
exit 0
