#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjctl status and check of a volume whose rjournald died: it is shown as long as
# it is mounted or needs recovery, and no longer: not once it has another journal, or
# has left its device.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
command -v jq >/dev/null || skip_all "needs jq"
RJTUNE=$RJ_BUILD/rjtune/rjtune
img=$T_DIR/v.img mnt=$T_DIR/mnt
mkdir "$mnt" "$T_DIR/store" "$T_DIR/another"
kill_daemons_at_end "$img"
at_exit umount -l "$mnt"
check "a volume" volume "$img" ext4 4096 "file://$T_DIR/store"
# in a namespace of its own, whose fstab is empty
check_all() { unshare -m sh -c 'mount --bind /dev/null /etc/fstab && exec "$@"' - $LIMIT "$RJCTL" check; }
dies() { kill_pid "$(daemon_pid "$1")" && wait_for 60 unlocked; }
unlocked() { ! $LIMIT "$RJCTL" status "$img" | grep -q '^  epoch'; }

check "mounted" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
check "with files" fsynced "$mnt" 3 "$T_DIR/sums"
pid=$(daemon_pid "$img")
check "the daemon dies" dies "$img"
status 1 "status without a volume: not well" $LIMIT "$RJCTL" status
like "the volume is named, and dead" "$OUT" "^$img: dead, rjournald \(process $pid\) ended without stopping\$"
like "the reason" "$OUT" "^  because       it is mounted on $mnt without its journal\$"
like "what to do" "$OUT" '^  next          unmount it, then rjrecover -p, or mount it again$'
status 1 "status of the mount point" $LIMIT "$RJCTL" status "$mnt"
like "says the same" "$OUT" "^$img: dead"
is "as JSON" "$($LIMIT "$RJCTL" status --json | jq -r '[.mode, .device] | @csv')" "\"dead\",\"$img\""
status 2 "check without a volume: critical" check_all
like "says why" "$OUT" "^RJPROGS CRITICAL: $img: dead: it is mounted on $mnt without its journal"
status 2 "check of the image: critical" $LIMIT "$RJCTL" check "$img"
like "dead, too" "$OUT" "CRITICAL: $img: dead"
status 1 "stop finds no daemon" $LIMIT "$RJCTL" stop
like "and says so" "$OUT" 'no rjournald is running'

umount -l "$mnt"
unmounted() { $LIMIT "$RJCTL" status | grep -q '^  because       it needs recovery$'; }
check "unmounted: it needs recovery" wait_for 60 unmounted
check "mounted again" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
status 0 "status: well" $LIMIT "$RJCTL" status
is "once" "$(grep -c '^  mode' <<<"$OUT")" 1
check "the files are there" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
check "unmounted" $LIMIT "$UMOUNT_RJ" "$mnt"
check "nothing is left of it" wait_for 60 nothing_left "$img"
status 1 "a clean stop: status finds nothing" $LIMIT "$RJCTL" status
like "and says so" "$OUT" '^rjctl: no rjournald is running$'

check "served" serve "$img"
check "the daemon dies, and nothing was mounted" dies "$img"
status 1 "a clean volume is not shown" $LIMIT "$RJCTL" status
like "there is no daemon" "$OUT" '^rjctl: no rjournald is running$'
check "served again" serve "$img"
check "stopped" $LIMIT "$RJCTL" stop -q "$img"

lock_left() { find "$RJ_RUN" -name lock | grep -q .; }
not_shown() { # WHAT
	status 1 "$1: status" $LIMIT "$RJCTL" status
	like "$1: nothing is shown" "$OUT" '^rjctl: no rjournald is running$'
	status 3 "$1: check is not critical" check_all
	check "$1: though the lock is still there" lock_left
}
check "a second name" ln "$img" "$T_DIR/kept"
check "mounted once more" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
check "with another file" put_file "$mnt/more"
check "the daemon dies" dies "$img"
rm "$img"
status 1 "status, when the image was removed" $LIMIT "$RJCTL" status
like "it is mounted still" "$OUT" "^  because       it is mounted on $mnt without its journal\$"
umount -l "$mnt"
not_shown "the device is absent"
check "another volume" volume "$img" ext4 4096 "file://$T_DIR/another"
not_shown "the device has another volume"
head -c 32M /dev/zero >"$img"
not_shown "the device has no volume"
check "the volume is back" mv -f "$T_DIR/kept" "$img"
check "it needs recovery" wait_for 60 unmounted
check "recovered" "$RJRECOVER" -q -p "$img"
check "the journal moves inside" "$RJTUNE" -q -J size=4 "$img"
check "mounted without us" mount -o loop "$img" "$mnt"
not_shown "the volume has a journal of its own"
check "the files are there, too" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums' && test -s more"
check "and unmounted" umount "$mnt"

# ---- the disk comes back under another name ----
cp --sparse=always "$img" "$T_DIR/disk"
check "a disk" loop_over "$T_DIR/disk"
check "with a remote journal" "$RJTUNE" -q -J remote="file://$T_DIR/store" "$DEV"
img=$DEV
check "mounted" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
check "with one more file" put_file "$mnt/last"
uuid=$(dumpe2fs -h "$img" 2>/dev/null | sed -n 's/^Filesystem UUID: *//p')
check "the daemon dies" dies "$img"
umount -l "$mnt"
# as udev would show it, in place of this machine's /dev
status 1 "status, under the other name" unshare -m sh -c 'mount -t tmpfs none /mnt &&
	cp -a "$0" /mnt/other && mknod /mnt/null c 1 3 && mount --move /mnt /dev &&
	mkdir -p /dev/disk/by-uuid && ln -s ../../other "/dev/disk/by-uuid/$1" &&
	shift && exec "$@"' "$img" "$uuid" $LIMIT "$RJCTL" status
like "it is shown as dead" "$OUT" '^/dev/other: dead, rjournald'
like "and needs recovery" "$OUT" '^  because       it needs recovery$'
exit 0
