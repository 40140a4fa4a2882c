#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# zeroout.sh [MAX_ZEROOUT_KB]: bytes of a deleted file in files that were synced, after a
# crash (data=journal): of the 200 blocks of 50 files, how many have some.
set -e
dir=$(mktemp -d)
trap 'umount "$dir/m" 2>/dev/null; rm -rf --one-file-system "$dir"' EXIT
cd "$dir"
mkdir m
truncate -s 128M v.img
mke2fs -q -F -t ext4 -b 4096 -m 0 -N 512 -J size=16 v.img
mount -o loop,data=journal,commit=300 v.img m
sysfs=/sys/fs/ext4/$(basename "$(findmnt -no SOURCE m)")
[ $# = 0 ] || echo "$1" >"$sysfs/extent_max_zeroout_kb"
# leave 250 blocks, so that a deleted file's are used again
echo 0 >"$sysfs/reserved_clusters"
fallocate -l $((($(stat -f -c %a m) - 250) * 4096)) m/filler
# into the log, and deleted
head -c $((200 * 4096)) /dev/zero | tr '\0' O >m/old
sync -f m
rm m/old
sync -f m
# one block of four is written: the kernel zeroes the others on the device
for ((i = 0; i < 50; i++)); do fallocate -l 16384 "m/f$i"; done
sync -f m
for ((i = 0; i < 50; i++)); do
	head -c 4096 /dev/zero | tr '\0' N |
		dd of="m/f$i" bs=4096 seek=1 conv=notrunc status=none
done
sync -f m
cp v.img kernel.img # what is on the disk now
cp v.img e2fsck.img
umount m
wrong() {
	mount -o loop "$1" m
	echo "$2: $(($(cat m/f[0-9]* | tr -d '\0N' | wc -c) / 4096)) of 200 blocks are of the deleted file"
	umount m
}
wrong kernel.img "replayed by the kernel $(uname -r)"
e2fsck -p e2fsck.img >/dev/null || [ $? = 1 ]
wrong e2fsck.img "replayed by e2fsck"
