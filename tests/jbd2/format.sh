#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The fresh superblock of an external journal is that of mke2fs -O journal_dev
# plus the user that mke2fs -J device= adds, byte for byte.
. "$RJ_SRC/tests/support/lib.sh"
need_root
[ -c /dev/loop-control ] || skip_all "no loop devices"
bin=$RJ_BUILD/tests/jbd2
cd "$T_DIR" || exit 99
juuid=11111111-2222-4333-8444-555555555555
uuuid=aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee

# The device is synced by name: mke2fs only closes it, which writes nothing while
# somebody else (one who looks at all devices) has it open.
make_pair() {
	local bs=$1 blocks=$2 dev
	rm -f j v
	truncate -s $((bs * blocks)) j && truncate -s 16M v &&
		mke2fs -q -F -b "$bs" -U $juuid -O journal_dev j &&
		loop_over j && dev=$DEV &&
		mke2fs -q -F -b "$bs" -U $uuuid -t ext3 -J device="$dev" v &&
		sync "$dev" && sync j v && losetup -d "$dev"
}

for bs in 1024 2048 4096; do
	for blocks in 1024 5000; do
		check "mke2fs makes $blocks blocks of $bs" make_pair $bs $blocks
		at=$((bs == 1024 ? 2048 : bs))
		dd if=j of=theirs bs=1024 skip=$((at / 1024)) count=1 status=none
		"$bin/format-sb" $bs $blocks $juuid $uuuid >ours
		check "the same bytes" cmp theirs ours
	done
done
