#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A signal that reaches both processes of rjournald, as systemd sends it to each of
# a unit, asks once: only a second one gives up a store that is away.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
img=$T_DIR/v.img mnt=$T_DIR/mnt log=$T_DIR/log
kill_daemons_at_end "$img"
start_server "$T_DIR/srv" || exit 99
check "a volume" volume "$img" ext4 4096 "$SRV_URL/v"
serve_foreground() {
	"$RJOURNALD" -f "$img" >"$T_DIR/loop" 2>"$log" &
	DPID=$!
	kill_at_end "$DPID"
	wait_for 60 test -s "$T_DIR/loop" && LOOP=$(cat "$T_DIR/loop")
}
check "served" serve_foreground
FSTYPE=ext4 check "mounted" mount_served "$img" "$mnt"
check "files" fsynced "$mnt" 3 "$T_DIR/sums"
mode() { $LIMIT "$RJCTL" status --json "$img" | grep -q "\"mode\":\"$1\""; }
stop_server
put_file "$mnt/late" &
writer=$!
kill_at_end "$writer"
check "the store is away" wait_for 60 mode waiting
asked() { grep -c 'unmount it; then rjournald stops' "$log"; }
asked_times() { [ "$(asked)" = "$1" ]; }
worker=$(worker_pid "$img")

kill -TERM "$DPID"
check "a signal to the supervisor asks" wait_for 60 asked_times 1
kill -TERM "$worker"
# what was sent before is seen before a request is answered
check "the same to the worker: it answers" $LIMIT "$RJCTL" status "$img"
check "and waits still" mode waiting
is "it was not asked again" "$(asked)" 1
check "the store is back" start_server "$T_DIR/srv" "$SRV_PORT"
check "what waited is written" wait "$writer"
check "the files are there" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
check "another signal to the supervisor" kill -TERM "$DPID"
check "asks again" wait_for 180 asked_times 2
check "unmounted" umount "$mnt"
check "the daemon ends, as it was asked to" wait_for 60 gone "$DPID"
wait "$DPID"
is "well" $? 0
check "nothing is left" wait_for 60 nothing_left "$img"
exit 0
