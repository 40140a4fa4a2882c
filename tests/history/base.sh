#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a base reads and holds: only blocks in use, so that nothing of deleted files is in
# it; a block that was used again since is restored from the log.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"
history_conf ""
PATTERN=what-was-deleted-before

# fill NAME MIB
fill() { yes "$PATTERN" | head -c $(($2 << 20)) >"mnt/$1"; }
# all that the log has reaches the device, so that the bitmaps there are those in memory
checkpoint() { sync -f mnt && fsfreeze -f mnt && fsfreeze -u mnt; }
json() { sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" <<<"$OUT"; }

for kind in "ext4 4096" "ext3 1024"; do
	# shellcheck disable=SC2086
	check "$kind: a volume" history_volume $kind journal ""
	RJ_SEED=1 "$WORK" ops mnt 1 200 >/dev/null
	check "... full of data" fill full 24
	checkpoint
	check "... that are deleted" rm mnt/full
	checkpoint
	check "they are on the device" grep -qa "$PATTERN" v.img
	status 0 "a base" timeout 120 "$RJBACKUP" base --json -o base.img mnt
	note "$(json read_bytes) of $(json volume_bytes) bytes read, $(json base_bytes) in the base"
	check "... reads half of it at most" test "$(json read_bytes)" -lt $((24 << 20))
	check "... holds nothing of them" not grep -qa "$PATTERN" base.img
	check "the blocks are used again" cp -r /usr/include/linux mnt/again
	RJ_SEED=2 "$WORK" ops mnt 2 300 >/dev/null
	mark after
	check "... and restored" restored latest after
	check "... a later commit" eval "touch mnt && sync -f mnt"
	# the segment that is named with a time is that of the same moment
	status 0 "as of a time" "$RJBACKUP" restore -n --json --at="$(cat after.time)" --base=base.img -o n.img
	reached() { jq -c '.reached | [.segment, .tid, .commit]' <<<"$OUT"; }
	by_time=$(reached) segment=$(jq .reached.segment <<<"$OUT")
	like "... which is said in RFC 3339" "$(jq -r .asked <<<"$OUT")" '^20[0-9-]+T[0-9:.]+Z$'
	status 0 "as of its segment" "$RJBACKUP" restore -n --json --at="segment:$segment" --base=base.img -o n.img
	is "... is the same moment" "$(reached)" "$by_time"
	status 0 "as of the commit's time, as printed" "$RJBACKUP" restore -n --json \
		--at="$(jq -r .reached.commit <<<"$OUT")" --base=base.img -o n.img
	is "... is the same, too" "$(reached)" "$by_time"
	status 0 "at the base itself" "$RJBACKUP" restore -n --json \
		--at="segment:$(jq .earliest.segment <<<"$OUT")" --base=base.img -o n.img
	is "... no transaction is after it" "$(jq .transactions <<<"$OUT")" 0
	check "unmounted" history_umount
	rm -f base.img
done

# ---- progress, and a rate ----
check "a volume with 4 MiB that stay" history_volume ext4 4096 journal ""
head -c $((4 << 20)) /dev/urandom >mnt/stays
sync -f mnt
status 16 "--rate=0 is no rate" "$RJBACKUP" base --rate=0 -o base.img mnt
status 16 "restore has none" "$RJBACKUP" restore --rate=1 --base=base.img -o r.img
rm -f r.img
(sleep 1; echo new >mnt/new; sync -f mnt) &
begun=$(date +%s%N)
status 0 "a base at 1 MB a second, and its progress" timeout 120 "$RJBACKUP" base -C 3 --rate=1 -o base.img mnt 3>progress
# the first MiB is read at once, and what comes after the last is not waited for
check "... takes its time" test $(($(date +%s%N) - begun)) -gt 2500000000
is "... in lines of pass 1 and 2, in order" "$(cut -d' ' -f1 progress | uniq | tr '\n' ' ')" "1 2 "
not grep -qvE '^[12] [0-9]+ [0-9]+ mnt$' progress
check "... of that form" test $? = 0
check "... which do not go back" awk '$1 == pass && $2 + 0 < at {exit 1} {pass = $1; at = $2 + 0}' progress
is "... up to the end of each" "$(awk '$2 == $3 {print $1}' progress | uniq | tr '\n' ' ')" "1 2 "
status 0 "a restore, and its progress" timeout 120 "$RJBACKUP" restore -C 3 --base=base.img -o r.img 3>progress
check "... of pass 1 too, but where files share blocks" grep -qE '^[12] [0-9]+ [0-9]+ r.img$' progress
status 0 "a reader that goes away" timeout 120 bash -c '"$0" base -C 3 -o gone.img mnt 3> >(exit 0)' "$RJBACKUP"
is "... ends nothing" "$("$RJBACKUP" ls gone.img | grep -c earliest)" 1
check "unmounted" history_umount

# ---- devices ----
# device NAME BYTES: sets DEV
device() { truncate -s "$2" "$1" && DEV=$(losetup -f --show "$1") && at_exit losetup -d "$DEV"; }
check "a volume" history_volume ext4 4096 journal ""
RJ_SEED=3 "$WORK" ops mnt 3 200 >/dev/null
check "a device that is too small" device small.dev 47M; small=$DEV
status 1 "a base on the volume itself is refused" "$RJBACKUP" base -o mnt/x.img mnt
check "... and not made" not test -e mnt/x.img
status 8 "a device that is too small is refused" "$RJBACKUP" base -o "$small" mnt
like "... and why" "$OUT" "$small: has 49283072 bytes, and the volume 50331648"
check "a device" device a.dev 64M; a=$DEV
printf RJFALLBK | dd of="$a" bs=4096 seek=1 conv=notrunc,fsync status=none
status 8 "the fallback of another volume is refused" "$RJBACKUP" base -o "$a" mnt
like "... and what to do" "$OUT" "$a: is the fallback of a volume .*dd if=/dev/zero of=$a bs=4096 count=2 removes it"
check "... and is left" grep -q RJFALLBK "$a"
mke2fs -q -F "$a" 32M 2>/dev/null && sync "$a" && sha256sum <a.dev >before
status 8 "... is refused" "$RJBACKUP" base -o "$a" mnt
like "... and what to do" "$OUT" "$a: holds ext2: if that may go, wipefs -a $a removes it"
mkdir -p other && mount "$a" other
status 8 "a mounted one is refused" "$RJBACKUP" base -o "$a" mnt
like "... and why" "$OUT" "$a: is mounted, or in use otherwise"
umount other
dd if=/dev/urandom of="$a" bs=1M count=64 oflag=direct status=none
printf '%s' "$PATTERN" | dd of="$a" bs=1 seek=40000000 conv=notrunc status=none
sync "$a"
status 0 "a base on a device that held anything" timeout 120 "$RJBACKUP" base -o "$a" mnt
check "... which is gone" not grep -qa "$PATTERN" "$a"
RJ_SEED=4 "$WORK" ops mnt 4 200 >/dev/null
mark device
check "a device for the volume" device b.dev 48M; b=$DEV
status 0 "a restore from the one to the other" timeout 120 "$RJBACKUP" restore --base="$a" -o "$b"
sync "$b"
check "... is that moment" same_as "$b" device
status 8 "it is not overwritten" timeout 120 "$RJBACKUP" restore --base="$a" -o "$b"
wipefs -qa "$b"
sum=$(sha256sum <"$b")
status 1 "a moment that cannot be reached" timeout 120 "$RJBACKUP" restore --at=@4000000000 --base="$a" -o "$b"
sync "$b"
is "... leaves the device as it was" "$(sha256sum <"$b")" "$sum"
mkdir -p stub && printf '#!/bin/sh\nexit 4\n' >stub/e2fsck && chmod +x stub/e2fsck
PATH=$T_DIR/stub:$PATH status 4 "a restore that fails" timeout 120 "$RJBACKUP" restore --verify=full --base="$a" -o "$b"
like "... says what is there" "$OUT" "what is on $b now is nothing whole"
check "... and is no volume" not mount -i -t ext4 "$b" look
not "$RJBACKUP" ls "$b" >/dev/null 2>&1
check "... nor a base" test $? = 0
check "unmounted" history_umount
exit 0
