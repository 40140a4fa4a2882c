#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What rjtune must leave alone or find again: shared and checksummed journals,
# devices that changed their number, MMP, a volume that is being served, a move
# that was cut off, a lost journal that e2fsck cannot make good.
. "$RJ_SRC/tests/support/lib.sh"
PATH=$PATH:/sbin:/usr/sbin
need_fuse_loop
rjtune=$RJ_BUILD/rjtune/rjtune
img=$T_DIR/v.img
mkdir "$T_DIR/a" "$T_DIR/mnt" "$T_DIR/bin"
A=file://$T_DIR/a
export BLKID_FILE=$T_DIR/blkid.tab
# DEVICES... -- COMMAND...: no other block device is to be seen by libblkid
among() {
	: >"$T_DIR/partitions"
	while [ "$1" != -- ]; do
		awk -v n="${1#/dev/}" '$4 == n' /proc/partitions >>"$T_DIR/partitions"
		shift
	done
	shift
	unshare -m "$BASH" -c 'mount --bind "$0" /proc/partitions && exec "$@"' \
		"$T_DIR/partitions" "$@"
}
make_volume() { # FILE OPTIONS...
	local f=$1; shift
	rm -f "$f"
	mke2fs -q -F -b 1024 -O ^has_journal "$@" -d "$RJ_SRC/tests/support" \
		"$f" 40960 >/dev/null 2>&1
}
field() { dumpe2fs -h "$1" 2>/dev/null | sed -n "s/^$2: *//p"; }
users() { dumpe2fs "$1" 2>/dev/null | sed -n '/^Journal users/,$p' | grep -oE '[0-9a-f]{8}-[0-9a-f-]+'; }

# ---- a journal that the kernel has put checksums on goes to another volume ----
make_volume "$img" -t ext4; loop_over "$img"; V=$DEV
make_volume "$T_DIR/w.img" -t ext4; loop_over "$T_DIR/w.img"; W=$DEV
truncate -s 4M "$T_DIR/j"; loop_over "$T_DIR/j"; J=$DEV
check "a journal on a device" "$rjtune" -q -J device="$J" "$V"
mount "$V" "$T_DIR/mnt" && touch "$T_DIR/mnt/x" && umount "$T_DIR/mnt"
like "the kernel gave it checksums" "$(dumpe2fs "$J" 2>/dev/null)" "journal_checksum_v3"
sum=$(sha256sum <"$T_DIR/j")
status 2 "another volume may not have it" "$rjtune" -q -J device="$J" "$W"
like "its user is named" "$OUT" "$(field "$V" "Filesystem UUID")"
is "nothing changed" "$(sha256sum <"$T_DIR/j")" "$sum"
check "it is let go" "$rjtune" -q -J none "$V"
check "now it may" "$rjtune" -q -J device="$J" "$W"
check "and the kernel mounts that" mount "$W" "$T_DIR/mnt"
umount "$T_DIR/mnt"

# ---- a shared journal: the second user leaves ----
check "none" "$rjtune" -q -J none "$W"
mke2fs -q -F -b 1024 -O journal_dev "$J" >/dev/null 2>&1
check "tune2fs: the first user" among "$J" "$V" -- tune2fs -J device="$J" "$V"
check "tune2fs: the second user" among "$J" "$W" -- tune2fs -J device="$J" "$W"
is "two users" "$(users "$J" | wc -l)" 2
check "the second leaves" "$rjtune" -q -J none "$W"
is "the first is still there" "$(users "$J")" "$(field "$V" "Filesystem UUID")"
check "and mounts" mount "$V" "$T_DIR/mnt"
umount "$T_DIR/mnt"

# ---- the device comes back with another number ----
losetup -d "$J"
truncate -s 1M "$T_DIR/other"; loop_over "$T_DIR/other"
loop_over "$T_DIR/j"; K=$DEV
if [ "$K" = "$J" ]; then skip "another number" "it got the same"; else
	like "found by its UUID" "$(among "$K" "$V" -- "$rjtune" -l "$V")" "Journal device: +$K\$"
	check "the superblock is told" among "$K" "$V" -- "$rjtune" -q -J device="$K" "$V"
	check "and the kernel finds it" mount "$V" "$T_DIR/mnt"
	umount "$T_DIR/mnt"
fi
check "moved away from there" among "$K" "$V" -- "$rjtune" -q -J none "$V"

# ---- a device that takes no writes ----
sum=$(sha256sum <"$img")
truncate -s 4M "$T_DIR/ro"
R=$(losetup -r -f --show "$T_DIR/ro") && at_exit loop_detach "$R" "$T_DIR/ro"
status 8 "a read-only journal device" "$rjtune" -q -J device="$R" "$V"
like "is named" "$OUT" "^rjtune: $R: a read-only device"
sync "$V"
is "nothing is changed" "$(sha256sum <"$img")" "$sum"
status 8 "-n finds that too" "$rjtune" -n -J device="$R" "$V"

# ---- the present journal is read-only: it is there, so it is not lost ----
truncate -s 4M "$T_DIR/present"; loop_over "$T_DIR/present"; P=$DEV
check "a journal on a device" "$rjtune" -q -J device="$P" "$V"
blockdev --setro "$P"
sync "$V"; sum=$(sha256sum <"$img")
for force in "" "--accept-loss -z $T_DIR/undo-ro"; do
	status 8 "a read-only journal${force:+, --accept-loss}" "$rjtune" $force -J size=2 "$V"
	is "nothing else is advised" "$OUT" \
		"rjtune: $P: a read-only device: use a writable one, or a writable copy of it"
	sync "$V"; is "nothing is changed" "$(sha256sum <"$img")" "$sum"
done
blockdev --setrw "$P"
check "writable, it is left" "$rjtune" -q -J none "$V"

# ---- multi-mount protection ----
make_volume "$T_DIR/mmp.img" -t ext4 -O mmp
check "an unmounted one with MMP" "$rjtune" -q -J size=2 "$T_DIR/mmp.img"
status 2 "no remote journal with it" "$rjtune" -q -J remote="$A" "$T_DIR/mmp.img"
like "and that is said" "$OUT" "has the mmp feature.*; take it away with tune2fs -O \\^mmp"
at=$(dumpe2fs -h "$T_DIR/mmp.img" 2>/dev/null | sed -n 's/^MMP block number: *//p')
printf '\1\0\0\0' | dd of="$T_DIR/mmp.img" bs=1 seek=$((at * 1024 + 4)) conv=notrunc status=none
status 3 "in use elsewhere" "$rjtune" -q -J none "$T_DIR/mmp.img"
like "MMP is named" "$OUT" "multi-mount"

# ---- being served ----
check "a remote journal" "$rjtune" -q -J remote="$A" "$V"
blockdev --setro "$V"
read_only="^[a-z.]+: $V: (not mounted: )?a read-only device: mount -o ro,noload shows"
status 8 "rjtune: a read-only device" "$rjtune" -q -J none "$V"
like "is called so" "$OUT" "$read_only"
status 8 "rjrecover: a read-only device" "$RJ_BUILD/rjrecover/rjrecover" "$V"
like "is called so" "$OUT" "$read_only"
status 32 "mount.rj: a read-only device" "$RJ_BUILD/rjmount/mount.rj" "$V" "$T_DIR/mnt"
like "is called so" "$OUT" "$read_only"
# the advice, as typed
check "mount -o ro,noload" mount -o ro,noload "$V" "$T_DIR/mnt"
umount "$T_DIR/mnt"
blockdev --setrw "$V"
served=$("$RJ_BUILD/rjournald/rjournald" -q "$V" </dev/null 2>"$T_DIR/err" | tail -1)
at_exit "$RJ_BUILD/rjctl/rjctl" stop "$V"
like "it is served" "$served" "^/dev/(loop|ublkb)"
status 3 "served, not mounted" "$rjtune" -q -J none "$V"
status 3 "served: -n says the same" "$rjtune" -n -q -J none "$V"
like "rjctl stop is named" "$OUT" "rjctl stop"
check "stopped" "$RJ_BUILD/rjctl/rjctl" stop "$V"
check "and then it moves" wait_for 30 "$rjtune" -q -J none "$V"

# ---- cut off: the process is killed when it writes behind byte 65536 ----
cut() { # PLACE
	{ (ulimit -f 64; exec "$rjtune" -q -J "$1" "$T_DIR/c.img"); } >/dev/null 2>&1
}
make_volume "$T_DIR/c.img" -t ext4
cut remote="$A"
status 6 "nothing else until it is resumed" "$rjtune" -J size=2 "$T_DIR/c.img"
like "listed" "$("$rjtune" -l "$T_DIR/c.img")" "^Move under way: +yes"
status 0 "resumed" "$rjtune" --resume "$T_DIR/c.img"
like "to where it was" "$OUT" "taken back [(]no journal[)]"
status 0 "once is enough" "$rjtune" --resume "$T_DIR/c.img"
like "then there is nothing to do" "$OUT" "nothing to do"
check "sound" e2fsck -fn "$T_DIR/c.img"
check "a remote journal" "$rjtune" -q -J remote="$A" "$T_DIR/c.img"
mkdir -p "$T_DIR/elsewhere"
cut remote="file://$T_DIR/elsewhere"
like "a remote one is taken back to" "$("$rjtune" --resume "$T_DIR/c.img")" "taken back [(]remote log .* of ${A}[)]"
cut remote="$A",size=6
status 1 "rjrecover resumes by itself" "$RJ_BUILD/rjrecover/rjrecover" "$T_DIR/c.img"
like "and says so" "$OUT" "move of the journal was cut off"
check "the volume moves again" "$rjtune" -q -J size=2 "$T_DIR/c.img"
check "sound" e2fsck -fn "$T_DIR/c.img"

# ---- a lost journal that e2fsck does not make good: everything is put back ----
check "a remote journal" "$rjtune" -q -J remote="$A" "$T_DIR/c.img"
mv "$T_DIR/a" "$T_DIR/gone"
real=$(command -v e2fsck)
printf '#!/bin/sh\ncase " $* " in *" -fn "*) exit 4;; esac\nexec %s "$@"\n' "$real" >"$T_DIR/bin/e2fsck"
chmod +x "$T_DIR/bin/e2fsck"
sum=$(sha256sum <"$T_DIR/c.img")
PATH=$T_DIR/bin:$PATH status 5 "--accept-loss, and a second e2fsck finds errors" \
	"$rjtune" --accept-loss -z "$T_DIR/undo" -O ^has_journal "$T_DIR/c.img"
is "untouched" "$(sha256sum <"$T_DIR/c.img")" "$sum"
status 0 "with the real one" "$rjtune" --accept-loss -z "$T_DIR/undo2" -J size=2 "$T_DIR/c.img"
check "sound, with an internal journal" e2fsck -fn "$T_DIR/c.img"

# ---- the device is lost, and with it what had to be replayed ----
truncate -s 4M "$T_DIR/lost"; loop_over "$T_DIR/lost"; L=$DEV
check "a journal on a device" "$rjtune" -q -J device="$L" "$V"
mount "$V" "$T_DIR/mnt"; touch "$T_DIR/mnt/new"; sync -f "$T_DIR/mnt"
cp "$img" "$T_DIR/crash.img"; cp "$T_DIR/lost" "$T_DIR/lost.crash"; umount "$T_DIR/mnt"
cat "$T_DIR/lost.crash" >"$L"
blockdev --setro "$L"
sum=$(sha256sum <"$T_DIR/crash.img")
for tool in "$rjtune -y -J size=2" "$rjtune --accept-loss -z $T_DIR/undo-ro -J size=2" "$RJ_BUILD/rjrecover/rjrecover -y"; do
	name=${tool#"$RJ_BUILD"/*/}; name=${name%% -z*}
	status 4 "$name: the device is read-only" among "$L" "$V" -- $tool "$T_DIR/crash.img"
	like "$name: nothing else is advised" "$OUT" "^[a-z]+: $L: the journal is on a read-only device: name a writable copy of it with -J device=\$"
	is "$name: nothing is changed" "$(sha256sum <"$T_DIR/crash.img")" "$sum"
done
blockdev --setrw "$L"; flip "$L" 2048; blockdev --setro "$L"
status 4 "its log is damaged, and cannot be kept" \
	among "$L" "$V" -- "$RJ_BUILD/rjrecover/rjrecover" -y --accept-loss "$T_DIR/crash.img"
like "says so" "$OUT" "^rjrecover: $L: the journal is on a read-only device"
is "nothing is changed" "$(sha256sum <"$T_DIR/crash.img")" "$sum"
blockdev --setrw "$L" # or the next file with this number is read-only
losetup -d "$L"
lost() { among "$V" -- "$rjtune" "$@" "$T_DIR/crash.img"; }
status 4 "it needs recovery" lost -J size=2
status 5 "which cannot be had" lost -y -J size=2
sum=$(sha256sum <"$T_DIR/crash.img")
status 1 "--accept-loss, and no room for another one" lost --accept-loss -z "$T_DIR/undo4" -J size=39
like "says so" "$OUT" "^rjtune: $T_DIR/crash.img: no space for a journal of 39936 blocks; free some, or give a smaller size=\$"
is "nothing is changed" "$(sha256sum <"$T_DIR/crash.img")" "$sum"
status 8 "--accept-loss, and the new device is read-only" lost --accept-loss -z "$T_DIR/undo5" -J device="$R"
like "says so" "$OUT" "^rjtune: $R: a read-only device"
is "nothing is changed" "$(sha256sum <"$T_DIR/crash.img")" "$sum"
# one that is mounted, though nothing on it tells
truncate -s 8M "$T_DIR/used"; mke2fs -q -F -t ext2 "$T_DIR/used"; loop_over "$T_DIR/used"; U=$DEV
check "another device, in use" mount -o ro "$U" "$T_DIR/mnt"
dd if=/dev/zero of="$U" bs=64k count=1 conv=notrunc,fsync status=none
status 3 "--accept-loss, and the new device is in use" lost --accept-loss -z "$T_DIR/undo6" -J device="$U"
like "says so" "$OUT" "^rjtune: $U: "
is "nothing is changed" "$(sha256sum <"$T_DIR/crash.img")" "$sum"
umount "$T_DIR/mnt"
status 0 "--accept-loss: without it" lost --accept-loss -z "$T_DIR/undo3" -J size=2
check "sound, with an internal journal" e2fsck -fn "$T_DIR/crash.img"

# ---- the error flag of a volume whose log is remote: e2fsck alone does not open it ----
flagged=$T_DIR/flagged.img
make_volume "$flagged" -t ext4
mkdir "$T_DIR/f"
check "a remote journal" "$rjtune" -q -J remote="file://$T_DIR/f" "$flagged"
debugfs -w -R 'ssv state 3' "$flagged" 2>/dev/null
status 4 "with errors: refused" "$rjtune" -J size=4 "$flagged"
like "rjrecover is what can be run" "$OUT" 'with errors; run rjrecover, or give -y'
check "-y: it is checked, and goes on" "$rjtune" -q -y -J size=4 "$flagged"
is "no errors any more" "$(field "$flagged" 'Filesystem state')" clean

# ---- -o: what a replay would take back; -U: what keys are made from ----
check "an internal journal" eval 'rm -f "$flagged" && mke2fs -q -F -b 1024 -t ext4 "$flagged" 40960'
debugfs -w -R 'feature needs_recovery' "$flagged" >/dev/null 2>&1
status 4 "-o before the replay" "$rjtune" -o journal_data "$flagged"
status 4 "-U before the replay" "$rjtune" -U random "$flagged"
status 0 "-o, and -y" "$rjtune" -y -o journal_data "$flagged"
like "is there" "$(field "$flagged" 'Default mount options')" journal_data
check "another one" debugfs -w -R 'feature needs_recovery' "$flagged"
status 0 "-U, and -y" "$rjtune" -y -U random "$flagged"
check "with stable_inodes" debugfs -w -R 'feature stable_inodes' "$flagged"
sum=$(sha256sum <"$flagged")
status 2 "no other UUID" "$rjtune" -U random "$flagged"
is "nothing is changed" "$(sha256sum <"$flagged")" "$sum"
