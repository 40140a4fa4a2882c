#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A damaged primary superblock: what replay makes whole needs no yes; with a
# backup -y restores it, and checks the whole volume; else all stays as it was.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh" || exit 99
need_fuse_loop
STORE=$T_DIR/store V=$T_DIR/v MNT=$T_DIR/mnt
RJTUNE=$RJ_BUILD/rjtune/rjtune
at_exit umount -l "$MNT"

# make NAME BLOCKSIZE [without [TYPE]]: a crashed volume, its log in NAME.store; without a
# copy of the superblock in the log. (The first file that is opened brings one.)
make() {
	rm -rf "$STORE" && mkdir -p "$STORE/v" &&
		"$MKRJFS" -q -F -t "${4:-ext4}" -b "$2" -O ^orphan_file -E lazy_itable_init=0 \
			-J "remote=file://$STORE/v,size=$(($2 / 1024))" "$T_DIR/$1.img" 20M &&
		mount_served "$T_DIR/$1.img" "$MNT" "" && echo x >"$MNT/x" || return 1
	if [ -n "${3:-}" ]; then
		fsfreeze -f "$MNT" && fsfreeze -u "$MNT" || return 1
	fi
	fsynced "$MNT" 8 "$T_DIR/$1.sums" && crash "$T_DIR/$1.img" "$MNT" "$T_DIR/$1.crash" &&
		mv "$T_DIR/$1.crash" "$T_DIR/$1.img" && cp -a "$STORE" "$T_DIR/$1.store"
}
again() { rm -rf "$STORE" && cp -a "$T_DIR/$1.store" "$STORE" && cp --sparse=always "$T_DIR/$1.img" "$V"; }
# tear: the counts in the first sector are from an older write
tear() { printf '\x11\x22' | dd of="$V" bs=1 seek=$((1024 + 12)) conv=notrunc status=none; }
# wipe OFFSET COUNT: of the superblock
wipe() { dd if=/dev/zero of="$V" bs=1 seek=$((1024 + $1)) count="$2" conv=notrunc status=none; }
# whole NAME: all that was acknowledged is there, nothing found, and it mounts again
whole() {
	served_fsck "$V" -fn && mount_served "$V" "$MNT" "" &&
		(cd "$MNT" && sha256sum --quiet -c "$T_DIR/$1.sums" && echo x >new && sync new) &&
		umount "$MNT" && unserve
}
# refused MESSAGE WHAT OPTION...: in one line, and nothing is changed
refused() {
	local message=$1 what=$2; shift 2
	cp --sparse=always "$V" "$T_DIR/before"
	(cd "$STORE" && find . | sort) >"$T_DIR/objects"
	status 4 "$what: refused" "$RJRECOVER" "$@" "$V"
	like "$what: and the next step said" "$OUT" "$message"
	is "$what: in one line" "$(wc -l <<<"$OUT")" 1
	check "$what: the volume is untouched" cmp "$T_DIR/before" "$V"
	is "$what: and the log" "$( (cd "$STORE" && find . | sort) )" "$(cat "$T_DIR/objects")"
}

check "a crashed volume whose log has a superblock" make with 1024
check "one whose log has none" make without 1024 without
check "one that has no backups either" make single 4096 without

again with && tear
status 1 "rjournald, mount.rj and so on: the next step said" "$RJOURNALD" -q "$V"
like "which is, and not -y, which it may not take" "$OUT" 'damaged superblock.*; run rjrecover /[^ ]*, which'
status 2 "rjtune -l" "$RJTUNE" -l "$V"
like "says it too" "$OUT" 'damaged superblock.*; run rjrecover /[^ ]*, which'
is "in one line" "$(wc -l <<<"$OUT")" 1
status 0 "torn, whole in the log: -n says what would be done" "$RJRECOVER" -n "$V"
status 0 "torn, whole in the log: recovered without a yes" "$RJRECOVER" -p "$V"
like "which is said" "$OUT" "the log has a whole one"
check "all is there" whole with

# mount.rj has it recovered first, as after every crash
again with && tear
check "mount.rj recovers and mounts it" timeout 60 "$MOUNT_RJ" "$V" "$MNT"
check "all is there" eval '(cd "$MNT" && sha256sum --quiet -c "$T_DIR/with.sums")'
DPID=$(daemon_pid "$V")
kill_at_end "$DPID"
check "and unmounts it" timeout 60 "$UMOUNT_RJ" "$MNT"
check "with its daemon" wait_for 60 gone "$DPID"

again without && tear
refused 'rjrecover -y uses the backup of group 1' "torn" -p
refused 'rjrecover -y uses the backup of group 1' "torn, -n" -n
status 1 "torn: -y goes on, and checks it all" "$RJRECOVER" -q -y "$V"
check "all is there" whole without
status 0 "and nothing is left to do" "$RJRECOVER" "$V"

# cut behind the replay: the check is not forgotten
mkdir "$T_DIR/cut" && printf '#!/bin/sh\nkill -KILL $PPID\n' >"$T_DIR/cut/e2fsck" && chmod +x "$T_DIR/cut/e2fsck"
again without && tear
PATH=$T_DIR/cut:$PATH status 137 "torn, -y: cut before its check" "$RJRECOVER" -q -y "$V"
status 1 "the next run has it done" "$RJRECOVER" -p "$V"
like "and says so" "$OUT" "error flag is set: checking the whole volume"

# what never changes differs from the backup: the number of inodes
again with && wipe 0 1
refused 'rjrecover -y uses the backup of group 1' "damaged" -p
status 1 "damaged: -y restores it from the backup" "$RJRECOVER" -q -y "$V"
check "all is there" whole with

again without && wipe 0 512
refused 'rjrecover -y -f uses the backup of group 1' "not even a magic number" -p
refused 'rjrecover -y -f uses the backup of group 1' "not even a magic number, -y" -y
status 1 "not even a magic number: -y -f" "$RJRECOVER" -q -y -f "$V"
check "all is there" whole without

# the extension too: its backup does not know who wrote the log
again without && wipe 0 1024
status 1 "all of it: -y -f" "$RJRECOVER" -q -y -f "$V"
check "all is there" whole without

# ext3 has no checksum that tells: without the extension its journal seems to be on a
# device that is not here, and -y would check the volume without the log
check "a crashed ext3 volume" make ext3 1024 "" ext3
again ext3 && wipe 512 512
refused 'rjrecover -y -f uses the backup of group 1' "the second sector lost" -y
refused 'rjrecover -y -f uses the backup of group 1' "the second sector lost, -n" -n
status 1 "the second sector lost: -y -f" "$RJRECOVER" -q -y -f "$V"
check "all is there" whole ext3
# (its own, and not one that a backup of some other volume names)
again ext3 && wipe 512 512 && wipe 208 4
status 12 "of another journal its backup knows nothing" "$RJRECOVER" -p "$V"
like "so that counts as a device" "$OUT" 'external journal .* on no device'

# another format is on the device now: a backup superblock that it left is nothing to go on with
other() { # NAME COMMAND...
	local name=$1 words; shift
	again ext3 && "$@" >/dev/null 2>&1 || { skip "$name" "cannot make it here"; return; }
	cp --sparse=always "$V" "$T_DIR/before"
	for words in -p -y "-y -f" "-y -f --accept-loss" -n; do
		# shellcheck disable=SC2086
		status 8 "$name: rjrecover $words" "$RJRECOVER" $words "$V"
		like "$name, $words: named" "$OUT" "holds [a-zA-Z_]+, and no ext3 or ext4 volume; is it the right device"
		check "$name, $words: -y -f is not offered" eval '[[ $OUT != *"rjrecover -y"* ]]'
	done
	status 2 "$name: rjtune" "$RJTUNE" -J size=4 "$V"
	status 32 "$name: mount.rj" "$MOUNT_RJ" "$V" "$MNT"
	check "$name: the device is untouched" cmp "$T_DIR/before" "$V"
}
other swap mkswap "$V"
other minix mkfs.minix "$V"

# the log cannot be used: what stands in for the superblock is marked before e2fsck
again without && tear && rm -rf "$STORE"/v/*
status 1 "torn, and no log" "$RJRECOVER" -q -y --accept-loss "$V"
status 0 "then there is nothing to do" "$RJRECOVER" "$V"
check "and the volume is whole" served_fsck "$V" -fn

again single && tear
refused 'no copy in the log and no backup' "no backup" -p
refused 'no copy in the log and no backup' "no backup, -y" -y

# groups of another size than eight blocks for each byte of one
for kind in "-b 4096 -O bigalloc -C 32768" "-b 65536"; do
	rm -rf "$V" "$STORE" && mkdir -p "$STORE/v" && truncate -s 5G "$V"
	# shellcheck disable=SC2086
	check "$kind: a volume" "$MKRJFS" -q -F -t ext4 $kind -O ^resize_inode \
		-J "remote=file://$STORE/v,size=64" "$V"
	wipe 0 512
	status 4 "$kind: no magic number" "$RJRECOVER" -p "$V"
	like "$kind: a backup is found" "$OUT" "rjrecover -y -f uses the backup of group 1"
done
rm "$V"

# e2fsck does what a superblock of a volume with an internal journal needs
mke2fs -q -F -t ext4 -b 1024 "$V" 20M >"$T_DIR/mke2fs" 2>&1 && tear
status 8 "an internal journal: left to e2fsck" "$RJRECOVER" -y "$V"
like "which is said" "$OUT" 'e2fsck can restore it'
true
