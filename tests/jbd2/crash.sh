#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Crash states made by the running kernel: the image (and the journal device)
# copied while mounted. librj, e2fsck and the kernel must make the same volume
# of each, block for block, but for the primary superblock, the journal, and
# what e2fsck rewrites on purpose (see doc/jbd2-replay.md).
. "$RJ_SRC/tests/support/lib.sh"
need_root
[ -c /dev/loop-control ] || skip_all "no loop devices"
bin=$RJ_BUILD/tests/jbd2
cd "$T_DIR" || exit 99
mkdir -p mnt


# files made, renamed, rewritten, deleted: directories freed and reused as data
# give revokes; one in some data blocks begins with the journal's magic number
churn() {
	local i j
	for ((i = 0; i < 6; i++)); do
		mkdir -p mnt/d$i/e
		for ((j = 0; j < 60; j++)); do
			printf '\xc0\x3b\x39\x98%s' "$i.$j.$RANDOM" >mnt/d$i/f$j
		done
		sync -f mnt
		head -c $((RANDOM * 4)) /dev/urandom >mnt/d$i/big
		ln mnt/d$i/f1 mnt/l$i
		mv mnt/d$i/f2 mnt/d$i/e/g2
		((i % 2)) && rm -r mnt/d$((i - 1))
		sync -f mnt
		head -c 200000 /dev/zero | tr '\0' "$i" >mnt/n$i
		sync mnt/n$i
	done
}

# differ A B BS JOURNAL-BLOCKS: the numbers of the blocks that differ
differ() {
	local bs=$3
	cmp -l "$1" "$2" | awk -v bs="$bs" -v skip="$4" '
		BEGIN { n = split(skip, a, " "); for (i = 1; i <= n; i++) j[a[i]] = 1 }
		{ off = $1 - 1; b = int(off / bs)
		  if (off >= 1024 && off < 2048) next
		  if (b in j || b == last) next
		  last = b; print b }'
}

# crash NAME BLOCK-SIZE internal|external MKFS-OPTIONS MOUNT-OPTIONS
crash() {
	local name=$1 bs=$2 where=$3 mkfs=$4 opts=$5 jdev= sb=0 jblocks= d
	truncate -s 48M v.img
	if [ "$where" = external ]; then
		truncate -s 8M v.j
		mke2fs -q -F -b "$bs" -O journal_dev v.j && loop_over v.j || return 1
		jdev=$DEV sb=$((bs == 1024 ? 2 : 1))
		mkfs+=" -J device=$jdev" opts+=",journal_path=$jdev"
	fi
	# shellcheck disable=SC2086
	mke2fs -q -F -b "$bs" $mkfs v.img && mount -o "loop,$opts" v.img mnt || return 1
	churn
	sync mnt/. # the journal's blocks and the volume's are in the files now
	cp v.img c.img
	[ "$where" = internal ] || cp v.j c.j
	umount mnt
	[ -z "$jdev" ] || losetup -d "$jdev"
	if [ "$where" = internal ]; then
		debugfs -R "dump <8> c.j" c.img
		jblocks=$(debugfs -R "blocks <8>" c.img)
	fi
	cp c.img r.img; cp c.img e.img; cp c.img k.img; cp c.j k.j; cp c.j e.j
	"$bin/replay-log" c.j "$sb" r.img >info || return 1
	if [ "$where" = internal ]; then
		e2fsck -p -E journal_only e.img
		mount -o loop,noinit_itable k.img mnt && umount mnt || return 1
	else
		e2fsck -p -E journal_only -j e.j e.img
		loop_over k.j
		mount -o "loop,noinit_itable,journal_path=$DEV" k.img mnt && umount mnt || return 1
		losetup -d "$DEV"
	fi
	d=$(differ r.img k.img "$bs" "$jblocks")
	[ -z "$d" ] || { echo "$name: librj and the kernel differ in" $d; return 1; }
	d=$(differ r.img e.img "$bs" "$jblocks")
	# with metadata_csum e2fsck sets BLOCK_UNINIT in the group descriptors
	case $mkfs in *ext4*) d=$(grep -vx $((bs == 1024 ? 2 : 1)) <<<"$d") ;; esac
	[ -z "$d" ] || { echo "$name: librj and e2fsck differ in" $d; return 1; }
	# the check that counts: only the superblock still says "recover"
	debugfs -w -R "feature ^needs_recovery" r.img
	if [ "$where" = internal ]; then e2fsck -fn r.img; else e2fsck -fn -j e.j r.img; fi
}

case_() {
	check "$1" crash "$@"
	note "$(cat info)"
	cat info >>all
}
case_ "ext3, 1 KiB, data=journal" 1024 internal "-t ext3 -J size=8" data=journal
case_ "ext3, 4 KiB, ordered" 4096 internal "-t ext3 -J size=8" data=ordered
case_ "ext4, 1 KiB, ordered" 1024 internal "-t ext4 -J size=8" data=ordered
case_ "ext4, 4 KiB, data=journal, 64bit" 4096 internal \
	"-t ext4 -O 64bit,metadata_csum -J size=8" data=journal
case_ "ext4, async commit, checksums" 4096 internal \
	"-t ext4 -O ^metadata_csum -J size=8" data=writeback,journal_async_commit
case_ "external ext3, 1 KiB, data=journal" 1024 external "-t ext3" data=journal
case_ "external ext4, 4 KiB, data=journal" 4096 external "-t ext4" data=journal
like "there were revokes" "$(cat all)" "revokes=[1-9]"
like "there were suppressed copies" "$(cat all)" "suppressed=[1-9]"
like "there were escapes" "$(cat all)" "escapes=[1-9]"
like "there were checksums of version 1, with async commit" "$(cat all)" "compat=0x1 incompat=0x[0-9a-f]*[4-7c-f]\b"
like "there were checksums of version 3, 64bit" "$(cat all)" "compat=0x0 incompat=0x12"

# fast commits behind the last full one: refused as long as they are there
fast_commit() {
	truncate -s 64M f.img && mke2fs -q -F -b 4096 -t ext4 -O fast_commit -J size=16 f.img &&
		mount -o loop f.img mnt || return 1
	local i
	for ((i = 0; i < 5; i++)); do
		echo one >mnt/f$i && sync mnt/f$i
	done
	sync -f mnt && cp f.img full.img
	for ((i = 0; i < 5; i++)); do
		echo "two $i" >>mnt/f$i && sync mnt/f$i
	done
	cp f.img fast.img
	umount mnt
	for i in full fast; do debugfs -R "dump <8> $i.j" $i.img; done
}
check "make a volume with fast commits" fast_commit
check "the log before them is replayed" "$bin/replay-log" full.j 0 full.img
cp fast.img fast.was
status 2 "fast commits are refused" "$bin/replay-log" fast.j 0 fast.img
like "and named" "$OUT" "holds fast commits"
check "nothing was written" cmp fast.img fast.was
