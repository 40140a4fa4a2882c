#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A disk failed a write for a moment, and the program that wrote is gone: Linux reports that at the
# first fsync of whoever opens the disk next. No tool takes it for a failure of its own: each
# goes on, and its log says what happened. The disk is a loop device over a file whose file
# system was full for a moment.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
RJTUNE=$RJ_BUILD/rjtune/rjtune RJBACKUP=$RJ_BUILD/rjbackup/rjbackup
FSTYPE=ext4 mnt=$T_DIR/mnt small=$T_DIR/small
start_server "$T_DIR/srv" && mkdir "$mnt" "$small" || exit 99
at_exit umount -l "$small"
mount -t tmpfs -o size=24M tmpfs "$small" || exit 99
truncate -s 256M "$small/disk"
disk=$(losetup -f --show "$small/disk") || exit 99
at_exit losetup -d "$disk"

# fails_for_a_moment: a write into the last MiB, which holds nothing, fails when its program ends,
# which is the last that had the disk open
fails_for_a_moment() {
	head -c 64M /dev/zero >"$small/full" 2>/dev/null
	dd if=/dev/urandom of="$disk" bs=4k count=1 seek=$((255 * 256 + RANDOM % 200)) conv=notrunc \
		status=none 2>/dev/null
	rm "$small/full"
}
# reports: without a tool of ours in between, the error is seen
reports() { ! dd if=/dev/null of="$disk" bs=4k count=0 conv=notrunc,fsync status=none 2>/dev/null; }
fails_for_a_moment
check "the next fsync of another program fails" reports
check "the one after it does not" eval '! reports'
there() { (cd "$mnt" && sha256sum --quiet -c "$T_DIR/sums"); }

mke2fs -q -F -t ext4 -b 4096 -N 256 -J size=4 "$disk" 60000 || exit 99
fails_for_a_moment
status 0 "rjtune moves the journal" "$RJTUNE" -J "remote=$SRV_URL/v,size=4" "$disk"
like "rjtune says what was there" "$OUT" "$disk: a write before this one failed"
fails_for_a_moment
status 0 "mount.rj" $LIMIT "$MOUNT_RJ" "$disk" "$mnt"
check "files are fsynced" fsynced "$mnt" 10 "$T_DIR/sums"
check "unmounted" $LIMIT "$UMOUNT_RJ" "$mnt"
wait_for 60 eval '! daemon_pid "$disk" | grep -q .' || exit 99

serve "$disk" && mount -t ext4 -o "journal_path=$LOOP" "$disk" "$mnt" && at_exit umount -l "$mnt" &&
	fsynced "$mnt" 10 "$T_DIR/sums" || exit 99
freeze_daemon "$DPID" && cp --sparse=always "$small/disk" "$T_DIR/crashed" && kill_pid "$DPID"
umount -l "$mnt"; losetup -d "$disk" 2>/dev/null
wait_for 60 eval '! losetup -a | grep -q "$small/disk"' || exit 99
cp --sparse=always "$T_DIR/crashed" "$small/disk"
disk=$(losetup -f --show "$small/disk") || exit 99
at_exit losetup -d "$disk"
fails_for_a_moment
status 0 "rjrecover" $LIMIT "$RJRECOVER" -p "$disk"
status 0 "mount.rj of the recovered volume" $LIMIT "$MOUNT_RJ" "$disk" "$mnt"
check "each file is there" there
check "unmounted" $LIMIT "$UMOUNT_RJ" "$mnt"
fails_for_a_moment
status 0 "rjtune moves the journal back" "$RJTUNE" -J size=4 "$disk"
check "the volume is whole" e2fsck -fn "$disk"
