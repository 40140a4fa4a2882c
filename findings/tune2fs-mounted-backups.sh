#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tune2fs on a mounted volume writes the kernel's superblock over the backups, too; what else stands
# in their blocks it leaves alone.
#
# e2fsprogs 1.47.0 (Debian 12, 1.47.0-2+b2), kernel with ext4 and loop; needs root.
# The kernel leaves backup superblocks as they are while a volume is mounted, so that one might keep
# there what the primary cannot hold. But "tune2fs -c 9" of the mounted volume, which changes one
# field, copies all of the primary into every backup at once: bytes of the backup that the primary
# does not have, in the fields that no version uses, are gone. e2fsck does the same when it writes
# the backups. The 1024 bytes of the superblock are all that either writes: the rest of that block (3072
# bytes with blocks of 4 KiB) stays, also through tune2fs -L and -U.
# One would expect tune2fs to change that field. Exit status: 0 it is so, 1 it is not any more, 2
# cannot be seen.
set -u
version=1.47.0-2+b2
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 2; }
work=$(mktemp -d) || exit 2
loop=
clean() {
	umount "$work/m" 2>/dev/null
	[ -z "$loop" ] || losetup -d "$loop"
	rm -rf "$work"
}
trap clean EXIT
cd "$work" || exit 2
for p in e2fsprogs libext2fs2 libcom-err2 libss2; do
	apt-get -q download "$p=$version" >/dev/null 2>&1 || { echo "cannot get $p $version"; exit 2; }
done
for p in *.deb; do dpkg -x "$p" root || exit 2; done
libs=$(dirname "$(find "$work/root" -name 'libext2fs.so.2' | head -n 1)")
tool() { local t; t=$(find "$work/root" -type f -name "$1" -o -type l -name "$1" | head -n 1); shift
	LD_LIBRARY_PATH=$libs${libs:+:}$work/root/usr/lib/x86_64-linux-gnu "$t" "$@"; }

truncate -s 64M v && mkdir m && loop=$(losetup -f --show v) || exit 2
tool mke2fs -q -F -t ext4 -b 4096 -g 4096 -O ^metadata_csum "$loop" || exit 2
backup=$((4096 * 4096))
put() { printf '%s' "$2" | dd of="$loop" bs=1 seek=$((backup + $1)) conv=notrunc status=none; }
there() { dd if="$loop" bs=1 skip=$((backup + $1)) count=4 status=none; }
reserved=$((0x2FC)) rest=1024 # in the superblock, in a field that is reserved; and after it
seen() { # NAME
	sync
	echo "$1: in the superblock: $(there $reserved | tr -d '\0'), after it: $(there $rest | tr -d '\0')"
	[ "$(there $rest | tr -d '\0')" = kept ] || kept=no
}
kept=yes
put $reserved here && put $rest kept && sync || exit 2
mount -t ext4 "$loop" m && echo x >m/file && sync || exit 2
seen "mounted"
first=$(there $reserved | tr -d '\0')
tool tune2fs -c 9 "$loop" >/dev/null || exit 2
seen "tune2fs -c of the mounted volume"
gone=$(there $reserved | tr -d '\0')
tool tune2fs -L label "$loop" >/dev/null && tool tune2fs -U random "$loop" >/dev/null
seen "tune2fs -L and -U"
umount m
tool e2fsck -fy "$loop" >/dev/null 2>&1
seen "e2fsck -fy"
[ "$first" = here ] && [ -z "$gone" ] && [ $kept = yes ]
