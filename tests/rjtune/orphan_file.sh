#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Volumes with the feature orphan_file: without a journal they have none, and
# tune2fs -O ^has_journal leaves it there, which e2fsck then takes for damage.
# What power cuts leave of these moves is in tests/move.
. "$RJ_SRC/tests/support/lib.sh"
PATH=$PATH:/sbin:/usr/sbin
need_root
[ -c /dev/loop-control ] || skip_all "no loop devices"
rjtune=$RJ_BUILD/rjtune/rjtune
img=$T_DIR/v.img
mkdir "$T_DIR/a" "$T_DIR/mnt"
export BLKID_FILE=$T_DIR/blkid.tab
: >"$T_DIR/partitions"
mke2fs -q -F -O orphan_file "$T_DIR/probe" 1024 >/dev/null 2>&1 ||
	mke2fs -q -F -t ext4 -O orphan_file "$T_DIR/probe" 8192 >/dev/null 2>&1 ||
	skip_all "mke2fs does not know orphan_file"

make_volume() { # OPTIONS...
	rm -f "$img"
	mke2fs -q -F -t ext4 -J size=4 "$@" -d "$RJ_SRC/tests/support" "$img" 40M \
		>/dev/null 2>&1
	# mke2fs -d counts no quota
	[[ $* != *quota* ]] || e2fsck -fy "$img" >/dev/null 2>&1
}
sound() {
	unshare -m "$BASH" -c 'mount --bind "$0" /proc/partitions && exec e2fsck -fn "$@"' \
		"$T_DIR/partitions" "$@" >"$T_DIR/fsck" 2>&1 || { cat "$T_DIR/fsck"; return 1; }
}
files() { # the bytes of all files, through the kernel
	mount "$1" "$T_DIR/mnt" && (cd "$T_DIR/mnt" && find . -type f -exec sha256sum {} + | sort)
	umount "$T_DIR/mnt"
}
has_it() { dumpe2fs -h "$@" 2>/dev/null | grep -q orphan_file; }
# the superblock's s_orphan_file_inum, and free blocks and inodes
inode() { od -An -tu4 -j $((1024 + 0x280)) -N 4 "$img" | tr -d ' '; }
free() { dumpe2fs -h "$1" 2>/dev/null | sed -n 's/^Free \(blocks\|inodes\): *//p' | tr '\n' ' '; }

# ---- it goes with the journal, whatever the volume looks like ----
while read -r options; do
	# the same without the feature is what must be left
	plain=${options/-E*/}
	make_volume ${plain/orphan_file/^orphan_file}
	check "$options: the other one" "$rjtune" -q -J none "$img"
	want=$(free "$img")
	make_volume $options
	check "$options: there is one" has_it "$img"
	sum=$(sha256sum <"$img")
	OUT=$("$rjtune" -n -J none "$img")
	like "$options: -n tells" "$OUT" "would take the orphan file away"
	is "$options: -n changes nothing" "$(sha256sum <"$img")" "$sum"
	status 0 "$options: none" "$rjtune" -q -O ^has_journal "$img"
	check "$options: sound" sound "$img"
	is "$options: neither feature nor inode" "$(has_it "$img"; echo $?) $(inode)" "1 0"
	is "$options: its blocks and inode are free" "$(free "$img")" "$want"
	status 0 "$options: a journal again" "$rjtune" -q -J size=4 "$img"
	check "$options: sound" sound "$img"
	check "$options: tune2fs makes a new one" tune2fs -O orphan_file "$img"
	check "$options: sound" sound "$img"
	status 0 "$options: which goes too" "$rjtune" -q -J none "$img"
	check "$options: sound" sound "$img"
done <<'END'
-b 1024 -O orphan_file,metadata_csum
-b 1024 -O orphan_file,^metadata_csum,^64bit,^extent
-b 4096 -O orphan_file,quota
-b 4096 -O orphan_file,bigalloc -C 16384
-b 4096 -O orphan_file -E orphan_file_size=2M
END
make_volume -b 1024 -O orphan_file,metadata_csum
check "the backup superblocks" "$rjtune" -q -J none "$img"
check "there are some" dumpe2fs -h -o superblock=8193 "$img"
is "have no orphan file either" "$(has_it -o superblock=8193 "$img"; echo $?)" 1

# ---- from a device and from a remote log, and the kernel's opinion ----
make_volume -b 1024 -O orphan_file,metadata_csum
loop_over "$img"; V=$DEV
truncate -s 4M "$T_DIR/j"; loop_over "$T_DIR/j"; J=$DEV
before=$(files "$V")
status 0 "with it to a device" "$rjtune" -q -J device="$J" "$V"
check "it is still there" has_it "$V"
is "the files, mounted" "$(files "$V")" "$before"
# the kernel has now used it: a file that is open when its name goes
mount "$V" "$T_DIR/mnt"
exec 8>"$T_DIR/mnt/gone"; rm "$T_DIR/mnt/gone"; exec 8>&-
umount "$T_DIR/mnt"
status 0 "from there to none" "$rjtune" -q -J none "$V"
check "sound" sound "$V"
is "it is gone" "$(has_it "$V"; echo $?)" 1
is "the device has no user" \
	"$(dumpe2fs "$J" 2>/dev/null | sed -n 's/^Journal number of users: *//p')" 0
is "the files, mounted" "$(files "$V")" "$before"
check "a journal again" "$rjtune" -q -J size=2 "$V"
check "and an orphan file" tune2fs -O orphan_file "$V"
check "both to a remote log" "$rjtune" -q -J remote="file://$T_DIR/a" "$V"
check "it is still there" has_it "$V"
status 0 "from there to none" "$rjtune" -q -J none "$V"
check "sound" sound "$V"
is "the files, mounted" "$(files "$V")" "$before"

# ---- the journal is lost ----
check "a journal again" "$rjtune" -q -J size=2 "$V"
check "and an orphan file" tune2fs -O orphan_file "$V"
check "both to a remote log" "$rjtune" -q -J remote="file://$T_DIR/a" "$V"
mv "$T_DIR/a" "$T_DIR/lost"
status 0 "--accept-loss gives it up" "$rjtune" --accept-loss -z "$T_DIR/undo" -J none "$V"
check "sound" sound "$V"
is "it is gone" "$(has_it "$V"; echo $?) $(inode)" "1 0"
cp "$img" "$T_DIR/copy" # a mount changes what e2undo goes by
is "the files, mounted" "$(files "$V")" "$before"
check "e2undo takes it back" e2undo "$T_DIR/undo" "$T_DIR/copy"
check "to the orphan file" has_it "$T_DIR/copy"
losetup -d "$V" # make_volume removes its file, by which the end would know it

# ---- what is in it counts ----
refused() { # STATUS NAME REGEX
	local sum
	sum=$(sha256sum <"$img")
	status "$1" "$2" "$rjtune" -J none "$img"
	like "$2: why" "$OUT" "$3"
	is "$2: one line, nothing changed" \
		"$(wc -l <<<"$OUT") $(sha256sum <"$img")" "1 $sum"
}
make_volume -b 1024 -O orphan_file,^metadata_csum
at=$(debugfs -R "blocks <$(inode)>" "$img" 2>/dev/null | cut -d' ' -f 3)
printf '\13' | dd of="$img" bs=1 seek=$((at * 1024 + 40)) conv=notrunc status=none
refused 2 "an inode waits in its third block" "wait for being deleted"
printf '\0' | dd of="$img" bs=1 seek=$((at * 1024 + 40)) conv=notrunc status=none
printf '\0' | dd of="$img" bs=1 seek=$((at * 1024 + 1016)) conv=notrunc status=none
refused 2 "a block of something else" "orphan file.*e2fsck -f"
make_volume -b 1024 -O orphan_file,^metadata_csum
debugfs -w -R "ssv orphan_file_inum 0" "$img" >/dev/null 2>&1
refused 2 "no inode" "orphan file.*e2fsck -f"
