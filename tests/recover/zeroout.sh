#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Bytes of deleted files in a file that was fsynced (data=journal, extents): the
# kernel zeroes around a partial write into an unwritten extent on the device
# itself, and logs no revokes, so older copies in the log went over the zeros.
# 50 files of 4 blocks, of which one is written: 200 blocks where a deleted file was.
# RJ_LONG=1: more kinds of volume.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
need_root
[ -c /dev/loop-control ] || skip_all "no loop devices"
cd "$T_DIR" || exit 99
mkdir -p mnt
files=50

sysfs() { echo "/sys/fs/ext4/$(basename "$(findmnt -no SOURCE mnt)")/$1"; }

# reused BS [full]: in the mounted volume: a file of old bytes in the log, deleted,
# its blocks part of others, of which one in four is written. FULL: no block is free.
reused() {
	local bs=$1 i dd=(bs="$1" seek=1 count=1 conv=notrunc status=none)
	echo 0 >"$(sysfs reserved_clusters)" &&
		fallocate -l $((($(stat -f -c %f mnt) - 5 * files) * bs)) mnt/filler &&
		head -c $((4 * files * bs)) /dev/zero | tr '\0' O >mnt/old &&
		sync -f mnt && rm mnt/old && sync -f mnt || return 1
	for ((i = 0; i < files; i++)); do
		fallocate -l $((4 * bs)) "mnt/f$i" || return 1
	done
	sync -f mnt
	# the rest of the blocks; the kernel may keep a few to itself
	[ "${2:-}" != full ] || cat /dev/zero >mnt/rest 2>/dev/null
	for ((i = 0; i < files; i++)); do
		head -c "$bs" /dev/zero | tr '\0' N | dd of="mnt/f$i" "${dd[@]}" || return 1
	done
	sync -f mnt
}
# wrong_in IMAGE BS: of the 200 blocks, how many hold what was never written there
wrong_in() {
	local n
	mount -t ext4 -o ro,noload,loop "$1" mnt || return
	n=$(cat mnt/f[0-9]* | tr -d '\0N' | wc -c)
	umount mnt
	echo $(((n + $2 - 1) / $2))
}

volume() {
	local bs=$1; shift
	rm -f v.img && truncate -s 128M v.img &&
		mke2fs -q -F -t ext4 -m 0 -N 512 -b "$bs" -J size=16 "$@" v.img &&
		mount -t ext4 -o loop,data=journal,commit=300 v.img mnt
}
# internal BS MODE MKE2FS-OPTIONS...: an internal journal, replayed by us and by e2fsck
internal() {
	local bs=$1 mode=$2 kind="$*"; shift 2
	check "$kind: a volume" volume "$bs" "$@" || return
	check "... blocks used again" reused "$bs" "$mode"
	cp --sparse=always v.img ours.img && cp --sparse=always v.img theirs.img
	umount mnt
	status 0 "... rjrecover" "$RJRECOVER" --json ours.img
	like "... dropped copies of freed blocks" "$OUT" '"freed": *[1-9]'
	is "... and no byte is of a deleted file" "$(wrong_in ours.img "$bs")" 0
	check "... and the volume is sound" e2fsck -fn ours.img
	# e2fsck replays the old copies: if it ever does not, this test shows nothing
	e2fsck -p theirs.img >/dev/null
	note "$(wrong_in theirs.img "$bs") of $((4 * files)) blocks wrong with e2fsck"
	[ "$mode" = full ] || check "... which e2fsck replays" test "$(wrong_in theirs.img "$bs")" -gt 0
}
internal 4096 room
internal 1024 full
if [ -n "${RJ_LONG:-}" ]; then
	internal 4096 full
	internal 1024 room
	internal 4096 room -O ^metadata_csum,^64bit
	internal 4096 room -O ^flex_bg,^metadata_csum,uninit_bg
	internal 4096 room -O bigalloc -C 16384
fi

# ---- with a remote journal: the kernel is told not to zero at all ----
[ -c /dev/fuse ] || skip_all "no FUSE"
kill_daemons() {
	local p
	for p in $(pgrep -f "rjournald .*$T_DIR/"); do kill_pid "$p"; done
}
at_exit kill_daemons
start_server "$T_DIR/srv" || exit 99
max_kb() { cat "$(sysfs extent_max_zeroout_kb)"; }
max_is() { [ "$(max_kb)" = "$1" ]; }
# remote room|full mount.rj|mount
remote() {
	local mode=$1 how=$2
	check "$how, $mode: a volume" "$MKRJFS" -q -F -t ext4 -b 4096 \
		-J "size=16,remote=$SRV_URL/$how$mode" "$T_DIR/r.img" 128M || return
	if [ "$how" = mount.rj ]; then
		check "... mounted" "$MOUNT_RJ" "$T_DIR/r.img" mnt -o data=journal,commit=300
		is "... the kernel does not zero" "$(max_kb)" 0
	else
		check "... mounted" mount_served "$T_DIR/r.img" "$T_DIR/mnt" data=journal,commit=300
		check "... soon the kernel does not zero" wait_for 60 max_is 0
	fi
	like "... rjctl says so" "$("$RJ_BUILD/rjctl/rjctl" status --json "$T_DIR/r.img")" \
		'"zeroout_off": *true'
	check "... blocks used again" reused 4096 "$mode"
	check "... the machine stops" crash "$T_DIR/r.img" "$T_DIR/mnt" "$T_DIR/r.crashed"
	check "... rjrecover -p" "$RJRECOVER" -q -p "$T_DIR/r.crashed"
	is "... and no byte is of a deleted file" "$(wrong_in r.crashed 4096)" 0
	rm -f r.img r.crashed
}
remote room mount.rj
remote full mount
ordered() {
	"$MKRJFS" -q -F -t ext4 -b 4096 -J "size=8,remote=$SRV_URL/o" "$T_DIR/o.img" 64M &&
		"$MOUNT_RJ" "$T_DIR/o.img" mnt -o data=ordered
}
check "data=ordered: mounted" ordered
is "... is left alone" "$(max_kb)" 32
"$UMOUNT_RJ" "$T_DIR/mnt"
