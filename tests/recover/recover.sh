#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The main job: a crash, and every fsynced byte back; equal to what the kernel
# and e2fsck make of the same journal.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
need_fuse_loop

# crashed NAME TYPE BLOCKSIZE MOUNTOPTIONS [MKRJFS-OPTIONS...]: make a volume,
# work on it, crash. Leaves $T_DIR/NAME.img, NAME.sums, and the server stopped
# with its store in NAME.srv
crashed() {
	local n=$T_DIR/$1 type=$2 bs=$3 opts=$4; shift 4
	start_server "$n.srv" || return 1
	"$MKRJFS" -q -F -t "$type" -b "$bs" "$@" \
		-J "remote=$SRV_URL/vol,size=8" "$n.live" 96M || return 1
	mount_served "$n.live" "$n.mnt" "$opts" || return 1
	mkdir "$n.mnt/tree" && cp -a /usr/include/linux "$n.mnt/tree" || return 1
	rm -rf "$n.mnt/tree/linux/netfilter" && sync -f "$n.mnt" || return 1
	fsynced "$n.mnt" 40 "$n.sums" || return 1
	crash "$n.live" "$n.mnt" "$n.img" && rm "$n.live" && stop_server
}
# again NAME COPY: a fresh copy of the crash, and its server at the same port
again() {
	rm -rf "$T_DIR/srv" && cp -a "$T_DIR/$1.srv" "$T_DIR/srv" &&
		cp --sparse=always "$T_DIR/$1.img" "$2" &&
		start_server "$T_DIR/srv" "$SRV_PORT"
}
# files_back IMAGE SUMS: mounted for reading without any journal
files_back() {
	local m=$T_DIR/back rc
	mkdir -p "$m" && mount -t ext4 -o ro,noload,loop "$1" "$m" || return 1
	(cd "$m" && sha256sum --quiet -c "$2") && [ -d "$m/tree/linux" ] &&
		[ ! -e "$m/tree/linux/netfilter" ]
	rc=$?
	umount "$m"
	return $rc
}
# the kernel alone: a read-only mount of a writable device replays, and writes
# nothing else
kernel_replay() {
	local dev rc
	mkdir -p "$T_DIR/k"
	loop_over "$1" && dev=$DEV &&
		serve "$1" || return 1
	mount -i -t ext4 -o "ro,journal_path=$LOOP" "$dev" "$T_DIR/k" &&
		umount "$T_DIR/k"
	rc=$?
	losetup -d "$dev"
	unserve && return $rc
}
# e2fsck -fn that finds nothing says nothing of errors. It may have a hint: the
# number of the loop device is another one than at the last mount.
quiet_fsck() {
	local out
	# its own path has random letters in it, which have been "FiX"
	out=$(served_fsck "$1" -fn 2>&1) && out=${out//"$1"/} &&
		! grep -v '^Superblock hint for external' <<<"$out" | grep -Ei 'fix|wrong|error' ||
		{ echo "$out"; return 1; }
}

one_kind() {
	local name=$1 kind="$2 $3 $4" before
	local img=$T_DIR/$1.img sums=$T_DIR/$1.sums
	check "$kind: made, used and crashed" crashed "$@" || return

	cp "$img" "$T_DIR/a"
	mkdir -p "$T_DIR/m"
	check "$kind: mount refuses the crashed volume" \
		not mount -t "$2" -o loop "$T_DIR/a" "$T_DIR/m"
	e2fsck -p "$T_DIR/a" >/dev/null 2>&1
	is "$kind: e2fsck -p refuses it" $(($? & 8)) 8
	check "$kind: and neither touched it" cmp "$img" "$T_DIR/a"

	status 12 "$kind: without the server rjrecover refuses" "$RJRECOVER" -p "$T_DIR/a"
	like "$kind: and says so" "$OUT" "cannot reach.*$SRV_PORT|$SRV_PORT.*cannot reach"
	check "$kind: nothing changed" cmp "$img" "$T_DIR/a"

	again "$name" "$T_DIR/a" || { not_ok "$kind: server again"; return; }
	before=$(find "$T_DIR/srv" -type f -exec sha256sum {} + | sort)
	status 0 "$kind: rjrecover -n" "$RJRECOVER" -n "$T_DIR/a"
	like "$kind: -n tells the plan" "$OUT" "transactions to replay: [1-9]"
	check "$kind: -n leaves the volume" cmp "$img" "$T_DIR/a"
	is "$kind: -n leaves the log" \
		"$(find "$T_DIR/srv" -type f -exec sha256sum {} + | sort)" "$before"
	status 0 "$kind: rjrecover" "$RJRECOVER" --verify=full "$T_DIR/a"
	check "$kind: every fsynced file is back" files_back "$T_DIR/a" "$sums"
	check "$kind: e2fsck -fn finds nothing" quiet_fsck "$T_DIR/a"
	status 0 "$kind: a second run finds it clean" "$RJRECOVER" "$T_DIR/a"
	like "$kind: and says so" "$OUT" "clean, nothing to recover\$"
	status 0 "$kind: -f checks it all the same" "$RJRECOVER" -f "$T_DIR/a"
	like "$kind: and says so" "$OUT" "clean, nothing to recover; checked, no errors\$"
	check "$kind: mounts again" mount_served "$T_DIR/a" "$T_DIR/m" ""
	check "$kind: and can be used" cp /etc/passwd "$T_DIR/m/new"
	check "$kind: and unmounted" umount "$T_DIR/m"
	check "$kind: and let go" unserve
	stop_server

	again "$name" "$T_DIR/a" && "$RJRECOVER" -q "$T_DIR/a"; stop_server
	again "$name" "$T_DIR/b" || { not_ok "$kind: server again"; return; }
	serve "$T_DIR/b" && cp "$LOOP" "$T_DIR/ring"; unserve
	check "$kind: the kernel replays the served ring" kernel_replay "$T_DIR/b"
	check "$kind: block for block what the kernel makes" same_blocks "$T_DIR/a" "$T_DIR/b"
	stop_server
	cp "$img" "$T_DIR/c"
	e2fsck -E journal_only -y -j "$T_DIR/ring" "$T_DIR/c" >/dev/null 2>&1
	is "$kind: e2fsck -j replays the ring" $(($? & ~1)) 0
	check "$kind: block for block what e2fsck makes" same_blocks "$T_DIR/a" "$T_DIR/c"
}

# A file deleted while open: the crash leaves its inode, with all its blocks, on
# the orphan list, which e2fsck -fn takes for damage.
deleted_while_open() {
	local n=$T_DIR/orphan fd
	start_server "$n.srv" || return 1
	"$MKRJFS" -q -F -t "$1" -J "remote=$SRV_URL/vol,size=8" "$n.live" 48M &&
		mount_served "$n.live" "$n.mnt" "" || return 1
	exec {fd}>"$n.mnt/gone"
	head -c 300000 /dev/zero >&$fd && sync "$n.mnt/gone" &&
		rm "$n.mnt/gone" && sync -f "$n.mnt" &&
		fsynced "$n.mnt" 5 "$n.sums" && crash "$n.live" "$n.mnt" "$n.img" &&
		rm "$n.live"
	local rc=$?
	exec {fd}>&-
	return $rc
}
orphans() {
	local img=$T_DIR/orphan.img
	check "$1: a file deleted while open, and a crash" deleted_while_open "$1" || return
	cp "$img" "$T_DIR/a"
	status 0 "$1: rjrecover, e2fsck -fn finds nothing" "$RJRECOVER" -v --verify=full \
		-z "$T_DIR/orphan.undo" "$T_DIR/a"
	like "$1: there was an orphan" "$OUT" "orphaned inode"
	check "$1: -z undoes that too" e2undo "$T_DIR/orphan.undo" "$T_DIR/a"
	check "$1: to the byte" cmp "$img" "$T_DIR/a"
	hung_neighbour "$1"
	stop_server
	rm -rf "$T_DIR"/orphan.*
}
# Another volume's journal that does not answer: e2fsck must not look at it. It
# is dropped from the page cache, or the look would not take it.
hung_neighbour() {
	truncate -s 32M "$T_DIR/next" && "$MKRJFS" -q -F \
		-J "remote=$SRV_URL/next,size=8" "$T_DIR/next" && serve "$T_DIR/next" &&
		blockdev --flushbufs "$LOOP" || { not_ok "$1: a neighbour"; return; }
	freeze_daemon "$DPID"
	status 0 "$1: rjrecover beside a journal that hangs" \
		timeout -k 1 120 "$RJRECOVER" --verify=full "$T_DIR/a"
	thaw_daemon "$DPID"
	unserve
}
orphans ext3
orphans ext4

one_kind e3j ext3 4096 data=journal
one_kind e3k ext3 1024 ""
one_kind e4 ext4 4096 data=journal -O ^metadata_csum
exit 0
