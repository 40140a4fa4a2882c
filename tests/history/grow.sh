#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A volume that is grown online: each segment of the resize is a moment, of the size that the volume
# had then, in a file, on a block device and mounted; a base while it grows; a log that ends there.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
for dir in mnt look then; do at_exit umount -l "$T_DIR/$dir"; done
history_conf ""
JOURNAL_TIMES=2
seed=${RJ_SEED:-$((RANDOM * 32768 + RANDOM))}
note "RJ_SEED=$seed"
mkdir then
base() { timeout 120 "$RJBACKUP" base -o base.img mnt; }
restore() { timeout 120 "$RJBACKUP" restore --base=base.img "$@"; }
ops() { "$WORK" ops mnt $((seed + $1)) "$2" >/dev/null; }
size() { stat -c %s "$1"; }
blocks() { dumpe2fs -h "$1" 2>/dev/null | awk '/^Block count/ {print $3}'; }
# loop_of FILE: a loop device over it, in LOOP_DEV, until the end of the test
loop_of() { LOOP_DEV=$(losetup -f --show "$1") && at_exit losetup -d "$LOOP_DEV"; }
# each_moment FROM TO: each segment is a sound volume, as large as its superblock says
each_moment() {
	local n bad=0
	for ((n = $1; n <= $2; n++)); do
		rm -f r.img
		{ restore --at="segment:$n" --verify=none -o r.img && e2fsck -fn r.img &&
			[ "$(size r.img)" = $(($(blocks r.img) * bs)) ]; } >out 2>&1 ||
			{ note "segment $n" "$(<out)"; bad=$((bad + 1)); }
		blocks r.img
	done >sizes
	[ $bad = 0 ]
}

may_grow || skip_all "it takes CAP_SYS_RESOURCE (tests/power/inside)"

kinds "$seed" "ext4 4096" "ext3 1024"
for kind in "${KINDS[@]}"; do
	bs=${kind#* }
	rm -f ./*.img
	check "$kind: a volume" history_volume $kind journal ""
	ops 1 200
	status 0 "$kind: a base" base
	mark small
	small=$(size v.img)
	check "$kind: grown" grown 300
	ops 2 300
	mark large
	check "$kind: each segment since" each_moment "$(cat small.segment)" "$(cat large.segment)"
	check "$kind: ... with both sizes among them" test "$(sort -u sizes | wc -l)" -ge 2
	check "$kind: the marker before, by its time" restored "$(cat small.time)" small
	is "$kind: ... in the size of that time" "$(size r.img)" "$small"
	check "$kind: the marker after" restored latest large
	is "$kind: ... in the size of that time" "$(size r.img)" "$(size v.img)"

	# ---- onto a block device ----
	head -c "$small" /dev/urandom >small.disk && loop_of small.disk && dev=$LOOP_DEV
	sum=$(sha256sum <small.disk)
	status 8 "$kind: onto a device of the old size" restore -o "$dev"
	like "$kind: ... why" "$OUT" "^rjbackup: $dev: has $small bytes, and the volume [0-9]+$"
	sync "$dev"
	is "$kind: ... and it is as it was" "$(sha256sum <small.disk)" "$sum"
	status 0 "$kind: the marker before onto it" restore --at="$(cat small.time)" -o "$dev"
	sync "$dev"
	check "$kind: ... is there" same_as small.disk small
	head -c $(($(size v.img) + 5242880)) /dev/urandom >large.disk && loop_of large.disk
	status 0 "$kind: onto a device that is large enough, full of other bytes" restore -o "$LOOP_DEV"
	sync "$LOOP_DEV"
	check "$kind: ... is there" same_as large.disk large
	rm -f ./*.disk

	# ---- a base on a block device ----
	cp base.img base.disk && loop_of base.disk && dev=$LOOP_DEV
	sync "$dev"
	status 8 "$kind: a base on a device of the old size is not followed" \
		timeout 120 "$RJBACKUP" fold --base="$dev"
	like "$kind: ... why" "$OUT" "rjbackup: $dev: has $small bytes, and the volume [0-9]+"
	check "$kind: ... it is a base still" timeout 120 "$RJBACKUP" restore --at="$(cat small.time)" -n -o none.img --base="$dev"
	check "$kind: with more space" enlarged base.disk "$dev" 320
	status 0 "$kind: ... it is followed" timeout 120 "$RJBACKUP" fold --base="$dev"
	rm -f r.img
	status 0 "$kind: ... and restored" timeout 120 "$RJBACKUP" restore --base="$dev" -o r.img
	check "$kind: ... each file is there" same_as r.img large
	rm -f base.disk

	# ---- mounted in place ----
	for m in small large; do
		status 0 "$kind: marker $m is mounted" timeout 120 "$RJBACKUP" mount \
			--at="segment:$(cat $m.segment)" --base=base.img then
		"$WORK" manifest then >found.manifest
		check "$kind: ... each file is as it was" cmp $m.manifest found.manifest
		is "$kind: ... and the size" "$(blockdev --getsize64 "$(findmnt -no SOURCE then)")" \
			"$([ $m = small ] && echo "$small" || size v.img)"
		check "$kind: ... unmounted" umount then
	done
	restore --at=latest -o r2.img >/dev/null
	check "$kind: unmounted" history_umount
	status 0 "$kind: each block in use is the volume's" "$COMPARE" v.img r2.img
	note "$OUT"
done
# ---- a base while it grows ----
rm -f ./*.img
bs=1024
check "a volume" history_volume ext4 1024 journal ""
ops 3 200
made=0
for i in 1 2 3 4 5 6; do
	rm -f base.img
	for n in 9 17 5 30; do grown $n || echo failed; done >grown.out 2>&1 &
	load=$!
	OUT=$(base 2>&1); rc=$?
	wait "$load"
	check "grown while a base was made, $i" test ! -s grown.out
	if [ $rc = 0 ]; then
		made=$((made + 1))
	else
		# a resize empties the journal when it ends
		like "... which it is told" "$rc $OUT" \
			"^1 rjbackup: mnt: (is being grown: make the base when that is done|its journal is empty, .* try again)$"
		check "... and there is none" test ! -e base.img
		continue
	fi
	ops $((10 + i)) 100
	mark m
	check "... whole" restored latest m
done
note "$made of 6 bases were made"

# ---- a base at a store that was cut off before the volume grew ----
AT=$(grep -ao "rj://127.0.0.1:$SRV_PORT/[a-zA-Z0-9-]*" v.img | head -n 1)
"$RJBACKUP" base --rate=1 --hold=1d -o "$AT" mnt >out 2>&1 &
pid=$!
unfinished() { "$RJBACKUP" ls "$AT" | grep -q "begun .*, not finished"; }
check "a base at a store was begun" wait_for 60 unfinished
kill -KILL $pid; wait $pid 2>/dev/null
check "grown" grown 20
status 0 "it is begun again" timeout 120 "$RJBACKUP" base --hold=1d -o "$AT" mnt
check "... and nothing is left of the first" not unfinished
is "... nor its hold" "$("$RJBACKUP" ls "$AT" | grep -c "^ *hold [0-9]* of rjbackup ")" 1
check "grown again" grown 20
ops 20 200
mark m
rm -f r.img
status 0 "restored from the store" timeout 120 "$RJBACKUP" restore --base="$AT" -o r.img
check "... each file is there" same_as r.img m
check "unmounted" history_umount

# ---- the host crashes while the volume grows: its log ends with any segment of that ----
# with groups of 1024 blocks, whose bitmaps are made: the resize takes several transactions
rm -rf ./*.img store
mkdir store; SRV_URL=file://$T_DIR/store
check "a volume with its log in a directory" history_volume ext3 1024 journal "" -g 1024
ops 30 100
status 0 "a base" base
mark small
check "grown" grown 200
check "unmounted" history_umount
mv store all
bad=0 n=0
objects=$(cd all && find . -regextype posix-extended -regex ".*/[0-9]{20}" | sort)
for last in $(awk -F/ -v from="$(cat small.segment)" '$NF + 0 > from' <<<"$objects"); do
	cp -a all store && cp --sparse=always base.img c.img
	awk -v last="$last" '$0 > last' <<<"$objects" | (cd store && xargs -r rm)
	{ timeout 120 "$RJBACKUP" promote c.img && served_fsck "$T_DIR/c.img" -fn; } >out 2>&1 ||
		{ note "up to $last" "$(<out)" >&2; bad=$((bad + 1)); }
	n=$((n + 1))
	blocks c.img
	rm -rf store
done >sizes
is "promoted from the log up to each of $n segments" $bad 0
check "... with several sizes among them" test "$(sort -u sizes | wc -l)" -ge 3
note "$(sort sizes | uniq -c | tr '\n' ' ')"

# ---- the host crashes while the volume grows, is recovered by mount.rj, and grows on ----
bs=1024
rm -rf ./*.img store all
mkdir store
check "a volume with its log in a directory" history_volume ext3 1024 journal "" -g 1024
check "... mounted as type rj" eval "history_umount && rj_mount"
ops 40 100
status 0 "... a base" base
# crash_in_resize N: when N segments of it have been put, by a worker that runs now and then: a
# resize waits for the commit of each few groups
crash_in_resize() {
	local dev worker last; dev=$(findmnt -no SOURCE mnt) worker=$(worker_pid "$VOL")
	sync -f mnt && enlarged v.img "$dev" 250 || return 1
	last=$(ls store/*/*/log | tail -n 1)
	printf -v last "%s/%020d" store/*/*/log $((10#$last + $1))
	resize2fs "$dev" >resize.out 2>&1 &
	resize=$!
	until [ -e "$last" ] || ! kill -0 $resize 2>/dev/null; do
		kill -CONT "$worker" && sleep 0.01 && kill -STOP "$worker" || return 1
	done
	rj_crash && wait_for 60 gone $resize
}
mounted_blocks() { blocks "$(findmnt -no SOURCE mnt)"; }
inside=0 CRASHES=6
for ((i = 1; i <= 24 && inside < CRASHES; i++)); do
	before=$(mounted_blocks)
	ops $((40 + i)) 50
	check "a crash $i segments after a resize began" crash_in_resize $i
	check "... recovered and mounted" rj_mount
	after=$(mounted_blocks)
	note "from $before to $(($(size v.img) / bs)), cut off at $after"
	((after > before && after < $(size v.img) / bs)) || continue
	inside=$((inside + 1))
	mark "c$inside"
done
is "crashes after which the volume had a size in between" $inside $CRASHES
check "grown to the end" grown 1
ops 70 200
mark m
for ((i = 1; i <= inside; i++)); do
	check "restored as it was after crash $i" restored "segment:$(cat c$i.segment)" c$i
done
check "unmounted" rj_umount
check "the latest" restored latest m
status 0 "each block in use is the volume's" "$COMPARE" v.img r.img
note "$OUT"
exit 0
