#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# truncate-checksum.sh SHORTEN [ROUNDS]: how many crashes leave a journal (internal, data=journal)
# that the kernel does not replay. SHORTEN: the program of tests/history/crash/shorten.c.
set -e
shorten=$(realpath "$1")
dir=$(mktemp -d)
trap 'umount "$dir/m" 2>/dev/null; rm -rf --one-file-system "$dir"' EXIT
cd "$dir"
mkdir m
refused=0
for ((i = 0; i < ${2:-10}; i++)); do
	rm -f v.img
	truncate -s 256M v.img
	mke2fs -q -F -t ext4 -b 4096 -J size=64 v.img
	mount -o loop,data=journal v.img m
	"$shorten" m 4 2>/dev/null &
	sleep 2.5
	# EXT4_IOC_SHUTDOWN, without a flush of the log
	python3 -c 'import fcntl, os, struct
fcntl.ioctl(os.open("m", os.O_RDONLY), 0x8004587d, struct.pack("I", 2))'
	wait || true
	umount m
	mount -o loop,data=journal v.img m 2>/dev/null && umount m || refused=$((refused + 1))
done
echo "$(uname -r): $refused of ${2:-10} volumes are not mounted after the crash"
