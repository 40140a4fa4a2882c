#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Volume and store are put back to an earlier state, and go on: the numbers of segments are used
# again. What was made of the log before is refused, whatever numbers the log reaches, and nothing
# is changed. A base from before that state is as good as it was.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/kept" || exit 99
KEPT=$SRV_URL/kept
start_server "$T_DIR/srv" || exit 99
. "$RJ_SRC/tests/history/base/mounts.sh" || exit 99
seed=${RJ_SEED:-$RANDOM}
note "RJ_SEED=$seed"
history_conf ""
PORT=$SRV_PORT
last() { timeout 60 "$RJ_BUILD/rjctl/rjctl" status --json mnt | sed 's/.*"acknowledged": *\([0-9]*\).*/\1/'; }
# past SEGMENT: the log goes on to it, and farther
past() { while [ "$(last)" -le "$1" ]; do ops $((++seed)) 50 && sync -f mnt || return 1; done; }
follow() { timeout 120 "$RJBACKUP" follow --once --base="$1"; }
to_store() { timeout 120 "$RJBACKUP" base -o "$KEPT" mnt; }
back() { rm -f r.img; timeout 120 "$RJBACKUP" restore --base="$1" -o r.img; }
another() { like "... as the log is another one" "$OUT" "rjbackup: .*rj://.*: segment [0-9]+ is not the one .*make a new one"; }

check "a volume, a base, and a marker" new_history image ext4 4096
mv base.img early.img
check "... unmounted" rj_umount
stop_server
cp -a srv srv.then && cp --sparse=always v.img v.then
check "... and served again" start_server "$T_DIR/srv" $PORT
check "... mounted again" rj_mount
ops $((++seed))

# ---- what is made of the log after that ----
check "a base" base
cp base.img new.img
ops $((++seed)); mark lost
status 0 "a standby" follow base.img
check "... has the marker" restored latest lost
status 0 "a base at a store that is kept apart" to_store
"$RJBACKUP" base --rate=1 -o "$KEPT" mnt >cut.out 2>&1 &
cut=$!
kill_at_end $cut
not_finished() { "$RJBACKUP" ls "$KEPT" | sed -n 's/.* base \([0-9]*\): .*not finished.*/\1/p' | grep .; }
check "another one there is begun" wait_for 60 not_finished
kill_pid $cut
begun=$(not_finished)
cp base.img live.img
end=$(last)
"$RJBACKUP" follow --base=live.img >live.out 2>&1 &
LIVE=$!
kill_at_end $LIVE
check "a standby that goes on to follow" wait_for 60 grep -q "waiting for the log" live.out
cp live.img live.then

# ---- put back ----
check "unmounted" rj_umount
stop_server
rm -rf srv && mv srv.then srv && cp --sparse=always v.then v.img
check "volume and store are as they were" start_server "$T_DIR/srv" $PORT
wait_for 120 gone $LIVE || kill_pid $LIVE; wait $LIVE
is "the standby that follows ends" $? 4
like "... as the log does not go so far any more" "$(cat live.out)" "^rjbackup: rj://.*: segment [0-9]+ is not there any more as it was read: .* put back to an earlier state"
check "... and nothing is changed" cmp live.img live.then
status 4 "the other one is refused" follow base.img
like "... as the log is too short" "$OUT" "missing.*this base cannot be used any more"
check "mounted again" rj_mount
check "the log goes on to the same numbers" past $((end + 20))
mark other
cp --sparse=always base.img was.img
status 4 "the standby is refused" follow base.img
another
status 4 "... its restore, too" back base.img
another
status 4 "... fold" timeout 120 "$RJBACKUP" fold --base=base.img
status 4 "... and promote" env RJ_RUN="$T_DIR/run2" timeout 120 "$RJBACKUP" promote base.img
another
check "... and nothing is changed" cmp base.img was.img
for made in new.img "$KEPT"; do
	status 4 "a base that followed nothing, $made" back "$made"
	another
	check "... is not restored" test ! -e r.img
done
status 4 "ls says so" "$RJBACKUP" ls base.img
status 0 "the base that was begun is not gone on with" to_store
check "... but removed" not grep " base $begun: " <<<"$("$RJBACKUP" ls "$KEPT")"
check "... and the new one is restored" back "$KEPT"
check "... as the volume is" same_as r.img other
mv early.img base.img
check "a base from before is restored" restored latest other
status 0 "... and followed" follow base.img
check "... to the same" restored latest other
check "the volume can be used" ops $((++seed))
check "... and unmounted" rj_umount
exit 0
