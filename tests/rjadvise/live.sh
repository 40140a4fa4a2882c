#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjadvise on volumes under loads of known size: what it counts, refuses, and applies.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh" || exit 99
need_fuse_loop
command -v jq >/dev/null || skip_all "no jq"
cd "$T_DIR" || exit 99
ADVISE=$RJ_BUILD/rjadvise/rjadvise
# in the namespace of this test
[ -e /sys/kernel/tracing/events/ext4 ] || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
at_exit umount -l "$T_DIR/mnt"
mkdir mnt store

# begin OPTION...: watch mnt until end(); what it tells is then in out and err
begin() {
	rm -f err
	"$ADVISE" --time 1h "$@" mnt >out 2>err &
	PID=$!
	kill_at_end $PID
	wait_for 60 grep -q "watching $T_DIR/mnt" err || { note "$(cat err)"; return 1; }
}
end() { kill -INT $PID && wait $PID; }
# is_between NAME GOT LEAST MOST
is_between() {
	check "$1 ($2 from $3 to $4)" \
		awk -v g="$2" -v a="$3" -v b="$4" 'BEGIN {exit !(g >= a && g <= b)}'
}
# total KEY: of the whole observation
total() { jq ".load.$1 * .load.seconds" out; }
dir() { jq ".files.directories[] | select(.path == \"$T_DIR/mnt/$1\") | .$2" out; }
defaults() { dumpe2fs -h "$1" 2>/dev/null | sed -n 's/^Default mount options: *//p'; }
# volume MKE2FS-OPTION... : v.img, on DEV
volume() {
	rm -f v.img && truncate -s 256M v.img && mke2fs -q -F -t ext4 "$@" v.img && loop_over v.img
}

# ---- refused ----
status 2 "without a volume" "$ADVISE"
status 2 "two volumes" "$ADVISE" mnt mnt
status 2 "a time of nothing" "$ADVISE" --time 0 mnt
like "... is named" "$OUT" "--time wants a time from 1 to 31d: 0"
status 2 "no time" "$ADVISE" --time soon mnt
status 2 "a report in another form" "$ADVISE" --report x.pdf mnt
status 2 "too many directories" "$ADVISE" --top 101 mnt
status 1 "a directory that is not there" "$ADVISE" none
like "... is named" "$OUT" "none: No such file or directory"
status 1 "another file system" "$ADVISE" /proc
like "... is named" "$OUT" "/proc: not on a mounted ext3 or ext4 volume"
check "a volume" volume -O ^has_journal
status 1 "not mounted" "$ADVISE" "$DEV"
like "... is told" "$OUT" "mounted here"
check "mounted" mount "$DEV" mnt
status 1 "without a journal" "$ADVISE" mnt
like "... is told" "$OUT" "has no journal"
umount mnt
loop_detach "$DEV" "$T_DIR/v.img"

# ---- counted ----
check "a volume" volume -J size=16
check "mounted" mount -o relatime "$DEV" mnt
mkdir mnt/new mnt/db
head -c 4194304 /dev/urandom >mnt/db/file
sync -f mnt
status 1 "a store that is not there" "$ADVISE" --time 1 --store rj://127.0.0.1:9/x mnt
status 1 "a second disk that is not there" "$ADVISE" --time 1 --second "$T_DIR/none" mnt
check "it begins" begin --json --probe --report page.html
sleep 1
"$RJ_BUILD/bench/fsync-create" mnt/new 200 8192 >/dev/null
for i in {1..120}; do
	dd if=/dev/urandom of=mnt/db/file bs=4096 count=1 seek=$((i * 7 % 1024)) \
		conv=notrunc,fsync status=none
done
check "and ends with SIGINT" end
check "its answer is JSON" jq -e . out
if [ -e /sys/kernel/tracing/events/ext4 ]; then
	is "each fsync is counted" "$(total fsyncs_per_s | awk '{printf "%.0f", $1}')" 320
	# 200 times 8192 and 120 times 4096, by a sample
	is_between "what programs wrote" "$(total cached_bytes_per_s)" 1310600 2621500
else
	skip "each fsync is counted" "no tracefs"
	is "what is not counted is null" "$(jq .load.fsyncs_per_s out)" null
fi
is_between "syncs" "$(total syncs_per_s_at_least)" 319 2000
is_between "commits that were asked for" "$(total requested_commits_per_s)" 199 330
is "new bytes" "$(dir new new_bytes)" $((200 * 8192))
is "... none of them in the other directory" "$(dir db new_bytes)" 0
# what the disk wrote without the log, of which a part is estimated
is_between "overwritten bytes" "$(total overwritten_bytes_per_s_at_most)" \
	$((120 * 4096 * 98 / 100)) 40000000
is_between "... are in the directory where they were written" "$(dir db overwritten_share)" 0.9 1
is "... which is proposed for +j" "$(dir db propose_journal_data)" true
is "files" "$(jq .files.files out)" 201
is "files that were there before" "$(jq .files.there_before out)" 1
# by the mean of the commits whose records came
is_between "bytes to the log" "$(total log_bytes_per_s)" $((190 * 2 * 4096)) $((400 * 40 * 4096))
is "the choice in use" "$(jq -c '[.choices[] | select(.in_use) | .journal, .data]' out)" '["internal","ordered"]'
is "... is what was seen" "$(jq '.choices[] | select(.in_use) | .time_to_now' out)" 1
is "all choices" "$(jq '.choices | length' out)" 12
is "those without a figure are not predicted" \
	"$(jq -r '.choices[] | select(.syncs_per_s == null) | .journal' out | sort | uniq -c | xargs)" \
	"4 remote 4 second disk"
is "all others are" "$(jq '[.choices[] | select(.journal == "internal" and .syncs_per_s > 0)] | length' out)" 4
is_between "its own memory" "$(jq .observation_cost.memory_bytes out)" 1000000 100000000
check "the page has a plot" grep -q '<path fill="none" stroke="#1b6ca8" d="M' page.html
check "... and both directories" grep -q "$T_DIR/mnt/db" page.html
check "the plot alone is well-formed" "$ADVISE" --time 1 --report page.svg mnt
check "... XML" python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' page.svg

# ---- many small writes: they are watched for a part of the time ----
check "it begins" begin --json
for i in {1..15}; do
	dd if=/dev/zero of=mnt/db/large bs=4096 count=30000 conv=notrunc status=none
	[ "$i" != 10 ] || sleep 1.1 # the window is open again after this, or not: both must be told
done
check "and ends" end
if [ -e /sys/kernel/tracing/events/ext4 ]; then
	is_between "watched for a part of the time" "$(jq .files.watched_share out)" 0.0001 0.95
	is_between "... from which all bytes are told" "$(total cached_bytes_per_s)" \
		$((30000 * 4096)) $((15 * 30000 * 4096 * 10))
fi
rm mnt/db/large

# ---- a store, and a second disk ----
umount mnt # jbd2's means begin again: without a record of each commit they have to do
check "mounted" mount "$DEV" mnt
mkdir mnt/more
check "it begins" begin --json --probe --second mnt --store "file://$T_DIR/store"
"$RJ_BUILD/bench/fsync-create" mnt/more 900 4096 3 >/dev/null
check "and ends" end
if [ -e /sys/kernel/tracing/events/ext4 ]; then
	is_between "three threads fsync" "$(jq .load.fsyncing_threads out)" 2.5 3.1
fi
is "all is predicted" "$(jq '[.choices[] | select(.lacks)] | length' out)" 0
is "nothing is left at the store" "$(find store -type f)" ""

# ---- a fast area for metadata ----
umount mnt
rotational=/sys/block/${DEV#/dev/}/queue/rotational
area() { jq '[.settings[] | select(.setting == "fast metadata area") | .because][0]' out; }
# files_and_timer: metadata, in commits of the timer
files_and_timer() { mkdir mnt/empty && touch mnt/empty/{1..3000} && sleep 2.5 && rm -r mnt/empty; }
check "the disk rotates" eval "echo 1 >$rotational"
check "mounted" mount -o commit=1 "$DEV" mnt
check "it begins" begin --json --report area.html
files_and_timer
check "and ends" end
like "many metadata on a rotating disk: proposed" "$(area)" "at least [0-9]+ % of what was written"
check "... on the page, too" grep -q "fast metadata area" area.html
mkdir mnt/synced
check "it begins" begin
"$RJ_BUILD/bench/fsync-create" mnt/synced 100 1 >/dev/null
check "and ends" end
is "fsyncs: not proposed" "$(grep -c "fast metadata area" out)" 0
check "the disk does not rotate" eval "echo 0 >$rotational"
check "it begins" begin --json
files_and_timer
check "and ends" end
is "another disk: not proposed" "$(area)" null

# ---- applied ----
before=$(defaults "$DEV")
status 3 "an idle volume is not changed" "$ADVISE" --time 1 --apply --probe mnt
like "... with the reason" "$OUT" "nothing was changed: only [0-9]+ commits were seen"
is "... it is as before" "$(defaults "$DEV")" "$before"
umount mnt
check "mounted with data=writeback" mount -o data=writeback "$DEV" mnt
check "it begins" begin --apply --probe
mkdir mnt/again
"$RJ_BUILD/bench/fsync-create" mnt/again 300 4096 >/dev/null
end
got=$?
[ $got = 0 ] || note "$(cat out)"
is "a safer mode that costs little is made the default" $got 0
word=$(sed -n 's/^--apply: tune2fs -o \([a-z_]*\) .*/\1/p' out)
like "... which is told" "$word" '^journal_data(_ordered)?$'
like "... and in the superblock" "$(defaults "$DEV")" "(^| )$word( |\$)"
umount mnt
check "it counts at the next mount" mount "$DEV" mnt
mode=${word#journal_data} mode=${mode#_}
check "... as data=${mode:-journal}" grep -qx "data=${mode:-journal}" "/proc/fs/ext4/${DEV#/dev/}/options"
umount mnt
check "the volume is well" e2fsck -fn "$DEV"
loop_detach "$DEV" "$T_DIR/v.img"

# ---- a remote journal ----
truncate -s 64M r.img
check "a volume with a remote journal" "$MKRJFS" -q -F -t ext4 -J "remote=file://$T_DIR/store,size=8" r.img
check "mounted with data=writeback" mount_served "$T_DIR/r.img" mnt data=writeback
check "it begins" begin --apply --probe
"$RJ_BUILD/bench/fsync-create" mnt 300 4096 >/dev/null
end
is "it is not changed while it is mounted" "$?" 3
like "... rjtune can change it" "$(cat out)" "unmount it, and rjtune -o journal_data"
like "rjournald's own figures are told" "$(cat out)" "rjournald's puts: +[0-9.]+ [um]s each"
like "its journal is known as remote" "$(cat out)" "^\* remote +writeback"
exit 0
