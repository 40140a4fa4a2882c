#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjournald --raw: the external log of an XFS volume at the store; what was
# fsynced is there after everything died, with the device served again and with
# its image out of the log.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
type mkfs.xfs >/dev/null 2>&1 || skip_all "no mkfs.xfs"
grep -qw xfs /proc/filesystems || modprobe xfs 2>/dev/null ||
	skip_all "no XFS in this kernel"
(umask 077; printf '[*]\ntrim_interval = 1\n' >"$RJ_CONF")
start_server "$T_DIR/srv" || exit 99
url=$SRV_URL/raw mnt=$T_DIR/mnt img=$T_DIR/x.img

status 1 "no log yet, and no size" $LIMIT "$RJOURNALD" --raw "$url"
like "says what to do" "$OUT" 'there is no log yet; --size=MB begins one'
status 2 "--size without --raw" "$RJOURNALD" --size=20 "$url"
status 2 "a size of nothing" "$RJOURNALD" --raw --size=0 "$url"
check "a raw log is begun" serve "$url" --raw --size=64
is "the device is that large" "$(blockdev --getsize64 "$LOOP")" $((64 << 20))
truncate -s 400M "$img"
loop_over "$img"
check "mkfs.xfs puts its log there" $LIMIT mkfs.xfs -q -f -l "logdev=$LOOP" "$DEV"
mkdir -p "$mnt"
at_exit umount -l "$mnt"
check "XFS mounts with it" $LIMIT mount -t xfs -o "logdev=$LOOP" "$DEV" "$mnt"
check "files are fsynced" fsynced "$mnt" 60 "$T_DIR/sums"

# ---- a worker is killed ----
kill -KILL "$(worker_pid "$url")"
check "killed, the worker is followed by another" put_file "$mnt/after"
(cd "$mnt" && sha256sum after) >>"$T_DIR/sums"

# ---- everything dies ----
supervisor=$(daemon_pid "$url")
freeze_daemon "$supervisor"
cp --sparse=always "$img" "$T_DIR/y.img"
kill_pid "$supervisor"
$LIMIT umount -l "$mnt"

# ---- the image out of the log ----
status 16 "rjrecover --raw wants --output" "$RJRECOVER" --raw "$url"
status 0 "rjrecover --raw -n reads it" $LIMIT "$RJRECOVER" --raw -n "$url"
status 0 "rjrecover --raw" $LIMIT "$RJRECOVER" --raw --output="$T_DIR/log.img" "$url"
is "makes an image of that size" "$(stat -c %s "$T_DIR/log.img")" $((64 << 20))
status 8 "and writes over no file" $LIMIT "$RJRECOVER" --raw --output="$T_DIR/log.img" "$url"
cp --sparse=always "$T_DIR/y.img" "$T_DIR/z.img"
# look NAME DATA-IMAGE LOG-DEVICE
look() {
	loop_over "$2"
	check "$1: XFS recovers" $LIMIT mount -t xfs -o "nouuid,logdev=$3" "$DEV" "$mnt"
	check "$1: every fsynced file is there" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
	wait_for 60 umount "$mnt" || exit 99
	check "$1: xfs_repair finds nothing" $LIMIT xfs_repair -n -l "$3" "$DEV"
}
loop_over "$T_DIR/log.img"
look "from the image" "$T_DIR/y.img" "$DEV"

# ---- the device served again ----
check "the log is served again" serve "$url" --raw
look "served again" "$T_DIR/z.img" "$LOOP"
status 1 "another size is refused" env RJ_RUN="$T_DIR/run2" $LIMIT "$RJOURNALD" --raw --size=32 "$url"

status 0 "rjctl stop" $LIMIT "$RJCTL" stop

# ---- what is no longer needed goes ----
url=$SRV_URL/small
check "a small one" serve "$url" --raw --size=1
head -c 4M /dev/urandom >"$T_DIR/noise"
for i in 0 1 2; do
	dd if="$T_DIR/noise" of="$LOOP" bs=4096 count=256 skip=$((i * 256)) \
		oflag=direct status=none
done
for i in $(seq 0 7); do # from now on only a part of it
	dd if="$T_DIR/noise" of="$LOOP" bs=4096 count=64 skip=$((i * 64)) \
		seek=100 conv=notrunc oflag=direct status=none
done
dd if="$LOOP" of="$T_DIR/before" bs=1M iflag=direct status=none
oldest() { $LIMIT "$RJCTL" status --json | sed 's/.*"oldest":\([0-9]*\).*/\1/'; }
moved_on() { [ "$(oldest)" -gt 600 ]; }
check "the oldest segment needed moves on" wait_for 60 moved_on
supervisor=$(daemon_pid "$url")
$LIMIT "$RJCTL" -q stop # may be in the middle of deleting much
check "it stops" wait_for 60 gone "$supervisor"
status 0 "the image after that" $LIMIT "$RJRECOVER" -q --raw --output="$T_DIR/after.img" "$url"
check "is the device" cmp "$T_DIR/before" "$T_DIR/after.img"
