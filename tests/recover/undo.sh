#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Ways back and forth in time: an undo file, a recovery that was cut, an older
# copy of the volume. None of them may lose what was fsynced, or mix histories.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
need_fuse_loop

LIVE=$T_DIR/live IMG=$T_DIR/crash SUMS=$T_DIR/sums
files_back() {
	local rc
	mkdir -p "$T_DIR/back" && mount -t ext4 -o ro,noload,loop "$1" "$T_DIR/back" || return 1
	(cd "$T_DIR/back" && sha256sum --quiet -c "$2"); rc=$?
	umount "$T_DIR/back"
	return $rc
}
work() { # VOLUME SUMS: mount, write, fsync; stays mounted
	mount_served "$1" "$T_DIR/mnt" data=journal && fsynced "$T_DIR/mnt" 10 "$2"
}

start_server "$T_DIR/srv" || exit 99
check "a crashed volume" eval '"$MKRJFS" -q -F -t ext3 -J "remote=$SRV_URL/v,size=8" "$LIVE" 64M &&
	work "$LIVE" "$SUMS" && crash "$LIVE" "$T_DIR/mnt" "$IMG"'

# whose log is it that a recovery takes over?
elsewhere() { unshare --uts sh -c 'hostname rjtest-elsewhere && exec "$@"' sh "$@"; }
OTHER="log was last written [0-9]+ s ago by $(hostname): if that still"
status 0 "looked at by another host" elsewhere "$RJRECOVER" -n "$IMG"
like "which is told who wrote the log, and when" "$OUT" "$OTHER"
status 0 "looked at by this one" "$RJRECOVER" -n "$IMG"
is "which knows" "$(grep -c "last written" <<<"$OUT")" 0

cp "$IMG" "$T_DIR/a"
status 0 "recovered with an undo file" "$RJRECOVER" -z "$T_DIR/undo" "$T_DIR/a"
status 0 "a move, by another host" elsewhere "$RJ_BUILD/rjtune/rjtune" -n -J none "$T_DIR/a"
like "which is told it too" "$OUT" "fence every other writer .*last written [0-9]+ s ago by $(hostname)"
cp "$T_DIR/a" "$T_DIR/recovered"
check "e2undo accepts it" e2undo "$T_DIR/undo" "$T_DIR/a"
check "and the crashed volume is back, bit for bit" cmp "$IMG" "$T_DIR/a"

# the log says "empty" now; what it held before must be found all the same
status 0 "recovered once more after e2undo" "$RJRECOVER" "$T_DIR/a"
like "by replaying, not by calling it clean" "$OUT" "transactions replayed: [1-9]"
check "the files are back" files_back "$T_DIR/a" "$SUMS"
check "the same as the first time" same_blocks "$T_DIR/recovered" "$T_DIR/a"

# the state between the empty journal in the log and the superblock's flag
cp "$IMG" "$T_DIR/cut"
status 0 "a recovery that was cut before the superblock is done again" "$RJRECOVER" "$T_DIR/cut"
check "the same again" same_blocks "$T_DIR/recovered" "$T_DIR/cut"

# history goes on with one copy; the other one is an older copy from now on
check "the recovered volume is used on" work "$T_DIR/cut" "$T_DIR/sums.new"
check "and crashes" crash "$T_DIR/cut" "$T_DIR/mnt" "$T_DIR/newer"
cp "$IMG" "$T_DIR/older"
status 4 "the older copy does not get the newer log" "$RJRECOVER" -p "$T_DIR/older"
like "and the message says why" "$OUT" "older copy"
check "it is untouched" cmp "$IMG" "$T_DIR/older"
status 0 "the newer one does" "$RJRECOVER" "$T_DIR/newer"
check "all of it" files_back "$T_DIR/newer" "$T_DIR/sums.new"

# a copy of what was mounted, when the log has gone on to its clean end
EMPTIED='log was emptied by an unmount or a freeze'
served_copy() { # COPY: of a volume that is mounted and written, and unmounted then
	work "$LIVE" "$T_DIR/sums.copied" && cp --sparse=always "$LIVE" "$1" &&
		fsynced "$T_DIR/mnt" 20 "$T_DIR/sums.after" && umount "$T_DIR/mnt" && unserve
}
check "a volume is copied while it is mounted" eval '"$MKRJFS" -q -F -t ext4 -O ^orphan_file \
	-J "remote=$SRV_URL/w,size=4" "$LIVE" 32M && served_copy "$T_DIR/copy"'
status 0 "the volume itself is clean" "$RJRECOVER" -n "$LIVE"
is "without a word on copies" "$(grep -c "$EMPTIED" <<<"$OUT")" 0
status 0 "the copy has nothing to replay" "$RJRECOVER" -n "$T_DIR/copy"
like "but is not called clean without a word" "$OUT" "$EMPTIED.*--verify=full"
check "mounted, and cut off before its first commit" eval \
	'mount_served "$LIVE" "$T_DIR/mnt" && crash "$LIVE" "$T_DIR/mnt" "$T_DIR/fresh"'
status 0 "nothing to replay there, either" "$RJRECOVER" "$T_DIR/fresh"
is "and no word on copies" "$(grep -c "$EMPTIED" <<<"$OUT")" 0

# -y with an undo file, the server away
stop_server
cp "$T_DIR/newer" "$T_DIR/b"; cp "$IMG" "$T_DIR/c"
rm -f "$T_DIR/undo"
status 1 "-y with an undo file" "$RJRECOVER" -q -y --accept-loss -z "$T_DIR/undo" "$T_DIR/c"
check "e2undo accepts e2fsck's" e2undo "$T_DIR/undo" "$T_DIR/c"
start_server "$T_DIR/srv" "$SRV_PORT"
status 4 "the undone volume is not called clean" "$RJRECOVER" -p "$T_DIR/c"
exit 0
