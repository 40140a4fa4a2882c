#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The journal of an ext3 volume that was used for years leaves it and comes back; a volume of which
# only every second block is free gets one; a journal device that is too short gets no volume.
. "$RJ_SRC/tests/support/own-mounts.sh" || exit 99
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/rjournald/daemon.sh"
cd "$T_DIR" || exit 99
mkdir mnt store
at_exit umount -l "$T_DIR/mnt"
rjtune=$RJ_BUILD/rjtune/rjtune
aged=$RJ_SRC/tests/support/aged-volume

sums() { (cd mnt && find . -type f -exec sha256sum {} + | sort); }
# same WHAT: mounted by $MOUNT, the files are those of $files
same() {
	check "$1: mounted" $MOUNT v.img mnt
	is "$1: the files are the same" "$(sums)" "$files"
	check "$1: unmounted" $UMOUNT mnt
	wait_for 60 nothing_left "$T_DIR/v.img" || exit 99
}
served() { MOUNT=$MOUNT_RJ UMOUNT=$UMOUNT_RJ; }
alone() { MOUNT='mount -t ext3 -o loop' UMOUNT=umount; }

for bs in 1024 4096; do
	rm -f v.img
	check "$bs: mkrjfs" "$MKRJFS" -q -F -t ext3 -b $bs -J "size=4,remote=file://$T_DIR/store" v.img 64M
	served
	check "$bs: mounted" $MOUNT v.img mnt
	cp -r "$RJ_SRC/lib" mnt && head -c 40M /dev/urandom >mnt/mail && sync -f mnt &&
		rm -r mnt/mail mnt/lib/log && sync -f mnt || exit 99
	files=$(sums)
	check "$bs: unmounted" $UMOUNT mnt
	wait_for 60 nothing_left "$T_DIR/v.img" || exit 99
	check "$bs: the journal comes into the volume" "$rjtune" -q -J size=4 v.img
	check "$bs: sound" e2fsck -fn v.img
	alone
	same "$bs, alone"
	check "$bs: the journal leaves again" "$rjtune" -q -J "remote=file://$T_DIR/store,size=4" v.img
	served
	same "$bs, served"
	check "$bs: and comes back" "$rjtune" -q -J size=8 v.img
	check "$bs: sound" e2fsck -fn v.img
	alone
	same "$bs, back"
done

for type in ext3 "ext4 -O ^extent,^64bit" ext4; do
	rm -f v.img
	mke2fs -q -F -t $type -b 1024 -O ^has_journal -d "$RJ_SRC/tests/support" v.img 16M >/dev/null 2>&1
	check "$type: every second block is in use" bash "$aged" holes v.img
	mount -o loop v.img mnt && files=$(sums)
	umount mnt
	check "$type: gets a journal" "$rjtune" -q -J size=2 v.img
	check "$type: sound" e2fsck -fn v.img
	MOUNT='mount -o loop' UMOUNT=umount
	same "$type"
done

# mke2fs makes journals of whole 4096 bytes
for size in "1024 1024 1028" "4096 1024 1025"; do
	read -r bs short least <<<"$size"
	rm -f v.img && mke2fs -q -F -t ext4 -b "$bs" v.img 32M >/dev/null 2>&1
	cp v.img before
	for n in $short $least; do
		truncate -s $((n * bs)) "j.$bs.$n" && loop_over "j.$bs.$n"
		mke2fs -q -F -O journal_dev -b "$bs" "$DEV" >/dev/null 2>&1
		[ "$n" = "$short" ] || break
		status 2 "$bs: a journal device of $n blocks" "$rjtune" -J device="$DEV" v.img
		like "$bs: what a journal needs is said" "$OUT" "has space for $n blocks of $bs bytes; a journal needs 102[56]"
		check "$bs: nothing changed" cmp v.img before
	done
	check "$bs: one of $least" "$rjtune" -q -J device="$DEV" v.img
	check "$bs: the kernel takes it" mount -o "loop,journal_path=$DEV" v.img mnt
	umount mnt
done
