#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two devices have the UUID of a volume's external journal, as after a snapshot or a clone: none
# is taken, also not the one that has the number in the superblock. The user's word decides, and
# then every fsynced file is there.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh"
need_fuse_loop
RJTUNE=$RJ_BUILD/rjtune/rjtune
export BLKID_FILE=$T_DIR/blkid.tab
V=$T_DIR/v.img MNT=$T_DIR/mnt
mkdir "$MNT"
at_exit umount -l "$MNT"
ln -s "$(realpath "$RJRECOVER")" "$T_DIR/fsck.rj"
truncate -s 64M "$V"; truncate -s 8M "$T_DIR/j"
loop_over "$T_DIR/j"; J=$DEV
mke2fs -q -F -b 1024 -O journal_dev "$J" >/dev/null
uuid=$(dumpe2fs -h "$J" 2>/dev/null | awk '/^Filesystem UUID/ {print $3}')
check "a volume with an external journal" mke2fs -q -F -t ext4 -b 1024 -O ^metadata_csum -J device="$J" "$V"
check "mounted" mount -i -t ext4 -o loop,data=journal "$V" "$MNT"
cp --sparse=always "$T_DIR/j" "$T_DIR/early"
check "files" fsynced "$MNT" 20 "$T_DIR/sums"
cp --sparse=always "$V" "$T_DIR/crash.img" && cp --sparse=always "$T_DIR/j" "$T_DIR/j.crash"
umount "$MNT"
losetup -d "$J"
# the machine is up again: the journal, and a snapshot of it from before
loop_over "$T_DIR/j.crash"; J=$DEV
loop_over "$T_DIR/early"; K=$DEV
# the number in the superblock is that of either
BOTH="external journal $uuid is on (/dev/[a-z0-9]+) and on (/dev/[a-z0-9]+): one is a copy; name the device"
refused() {
	local name=$1 want=$2; shift 2
	status "$want" "$name: refused" "$@" "$V"
	like "$name: names both" "$OUT" "$BOTH"
	check "$name: names the right ones" eval '[[ $OUT == *"$J "* || $OUT == *"$J:"* ]] && [[ $OUT == *"$K "* || $OUT == *"$K:"* ]]'
	check "$name: the volume is as it was" cmp "$T_DIR/crash.img" "$V"
	check "$name: the journal is as it was" cmp "$J" "$T_DIR/j.was"
}
cp --sparse=always "$T_DIR/j.crash" "$T_DIR/j.was"
cp --sparse=always "$T_DIR/crash.img" "$V"
refused "rjrecover -p" 4 "$RJRECOVER" -p
refused "rjrecover -y -f" 4 "$RJRECOVER" -y -f
refused "rjrecover -y --accept-loss" 4 "$RJRECOVER" -y --accept-loss
refused "fsck.rj -y" 4 "$T_DIR/fsck.rj" -y
refused "rjtune -y -J" 4 "$RJTUNE" -y -J size=4
like "rjtune -l: says it too" "$("$RJTUNE" -l "$V" 2>&1)" "$BOTH"
there() {
	mount -i -t ext4 -o ro,noload,loop "$V" "$MNT" && (cd "$MNT" && sha256sum --quiet -c "$T_DIR/sums")
	local rc=$?
	umount "$MNT"
	return $rc
}
check "-J device= decides" "$RJRECOVER" -p -J device="$J" "$V"
check "every fsynced file is there" there
cp --sparse=always "$T_DIR/crash.img" "$V"
dd if="$T_DIR/j.was" of="$J" bs=1M conv=notrunc,fsync status=none
check "--old-journal= decides" "$RJTUNE" -y --old-journal="$J" -J size=4 "$V"
check "every fsynced file is there then" there
losetup -d "$K"
cp --sparse=always "$T_DIR/crash.img" "$V"
dd if="$T_DIR/j.was" of="$J" bs=1M conv=notrunc,fsync status=none
check "the copy is taken away: the journal is found" "$RJRECOVER" -p "$V"
check "every fsynced file is there in the end" there

# ---- a journal that names no user: e2fsck -j takes it ----
cp --sparse=always "$T_DIR/crash.img" "$V"
dd if="$T_DIR/j.was" of="$J" bs=1M conv=notrunc,fsync status=none
# s_nr_users and the first of s_users, of the journal's superblock in block 2
is "the journal names a user" "$(od -An -tu1 -j $((2048 + 67)) -N 1 "$J" | tr -d ' ')" 1
dd if=/dev/zero of="$J" bs=4 seek=$(((2048 + 64) / 4)) count=1 conv=notrunc,fsync status=none
dd if=/dev/zero of="$J" bs=16 seek=$(((2048 + 256) / 16)) count=1 conv=notrunc,fsync status=none
status 4 "no user: refused" "$RJRECOVER" -p "$V"
like "no user: the way on" "$OUT" "does not name volume .* as its user, nor any other; if it is this one, say so with -J device="
check "no user: the volume is as it was" cmp "$T_DIR/crash.img" "$V"
check "no user: -J device= says that it is this one" "$RJRECOVER" -p -J device="$J" "$V"
check "no user: every fsynced file is there" there
exit 0
