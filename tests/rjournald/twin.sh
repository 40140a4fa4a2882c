#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two stores for one volume: either may be lost under a writing ext4, comes back
# and is caught up; a recovery with one of them goes on only with proof.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
. "$RJ_SRC/tests/rjournald/twins.sh"
start_a && start_b || exit 99

check "a volume with two stores" volume "$img" ext4 4096 "$A,remote=$B"
like "rjtune -l shows both" "$("$RJ_BUILD/rjtune/rjtune" -l "$img")" "$A,$B"
UUID=$("$RJLOG" ls "$A" | cut -d' ' -f1)
check "served and mounted" served
check "files whose fsync returned" fsynced "$mnt" 10 "$T_DIR/s"
is "both have all segments" "$(last "$A")" "$(last "$B")"

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

# ---- one is lost, and does not prove anything ----
files
check "the machine stops again" crash "$img" "$mnt" "$T_DIR/e.img"
img=$T_DIR/e.img
kill_pid "$B_PID"
sum=$(sha256sum <"$img")
# both wait some time for the second: at the same time
cp --sparse=always "$img" "$T_DIR/f.img"
$LIMIT "$RJOURNALD" -q "$T_DIR/f.img" >"$T_DIR/refused" 2>&1 &
refused=$!
status 12 "the first alone proves nothing: refused" "$RJRECOVER" -p "$img"
note "$OUT"
like "and says how to go on" "$OUT" 'accept-loss'
is "nothing was changed" "$(sha256sum <"$img")" "$sum"
wait $refused
is "rjournald neither: its status" $? 1
like "for the same reason" "$(cat "$T_DIR/refused")" 'accept-loss'
is "and nothing was changed" "$(sha256sum <"$T_DIR/f.img")" "$sum"
status 0 "--accept-loss" "$RJRECOVER" -p --accept-loss "$img"
note "$OUT"
check "mounted with the first" served
check "all is there" intact
check "unmounted" timeout 30 umount "$mnt"
kill -TERM "$DPID"
check "a signal ends rjournald, without the second too" wait_for 30 gone "$DPID"
