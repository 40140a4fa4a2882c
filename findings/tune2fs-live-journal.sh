#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tune2fs on a crashed copy of a volume takes the journal that the mounted original is using.
#
# e2fsprogs 1.47.0 (Debian 12, 1.47.0-2+b2), kernel with ext4 and loop; needs root.
# tune2fs -U replays an external journal before it changes the UUID. It finds the journal by the UUID
# in the superblock, and opens it without exclusive use. A copy of a volume has the same journal's
# UUID. So, while the original is mounted on the same machine:
#   - the transactions of the live journal are written into the copy,
#   - the journal's superblock says "empty" (s_start 0) under the mounted original,
#   - tune2fs then refuses ("requires a freshly checked filesystem"),
#   - and when the original loses its power before its next checkpoint, e2fsck replays nothing: a file
#     that was fsynced is not there. e2fsck itself opens the journal exclusively, and refuses.
# One would expect the same of tune2fs. Exit status: 0 it is so, 1 it is not any more, 2 cannot be seen.
set -u
version=1.47.0-2+b2
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 2; }
work=$(mktemp -d) || exit 2
loops=()
clean() {
	umount "$work/m" 2>/dev/null
	for l in "${loops[@]}"; do losetup -d "$l" 2>/dev/null; done
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
loop() { LOOP=$(losetup -f --show "$1") && loops+=("$LOOP"); }
start() { od -An -tx1 -j $((4096 + 28)) -N 4 j | tr -d ' \n'; } # s_start, big-endian

truncate -s 16M j && truncate -s 64M v && mkdir m && loop j || exit 2
journal=$LOOP
tool mke2fs -q -F -b 4096 -O journal_dev "$journal" &&
	tool mke2fs -q -F -t ext4 -b 4096 -J device="$journal" v && loop v || exit 2
volume=$LOOP
mount -t ext4 -o data=journal,commit=600 "$volume" m || exit 2
echo "fsynced" >m/file && sync m/file || exit 2
before=$(start)
cp v copy
tool tune2fs -U random copy >out 2>&1
grep -v '^$' out
after=$(start)
echo "s_start of the mounted volume's journal: $before, after tune2fs: $after"

cp v v2 && cp j j2 # the power goes
umount m
losetup -d "$volume"; losetup -d "$journal" # so that the UUID is found once
loop j2 && journal=$LOOP && loop v2 && volume=$LOOP || exit 2
tool e2fsck -fy -j "$journal" "$volume" >out 2>&1
tail -n 1 out
mount -t ext4 "$volume" m 2>/dev/null || mount -t ext4 -o journal_path="$journal" "$volume" m || exit 2
lost=yes
[ -e m/file ] && lost=no
echo "the fsynced file is lost: $lost"
[ "$before" != 00000000 ] && [ "$after" = 00000000 ] && [ $lost = yes ]
