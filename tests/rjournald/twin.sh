#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two stores for one volume: either may be lost under a writing ext4, comes back
# and is caught up; a recovery with one of them goes on only with proof.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
. "$RJ_SRC/tests/rjournald/twins.sh"
start_server "$T_DIR/c" && C_PID=$SRV_PID C=$SRV_URL/twin || exit 99
start_server "$T_DIR/d" && D=$SRV_URL/twin || exit 99

# ---- one is lost, and the other does not prove anything ----
# rjrecover and rjournald wait some time for the one that is lost: meanwhile all
# the rest goes on, with other servers
lone=$T_DIR/w.img
check "another volume with two stores" volume "$lone" ext4 4096 "$D,remote=$C"
check "served and mounted" eval 'serve "$lone" -q && mount_served "$lone" "$mnt"'
check "files whose fsync returned" fsynced "$mnt" 10 "$T_DIR/s"
check "the machine stops" crash "$lone" "$mnt" "$T_DIR/e.img"
lone=$T_DIR/e.img
kill_pid "$C_PID"
cp --sparse=always "$lone" "$T_DIR/f.img"
cp --sparse=always "$lone" "$T_DIR/lone.img"
$LIMIT "$RJRECOVER" -p "$lone" >"$T_DIR/refused" 2>&1 &
refused=$!
$LIMIT "$RJOURNALD" -q "$T_DIR/f.img" >"$T_DIR/refused.too" 2>&1 &
refused_too=$!

# ---- either is lost, and comes back ----
start_a && start_b || exit 99
check "a volume with two stores" volume "$img" ext4 4096 "$A,remote=$B"
like "rjtune -l shows both" "$("$RJ_BUILD/rjtune/rjtune" -l "$img")" "$A,$B"
UUID=$("$RJLOG" ls "$A" | cut -d' ' -f1)
check "served and mounted" served
check "files whose fsync returned" fsynced "$mnt" 10 "$T_DIR/s"
check "both have all segments" same

# ---- the second is lost ----
kill_pid "$B_PID"
status 0 "rjtune -l says which one does not answer" "$RJ_BUILD/rjtune/rjtune" -l "$img"
like "the first one does" "$OUT" "^Store 1: +yes: $A\$"
like "the second does not" "$OUT" "^Store 2: +no: $B: .*connection refused"
is "the same as JSON" "$("$RJ_BUILD/rjtune/rjtune" -l --json "$img" |
	jq -c '[.journal.stores[] | .url, .reachable]')" "[\"$A\",true,\"$B\",false]"
check "without the second the fsync returns" one lost-b
check "and the first log says so" alone "$A" 1
check "more" fsynced "$mnt" 10 "$T_DIR/s"
start_b
check "the second is back: caught up" wait_for 60 together
status 0 "the first log is sound" "$RJLOG" verify "$A"
status 0 "the second too" "$RJLOG" verify "$B"
check "they are the same" same

# ---- the first is lost ----
kill_pid "$A_PID"
check "without the first the fsync returns" one lost-a
check "and the second log says so" alone "$B" 2
check "more" fsynced "$mnt" 10 "$T_DIR/s"
files
check "the machine stops" crash "$img" "$mnt" "$T_DIR/c.img"
img=$T_DIR/c.img
status 0 "the second says that it is alone: recovered without the first" "$RJRECOVER" -p "$img"
note "$OUT"
start_a
check "mounted with both" served
check "all that was acknowledged is there" intact
check "the first is caught up" wait_for 60 together
check "they are the same" same

files
check "the machine stops again" crash "$img" "$mnt" "$T_DIR/g.img"
img=$T_DIR/g.img
kill_pid "$B_PID"
status 0 "without the second: --accept-loss" "$RJRECOVER" -p --accept-loss "$img"
note "$OUT"
check "mounted with the first" served
check "all is there" intact
check "unmounted" timeout 30 umount "$mnt"
kill -TERM "$DPID"
check "a signal ends rjournald, without the second too" wait_for 30 gone "$DPID"

# ---- and those that were waiting ----
wait $refused
is "the first alone proves nothing: refused" $? 12
OUT=$(cat "$T_DIR/refused")
note "$OUT"
like "and says how to go on" "$OUT" 'accept-loss'
check "nothing was changed" cmp "$lone" "$T_DIR/lone.img"
wait $refused_too
is "rjournald neither: its status" $? 1
like "for the same reason" "$(cat "$T_DIR/refused.too")" 'accept-loss'
check "and nothing was changed" cmp "$T_DIR/f.img" "$T_DIR/lone.img"
