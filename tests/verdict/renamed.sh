#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Another program changes the UUID of a volume: mounted, after a crash, unmounted, and of a copy.
# Each time every file is there, the volume gets a log of its own, and the old log stays as it is:
# the volume that a copy was made of goes on with it.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
V=$T_DIR/v.img C=$T_DIR/c.img MNT=$T_DIR/mnt S=$T_DIR/store
mkdir "$MNT"
volume_of() { # FEATURES [MORE-J]
	rm -rf "$V" "$C" "$S" "$T_DIR/fallback"
	mkdir "$S" "$T_DIR/fallback" && truncate -s 160M "$V" &&
		"$MKRJFS" -q -F -t ext4 -O "$1" -J "remote=file://$S,size=4${2:+,$2}" "$V"
}
left_behind() { [ -z "$(pgrep -f "rjournald .*$1\$")" ]; }
mounted() { $LIMIT "$MOUNT_RJ" "${1:-$V}" "$MNT"; }
unmounted() { $LIMIT "$UMOUNT_RJ" "$MNT" && wait_for 60 left_behind "${1:-$V}"; }
# online: EXT4_IOC_SETFSUUID, as tune2fs -U of a mounted volume does
online() {
	python3 -c 'import fcntl, os, struct, sys, uuid
text = struct.pack("<II", 16, 0) + uuid.uuid4().bytes
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x4008662c, text)' "$MNT"
}
offline() { BLKID_FILE=/dev/null $LIMIT tune2fs -f -U random "$1"; }
field() { dumpe2fs -h "$1" 2>/dev/null | sed -n "s/^$2: *//p"; }
has() { # IMAGE FILE...
	local image=$1 f; shift
	for f; do
		check "$f is there" [ "$(debugfs -R "cat /$f" "$image" 2>/dev/null)" = "$f" ]
	done
	check "e2fsck finds nothing" served_fsck "$image" -fn
}
put() { local f; for f; do echo "$f" >"$MNT/$f" && sync "$MNT/$f" "$MNT" || return 1; done; }
logs() { find "$S" -type d -name log | wc -l; }
# of_its_own WHAT IMAGE JOURNAL-BEFORE
of_its_own() {
	check "$1: another journal" [ "$(field "$2" 'Journal UUID')" != "$3" ]
	is "$1: its log, and the old one" "$(logs)" 2
	check "$1: it is mounted" mounted "$2"
	check "$1: it takes a file" put later
	check "$1: it is unmounted" unmounted "$2"
	has "$2" later
}

for more in '' fallback; do
	what="online, crash${more:+, $more}"
	check "$what: a volume" volume_of metadata_csum,metadata_csum_seed \
		"${more:+fallback=$T_DIR/fallback/f,on_loss=local}"
	check "$what: mounted" mounted
	check "$what: a file" put a
	check "$what: its UUID is changed" online
	check "$what: a file after that" put b
	status 0 "$what: rjctl finds the daemon" "$RJ_BUILD/rjctl/rjctl" status "$MNT"
	check "$what: crash" crash "$V" "$MNT" "$C"
	cp --sparse=always "$C" "$V"
	journal=$(field "$V" 'Journal UUID')
	status 0 "$what: rjrecover -n" $LIMIT "$RJRECOVER" -n "$V"
	like "$what: says what it does" "$OUT" "the volume gets a log of its own"
	status 0 "$what: rjrecover -p" $LIMIT "$RJRECOVER" -p "$V"
	has "$V" a b
	of_its_own "$what" "$V" "$journal"
	has "$V" a b
done

check "online, unmounted: a volume" volume_of metadata_csum,metadata_csum_seed
check "online, unmounted: mounted" mounted
check "online, unmounted: its UUID is changed" online
check "online, unmounted: a file" put a
check "online, unmounted: unmounted" unmounted
journal=$(field "$V" 'Journal UUID')
check "online, unmounted: mounted again" mounted
check "online, unmounted: and unmounted" unmounted
of_its_own "online, unmounted" "$V" "$journal"
has "$V" a

# a copy of the unmounted volume, made a volume of its own as administrators do
for sums in metadata_csum,metadata_csum_seed ^metadata_csum; do
	what="copy, $sums"
	check "$what: a volume" volume_of "$sums"
	check "$what: mounted" mounted
	check "$what: a file" put a
	check "$what: unmounted" unmounted
	cp --sparse=always "$V" "$C"
	check "$what: tune2fs -U" offline "$C"
	journal=$(field "$C" 'Journal UUID')
	check "$what: the copy is mounted" mounted "$C"
	check "$what: and unmounted" unmounted "$C"
	of_its_own "$what" "$C" "$journal"
	check "$what: the volume goes on" mounted
	check "$what: and takes a file" put b
	check "$what: unmounted" unmounted
	has "$V" a b
	has "$C" a
	is "$what: with its log" "$(field "$V" 'Journal UUID')" "$journal"
done

# the volume went on, and then the copy gets its own UUID: it lacks what the volume got since
cp --sparse=always "$V" "$C"
check "old copy: mounted" mounted
check "old copy: a file" put c
check "old copy: another UUID" debugfs -w -R "ssv uuid random" "$C"
cp "$C" "$C.was"
for words in -p -n -y; do
	status 4 "old copy: rjrecover $words" $LIMIT "$RJRECOVER" $words "$C"
	like "old copy: says why" "$OUT" "an older copy of the volume"
done
check "old copy: nothing is changed" cmp "$C" "$C.was"
check "old copy: the volume takes a file" put d
check "old copy: it is unmounted" unmounted
has "$V" c d

# the seed of the checksums is the UUID: blocks in the log would not fit the volume any more
check "sums: a volume" volume_of metadata_csum,^metadata_csum_seed
check "sums: mounted" mounted
check "sums: a file" put a
check "sums: the superblock leaves the log" fsfreeze -f "$MNT"
check "sums: that goes on" fsfreeze -u "$MNT"
check "sums: another file" put b
check "sums: crash" crash "$V" "$MNT" "$C"
was=$(field "$C" 'Filesystem UUID')
check "sums: debugfs changes the UUID" debugfs -w -R "ssv uuid random" "$C"
cp "$C" "$C.was"
status 4 "sums: rjrecover -p" $LIMIT "$RJRECOVER" -p "$C"
way=$(sed -n "s/.*; \(debugfs -w .*\) gives it back.*/\1/p" <<<"$OUT")
check "sums: nothing is changed" cmp "$C" "$C.was"
like "sums: names the old UUID" "$way" "$was"
check "sums: its way on" eval "$way"
status 0 "sums: rjrecover -p then" $LIMIT "$RJRECOVER" -p "$C"
has "$C" a b
exit 0
