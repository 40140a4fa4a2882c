#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The power is cut under load, RJ_KILL_ROUNDS times: of what the server wrote
# only what it synced is left, and some sectors of the rest. Every acknowledged
# object is there with its bytes. Small data files, so that checkpoints,
# cleaning and recycled files are cut too.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"

SHIM=$RJ_BUILD/tests/rjserver/store/.libs/powercut.so
M=$(mktemp -d /dev/shm/rjpower.XXXXXX) || skip_all "no /dev/shm"
at_exit rm -rf "$M"
[ "$(stat -f -c %T "$M")" = tmpfs ] || skip_all "/dev/shm is not a tmpfs"
SERVER_OPTIONS="--file-size=1048576"
ALL=$T_DIR/acks.all ACKS=$T_DIR/acks
rounds=${RJ_KILL_ROUNDS:-5}
RANDOM=${RJ_SEED:=$((RANDOM * 32768 + RANDOM))}
note "RJ_SEED=$RJ_SEED"
D=$M/d DISK=$M/disk

# start under the shim: the disk begins as a copy of what the last cut left
start_shimmed() {
	rm -rf "$DISK" "$D"
	mkdir "$DISK" "$DISK/inodes"
	if [ -d "$M/left" ]; then
		local f
		cp -a "$M/left" "$D"
		mkdir "$DISK/tree"
		(cd "$D" && find . -mindepth 1 -type d -exec mkdir -p "$DISK/tree/{}" \;
			find . -type f) | while read -r f; do
			local ino
			ino=$(stat -c %i "$D/$f")
			cp "$D/$f" "$DISK/inodes/$ino"
			ln "$DISK/inodes/$ino" "$DISK/tree/$f"
		done
	fi
	POWERCUT_DIR=$D POWERCUT_DISK=$DISK LD_PRELOAD=$SHIM \
		ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 start "$D"
}
[ -e "$SHIM" ] || { not_ok "the shim is built"; exit 1; }
cleaned=0 resumed=0
# on a busy machine it takes more rounds until the puts have come so far
wanted() { ((round <= rounds || (cleaned == 0 || resumed == 0) && round <= rounds * 6)); }
round=0
while round=$((round + 1)); wanted; do
	: >"$ACKS"
	start_shimmed || { note "$(cat "$LOG")"; not_ok "start $round"; exit 1; }
	"$LOAD" put "${BASE##*:}" 6 $((round * 1000000)) 20000 "$ACKS" >"$T_DIR/load" &
	load=$!
	sleep "0.$((RANDOM % 5 + 2))$((RANDOM % 10))5"
	stop KILL
	wait $load
	is "round $round: no answer but success" $? 0
	rm -rf "$M/left"
	cp -r "$DISK/tree" "$M/left"
	if [ -e "$M/left/store/checkpoint" ]; then resumed=$((resumed + 1)); fi
	if [ ! -e "$M/left/store/00000001.rjd" ]; then cleaned=$((cleaned + 1)); fi
	rm -rf "$M/look"
	cp -r "$M/left" "$M/look"
	start "$M/look" || { note "$(cat "$LOG")"; not_ok "restart $round"; exit 1; }
	cat "$ACKS" >>"$ALL"
	check "round $round: what was acknowledged is there, and whole" \
		"$LOAD" verify "${BASE##*:}" "$ACKS"
	((round % 10 && round < rounds)) || check "of all rounds too" \
		"$LOAD" verify "${BASE##*:}" "$ALL"
	stop
	# what is cut off as torn may be said to belong to no record
	if grep -v 'belong to no record' "$LOG" | grep -q DAMAGED; then
		note "$(cat "$LOG")"
		not_ok "round $round: no damage"
	fi
done
note "$(wc -l <"$ALL") acknowledgements; $resumed starts from a checkpoint, $cleaned with the first file dropped"
check "checkpoints were among it" test "$resumed" -gt 0
check "dropped files were among it" test "$cleaned" -gt 0

# One large file: the end of a file is synced, and waits for the next one. So are the names
# beside it, with each checkpoint: here nothing but its own syncs makes the first file durable.
SERVER_OPTIONS="--file-size=268435456"
acknowledged() { [ "$(wc -l <"$ACKS")" -ge 20 ]; }
for durability in fsync received; do
	rm -rf "$M/left" "$DISK" "$D"
	: >"$ACKS"
	mkdir "$DISK"
	POWERCUT_DIR=$D POWERCUT_DISK=$DISK LD_PRELOAD=$SHIM \
		ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 \
		start "$D" --durability="$durability" || { not_ok "start, $durability"; exit 1; }
	"$LOAD" put "${BASE##*:}" 2 1 20000 "$ACKS" >"$T_DIR/load" &
	load=$!
	check "$durability: puts are acknowledged" wait_for 60 acknowledged
	stop KILL
	wait $load
	cp -r "$DISK/tree" "$M/left"
	start "$M/left" || { note "$(cat "$LOG")"; not_ok "restart, $durability"; exit 1; }
	"$LOAD" verify "${BASE##*:}" "$ACKS" >"$T_DIR/verify"
	lost=$?
	[ $durability = received ] || is "the first file is there after a cut" $lost 0
	stop
done
# the shim cuts indeed: a server that syncs nothing loses what it acknowledged
[ $lost = 0 ] && note "$(cat "$T_DIR/verify" "$T_DIR/load" "$LOG")" "$(tail -n 3 "$ACKS")"
check "without a sync the cut is seen" test $lost != 0
