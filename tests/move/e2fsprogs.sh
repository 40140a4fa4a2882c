#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What e2fsprogs does badly with journals that move, one test each with what
# happens here instead. tune2fs is run beside it, and what it did noted: another
# version may do better.
. "$RJ_SRC/tests/support/lib.sh"
PATH=$PATH:/sbin:/usr/sbin
need_fuse_loop
rjtune=$RJ_BUILD/rjtune/rjtune
export RJ_RECORDER=$RJ_BUILD/tests/move/.libs/recorder.so BLKID_FILE=$T_DIR/blkid.tab
mnt=$T_DIR/mnt
mkdir "$mnt"

# volume NAME [MKE2FS-OPTION...]: on a loop device, in $NAME
volume() {
	local name=$1; shift
	truncate -s 16M "$T_DIR/$name.img" && loop_over "$T_DIR/$name.img" &&
		mke2fs -q -F -t ext4 -b 1024 -O metadata_csum,64bit "$@" "$DEV" >/dev/null &&
		printf -v "$name" %s "$DEV"
}
journal() { # NAME: a journal device, in $NAME
	truncate -s 2M "$T_DIR/$1.img" && loop_over "$T_DIR/$1.img" &&
		mke2fs -q -F -O journal_dev -b 1024 "$DEV" >/dev/null &&
		printf -v "$1" %s "$DEV"
}
uuid_of() { dumpe2fs -h "$1" 2>/dev/null | sed -n 's/^Filesystem UUID: *//p'; }
users() { # of a journal device
	dumpe2fs -h "$1" 2>/dev/null | sed -n '/^Journal users:/,$p' |
		grep -Eo '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
}
# mounts VOLUME [JOURNAL-DEVICE]: as the kernel likes it, and a file in it
mounts() {
	mount -o "rw${2:+,journal_path=$2}" "$1" "$mnt" || return
	date >"$mnt/file" && sync -f "$mnt/file"
	umount "$mnt"
}
attached() { tune2fs -J device="$2" "$1"; }
theirs() { note "tune2fs: $1: $("${@:2}" >/dev/null 2>&1 && echo good || echo bad)"; }

# ---- 1: the power fails during tune2fs -O ^has_journal ----
dir=$T_DIR/cuts
mkdir "$dir"
theirs=$("$RJ_BUILD/tests/move/cuts" --dir "$dir" --tool tune2fs --features csum-1k \
	--from internal --to none | tail -n 1)
note "tune2fs: $theirs"
ours=$("$RJ_BUILD/tests/move/cuts" --dir "$dir" --features csum-1k \
	--from internal --to none | tail -n 1)
like "1: a power cut while a journal is taken away: old or new" "$ours" \
	'^[0-9]{2,} states of 1 moves, 0 bad'
like "1: tune2fs: some are neither" "$theirs" ' [1-9][0-9]* bad'
rm -rf "$dir"

# ---- 2: a journal that several volumes share ----
journal j && volume first -J device="$j" && volume second -O ^has_journal &&
	attached "$second" "$j" >/dev/null 2>&1
one=$(uuid_of "$first") two=$(uuid_of "$second")
is "2: two volumes share a journal" "$(users "$j" | sort)" "$(printf '%s\n' "$one" "$two" | sort)"
check "2: the second one leaves" "$rjtune" -O ^has_journal --old-journal="$j" "$second"
is "2: the first one is still a user, the second is not" "$(users "$j")" "$one"
check "2: the first one's journal is as good as before" e2fsck -fn -j "$j" "$first"
check "2: the second one mounts" mounts "$second"

# ---- 3: the journal is lost, and the volume needs it ----
journal j && volume first -J device="$j"
mount -o journal_path="$j" "$first" "$mnt"
for i in 1 2 3; do echo "$i" >"$mnt/kept-$i"; sync -f "$mnt/kept-$i"; done
blockdev --flushbufs "$first"
cp --sparse=always "$T_DIR/first.img" "$T_DIR/lost.img"
umount "$mnt"
loop_over "$T_DIR/lost.img"; lost=$DEV
dd if=/dev/zero of="$j" bs=64k count=1 conv=fsync status=none
cp "$T_DIR/lost.img" "$T_DIR/kept.img"
theirs "3: -f -O ^has_journal" tune2fs -f -O ^has_journal "$T_DIR/kept.img"
cp "$T_DIR/lost.img" "$T_DIR/kept.img"
"$rjtune" -O ^has_journal "$lost" >"$T_DIR/out" 2>&1
is "3: without -f: the journal cannot be found, or must be replayed" "$(($? / 2))" 2
check "3: and untouched" cmp "$lost" "$T_DIR/kept.img"
check "3: one command" "$rjtune" --accept-loss -O ^has_journal -z "$T_DIR/undo" "$lost"
check "3: e2fsck finds nothing" e2fsck -fn "$lost"
is "3: no journal any more" "$(dumpe2fs -h "$lost" 2>/dev/null | grep -c has_journal)" 0
check "3: it mounts" mounts "$lost"
check "3: the undo file takes it all back" eval \
	'e2undo -f "$T_DIR/undo" "$lost" && dumpe2fs -h "$lost" 2>/dev/null | grep -q needs_recovery'

# ---- 4: a journal that was another volume's ----
journal j && volume first -J device="$j" && volume second -O ^has_journal
check "4: the kernel gives the journal its checksums" mounts "$first" "$j"
check "4: the first volume leaves it" "$rjtune" -O ^has_journal --old-journal="$j" "$first"
check "4: the second takes it" "$rjtune" -J device="$j" "$second"
is "4: the second is its one user" "$(users "$j")" "$(uuid_of "$second")"
check "4: the kernel mounts the second" mounts "$second" "$j"
check "4: and the first" mounts "$first"

# ---- 5: another UUID for a volume with an external journal ----
journal j && volume first -J device="$j"
mounts "$first" "$j"
before=$(uuid_of "$first")
check "5: another UUID" "$rjtune" -U random --old-journal="$j" "$first"
check "5: it is another" test "$before" != "$(uuid_of "$first")"
is "5: the journal knows it" "$(users "$j")" "$(uuid_of "$first")"
check "5: the kernel mounts the volume" mounts "$first" "$j"
theirs "5: another UUID, then mount" eval 'tune2fs -U random "$first" && mounts "$first" "$j"'

# ---- 6: a journal that must be replayed ----
# a crash: copies of both disks while the volume is mounted
journal j && volume first -J device="$j"
mount -o journal_path="$j" "$first" "$mnt"
for i in 1 2 3 4 5; do echo "$i" >"$mnt/kept-$i"; sync -f "$mnt/kept-$i"; done
sync -d "$T_DIR/first.img" "$T_DIR/j.img" 2>/dev/null
blockdev --flushbufs "$j" "$first"
cp --sparse=always "$T_DIR/first.img" "$T_DIR/dirty.img"
cp --sparse=always "$T_DIR/j.img" "$T_DIR/dirty-j.img"
umount "$mnt"
losetup -d "$j"; losetup -d "$first"
loop_over "$T_DIR/dirty.img"; dirty=$DEV
loop_over "$T_DIR/dirty-j.img"; dirty_j=$DEV
cp "$T_DIR/dirty.img" "$T_DIR/kept.img"; cp "$T_DIR/dirty-j.img" "$T_DIR/kept-j.img"
like "6: it needs recovery" "$(dumpe2fs -h "$dirty" 2>/dev/null)" needs_recovery
for how in "-O ^has_journal" "-U random" "-J size=4" "-J device=$dirty_j"; do
	# shellcheck disable=SC2086
	"$rjtune" $how --old-journal="$dirty_j" "$dirty" >"$T_DIR/out" 2>&1
	is "6: $how: refused, the journal must be replayed" "$?" 4
	like "6: it says why" "$(cat "$T_DIR/out")" "must be replayed first"
	check "6: the volume is untouched" cmp "$dirty" "$T_DIR/kept.img"
	check "6: so is the log" cmp "$dirty_j" "$T_DIR/kept-j.img"
done
e2fsck -fy -j "$dirty_j" "$dirty" >/dev/null 2>&1
is "6: replayed, everything is there" \
	"$(debugfs -R 'cat kept-5' "$dirty" 2>/dev/null)" 5

# ---- 12: the journal device gets another number ----
journal j && volume first -J device="$j"
mounts "$first" "$j"
# beside the first, so that it cannot have its number
cp --sparse=always "$T_DIR/j.img" "$T_DIR/j2.img"
loop_over "$T_DIR/j2.img"; moved=$DEV
losetup -d "$j"
check "12: the device has another number" test "$moved" != "$j"
check "12: the kernel does not find it" eval '! mounts "$first" 2>/dev/null'
check "12: named once" "$rjtune" -J device="$moved" "$first"
check "12: the kernel finds it by itself" mounts "$first"
