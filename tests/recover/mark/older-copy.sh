#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A copy of a volume that was made earlier, or that another recovery overtook: it
# is refused before anything is touched or claimed, and -f alone does not replay
# into it what the log still holds.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
start_server "$T_DIR/srv" || exit 99
mnt=$T_DIR/mnt
head -c 2M /dev/urandom >"$T_DIR/noise"
oldest() { $LIMIT "$RJCTL" status --json "$1" | sed 's/.*"oldest":\([0-9]*\).*/\1/'; }
# moved IMAGE N: the log's oldest segment is above N, by writing
moved() {
	cp "$T_DIR/noise" "$mnt/noise" && sync "$mnt/noise" && [ "$(oldest "$1")" -gt "$2" ]
}
objects() { # of the log and of the epochs
	local d
	for d in log epoch; do
		curl -sf "http://127.0.0.1:$SRV_PORT/$1/$(journal_uuid "$2")/$d/" | cut -d' ' -f1
	done
}
journal_uuid() { dumpe2fs -h "$1" 2>/dev/null | awk '/^Journal UUID/ {print $3}'; }
there() { (cd "$mnt" && sha256sum --quiet -c "$T_DIR/sums"); }
# copy_now IMAGE COPY: as of one moment
copy_now() {
	freeze_daemon "$DPID" && cp --sparse=always "$1" "$2" && thaw_daemon "$DPID"
}
# refused NAME STATUS COPY STORE REGEX COMMAND...: and nothing has changed
refused() {
	local name=$1 want=$2 copy=$3 store=$4 regex=$5 before; shift 5
	cp --sparse=always "$copy" "$T_DIR/was"
	before=$(objects "$store" "$copy")
	status "$want" "$name: refused" $LIMIT "$@"
	like "$name: says why" "$OUT" "$regex"
	check "$name: the copy is untouched" cmp "$T_DIR/was" "$copy"
	is "$name: the log too" "$(objects "$store" "$copy")" "$before"
	rm "$T_DIR/was"
}

for type in ext3 ext4; do
	img=$T_DIR/$type.img FSTYPE=$type
	truncate -s 256M "$img" && "$MKRJFS" -q -F -t $type -b 4096 \
		-J "remote=$SRV_URL/$type,size=4" "$img" || exit 99
	serve "$img" && mount_served "$img" "$mnt" data=journal || exit 99
	check "$type: the log moves on" wait_for 60 moved "$img" 1
	fsynced "$mnt" 10 "$T_DIR/sums"
	check "$type: a copy is made" copy_now "$img" "$T_DIR/early"
	at=$(oldest "$img")
	mkdir "$mnt/later" && fsynced "$mnt" 50 "$T_DIR/sums"
	check "$type: the log moves on again" wait_for 60 moved "$img" "$at"
	status 0 "$type: the machine stops" crash "$img" "$mnt" "$T_DIR/late"

	refused "$type: -p" 4 "$T_DIR/early" $type 'an older copy of the volume: it has .* below segment [0-9]+, and the log now begins with segment [0-9]+.*copy that again' \
		"$RJRECOVER" -p "$T_DIR/early"
	refused "$type: -n" 4 "$T_DIR/early" $type 'an older copy of the volume' "$RJRECOVER" -n "$T_DIR/early"
	refused "$type: -y" 4 "$T_DIR/early" $type 'an older copy of the volume' "$RJRECOVER" -y "$T_DIR/early"
	refused "$type: -f" 4 "$T_DIR/early" $type '-f --accept-loss' "$RJRECOVER" -f "$T_DIR/early"
	refused "$type: rjournald" 1 "$T_DIR/early" $type 'an older copy of the volume' "$RJOURNALD" "$T_DIR/early"
	refused "$type: mount.rj" 32 "$T_DIR/early" $type 'an older copy of the volume' "$MOUNT_RJ" "$T_DIR/early" "$mnt"

	cp --sparse=always "$T_DIR/late" "$T_DIR/stopped"
	status 0 "$type: the volume itself recovers" $LIMIT "$RJRECOVER" -q -p "$T_DIR/late"
	serve "$T_DIR/late" && mount_served "$T_DIR/late" "$mnt"
	check "$type: with every fsynced file" there
	$LIMIT umount "$mnt"
	$LIMIT "$RJCTL" -q stop "$T_DIR/late"
	check "$type: and is whole" served_fsck "$T_DIR/late" -fn

	# a copy of after the crash: it was the volume, until that one recovered
	refused "$type: overtaken, -p" 4 "$T_DIR/stopped" $type 'older copy' "$RJRECOVER" -p "$T_DIR/stopped"
	refused "$type: overtaken, -f" 4 "$T_DIR/stopped" $type 'older copy.*-f --accept-loss' \
		"$RJRECOVER" -f "$T_DIR/stopped"
	OUT=$($LIMIT "$RJRECOVER" -f --accept-loss "$T_DIR/stopped" 2>&1)
	like "$type: overtaken, -f --accept-loss says what is lost" "$OUT" 'what this copy lacks below that is lost'
	rm "$img" "$T_DIR/early" "$T_DIR/late" "$T_DIR/stopped"
done

# ---- a copy of the clean volume, which goes on and crashes ----
img=$T_DIR/v.img FSTYPE=ext4
truncate -s 256M "$img" && "$MKRJFS" -q -F -t ext4 -b 4096 -J "remote=$SRV_URL/clean,size=4" "$img" &&
	serve "$img" && mount_served "$img" "$mnt" data=journal && fsynced "$mnt" 10 "$T_DIR/sums" &&
	umount "$mnt" && unserve && cp --sparse=always "$img" "$T_DIR/early" || exit 99
serve "$img" && mount_served "$img" "$mnt" data=journal || exit 99
at=$(oldest "$img")
check "clean: the log moves on" wait_for 60 moved "$img" "$((at + 10))"
status 0 "clean: the machine stops" crash "$img" "$mnt" "$T_DIR/late"
needs_none='an older copy of the volume: it was left clean in epoch [0-9]+, and another copy of it wrote the log'
refused "clean: -p" 4 "$T_DIR/early" clean "$needs_none" "$RJRECOVER" -p "$T_DIR/early"
refused "clean: -p -f, of systemd for fsck.mode=force" 4 "$T_DIR/early" clean "$needs_none" "$RJRECOVER" -p -f "$T_DIR/early"
as_fsck() {
	local program=$RJRECOVER
	[ ! -x "$RJ_BUILD/rjrecover/.libs/rjrecover" ] || program=$RJ_BUILD/rjrecover/.libs/rjrecover
	# shellcheck disable=SC2016
	LD_LIBRARY_PATH=$RJ_BUILD/lib/.libs timeout 120 bash -c 'exec -a fsck.rj "$@"' - "$program" "$@"
}
LIMIT='' refused "clean: -y -f, the same with fsck.repair=yes" 4 "$T_DIR/early" clean "$needs_none" as_fsck -y -f "$T_DIR/early"
refused "clean: -f" 4 "$T_DIR/early" clean '-f --accept-loss' "$RJRECOVER" -f "$T_DIR/early"
rm "$img" "$T_DIR/early" "$T_DIR/late"

# ---- one group of blocks: no backup superblock, and so no mark ----
img=$T_DIR/v.img FSTYPE=ext3
volume "$img" ext3 4096 "$SRV_URL/small" || exit 99
serve "$img" && mount_served "$img" "$mnt" && fsynced "$mnt" 20 "$T_DIR/sums"
status 0 "one group: the machine stops" crash "$img" "$mnt" "$T_DIR/c"
cp --sparse=always "$T_DIR/c" "$T_DIR/c2"
status 0 "one group: recovered" $LIMIT "$RJRECOVER" -q -p "$T_DIR/c"
serve "$T_DIR/c" && mount_served "$T_DIR/c" "$mnt"
check "one group: with every fsynced file" there
$LIMIT umount "$mnt"
$LIMIT "$RJCTL" -q stop "$T_DIR/c"
refused "one group: overtaken, -p" 4 "$T_DIR/c2" small 'an older copy' "$RJRECOVER" -p "$T_DIR/c2"
refused "one group: overtaken, -f" 4 "$T_DIR/c2" small 'no longer holds what epoch [0-9]+ wrote' "$RJRECOVER" -f "$T_DIR/c2"

# ---- e2fsck replays the served journal, and e2undo takes it back ----
img=$T_DIR/v.img FSTYPE=ext4
truncate -s 256M "$img" && "$MKRJFS" -q -F -t ext4 -b 4096 -J "remote=$SRV_URL/undone,size=4" "$img" || exit 99
serve "$img" && mount_served "$img" "$mnt" data=journal && fsynced "$mnt" 20 "$T_DIR/sums"
status 0 "e2undo: the machine stops" crash "$img" "$mnt" "$T_DIR/c"
serve "$T_DIR/c" || exit 99
$LIMIT e2fsck -fy -z "$T_DIR/undo" -j "$LOOP" "$T_DIR/c" >"$T_DIR/out" 2>&1
check "e2undo: e2fsck replays the served journal" grep -q 'recovering journal' "$T_DIR/out"
$LIMIT "$RJCTL" -q stop "$T_DIR/c"
# rjournald has marked the superblock since, so -f
status 0 "e2undo: e2undo" e2undo -f "$T_DIR/undo" "$T_DIR/c"
like "e2undo: the volume needs recovery again" "$(dumpe2fs -h "$T_DIR/c" 2>/dev/null)" needs_recovery
refused "e2undo: -p" 4 "$T_DIR/c" undone 'older copy' "$RJRECOVER" -p "$T_DIR/c"
refused "e2undo: -f" 4 "$T_DIR/c" undone '-f --accept-loss' "$RJRECOVER" -f "$T_DIR/c"
