#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjctl move: the log of a mounted volume goes to another store while files are written, and a
# power cut before, in or after that finds every acknowledged file.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/move/frame.sh"
RJTUNE=$RJ_BUILD/rjtune/rjtune
start_server "$T_DIR/srv1" || exit 99
one=$SRV_URL/one
start_server "$T_DIR/srv2" || exit 99
two=$SRV_URL/two

check "a volume in use" used_volume "$one" -t ext4
check "a writer" write_on
check "moved" $LIMIT "$RJCTL" move --to="$two" "$mnt"
url_is "it is there" "$two"
check "writes go on" writes_more
# tune2fs copies the superblock, which names the first place, over the backups, as an online resize
# of the kernel does
tuned() { tune2fs "$@" "$(findmnt -n -o SOURCE "$mnt")"; }
check "the writer stops, so that no mark is raised" stop_writing
check "the volume is tuned online" tuned -c 20
sleep 2.5 # rjournald looks each second
check "the machine stops" power_cut
check "recovered from there, with all files" recovered
url_is "and served from there" "$two"
# the backups are in the journal from before the move, as they were then: what the kernel replays,
# and what rjrecover replays, leave the place
again() { # HOW...
	check "$1: a writer" write_on
	check "$1: the label is changed online" tuned -L "$RANDOM"
	check "$1: moved" $LIMIT "$RJCTL" move --to="$2" "$mnt"
	check "$1: writes go on" writes_more
	check "$1: the machine stops" power_cut
}
copied() {
	local pid
	pid=$(daemon_pid "$img")
	freeze_daemon "$pid" && cp --sparse=always "$img" "$1" && thaw_daemon "$pid"
}
served_again() { serve "$img" -q && mount_served "$img" "$mnt" && sleep 2.5 && all_there; }
again "the kernel replays" "$one"
FSTYPE=ext4 check "the kernel replays: all files are there" served_again
check "the kernel replays: a copy of the disk" copied "$T_DIR/replayed.img"
like "the kernel replays: it names the place" "$("$RJTUNE" -l "$T_DIR/replayed.img")" "$one"
check "the kernel replays: unmounted" $LIMIT umount "$mnt"
check "the kernel replays: the daemon ends" $LIMIT "$RJCTL" stop -q "$img"
check "the kernel replays: mounted again" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
url_is "the kernel replays: from there" "$one"
again "rjrecover replays" "$two"
check "rjrecover replays: recovered, with all files" recovered
check "a writer again" write_on
# a disk that is full before the journal is there: what is left of that is in the way of nothing
full_disk() {
	mkdir "$T_DIR/full" && truncate -s 8M "$T_DIR/full.img" && mke2fs -q -F -m 0 "$T_DIR/full.img" &&
		at_exit umount -l "$T_DIR/full" && mount -o loop "$T_DIR/full.img" "$T_DIR/full" || return 1
	head -c 16M /dev/zero >"$T_DIR/full/filler"
	truncate -s -64K "$T_DIR/full/filler"
}
check "a disk with 64 KiB" full_disk
status 1 "moved there: refused" $LIMIT "$RJCTL" move --to="file://$T_DIR/full" "$mnt"
like "for lack of space" "$OUT" 'No space left'
url_is "it is where it was" "$two"
check "writes go on" writes_more
check "there is space" rm "$T_DIR/full/filler"
check "moved there" $LIMIT "$RJCTL" move --to="file://$T_DIR/full" "$mnt"
check "writes go on" writes_more
check "a copy of the disk" copied "$T_DIR/old.img"
check "moved back" $LIMIT "$RJCTL" move --to="$one" "$mnt"
check "writes go on" writes_more
check "the writer ends" stop_writing
check "unmounted" $LIMIT "$UMOUNT_RJ" "$mnt"
status 4 "the copy is refused, whose log was left" $LIMIT "$RJRECOVER" -p "$T_DIR/old.img"
like "as an older copy" "$OUT" 'older copy'
status 0 "the volume names the first place again" "$RJTUNE" -l "$img"
like "in all its superblocks" "$OUT" "$one"
exit 0
