#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A change of the label of a mounted volume is in the log with the backup superblock
# as the kernel knew it. Replay does not put the older mark in that back: a recovery
# that is cut after it would be refused as that of an older copy.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
start_server "$T_DIR/srv" || exit 99
mnt=$T_DIR/mnt img=$T_DIR/v.img FSTYPE=ext4
oldest() { $LIMIT "$RJCTL" status --json "$img" | sed 's/.*"oldest":\([0-9]*\).*/\1/'; }
moved() {
	head -c 2M /dev/urandom >"$mnt/noise" && sync "$mnt/noise" && [ "$(oldest)" -gt 1 ]
}
label() { dumpe2fs -h "$1" 2>/dev/null | awk '/^Filesystem volume name/ {print $4}'; }

truncate -s 256M "$img" && "$MKRJFS" -q -F -t ext4 -b 4096 -L before \
	-J "remote=$SRV_URL/v,size=4" "$img" || exit 99
serve "$img" && mount_served "$img" "$mnt" data=journal || exit 99
check "the mark is raised" wait_for 60 moved
device=$(findmnt -nro SOURCE "$mnt")
status 0 "the label is changed online" tune2fs -L after "$device"
check "and is in the log" put_file "$mnt/f"
sum=$(sha256sum <"$mnt/f")
status 0 "the machine stops" crash "$img" "$mnt" "$T_DIR/c.img"
was=$("$MARK" "$T_DIR/c.img" mark)
# ---- a writer on another host raises the mark while the log is read ----
check "the mark is lowered" "$MARK" "$T_DIR/c.img" "mark=$((was - 1))"
status 4 "so that it is an older copy" $LIMIT "$RJRECOVER" -n "$T_DIR/c.img"
like "and refused" "$OUT" 'an older copy of the volume'
connected() { [ "$(find "/proc/$reader/fd" -lname 'socket:*' 2>/dev/null)" ]; }
kill -STOP "$SRV_PID"
"$RJRECOVER" -n "$T_DIR/c.img" >"$T_DIR/out" 2>&1 &
reader=$!
kill_at_end "$reader"
check "a recovery that knows the volume asks for the log" wait_for 60 connected
check "the mark is raised meanwhile" "$MARK" "$T_DIR/c.img" "mark=$was"
kill -CONT "$SRV_PID"
wait "$reader"
check "it is not refused" sh -c "! grep -q 'older copy' '$T_DIR/out' && grep -q replay '$T_DIR/out'"

# ---- replay ----
# as after another move of the tail, the label's transaction being in the log still
check "the mark is raised further" "$MARK" "$T_DIR/c.img" "mark=$((was + 1000)),$((was + 5))"
is "by so much; who has not seen that does not lower it" "$("$MARK" "$T_DIR/c.img" mark)" "$((was + 1000))"
status 0 "recovered" $LIMIT "$RJRECOVER" -q -p "$T_DIR/c.img"
dd if="$T_DIR/c.img" of="$T_DIR/backup" bs=4k skip=32768 count=1 status=none
check "the backup was replayed" grep -aq after "$T_DIR/backup"
is "the label is the new one" "$(label "$T_DIR/c.img")" after
is "the mark is there still" "$("$MARK" "$T_DIR/c.img" mark)" "$((was + 1000))"
serve "$T_DIR/c.img" && mount_served "$T_DIR/c.img" "$mnt" || exit 99
is "the file, too" "$(sha256sum <"$mnt/f")" "$sum"

# ---- a backup stands in for a lost primary superblock: the mark stays where it belongs ----
# in_primary IMAGE: the place of a mark is not empty
in_primary() { [ "$(od -An -tx1 -j $((1024 + 0x2DC)) -N 32 "$1" | tr -d ' \n0*')" ]; }
$LIMIT umount "$mnt" && $LIMIT "$RJCTL" -q stop "$T_DIR/c.img"
img=$T_DIR/w.img
truncate -s 256M "$img" && "$MKRJFS" -q -F -t ext4 -b 4096 -J "remote=$SRV_URL/w,size=4" "$img" &&
	serve "$img" && mount_served "$img" "$mnt" data=journal || exit 99
check "a volume with a mark" wait_for 60 moved
$LIMIT umount "$mnt" && $LIMIT "$RJCTL" -q stop "$img"
dd if=/dev/zero of="$img" bs=1024 seek=1 count=1 conv=notrunc status=none
status 1 "its primary superblock is lost, and restored" $LIMIT "$RJRECOVER" -q -y -f "$img"
check "the primary has no mark" not in_primary "$img"
serve "$img" && mount_served "$img" "$mnt" data=journal || exit 99
from=$("$MARK" "$img" mark)
raised() { moved && [ "$("$MARK" "$img" mark)" -gt "$((from + 5))" ]; }
check "the mark is raised again" wait_for 60 raised
status 0 "the label is changed online" tune2fs -L later "$(findmnt -nro SOURCE "$mnt")"
check "a file that is fsynced" put_file "$mnt/last"
sum=$(sha256sum <"$mnt/last")
status 0 "the machine stops" crash "$img" "$mnt" "$T_DIR/d.img"
status 0 "it is no older copy" $LIMIT "$RJRECOVER" -q -p "$T_DIR/d.img"
serve "$T_DIR/d.img" && mount_served "$T_DIR/d.img" "$mnt" || exit 99
is "the file is there" "$(sha256sum <"$mnt/last")" "$sum"
exit 0
