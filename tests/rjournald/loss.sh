#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The store goes away, or another writer takes the log over.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
command -v jq >/dev/null || skip_all "needs jq"
img=$T_DIR/v.img mnt=$T_DIR/mnt

# lose_server / restart_server: the same directory and port
lose_server() { kill_pid "$SRV_PID"; }
restart_server() { start_server "$T_DIR/srv" "$SRV_PORT"; }
mode() { $LIMIT "$RJCTL" status --json "$img" | grep -q "\"mode\":\"$1\""; }
start_server "$T_DIR/srv" || exit 99
store=$SRV_URL/loss

# ---- on_loss=block ----
volume "$img" ext3 4096 "$store" on_loss=block || exit 99
check "serve" serve "$img"
check "mount" mount_served "$img" "$mnt"
check "a file before" put_file "$mnt/before"
lose_server
(put_file "$mnt/during" && touch "$T_DIR/synced") &
writer=$!
check "without the server rjournald waits" wait_for 30 mode waiting
sleep 0.5
check "and so does the fsync" test ! -e "$T_DIR/synced"
status 0 "status answers meanwhile" $LIMIT "$RJCTL" status "$mnt"
like "which store it waits for, and why" "$OUT" "^  because       $store: .*(refused|connect)"
is "the same as JSON" "$(sed -n 's/^  because  *//p' <<<"$OUT")" \
	"$($LIMIT "$RJCTL" status --json "$mnt" | jq -r .why)"
# others look at each block device of the machine; they must not have to wait
check "the device can be read meanwhile" $LIMIT dd if="$LOOP" of=/dev/null bs=4k count=64 iflag=direct
check "also through the page cache" $LIMIT blkid -p "$LOOP"
truncate -s 16M "$T_DIR/other" && mke2fs -q -F "$T_DIR/other"
check "and another volume be checked" $LIMIT e2fsck -fn "$T_DIR/other"
check "the server comes back" restart_server
check "and everything goes on" wait_for 20 test -e "$T_DIR/synced"
wait "$writer"
check "rjournald serves again" wait_for 30 mode online
is "and waits for nothing" "$($LIMIT "$RJCTL" status --json "$mnt" | jq -r .why)" null
check "a file afterwards" put_file "$mnt/after"
(cd "$mnt" && sha256sum before during after) >"$T_DIR/sums"
status 0 "the machine stops" crash "$img" "$mnt" "$T_DIR/c.img"
img=$T_DIR/c.img
serve "$img" && mount_served "$img" "$mnt"
check "all three are there after a crash" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"

# ---- told to stop while the store is lost ----
lose_server
put_file "$mnt/never" 2>"$T_DIR/err" &
writer=$!
wait_for 60 mode waiting || exit 99
kill -TERM "$DPID"
sleep 0.3
check "one SIGTERM does not end it: it waits" kill -0 "$DPID"
kill -TERM "$DPID"
check "another one does" wait_for 40 gone "$DPID"
wait "$writer"
is "the fsync was not acknowledged" $(($? != 0)) 1
# dead WHAT: its daemon was told to end, and the volume is still mounted
dead() {
	status 1 "$1: rjctl status" $LIMIT "$RJCTL" status
	like "$1: the volume is dead" "$OUT" "^$img: dead, rjournald .* ended without stopping\$"
	like "$1: as it is mounted" "$OUT" "^  because       it is mounted on $mnt without its journal\$"
	status 2 "$1: rjctl check is critical" $LIMIT "$RJCTL" check "$mnt"
}
# unmounted: only what tells of the volume is left, until it is recovered
unmounted() { [ -z "$(left "$img" | grep -v "^$RJ_RUN/")" ]; }
dead "ended by SIGTERM"
$LIMIT umount -l "$mnt"
check "the kernel lets go of it" wait_for 60 unmounted
restart_server
# nothing says that it was this host that served it without rjrecover
status 1 "it is not served again as it is" timeout 60 "$RJOURNALD" "$img"
like "... which the message says, with the way on" "$OUT" "if rjournald served it without recovery, rjrecover -f"
status 4 "that says what is still in the way" $LIMIT "$RJRECOVER" -f "$img"
like "... the kernel emptied the log that the volume knew" "$OUT" "no longer holds what epoch 2 wrote.*; rjrecover -f --accept-loss replays"
status 0 "with that word" $LIMIT "$RJRECOVER" -f --accept-loss "$img"
check "it can be served again" serve "$img"
mount_served "$img" "$mnt"
check "with all that was acknowledged" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
lose_server
put_file "$mnt/never" 2>/dev/null &
writer=$!
wait_for 60 mode waiting || exit 99
status 0 "stop --force" $LIMIT "$RJCTL" stop --force "$img"
like "... says so" "$OUT" "^stopped\$"
check "ends it" wait_for 30 gone "$DPID"
wait "$writer"
dead "stop --force"
$LIMIT umount -l "$mnt"
check "the kernel lets go of it again" wait_for 60 unmounted
restart_server
check "served" serve "$img"
status 0 "stopped in order" $LIMIT "$RJCTL" stop
is "... it says what" "$OUT" "$img: stopped"
wait_for 60 nothing_left "$img" || exit 99

# ---- on_loss=error ----
img=$T_DIR/e.img
volume "$img" ext3 4096 "$SRV_URL/loss2" on_loss=error || exit 99
check "on_loss=error: serve" serve "$img"
mount_served "$img" "$mnt"
fsynced "$mnt" 10 "$T_DIR/sums"
lose_server
status 1 "the fsync fails" $LIMIT dd if=/dev/zero of="$mnt/x" bs=1k count=1 conv=fsync
check "rjournald has failed" wait_for 30 mode failed
restart_server
status 1 "and does not begin again with a server" \
	$LIMIT dd if=/dev/zero of="$mnt/y" bs=1k count=1 conv=fsync
check "status says why" sh -c "$LIMIT '$RJCTL' status '$img' | grep -q '  error .*127.0.0.1'"
status 0 "the machine stops" crash "$img" "$mnt" "$T_DIR/e2.img"
img=$T_DIR/e2.img
"$RJRECOVER" -q -p "$img"
serve "$img" && mount_served "$img" "$mnt"
check "nothing acknowledged is lost" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"

# ---- fenced: the same volume served elsewhere ----
first=$DPID
check "a file before the fence" put_file "$mnt/f"
cp --sparse=always "$img" "$T_DIR/copy.img"
status 0 "a second claim, elsewhere" env RJ_RUN="$T_DIR/run2" $LIMIT "$RJOURNALD" "$T_DIR/copy.img"
second=$(daemon_pid "$T_DIR/copy.img")
kill_at_end "$second"
status 1 "the first one's next fsync fails" \
	$LIMIT dd if=/dev/zero of="$mnt/g" bs=1k count=1 conv=fsync
check "it has failed for good" wait_for 30 mode fenced
like "because of the other writer" "$($LIMIT "$RJCTL" status "$img")" 'another writer'
$LIMIT umount "$mnt"
status 1 "stop: it can not drain" sh -c "kill -TERM $first; while kill -0 $first 2>/dev/null; do sleep 0.1; done; exit 1"
kill -TERM "$second"
check "the second stops" wait_for 30 gone "$second"
