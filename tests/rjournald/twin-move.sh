#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# From one store to two, and from two to one: not while the volume is served or
# mounted, and killed with -9 in the middle it goes on or is taken back. Every
# cut of the writes of such a move is tried by cuts.sh.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
. "$RJ_SRC/tests/rjournald/twins.sh"
RJTUNE=$RJ_BUILD/rjtune/rjtune
start_a && start_b || exit 99
place() { "$RJTUNE" -l --json "$img" | jq -r .journal.url; }
command -v jq >/dev/null || skip_all "needs jq"

# ---- a volume in use ----
check "a volume with one store" volume "$img" ext4 4096 "$A"
check "served and mounted" served
check "files whose fsync returned" fsynced "$mnt" 5 "$T_DIR/s"
sum() { head -c 4096 "$img" | sha256sum; }
sync -f "$mnt" # no writeback of the superblock later
before=$(sum)
status 3 "mounted: to two stores is refused" "$RJTUNE" -J "remote=$A,remote=$B,size=8" "$img"
note "$OUT"
is "nothing was changed" "$(sum)" "$before"
is "and nothing was begun in the second store" "$("$RJLOG" ls "$B" 2>/dev/null | grep -c -- '-.*-.*-.*-')" 0
check "a fsync returns" one goes-on
files
check "unmounted" timeout 30 umount "$mnt"
status 3 "served: refused, too" "$RJTUNE" -J "remote=$A,remote=$B,size=8" "$img"
like "and says what ends that" "$OUT" 'rjctl stop'
check "ended" unserve

# ---- killed in the middle ----
# killed WORDS TO: at moments all over the time that it takes; each resumed, and then
# at one place or the other
killed() {
	local words=$1 from to=$2 i at us cut=0 old=0 new=0
	from=$(place)
	cp --sparse=always "$img" "$T_DIR/from.img"
	us=$(date +%s%6N)
	"$RJTUNE" -q -J "$words,size=8" "$img" || return 1
	us=$(($(date +%s%6N) - us))
	for i in 3 5 6 7 8 9 10 12; do
		cp --sparse=always "$T_DIR/from.img" "$img"
		"$RJTUNE" -q -J "$words,size=8" "$img" >"$T_DIR/out" 2>&1 &
		timeout "$(printf '0.%06d' $((us * i / 10 % 1000000)))" tail --pid=$! -f /dev/null
		kill -KILL $! 2>/dev/null
		wait $! 2>/dev/null
		[ "$("$RJTUNE" -l --json "$img" | jq .move_under_way)" != true ] || cut=$((cut + 1))
		timeout 60 "$RJTUNE" -q --resume "$img" || return 1
		at=$(place)
		case $at in
		"$from") old=$((old + 1)) ;;
		"$to") new=$((new + 1)) ;;
		*) note "neither: $at"; return 1 ;;
		esac
		timeout 60 "$RJRECOVER" -n "$img" >"$T_DIR/out" 2>&1 || {
			cat "$T_DIR/out"
			return 1
		}
	done
	RESULT="half done $cut, resumed to the old place $old, to the new one $new"
	[ "$at" = "$to" ] || "$RJTUNE" -q -J "$words,size=8" "$img"
}
check "to two stores" killed "remote=$A,remote=$B" "$A,$B"
note "$RESULT"
is "and it is there" "$(place)" "$A,$B"
check "served and mounted" served
check "all is there" intact
check "a fsync returns" one moved
files
check "both are needed" wait_for 30 both_needed
check "unmounted" timeout 30 umount "$mnt"
check "ended" unserve
check "to one store" killed "remote=$B" "$B"
note "$RESULT"
is "and it is there" "$(place)" "$B"
kill_pid "$A_PID"
check "served and mounted without the other one" served
check "all is there" intact
check "a fsync returns" one moved-again
check "unmounted" timeout 30 umount "$mnt"
check "ended" unserve
