#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What e2fsprogs is known to do badly with external journals when it replays
# (1.47.0), done better: one case each. Also s_errno, and the one kind of damage
# behind which -y still replays.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
need_root
[ -c /dev/loop-control ] || skip_all "no loop devices"
command -v jq >/dev/null || skip_all "needs jq"
export RJ_STATE=$T_DIR/state
cd "$T_DIR" || exit 99
mkdir -p mnt

# crash_on NAME MOUNT-OPTIONS COMMAND...: mount NAME.live with NAME.jlive, work,
# copy both while nothing is written, unmount
crash_on() {
	local n=$1 opts=$2 dev; shift 2
	loop_over "$n.jlive" && dev=$DEV || return 1
	mount -i -t ext4 -o "loop,journal_path=$dev${opts:+,$opts}" "$n.live" mnt || return 1
	"$@" && cp "$n.live" "$n.img" && cp "$n.jlive" "$n.j" && umount mnt && losetup -d "$dev"
}
# format NAME BLOCK-SIZE MKE2FS-OPTIONS...
format() {
	local n=$1 bs=$2; shift 2
	truncate -s 48M "$n.live"
	[ -e "$n.jlive" ] || { truncate -s 8M "$n.jlive" &&
		mke2fs -q -F -O journal_dev -b "$bs" "$n.jlive" || return 1; }
	loop_over "$n.jlive" &&
		mke2fs -q -F -b "$bs" -J "device=$DEV" "$@" "$n.live" && sync "$DEV" && losetup -d "$DEV"
}
directories() {
	local i
	for ((i = 0; i < 12; i++)); do
		mkdir mnt/dir.$i && echo "$i" >mnt/dir.$i/file && sync mnt/dir.$i/file || return 1
	done
}
all_there() { # IMAGE: every directory and file
	local i rc=0
	mount -t ext4 -o ro,noload,loop "$1" mnt || return 1
	for ((i = 0; i < 12; i++)); do [ "$(<mnt/dir.$i/file)" = "$i" ] || rc=1; done
	umount mnt
	return $rc
}
fresh() { cp "$1.img" v && cp "$1.j" j; }
untouched() { cmp "$1.img" v && cmp "$1.j" j; }

check "a crash, 4 KiB, checksums" eval 'format c 4096 -t ext4 && crash_on c "" directories'
check "a crash, 1 KiB, no checksums" eval 'format p 1024 -t ext3 && crash_on p data=journal directories'

# ---- -n on a dirty log: the replay is told, not "clean" ----
fresh c
status 0 "-n" "$RJRECOVER" -n -J device=j v
like "-n: says that it needs recovery" "$OUT" "needs recovery"
like "-n: and tells each transaction" "$OUT" "^  tid [0-9]+  20.*copies [0-9]+  blocks [0-9]+ .[0-9]+ bytes.  revoked"
check "-n: nothing changed" untouched c

# ---- -C shows the progress of the replay ----
"$RJRECOVER" -q -C 3 -J device=j v 3>progress >/dev/null 2>&1
is "-C: status" $? 0
like "-C: a replay that reaches its end" "$(awk '$1 == 2 && $2 == $3 {print "reached"}' progress)" reached
check "-C: never beyond" awk '$2 > $3 {exit 1}' progress

# ---- the undo file, and one for the journal device ----
fresh c
status 0 "-z" "$RJRECOVER" -z undo -J device=j v
like "-z: says that there are two" "$OUT" "e2undo undo.journal j"
cp v recovered
check "-z: the volume can be undone" e2undo undo v
check "-z: and its journal" e2undo undo.journal j
check "-z: both are what they were" untouched c
status 0 "-z: recovered once more" "$RJRECOVER" -J device=j v
check "-z: the same again" same_blocks recovered v
check "-z: everything is back" all_there v

# ---- four flipped bytes in the last descriptor ----
fresh c
at=$(LC_ALL=C grep -aboP '\xc0\x3b\x39\x98\x00\x00\x00\x01' j | cut -d: -f1 |
	while read -r o; do echo "$(od -An -tu1 -j $((o + 8)) -N 4 j | awk '{print (($1 * 256 + $2) * 256 + $3) * 256 + $4}') $o"; done |
	sort -n | tail -n 1 | cut -d' ' -f2)
printf '\xde\xad\xbe\xef' | dd of=j bs=1 seek=$((at + 20)) conv=notrunc status=none
cp j j.bad
status 4 "flipped: -p refuses" "$RJRECOVER" -p -J device=j v
like "flipped: names block, transaction and reason" "$OUT" \
	"log block $((at / 4096)), transaction [0-9]+: the descriptor block fails its checksum"
status 4 "flipped: so does no option" "$RJRECOVER" -J device=j v
check "flipped: the log is as it was" cmp j.bad j
check "flipped: and the volume" cmp c.img v
status 4 "flipped: -n --json" "$RJRECOVER" -n --json -J device=j v
OUT=$("$RJRECOVER" -n --json -J device=j v 2>/dev/null)
is "flipped: as JSON" "$(jq -c '[.outcome, .plan.damage_block, .plan.damage_committed]' <<<"$OUT")" \
	"[\"would-refuse\",$((at / 4096)),true]"
status 1 "flipped: given up, the whole volume is checked" "$RJRECOVER" -q -y --accept-loss -J device=j v
check "flipped: the whole log was saved" cmp j.bad "$(echo state/*.journal)"

# ---- s_errno: the kernel saw an error before the crash ----
fresh p
printf '\xff\xff\xff\xfb' | dd of=j bs=1 seek=$((2048 + 0x20)) conv=notrunc status=none
cp v unchecked; cp j unchecked.j
status 0 "s_errno: recovered, without a check" "$RJRECOVER" -q --verify=none -J device=unchecked.j unchecked
like "s_errno: the volume has its error flag" "$(dumpe2fs -h unchecked 2>/dev/null)" "state: *clean with errors"
status 0 "s_errno: recovered" "$RJRECOVER" -J device=j v
like "s_errno: the whole volume is checked for it" "$OUT" "its error flag is set: checking the whole volume"
is "s_errno: the journal has it no more" "$(od -An -tx1 -j $((2048 + 0x20)) -N 4 j | xargs)" "00 00 00 00"
check "s_errno: everything is back" all_there v

# ---- a snapshot whose journal serves another volume now ----
fresh p
cp p.jlive o.jlive && cp p.live old
loop_over o.jlive
check "snapshot: the journal leaves its volume" eval '
	printf "<device DEVNO=\"0x%x\" TIME=\"%s.0\" UUID=\"%s\" TYPE=\"jbd\">%s</device>\n" \
		"0x$(stat -L -c %t%02T "$DEV")" "$(date +%s)" \
		"$(dumpe2fs -h old 2>/dev/null | awk "/^Journal UUID:/ {print \$3}")" "$DEV" >blkid.tab &&
	BLKID_FILE=$T_DIR/blkid.tab tune2fs -O ^has_journal old && sync "$DEV" && losetup -d "$DEV"'
check "snapshot: and serves another, which crashes" eval 'format o 1024 -t ext3 && crash_on o data=journal directories'
cp o.j j
status 4 "snapshot: refused" "$RJRECOVER" -p -J device=j v
like "snapshot: says why" "$OUT" "does not name volume [0-9a-f-]{36} as its user"
check "snapshot: untouched" cmp p.img v
check "snapshot: the other volume's log too" cmp o.j j
status 0 "snapshot: the other volume gets it" "$RJRECOVER" -q -J device=j o.img
check "snapshot: everything is back there" all_there o.img

# ---- fast commits on an external journal ----
names() { # fsynced one by one: fast commits, until the kernel makes a whole one (commit=)
	local i
	for ((i = 0; i < 12; i++)); do mkdir -p mnt/dir.$i; done
	sync -f mnt
	for ((i = 0; i < 12; i++)); do
		echo "$i" >mnt/dir.$i/file && sync mnt/dir.$i/file || return 1
	done
}
rm -f j v
check "fast commits: a crash" eval 'format f 4096 -t ext4 -O fast_commit && crash_on f commit=600 names'
fresh f
for o in -p -y -n; do
	status 4 "fast commits: $o refuses" "$RJRECOVER" $o -J device=j v
	like "fast commits: $o says what and what to do" "$OUT" "holds fast commits.*: mount the volume once"
	check "fast commits: $o leaves all as it was" untouched f
done
loop_over j
check "fast commits: the kernel takes them" eval \
	'mount -i -t ext4 -o "loop,journal_path=$DEV" v mnt && umount mnt && losetup -d "$DEV"'
status 0 "fast commits: then there is nothing to do" "$RJRECOVER" -J device=j v
check "fast commits: everything is back" all_there v

# ---- the same in a remote log ----
shelf() { find shelf -type f -exec sha256sum {} + | sort; }
if [ -c /dev/fuse ]; then
	mkdir shelf
	check "remote fast commits: a crash" eval '
		"$MKRJFS" -q -F -t ext4 -J "remote=file://$T_DIR/shelf,size=8" "$T_DIR/r.live" 48M &&
			serve "$T_DIR/r.live" && tune2fs -O fast_commit "$T_DIR/r.live" &&
			mount -i -t ext4 -o "loop,commit=600,journal_path=$LOOP" r.live mnt && names &&
			crash "$T_DIR/r.live" "$T_DIR/mnt" "$T_DIR/r.img"'
	cp r.img v; shelf >shelf.was
	for o in -p -y; do
		status 4 "remote fast commits: $o refuses" "$RJRECOVER" $o "$T_DIR/v"
		like "remote fast commits: $o says how to go on" "$OUT" "holds fast commits.*start rjournald on it, then mount"
		check "remote fast commits: $o leaves all as it was" eval 'cmp r.img v && shelf | cmp - shelf.was'
	done
	check "remote fast commits: that works" eval \
		'mount_served "$T_DIR/v" "$T_DIR/mnt" "" && umount mnt && unserve'
	status 0 "remote fast commits: then there is nothing to do" "$RJRECOVER" "$T_DIR/v"
	check "remote fast commits: everything is back" all_there v
else
	skip "remote fast commits" "no FUSE"
fi

# ---- damage in a transaction that was never committed ----
rm -f o.live o.jlive
truncate -s 6000k v && truncate -s 1500k o.jlive &&
	mke2fs -q -F -O journal_dev -b 1024 o.jlive && loop_over o.jlive &&
	mke2fs -q -F -t ext3 -b 1024 -O ^resize_inode -J "device=$DEV" v && sync "$DEV" && losetup -d "$DEV" &&
	debugfs -w -R "feature needs_recovery" v >/dev/null 2>&1
cp o.jlive j
dd if=v bs=1024 skip=5900 count=4 status=none >before
check "overrun: a log" "$RJ_BUILD/tests/jbd2/make-log" 7 j 5900 4 before expect less full
cp v v.was; cp j j.was
status 4 "overrun: -p refuses" "$RJRECOVER" -p -J device=j v
like "overrun: and says that -y replays" "$OUT" "more blocks than the log has; there is no commit .*-y replays what is before it"
check "overrun: nothing was changed" eval 'cmp v v.was && cmp j j.was'
status 1 "overrun: -y replays" "$RJRECOVER" -y -J device=j v
like "overrun: and does not fall back" "$OUT" "transactions replayed: [1-9]"
check "overrun: the right blocks" eval 'dd if=v bs=1024 skip=5900 count=4 status=none | cmp - expect'
status 0 "overrun: then clean" "$RJRECOVER" -p -J device=j v
exit 0
