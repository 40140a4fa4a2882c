#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A journal is served, used, stopped; and served again after everything died.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
img=$T_DIR/v.img mnt=$T_DIR/mnt
mkdir "$T_DIR/store"
check "a volume with a log in a directory" \
	volume "$img" ext3 1024 "file://$T_DIR/store"

# ---- the device ----
check "rjournald serves it" serve "$img"
check "and names a block device" test -b "$LOOP"
journal=$(dumpe2fs -h "$img" 2>/dev/null | sed -n 's/^Journal UUID: *//p')
like "dumpe2fs takes it for a journal with one user" \
	"$($LIMIT dumpe2fs "$LOOP" 2>&1)" 'journal_dev'
is "with the UUID that the volume names" \
	"$($LIMIT dumpe2fs "$LOOP" 2>/dev/null | sed -n 's/^Filesystem UUID: *//p')" "$journal"
like "blkid too" "$($LIMIT blkid -p "$LOOP")" "UUID=\"$journal\".*TYPE=\"jbd\""
is "the FUSE file has its size" "$(stat -c %s "$RJ_RUN"/*/mnt/journal)" $((8 << 20))
status 1 "a second daemon is refused" $LIMIT "$RJOURNALD" "$img"
like "and says why" "$OUT" '^rjournald: .*v.img: another rjournald serves this volume$'

# ---- mounted ----
check "the kernel mounts the volume with it" mount_served "$img" "$mnt"
check "files are written and fsynced" put_file "$mnt/a"
put_file "$mnt/a2" && put_file "$mnt/a3"
status=$($LIMIT "$RJCTL" status --json "$mnt")
like "status: mounted, serving, nothing pending" "$status" \
	'"state":"mounted","mode":"online".*"pending_blocks":0,'
like "and some flushes needed no segment" "$status" '"flushes_ordered":[1-9]'
echo unsynced >"$mnt/b"
is "rjctl flush" "$($LIMIT "$RJCTL" flush "$img")" flushed
status 1 "stop is refused while it is mounted" $LIMIT "$RJCTL" stop "$mnt"
like "and says so" "$OUT" 'volume is mounted: unmount it first'
check "the daemon is still there, and the volume works" put_file "$mnt/c"
$LIMIT umount "$mnt"
is_free() { $LIMIT "$RJCTL" status --json "$img" | grep -q '"state":"ready"'; }
check "after the unmount it serves on: nothing was remembered" wait_for 30 is_free
mount_served "$img" "$mnt"
kill "$DPID"
$LIMIT umount "$mnt"
check "a signal is: after the unmount it stops" wait_for 30 nothing_left "$img"
note "$(left "$img")"

# ---- foreground, and a signal ----
"$RJOURNALD" -f "$img" >"$T_DIR/out" 2>"$T_DIR/err" &
pid=$!
kill_at_end "$pid"
check "-f: the device on stdout" wait_for 30 grep -q '^/dev/' "$T_DIR/out"
like "-f: the log on stderr" "$(cat "$T_DIR/err")" 'serving the journal of .*v.img from file://'
LOOP=$(cat "$T_DIR/out")
mount_served "$img" "$mnt" && put_file "$mnt/d" && umount "$mnt"
check "it stays after an unmount" test -b "$RJ_RUN"/*/control -o -S "$RJ_RUN"/*/control
for p in "$pid" $(pgrep -P "$pid"); do kill -HUP "$p"; done
check "SIGHUP is ignored: a file" mount_served "$img" "$mnt"
check "is fsynced after it" put_file "$mnt/d2"
umount "$mnt"
kill -TERM "$pid"
wait "$pid"
is "SIGTERM: status 0" $? 0
check "and nothing is left" wait_for 30 nothing_left "$img"

# ---- epoch and floor are noted, so that a log cut short is noticed ----
last=$(find "$T_DIR/store" -path '*/log/*' | sort | tail -n 1)
is "the volume knows the last segment" "$("$MARK" "$img" show | sed 's/.*=//')" \
	"$((10#${last##*/}))"
mv "$last" "$T_DIR/kept"
status 1 "a log that ends before what was acknowledged is refused" \
	$LIMIT "$RJOURNALD" "$img"
mv "$T_DIR/kept" "$last"

# ---- --until-unmount ----
check "--until-unmount" serve "$img" --until-unmount
mount_served "$img" "$mnt" && put_file "$mnt/e"
sleep 0.1
$LIMIT umount "$mnt"
check "ends with the unmount" wait_for 30 nothing_left "$img"

# ---- everything dies; the kernel recovers by itself ----
check "again" serve "$img"
mount_served "$img" "$mnt" data=journal
fsynced "$mnt" 20 "$T_DIR/sums"
status 0 "the machine stops" crash "$img" "$mnt" "$T_DIR/crashed.img"
wait_for 60 not grep -qF "$T_DIR/mnt" /proc/mounts || exit 99
img=$T_DIR/crashed.img
like "the volume needs recovery" "$(dumpe2fs -h "$img" 2>/dev/null)" needs_recovery
check "rjournald serves it, over what the dead one left" serve "$img"
check "the kernel recovers and mounts" mount_served "$img" "$mnt"
check "every fsynced file is there" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
$LIMIT umount "$mnt"
is "rjctl stop" "$($LIMIT "$RJCTL" stop "$img")" stopped
check "nothing is left" wait_for 30 nothing_left "$img"
check "and the volume is in order" served_fsck "$img" -fn

# ---- the loop device is a shared thing: it is left as it was ----
cache=/sys/block/$(basename "$(losetup -f)")/queue/write_cache
echo "write back" >"$cache"
serve "$T_DIR/crashed.img"
if [ "$cache" = "/sys/block/${LOOP#/dev/}/queue/write_cache" ]; then
	is "the journal's loop device has its flushes" "$(cat "$cache")" "write back"
else
	skip "the journal's loop device has its flushes" "another process took $cache"
fi
$LIMIT "$RJCTL" -q stop "$T_DIR/crashed.img"

# ---- fast commits go to the store too ----
img=$T_DIR/fc.img
rm -f "$img" && truncate -s 64M "$img" && "$MKRJFS" -q -F -t ext4 \
	-J "remote=file://$T_DIR/store,size=16" "$img" || exit 99
FSTYPE=ext4
# rjournald would not begin with the feature
serve "$img" && tune2fs -O fast_commit "$img" >/dev/null && mount_served "$img" "$mnt" &&
	fsynced "$mnt" 30 "$T_DIR/sums"
status 0 "fast commits: the machine stops" crash "$img" "$mnt" "$T_DIR/fc2.img"
img=$T_DIR/fc2.img
like "there are some" "$(dumpe2fs -h "$img" 2>/dev/null)" 'features:.*fast_commit'
serve "$img" && mount_served "$img" "$mnt"
check "every fsynced file is there" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
$LIMIT umount "$mnt"
$LIMIT "$RJCTL" -q stop "$img"
status 1 "once it is clean it is refused" $LIMIT "$RJOURNALD" -q "$img"
like "which names the feature and the way out" "$OUT" "fast_commit.*tune2fs -O \^fast_commit"
check "that is a way out" tune2fs -O ^fast_commit "$img"
serve "$img" && mount_served "$img" "$mnt"
check "every file is still there" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
$LIMIT umount "$mnt"
$LIMIT "$RJCTL" -q stop "$img"

FSTYPE=ext3

# ---- a daemon whose commit rule is wrong would be caught by all this ----
img=$T_DIR/bad.img
volume "$img" ext3 1024 "file://$T_DIR/store" || exit 99
RJOURNALD=$RJ_BUILD/tests/rjournald/badrule/rjournald serve "$img"
mount_served "$img" "$mnt" && fsynced "$mnt" 10 "$T_DIR/sums"
status 0 "a wrong commit rule: the machine stops" crash "$img" "$mnt" "$T_DIR/bad2.img"
img=$T_DIR/bad2.img
serve "$img" && mount_served "$img" "$mnt"
check "and fsynced files are missing" not sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
$LIMIT umount "$mnt"
$LIMIT "$RJCTL" -q stop "$img"
check "nothing is left in the end" wait_for 30 nothing_left "$img"
