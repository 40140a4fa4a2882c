#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Random logs on an external journal: librj, e2fsck -E journal_only and (every
# eighth) the kernel's own mount give the volume that the model predicts.
# RJ_JBD2_E2FSCK_CASES (48) and RJ_SEED choose how many and which.
. "$RJ_SRC/tests/support/lib.sh"
need_root
[ -c /dev/loop-control ] || skip_all "no loop devices"

bin=$RJ_BUILD/tests/jbd2
cases=${RJ_JBD2_E2FSCK_CASES:-48}
seed=${RJ_SEED:-$RANDOM$RANDOM}
note "RJ_SEED=$seed"
cd "$T_DIR" || exit 99

# a volume of 4000 blocks whose blocks 3900.. are free, and its journal device
template() {
	local bs=$1 dev
	truncate -s $((1100 * bs)) "t$bs.j" && truncate -s $((4000 * bs)) "t$bs.img" &&
		mke2fs -q -F -b "$bs" -O journal_dev "t$bs.j" && loop_over "t$bs.j" &&
		mke2fs -q -F -t ext4 -b "$bs" -O ^resize_inode -J device="$DEV" "t$bs.img" &&
		losetup -d "$DEV" && sync "t$bs.j" &&
		debugfs -w -R "feature needs_recovery" "t$bs.img" &&
		region "t$bs.img" "$bs" > "before$bs"
}
region() { dd if="$1" bs="$2" skip=3900 count=60 status=none; }
for bs in 1024 4096; do
	check "templates with $bs-byte blocks" template "$bs"
done

kernel_replay() {
	local jdev
	loop_over "$1"; jdev=$DEV
	mkdir -p mnt
	mount -o "loop,noinit_itable,journal_path=$jdev" "$2" mnt || return 1
	umount mnt
	losetup -d "$jdev"
}

bad_rj=0 bad_e2fsck=0 bad_kernel=0 kernels=0
for ((i = 0; i < cases; i++)); do
	bs=$((i % 2 ? 4096 : 1024)) sb=$((i % 2 ? 1 : 2))
	cp "t$bs.j" r.j && cp "t$bs.img" r.img || exit 99
	what=$("$bin/make-log" $((seed * 1000 + i)) r.j 3900 60 "before$bs" expect) || {
		not_ok "make-log"; continue; }
	cp r.j e.j; cp r.img e.img; cp r.j k.j; cp r.img k.img
	out=$("$bin/replay-log" r.j $sb r.img 2>&1) && region r.img $bs | cmp -s - expect || {
		bad_rj=$((bad_rj + 1)); note "librj: $what" "$out"; }
	out=$(e2fsck -p -E journal_only -j e.j e.img 2>&1); st=$?
	((st <= 1)) && region e.img $bs | cmp -s - expect || {
		bad_e2fsck=$((bad_e2fsck + 1)); note "e2fsck ($st): $what" "$out"; }
	((i % 8 < 2)) || continue
	kernels=$((kernels + 1))
	kernel_replay k.j k.img && region k.img $bs | cmp -s - expect || {
		bad_kernel=$((bad_kernel + 1)); note "kernel: $what" "$(dmesg | tail -n 3)"; }
done
is "librj gives the model's volume, $cases logs" $bad_rj 0
is "e2fsck gives the model's volume" $bad_e2fsck 0
is "the kernel gives the model's volume, $kernels logs" $bad_kernel 0
