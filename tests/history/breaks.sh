#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Where a history ends, and what has none: each is refused in one line that says why and
# what to do, and nothing is left in the place of the new volume. And controls of the
# oracle: what must not pass its comparison does not.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"
history_conf ""

base() { timeout 120 "$RJBACKUP" base -o base.img mnt; }
restore() { timeout 120 "$RJBACKUP" restore --base=base.img -o r.img "$@"; }
# refused NAME STATUS TEXT COMMAND...: in one line, and no file is made
refused() {
	local name=$1 want=$2 text=$3 before; shift 3
	before=$(echo ./*.img)
	status "$want" "$name: refused" "$@"
	like "$name: why" "$OUT" "^rjbackup: .*$text"
	is "$name: in one line" "$(wc -l <<<"$OUT")" 1
	is "$name: nothing was made" "$(echo ./*.img)" "$before"
}
journal() { dumpe2fs -h v.img 2>/dev/null | awk '/^Journal UUID/ {print $3}'; }

mkdir -p mnt
status 16 "the folder and the file in the wrong order" "$RJBACKUP" base -o mnt base.img
like "... are told" "$OUT" "^rjbackup: base: -o names the file to make, and mnt is a folder"

# ---- which volumes have no history ----
check "a volume with data=ordered" history_volume ext4 4096 ordered ""
refused "data=ordered" 1 "not mounted with data=journal.*: mount it with -o data=journal" base
check "... unmounted" history_umount
check "a volume with data=journal" history_mount journal
history_conf "trim_interval = 2"
sed -i '/^retain/d' "$RJ_CONF"
refused "a log that is not kept" 1 'set "retain" for it in rj.conf' base
history_conf ""
# rjournald sets it to 0 once a second
kill -STOP "$(worker_pid "$T_DIR/v.img")"
echo 32 >"$(zeroout_file)"
refused "zeroing past the log" 1 "set /sys/fs/ext4/.*/extent_max_zeroout_kb to 0" base
echo 0 >"$(zeroout_file)"
kill -CONT "$(worker_pid "$T_DIR/v.img")"

check "... unmounted" history_umount
check "a volume with inline_data" history_volume ext4 4096 journal "" -O inline_data
refused "inline_data" 1 "inline_data the kernel logs two copies of a block" base
check "... unmounted" history_umount
check "a volume with data=journal" history_volume ext4 4096 journal ""

# ---- a base is no volume ----
"$WORK" ops mnt 1 300 >/dev/null
status 0 "a base" base
cp base.img copy.img
status 8 "it is not made over another file" base
like "... why" "$OUT" "^rjbackup: base.img: cannot make: File exists$"
check "... which stays as it is" cmp base.img copy.img
check "only rjbackup takes it: rjrecover does not" not "$RJ_BUILD/rjrecover/rjrecover" -p base.img
OUT=$("$RJ_BUILD/rjrecover/rjrecover" -p base.img 2>&1)
like "... and says what it is" "$OUT" "a base of rjbackup, or .*, and not a volume: rjbackup restore"
check "... nor does e2fsck, though the journal is at hand" not e2fsck -fy base.img
check "... nor the kernel" not mount -i -t ext4 -o loop base.img look
check "... nor rjtune" not "$RJ_BUILD/rjtune/rjtune" --accept-loss -y -J size=4 base.img
check "... nor rjournald" not "$RJOURNALD" -q base.img
check "... and all of them left it alone" cmp base.img copy.img
refused "a volume is no base" 16 "this is a volume, not a base" \
	"$RJBACKUP" restore --base=v.img -o r.img

# ---- moments that are not there ----
mark first
"$WORK" ops mnt 2 100 >/dev/null
mark second
refused "before the base" 1 "too early: this base is whole at segment [0-9]+, as of 2[0-9-]+ [0-9:.]+Z, and later" \
	restore --at=@1000000000
refused "a segment before the base" 1 "is before segment" restore --at=segment:1
refused "the future" 1 "the last commit in the log is of 2.*--at=latest" \
	restore --at="@$(($(date +%s) + 3600))"
refused "a segment of the future" 1 "there is no segment 99999999 yet: the log ends with segment [0-9]+$" \
	restore --at=segment:99999999
refused "not a moment" 16 "is not a moment" restore --at=tomorrow
status 0 "-n only says it" restore -n --at="$(cat first.time)"
like "... what it would be" "$OUT" "would be as of 2"
check "... and makes nothing" test ! -e r.img

# ---- controls: the oracle's comparison fails where it must ----
check "the first marker" restored "$(cat first.time)" first
check "the second one is not the first" not same_as r.img second
cp first.manifest flipped.manifest && sed -i '3s/ [0-9]* / 7 /' flipped.manifest
check "a manifest that differs in one field is seen" not same_as r.img flipped

# ---- the log is read only ----
at=$(sed -n 's/.*log at \(.*\)$/\1/p' <<<"$("$RJBACKUP" ls base.img)")
check "the writer sleeps" freeze_daemon "$DPID"
before=$("$RJ_BUILD/rjlog/rjlog" ls "$at/$(journal)")
check "the second marker" restored "segment:$(cat second.segment)" second
is "no segment and no epoch is new" "$("$RJ_BUILD/rjlog/rjlog" ls "$at/$(journal)")" "$before"
thaw_daemon "$DPID"
rm -f r.img

# ---- the volume was unmounted ----
check "unmounted" history_umount
status 0 "the latest moment is before that" restore
status 0 "... and each block in use is the volume's" "$COMPARE" v.img r.img
byte=$(($(debugfs -R "blocks <2>" r.img 2>/dev/null) * 4096 + 100))
flip r.img $byte
status 1 "... control: a flipped byte in a folder" "$COMPARE" v.img r.img
like "... is named" "$OUT" " wrong 1$"
flip r.img $byte
byte=$(debugfs -R "imap <2>" r.img 2>/dev/null | sed -n 's/.*block \([0-9]*\), offset 0x\([0-9a-f]*\).*/\1 * 4096 + 0x\2/p')
flip r.img $((byte + 16))
status 1 "... control: a flipped byte in an inode" "$COMPARE" v.img r.img
flip r.img $((byte + 16))
flip r.img $((1024 + 32))
status 1 "... control: one in the superblock" "$COMPARE" v.img r.img
rm -f r.img
check "mounted again" history_mount journal
"$WORK" ops mnt 3 100 >/dev/null
mark third
refused "another mount" 1 "unmounted or crashed.*--at=segment:[0-9]+ restores that" restore
refused "a time in another mount" 1 "unmounted or crashed" restore --at="$(cat third.time)"
refused "a segment in another mount" 1 "unmounted or crashed" restore --at="segment:$(cat third.segment)"
status 0 "ls says how far it goes" "$RJBACKUP" ls base.img
like "... and why no farther" "$OUT" "no later: after segment [0-9]+: the volume was unmounted"
last=$(sed -n 's/.*no later: after segment \([0-9]*\):.*/\1/p' <<<"$OUT")
rm -f r.img
check "that moment is the second marker" restored "segment:$last" second
check "and times before it are there" restored "$(cat first.time)" first

# ---- mounted twice under one rjournald ----
rm -f base.img; status 0 "a base of this mount" base
mark fourth
cp base.img copy.img
cp base.img fourth.img
check "unmounted, the journal is still served" umount mnt
check "... e2fsck does not find it for the base" not e2fsck -fy base.img
check "... nor does the kernel" not mount -i -t ext4 -o loop base.img look
check "... and the base is as it was" cmp base.img copy.img
check "mounted again" mount -i -t ext4 -o "loop,journal_path=$LOOP,data=journal" v.img mnt
"$WORK" ops mnt 4 200 >/dev/null
sync -f mnt
rm -f r.img
refused "one rjournald, two mounts" 1 "unmounted|later transaction" restore
check "what was before it is there" restored "segment:$(cat fourth.segment)" fourth

# ... the second one without file data in its journal, and the base's begins where a freeze left
# the journal empty: only its own mount goes on there with the same number
for how in base fold; do
	check "unmounted" history_umount
	check "mounted again" history_mount journal
	echo "$how" >mnt/frozen && head -c 100000 /dev/zero >mnt/data && sync -f mnt
	rm -f base.img r.img
	[ $how = base ] || status 0 "a base" base
	check "frozen, and thawed" eval 'touch mnt/frozen && fsfreeze -f mnt && fsfreeze -u mnt'
	[ $how = fold ] || status 0 "a base of an empty journal" base
	[ $how = base ] || status 0 "a fold over the freeze" "$RJBACKUP" fold --base=base.img
	check "unmounted, the journal is still served" umount mnt
	check "mounted again" mount -i -t ext4 -o "loop,journal_path=$LOOP,data=ordered" v.img mnt
	head -c 100000 /dev/urandom | dd of=mnt/data conv=notrunc status=none && sync -f mnt
	refused "two mounts, and a freeze before ($how)" 1 "unmounted|later transaction" restore
done

# ---- the log does not hold the beginning any more ----
rm -f r.img
check "unmounted" history_umount
history_conf ""
sed -i '/^retain/d' "$RJ_CONF"
check "all that no replay needs is deleted" "$RJ_BUILD/rjlog/rjlog" prune "$at"
mv fourth.img base.img
refused "a base whose log is gone" 4 "this base cannot be used any more: make a new one with --hold=TIME, or let \"retain\"" \
	restore --at="segment:$(cat fourth.segment)"
history_conf ""

# ---- made smaller while it is mounted, which no kernel does ----
rm -f v.img base.img
# it logs its superblock with each file that is deleted while open
check "a volume" history_volume ext3 4096 journal ""
"$WORK" ops mnt 7 100 >/dev/null
status 0 "a base" base
mark large
check "made smaller by hand" "$RJ_BUILD/tests/history/hand" shrink "$(findmnt -no SOURCE mnt)"
exec 9>mnt/held && rm mnt/held && exec 9>&-
"$WORK" ops mnt 8 100 >/dev/null
mark small
refused "a smaller volume" 1 "the volume was made smaller, which no kernel does: make a new base" restore
refused "... by segment" 1 "the volume was made smaller" restore --at="segment:$(cat small.segment)"
check "... before that it is there" restored "segment:$(cat large.segment)" large
check "... and by its time" restored "$(cat large.time)" large
status 0 "ls says how far it goes" "$RJBACKUP" ls base.img
like "... and why no farther" "$OUT" "no later: after segment [0-9]+: the volume was made smaller"
rm -f base.img r.img
check "unmounted" history_umount

# ---- one flipped byte in a segment ----
rm -f v.img base.img; mkdir store; SRV_URL=file://$T_DIR/store
check "a volume with its log in a directory" history_volume ext4 4096 journal ""
"$WORK" ops mnt 5 100 >/dev/null
status 0 "a base" base
whole=$(sed 's/.*whole at segment \([0-9]*\),.*/\1/' <<<"$OUT")
"$WORK" ops mnt 6 300 >/dev/null
mark flip
object=$(find store -name "$(printf %020d $((whole + 2)))")
flip "$object" 700
refused "a flipped byte" 4 "segment $((whole + 2)) is damaged" restore
status 0 "... ls shows what is before it" "$RJBACKUP" ls base.img
like "... and why there is no more" "$OUT" "no later: after segment $((whole + 1)): segment $((whole + 2)) is damaged"
check "... what is before it is there" restore --at="segment:$((whole + 1))"
rm -f r.img
flip "$object" 700
check "... and with that byte as it was, all" restored latest flip
mv "$object" kept
rm -f r.img
refused "a segment that is gone" 4 "segment $((whole + 2))" restore
mv kept "$object"
check "... and when it is back" restored latest flip
history_umount
exit 0
