#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A primary superblock that is put back alone, from a moment at which the volume had
# crashed, after its journal was recovered and moved: nothing may believe it, for the
# old log it names would be replayed over newer blocks.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh" || exit 99
need_fuse_loop
STORE=$T_DIR/store NEXT=$T_DIR/next V=$T_DIR/v MNT=$T_DIR/mnt
RJTUNE=$RJ_BUILD/rjtune/rjtune RJLOG=$RJ_BUILD/rjlog/rjlog
at_exit umount -l "$MNT"

# make BLOCKSIZE: V has crashed: its files' blocks are in the log alone (data=journal)
make() {
	rm -rf "$STORE" "$NEXT" && mkdir -p "$STORE/v" "$NEXT/v" &&
		"$MKRJFS" -q -F -t ext4 -b "$1" -O ^orphan_file -E lazy_itable_init=0 \
			-J "remote=file://$STORE/v,size=$(($1 / 1024))" "$T_DIR/live" 20M &&
		mount_served "$T_DIR/live" "$MNT" data=journal &&
		fsynced "$MNT" 8 "$T_DIR/old.sums" && crash "$T_DIR/live" "$MNT" "$V" || return 1
	rm "$T_DIR/live"
	cp --sparse=always "$V" "$T_DIR/crashed" && cp -a "$STORE" "$T_DIR/first"
}
# crashed: V and its log as make left them
crashed() {
	rm -rf "$STORE" "$NEXT" && mkdir -p "$NEXT/v" && cp -a "$T_DIR/first" "$STORE" &&
		cp --sparse=always "$T_DIR/crashed" "$V"
}
super() { dd if="$1" of="$2" bs=1024 skip=1 seek=1 count=1 conv=notrunc status=none; }
# moved JOURNAL: it was recovered, and its journal is there now
moved() { "$RJRECOVER" -q -p "$V" && "$RJTUNE" -q -J "$1" "$V"; }
# used_on [crash]: other content in the same files
used_on() {
	mount_served "$V" "$MNT" data=journal && fsynced "$MNT" 8 "$T_DIR/sums" || return 1
	if [ -n "${1:-}" ]; then
		crash "$V" "$MNT" "$T_DIR/v2" && mv "$T_DIR/v2" "$V"
	else
		umount "$MNT" && unserve
	fi
}
whole() {
	served_fsck "$V" -fn && mount_served "$V" "$MNT" "" &&
		(cd "$MNT" && sha256sum --quiet -c "${1:-$T_DIR/sums}" && echo x >new && sync new) &&
		umount "$MNT" && unserve
}
objects() { (cd "$T_DIR" && find store next | sort); }
# refused STATUS MESSAGE WHAT COMMAND...: in one line, and nothing is changed
refused() {
	local want=$1 message=$2 what=$3; shift 3
	cp --sparse=always "$V" "$T_DIR/before"
	objects >"$T_DIR/objects"
	status "$want" "$what: refused" "$@"
	like "$what: and the next step said" "$OUT" "$message"
	is "$what: in one line" "$(wc -l <<<"$OUT")" 1
	check "$what: the volume is untouched" cmp "$T_DIR/before" "$V"
	is "$what: and the logs" "$(objects)" "$(cat "$T_DIR/objects")"
}
BACKUP='older superblock was put back: it names the log .* at file://[^ ]*/store/v, and the backup of group 1, .* the log .* at file://[^ ]*/next/v.*; rjrecover -y -f'

check "a crashed volume" make 1024
check "recovered, its journal moved, and used since" eval 'moved "remote=file://$NEXT/v" && used_on'
check "whose crashed superblock is put back" super "$T_DIR/crashed" "$V"
refused 4 "$BACKUP" "rjrecover" "$RJRECOVER" -p "$V"
refused 4 "$BACKUP" "rjrecover -n" "$RJRECOVER" -n "$V"
refused 4 "$BACKUP" "rjrecover -y, and there is no e2fsck" "$RJRECOVER" -y "$V"
refused 4 "$BACKUP" "rjrecover -f, and nothing is replayed" "$RJRECOVER" -f "$V"
refused 1 "$BACKUP" "rjournald" "$RJOURNALD" -q "$V"
refused 2 "$BACKUP" "rjtune -l" "$RJTUNE" -l "$V"
refused 2 "$BACKUP" "rjtune -J" "$RJTUNE" -J size=1 "$V"
refused 2 "$BACKUP" "rjtune -f" "$RJTUNE" --accept-loss -O ^has_journal "$V"
status 32 "mount.rj" timeout 60 "$MOUNT_RJ" "$V" "$MNT"
like "which shows what rjrecover says" "$OUT" "$BACKUP"
LOG=$(cd "$NEXT/v" && ls -d *-*-*-*-*)
refused 1 "may be the journal of .*older superblock" "rjlog rm of the log it does not name" \
	"$RJLOG" rm --volume="$V" "file://$NEXT/v/$LOG"
status 1 "rjrecover -y -f uses the backup" "$RJRECOVER" -q -y -f "$V"
check "all is there" whole
status 0 "and nothing is left to do" "$RJRECOVER" -p "$V"

# crashed again: what was acknowledged since is in the log that only backups name
check "the same, and crashed again" eval 'crashed && moved "remote=file://$NEXT/v" && used_on crash && super "$T_DIR/crashed" "$V"'
refused 4 "$BACKUP" "with a full log" "$RJRECOVER" -p "$V"
status 1 "rjrecover -y -f recovers that" "$RJRECOVER" -q -y -f "$V"
check "all that was acknowledged is there" whole

# into the volume: there e2fsck knows the way, from the backup that is named
check "moved into the volume, and put back" eval 'crashed && moved size=1 && super "$T_DIR/crashed" "$V"'
INSIDE='the backup of group 1, .*an internal journal; e2fsck -f -b 8193 -B 1024 uses the backup'
refused 8 "$INSIDE" "rjrecover" "$RJRECOVER" -p "$V"
refused 32 "$INSIDE" "mount.rj" timeout 60 "$MOUNT_RJ" "$V" "$MNT"
refused 2 "$INSIDE" "rjtune" "$RJTUNE" -J "remote=file://$NEXT/v" "$V"
status 1 "that e2fsck" e2fsck -f -y -b 8193 -B 1024 "$V"
check "all is there" eval 'e2fsck -fn "$V" && mkdir -p "$MNT" && mount -o loop "$V" "$MNT" &&
	(cd "$MNT" && sha256sum --quiet -c "$T_DIR/old.sums") && umount "$MNT"'

# a new UUID begins a new log, and the backups have it
check "with another UUID, and put back" eval 'crashed && "$RJRECOVER" -q -p "$V" && "$RJTUNE" -q -U random "$V" &&
	used_on && super "$T_DIR/crashed" "$V"'
refused 4 'older superblock was put back.*rjrecover -y -f' "rjrecover" "$RJRECOVER" -p "$V"
status 1 "-y -f" "$RJRECOVER" -q -y -f "$V"
check "all is there" whole
# a whole copy of that moment is no such thing: nothing in it is newer. But it is older
# than what the log says, and so it takes a word
crashed && moved "remote=file://$NEXT/v"
cp --sparse=always "$T_DIR/crashed" "$V"
LEFT='in epoch 4 the journal of another copy of the volume was moved from the log at file://[^ ]*/store/v, .*epoch 2; nothing was changed; .*; rjrecover -f replays'
refused 4 "$LEFT" "an older copy of the whole volume" "$RJRECOVER" -p "$V"
refused 1 "$LEFT" "rjournald" "$RJOURNALD" -q "$V"
journal() { dumpe2fs -h "$V" 2>/dev/null | sed -n 's/^Journal UUID: *//p'; }
before=$(journal)
status 0 "-f recovers it" "$RJRECOVER" -q -f "$V"
check "with a journal of its own, as the volume that left the log may have this one" \
	test "$(journal)" != "$before" -a -n "$before"
check "all is there" whole "$T_DIR/old.sums"

# a volume of one group has no backups: then it is the log alone that tells
check "a crashed volume without backups" make 4096
check "moved, and put back" eval 'moved "remote=file://$NEXT/v" && used_on &&
	dd if="$T_DIR/crashed" of="$V" bs=1024 skip=1 seek=1 count=1 conv=notrunc status=none'
refused 4 "$LEFT" "without backups" "$RJRECOVER" -p "$V"

# a move that is cut off and taken back leaves its mark in the log, and the volume goes
# on with this log: none of the above is said of its next crash
cut_off() { (ulimit -f 64; exec "$RJTUNE" -q -J "remote=file://$NEXT/v" "$V") >/dev/null 2>&1; }
check "a crashed volume" make 1024
"$RJRECOVER" -q -p "$V"
check "its move is cut off" not cut_off
status 0 "and taken back" "$RJTUNE" --resume "$V"
like "which is said" "$OUT" "taken back"
check "used on, and crashed" used_on crash
status 0 "its crash is recovered" "$RJRECOVER" -q -p "$V"
check "all is there" whole
true
