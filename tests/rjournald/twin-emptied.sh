#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One of two stores comes back empty: it is one that was away, gets a log again,
# and until then the other is alone and says so.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
. "$RJ_SRC/tests/rjournald/twins.sh"
command -v jq >/dev/null || skip_all "needs jq"
start_a && start_b || exit 99

check "a volume with two stores" volume "$img" ext4 4096 "$A,remote=$B"
UUID=$("$RJLOG" ls "$A" | cut -d' ' -f1)
check "served and mounted" served
check "files whose fsync returned" fsynced "$mnt" 5 "$T_DIR/s"
kill_pid "$B_PID"
mv "$T_DIR/b" "$T_DIR/b.was"
check "the second comes back, with nothing" start_b
check "the fsync returns all the same" one meanwhile
wait_for 30 both_needed
note "$($LIMIT "$RJCTL" status "$img")"
check "the second is filled, and both are needed again" wait_for 30 together
files
check "the machine stops" crash "$img" "$mnt" "$T_DIR/c.img"
img=$T_DIR/c.img

kill_pid "$A_PID"
status 0 "the second alone has all of it" "$RJRECOVER" -p --accept-loss "$img"
note "$OUT"
start_a
check "served and mounted" served
check "all that was acknowledged is there" intact
check "unmounted" timeout 30 umount "$mnt"
check "ended" unserve
