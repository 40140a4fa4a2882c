#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# inline-data.sh [MODE SYNC]: how many of 100 files whose overwrite was synced (SYNC:
# fsync or fdatasync; fallocate: fsync, and before it fallocate and fsync) with the data mode
# MODE have the old bytes after a crash.
set -e
dir=$(mktemp -d)
trap 'umount "$dir/m" 2>/dev/null; rm -rf --one-file-system "$dir"' EXIT
cd "$dir"
mkdir m

try() {
	local i
	rm -f v.img
	truncate -s 64M v.img
	mke2fs -q -F -t ext4 -O inline_data -I 256 -J size=8 v.img
	mount -o "loop,data=$1,commit=300" v.img m
	for ((i = 0; i < 100; i++)); do printf old >"m/$i"; done
	sync -f m
	for ((i = 0; i < 100; i++)); do
		[ "$2" != fallocate ] || { fallocate -l 1000 "m/$i" && sync "m/$i"; }
		printf new | dd of="m/$i" "conv=notrunc,${2/fallocate/fsync}" status=none
	done
	cp v.img crashed.img # what is on the disk now
	umount m
	mount -o loop crashed.img m
	echo "data=$1 $2: $(grep -la ^old m/[0-9]* | wc -l) of 100 lost"
	umount m
}
if [ $# = 2 ]; then try "$@"; exit; fi
for mode in ordered journal writeback; do
	try $mode fsync
	try $mode fdatasync
	try $mode fallocate
done
