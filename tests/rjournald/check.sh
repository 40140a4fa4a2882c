#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjctl check: the four exit statuses of a monitoring plugin, its performance
# data, and a volume of fstab that no daemon serves.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
img=$T_DIR/v.img mnt=$T_DIR/mnt fstab=$T_DIR/fstab
start_server "$T_DIR/srv" || exit 99
check "a volume" volume "$img" ext3 1024 "$SRV_URL/v" on_loss=block
# this test's fstab in place of the machine's, for one command
with_fstab() { unshare -m sh -c 'mount --bind "$1" /etc/fstab && shift && exec "$@"' - "$fstab" "$@"; }
: >"$fstab"

status 3 "nothing to look at" with_fstab $LIMIT "$RJCTL" check
like "says so" "$OUT" '^RJPROGS UNKNOWN: .*no volume is served'
status 3 "a volume that is not there" $LIMIT "$RJCTL" check "$T_DIR/none"
like "is named" "$OUT" "^RJPROGS UNKNOWN: $T_DIR/none: "
status 2 "no daemon" $LIMIT "$RJCTL" check "$img"
like "is critical" "$OUT" "^RJPROGS CRITICAL: $img: .*no rjournald"
truncate -s 8M "$T_DIR/own.img" && mke2fs -q -F -t ext4 "$T_DIR/own.img"
for command in check status stop; do
	want=1; [ $command != check ] || want=3
	status $want "$command: a volume whose journal is its own" $LIMIT "$RJCTL" $command "$T_DIR/own.img"
	like "$command: is called so" "$OUT" "$T_DIR/own.img: no rjournald serves it, as its journal is internal\$"
done
echo "$img $mnt rj _netdev,noauto 0 0" >"$fstab"
status 3 "fstab: noauto is not looked at" with_fstab $LIMIT "$RJCTL" check
echo "$img $mnt rj _netdev 0 0" >"$fstab"
status 2 "fstab: no daemon" with_fstab $LIMIT "$RJCTL" check
like "names the mount point" "$OUT" "^RJPROGS CRITICAL: $mnt: "

check "served" serve "$img"
mount_served "$img" "$mnt"
put_file "$mnt/a"
status 0 "all well" with_fstab $LIMIT "$RJCTL" check
like "once, though fstab and the runtime directory have it" "$OUT" '^RJPROGS OK: 1 volume \|'
like "with performance data" "$OUT" " '$mnt lag_bytes'=[0-9]+B '$mnt lag_seconds'=[0-9]+s '$mnt put_p99_us'=[0-9]+us\$"
status 0 "the volume by its mount point" $LIMIT "$RJCTL" check "$mnt"
: >"$fstab"
status 0 "served, and not in fstab: well" with_fstab $LIMIT "$RJCTL" check
like "is looked at, and has the same label" "$OUT" "^RJPROGS OK: 1 volume \\| '$mnt lag_bytes'"
status 0 "by its image" $LIMIT "$RJCTL" check "$img"
like "by its image: the same label" "$OUT" "^RJPROGS OK: 1 volume \\| '$mnt lag_bytes'"
check "another volume" volume "$img.other" ext3 1024 "$SRV_URL/other"
status 2 "one of three has no daemon, one is not there" \
	$LIMIT "$RJCTL" check "$mnt" "$T_DIR/none" "$img.other"
like "both are named" "$OUT" "CRITICAL: $T_DIR/none: .*; $img.other: no rjournald"

kill_pid "$SRV_PID"
put_file "$mnt/b" &
writer=$!
kill_at_end "$writer"
is_waiting() { $LIMIT "$RJCTL" status --json "$mnt" | grep -q '"mode":"waiting"'; }
check "the server is away: the volume waits" wait_for 60 is_waiting
status 2 "critical" $LIMIT "$RJCTL" check "$mnt"
like "and why" "$OUT" "^RJPROGS CRITICAL: $mnt: waiting: .*127.0.0.1"
like "rjctl status says what waits with it, and how to go on" "$($LIMIT "$RJCTL" status "$mnt")" \
	'  next          commits, and each sync.2. of this host, wait for the store, and go on by themselves .* rjctl reseed'
start_server "$T_DIR/srv" "$SRV_PORT" >/dev/null
wait "$writer"
is_well() { $LIMIT "$RJCTL" check "$mnt" | grep -q '^RJPROGS OK'; }
check "the server is back: well" wait_for 60 is_well
umount "$mnt"
$LIMIT "$RJCTL" -q stop "$img"
status 2 "rjctl check: an unknown option" $LIMIT "$RJCTL" check --frobnicate
exit 0
