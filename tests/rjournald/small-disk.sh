#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A server with default settings on a small disk: its data files are a 32nd of the disk, so that
# what was deleted is given back in time. With files of 64 MiB it stopped for good on a disk of
# 96 MiB.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
img=$T_DIR/v.img mnt=$T_DIR/mnt disk=$T_DIR/disk
export FSTYPE=ext4
mkdir "$disk"
# disk_of MIB: an empty disk for the server
disk_of() {
	truncate -s "$1M" "$T_DIR/disk.img" && mke2fs -q -F -t ext4 -O ^has_journal "$T_DIR/disk.img" &&
		mount -o loop "$T_DIR/disk.img" "$disk"
}
at_exit umount -l "$disk"
# writes N: N fsyncs of 700 kB, in the background; counts them in the file "done"
writes() {
	: >"$T_DIR/done"
	for ((n = 0; n < $1; n++)); do
		head -c 700000 /dev/urandom >"$mnt/f.$((n % 8))" && sync "$mnt/f.$((n % 8))" &&
			echo $n >>"$T_DIR/done" || break
	done
}
written() { [ "$(wc -l <"$T_DIR/done")" -ge "$1" ]; }
# goes_on N: each of N fsyncs comes within 10 s
goes_on() {
	local i
	writes "$1" &
	kill_at_end $!
	for ((i = 5; i <= $1; i += 5)); do wait_for 20 written $i || return 1; done
}
for size in 64 96; do
	check "$size MiB: a disk" disk_of $size
	check "$size MiB: a server" start_server "$disk/s"
	check "$size MiB: a volume" volume "$img" ext4 4096 "$SRV_URL/v"
	check "$size MiB: served" serve "$img"
	check "$size MiB: mounted" mount_served "$img" "$mnt" data=journal
	check "$size MiB: three times the disk is written" goes_on $((size * 4))
	check "$size MiB: files whose fsync returned" fsynced "$mnt" 5 "$T_DIR/sums"
	check "$size MiB: crash" crash "$img" "$mnt" "$T_DIR/crash.img"
	status 0 "$size MiB: recovery" $LIMIT "$RJRECOVER" -p "$T_DIR/crash.img"
	check "$size MiB: nothing is lost" eval \
		'mount -o loop,ro,noload "$T_DIR/crash.img" "$mnt" && (cd "$mnt" && sha256sum --quiet -c "$T_DIR/sums")'
	umount "$mnt"; stop_server; umount "$disk"
done
exit 0
