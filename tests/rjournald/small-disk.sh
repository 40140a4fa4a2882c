#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A server with default settings on a small disk: its data files are a 32nd of the disk, so that
# what was deleted is given back in time. With files of 64 MiB it stopped for good on a disk of
# 96 MiB. And where another name has filled the disk, a crashed volume is recovered; long form:
# small-disk.sh ROUNDS.
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

# Objects of 1 MB that come together are one batch, for which a larger file is made: what was lost
# at the ends of files was counted as free, and 2 of 13 recoveries were refused.
head -c 1000000 /dev/urandom >"$T_DIR/object"
number=0
one() {
	curl -s -o "$T_DIR/body" -w '%{http_code}\n' -H 'If-None-Match: *' -T "$T_DIR/object" \
		"http://${SRV_URL#rj://}/other/11111111-2222-4333-8444-555555555555/log/$(printf %020d "$1")"
}
another_name() {
	local refused=0 i puts
	while [ $refused -lt 3 ]; do
		puts=
		for i in {1..6}; do
			((++number))
			one $number >"$T_DIR/code.$i" &
			puts+=" $!"
		done
		# shellcheck disable=SC2086
		wait $puts
		! grep -qvE "201|507" "$T_DIR"/code.? || return 1
		! grep -q 507 "$T_DIR"/code.? || { ((++refused)); sleep 0.2; }
	done
}
for ((round = 1; round <= ${1:-2}; round++)); do
	check "round $round: a disk" disk_of 96
	check "... a server" start_server "$disk/s"
	check "... a volume" volume "$img" ext4 4096 "$SRV_URL/v"
	check "... served" serve "$img"
	check "... mounted" mount_served "$img" "$mnt" data=journal
	check "... files whose fsync returned" fsynced "$mnt" 5 "$T_DIR/sums"
	check "... another name fills the disk" another_name
	writes 8 &
	kill_at_end $!
	check "... and what commits give back" another_name
	check "... a crash" crash "$img" "$mnt" "$T_DIR/crash.img"
	status 0 "... recovery" $LIMIT "$RJRECOVER" -p "$T_DIR/crash.img"
	check "... nothing is lost" eval \
		'mount -o loop,ro,noload "$T_DIR/crash.img" "$mnt" && (cd "$mnt" && sha256sum --quiet -c "$T_DIR/sums")'
	umount "$mnt"; stop_server; umount "$disk"
done
exit 0
