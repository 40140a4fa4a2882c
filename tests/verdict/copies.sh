#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Copies of a volume, made at moments when nothing had told them apart before: in its first mount,
# when tune2fs had taken the mark away, and before its journal was moved. Each is refused, with
# nothing changed and the volume itself not stopped; and the volume has every file.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
RJTUNE=$RJ_BUILD/rjtune/rjtune
V=$T_DIR/v.img MNT=$T_DIR/mnt
mkdir "$MNT" "$T_DIR/store" "$T_DIR/next"
copy() { cp --sparse=always "$V" "$T_DIR/$1"; }
mounted() { $LIMIT "$MOUNT_RJ" "$V" "$MNT"; }
left_behind() { [ -z "$(pgrep -f "rjournald .*$V\$")" ]; }
unmounted() { $LIMIT umount "$MNT" && wait_for 60 left_behind; }
# refused NAME COPY MESSAGE: by each command, and nothing is changed
refused() {
	local name=$1 copy=$T_DIR/$2 message=$3 words before
	cp --sparse=always "$copy" "$copy.was"
	before=$(find "$T_DIR/store" "$T_DIR/next" | sort)
	for words in -p -n -y -f "-y -f" "-y --accept-loss"; do
		# shellcheck disable=SC2086
		status 4 "$name: rjrecover $words" $LIMIT "$RJRECOVER" $words "$copy"
		like "$name: says why" "$OUT" "$message"
	done
	status 32 "$name: mount.rj" $LIMIT "$MOUNT_RJ" "$copy" "$T_DIR/none"
	status 1 "$name: rjournald" $LIMIT "$RJOURNALD" -q "$copy"
	check "$name: rjtune -y -J" not $LIMIT "$RJTUNE" -y -J size=4 "$copy"
	check "$name: the copy is as it was" cmp "$copy" "$copy.was"
	is "$name: and the log" "$(find "$T_DIR/store" "$T_DIR/next" | sort)" "$before"
	rm "$copy.was"
}
mkdir "$T_DIR/none"
truncate -s 160M "$V"
check "a volume" "$MKRJFS" -q -F -t ext4 -b 4096 -J "remote=file://$T_DIR/store,size=4" "$V"
check "its first mount" mounted
put_file "$MNT/a"
copy first
put_file "$MNT/b"
check "unmounted" unmounted
OLDER='an older copy of the volume: it has what stood in the log'
refused "a copy in the first mount" first "$OLDER"

check "mounted" mounted
put_file "$MNT/c"
check "tune2fs writes all superblocks" tune2fs -c 30 "$V"
copy unmarked
put_file "$MNT/d"
check "unmounted" unmounted
refused "a copy without a mark" unmarked "$OLDER"

copy clean
check "its journal is moved" "$RJTUNE" -J "remote=file://$T_DIR/next" "$V"
check "mounted" mounted
put_file "$MNT/e"
refused "a copy from before the move" clean 'it was left clean in epoch [0-9]+, and in epoch [0-9]+ the journal of another copy was taken'
put_file "$MNT/f"
for f in a b c d e f; do check "the volume has $f" test -s "$MNT/$f"; done
check "unmounted" unmounted
# the copy is wanted: it gets a log of its own, and both go on
status 0 "rjrecover -f --accept-loss" $LIMIT "$RJRECOVER" -f --accept-loss "$T_DIR/clean"
V=$T_DIR/clean
check "the copy is mounted" mounted
for f in a b c d; do check "the copy has $f" test -s "$MNT/$f"; done
check "unmounted" unmounted
exit 0
