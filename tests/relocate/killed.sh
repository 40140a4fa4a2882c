#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjtune --all moves the journals of 40 volumes of eight kinds, which hold files, to a server, to
# a second server, and back inside, and is killed again and again, each of its processes: the same
# command goes on, in the end each volume has moved, and each file is what it was.
# RJ_LONG=1: 50 kills in each direction, else 6.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh"
RJTUNE=$RJ_BUILD/rjtune/rjtune
PATH=$PATH:/sbin:/usr/sbin
RANDOM=${RJ_SEED:=$RANDOM}
note "RJ_SEED=$RJ_SEED"
kills=6
[ -z "${RJ_LONG:-}" ] || kills=50
dir=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo "$T_DIR")/rjmany.XXXXXX")
at_exit rm -rf "$dir"
start_server "$dir/s1" && one=$SRV_URL && start_server "$dir/s2" && two=$SRV_URL || exit 99
mkdir "$dir/tree" "$dir/out"
for i in 1 2 3; do head -c ${i}00k /dev/urandom >"$dir/tree/f$i"; done

kinds=("-t ext3 -b 1024" "-t ext3 -b 4096" "-t ext4 -b 1024" "-t ext4 -b 4096"
	"-t ext4 -b 1024 -O ^extent,^64bit" "-t ext4 -b 4096 -O bigalloc" "-t ext4 -b 1024 -O ^has_journal"
	"-t ext4 -b 2048")
for ((k = 0; k < 8; k++)); do
	size=16M
	[[ ${kinds[k]} != *4096* ]] || size=48M
	truncate -s $size "$dir/kind$k"
	mke2fs -q -F ${kinds[k]} -N 64 -d "$dir/tree" "$dir/kind$k" || exit 99
done
for ((i = 0; i < 40; i++)); do
	cp --sparse=always "$dir/kind$((i % 8))" "$dir/v$i"
	tune2fs -U random "$dir/v$i" >/dev/null 2>&1 || exit 99
	echo "$dir/v$i"
done >"$dir/list"

# one move takes so long here, with all that a process needs before it: in milliseconds
at=${EPOCHREALTIME/.}
cp --sparse=always "$dir/kind0" "$dir/one"
echo "$dir/one" | "$RJTUNE" -q -J "remote=$two/one,size=4" --all=- || exit 99
move_ms=$(((${EPOCHREALTIME/.} - at) / 1000 + 1))
half_done() {
	local i
	for ((i = 0; i < 40; i++)); do "$RJTUNE" -l "$dir/v$i"; done | grep '^Move under way: *yes'
}
# killed WORDS: kill rjtune and its processes again and again; then let it end
killed() {
	local i pid
	for ((i = 0; i < kills; i++)); do
		setsid "$RJTUNE" -q -J "$1" --all="$dir/list" >/dev/null 2>&1 &
		pid=$!
		sleep "$(printf %d.%03d $((move_ms * (RANDOM % 150 + 40) / 100 / 1000)) \
			$((move_ms * (RANDOM % 150 + 40) / 100 % 1000)))"
		# all at once, or only those that move
		((RANDOM % 4)) || pkill -KILL -P $pid
		((RANDOM % 8 == 0)) || kill -KILL -- -$pid 2>/dev/null
		wait $pid 2>/dev/null
		((i % 3)) || half_done >>"$dir/half"
	done
	"$RJTUNE" -J "$1" --all="$dir/list"
}
outcome() { sed -n '$p' <<<"$OUT"; }
# moved NAME WORDS PLACE
moved() {
	local i at=0
	status 0 "$1: after $kills kills the command ends well" killed "$2"
	note "$(outcome)"
	like "$1: none is left" "$(outcome)" '(^|, )0 did not$'
	for ((i = 0; i < 40; i++)); do
		[[ $("$RJTUNE" -l "$dir/v$i") == *"$3"* ]] && at=$((at + 1))
	done
	is "$1: all 40 are there" $at 40
	status 0 "$1: once more" "$RJTUNE" -J "$2" --all="$dir/list"
	is "$1: there is nothing to do" "$(outcome)" "0 moved, 40 had nothing to do, 0 did not"
}
moved "to a server" "remote=$one/%u,size=4" "$one"
is "each has a name of its own" "$(find "$dir/s1" -name 'nothing' | wc -l;
	"$RJSERVER" stats -d "$dir/s1" --json | jq '[.volumes[].name] | unique | length')" "0
40"
moved "to another server" "remote=$two/moved-%u" "$two"
moved "back" "size=4" 'internal'
note "$(wc -l <"$dir/half") times a half of a move was seen"
[ -z "${RJ_LONG:-}" ] || check "moves were cut off" [ -s "$dir/half" ]
bad=0
for ((i = 0; i < 40; i++)); do
	e2fsck -fn "$dir/v$i" >"$dir/fsck" 2>&1 || { note "v$i" "$(cat "$dir/fsck")"; bad=$((bad + 1)); }
	rm -rf "$dir/out" && mkdir "$dir/out"
	debugfs -R "rdump / $dir/out" "$dir/v$i" >/dev/null 2>&1
	rm -rf "$dir/out/lost+found"
	diff -r "$dir/tree" "$dir/out" >/dev/null || { note "v$i: other files"; bad=$((bad + 1)); }
done
is "each volume is whole, with each file" $bad 0
