#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A hundred volumes relocated by contrib/relocate-journals, two of them broken:
# it tells which and why, the others have moved, the two are as they were.
. "$RJ_SRC/tests/support/lib.sh"
PATH=$(realpath "$RJ_BUILD")/rjtune:$PATH:/sbin:/usr/sbin
relocate=$(realpath "$RJ_SRC")/contrib/relocate-journals
dir=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo "$T_DIR")/rjmove.XXXXXX")
at_exit rm -rf "$dir"
mkdir "$dir/store" "$dir/store2"
n=100 dirty=37 torn=73

truncate -s 4M "$dir/base"
mke2fs -q -F -t ext4 -b 1024 -N 64 -J size=1 -d "$RJ_SRC/tests/support" "$dir/base"
for ((i = 1; i <= n; i++)); do
	cp --sparse=always "$dir/base" "$dir/v$i"
	echo "$dir/v$i"
done >"$dir/list"
debugfs -w -R "feature needs_recovery" "$dir/v$dirty" >/dev/null 2>&1
dd if=/dev/zero of="$dir/v$torn" bs=1024 seek=1 count=1 conv=notrunc status=none
cp "$dir/v$dirty" "$dir/kept-dirty"; cp "$dir/v$torn" "$dir/kept-torn"

OUT=$("$relocate" -r "$dir/json" -J "remote=file://$dir/store,size=1" "$dir/list" 2>"$dir/err")
is "some did not move: status 1" "$?" 1
is "98 did, 2 did not" "$(tail -n 1 "$dir/err")" "98 moved, 2 did not: 1 refused, 1 needs-recovery"
is "a line for each" "$(grep -c "$(printf '\t')" <<<"$OUT")" $n
is "98 lines say moved" "$(grep -c "$(printf '\tmoved')" <<<"$OUT")" 98
is "which did not" "$(grep -v "$(printf '\tmoved')" <<<"$OUT" | cut -f1)" \
	"$(printf '%s\n' "$dir/v$dirty" "$dir/v$torn")"
line() { grep "^$dir/v$1$(printf '\t')" <<<"$OUT"; }
like "why: one needs recovery" "$(line $dirty)" 'needs-recovery.*must be replayed'
like "why: one is damaged" "$(line $torn)" '	(refused|failed|error)	.*v73.*'
note "$(line $dirty)" "$(line $torn)"
check "the first is as it was" cmp "$dir/v$dirty" "$dir/kept-dirty"
check "so is the second" cmp "$dir/v$torn" "$dir/kept-torn"
is "each of the others has its own log" \
	"$(find "$dir/store" -mindepth 1 -maxdepth 1 -type d | wc -l)" 98
placed=0
for i in 1 $((dirty - 1)) $((torn + 1)) $n; do
	[[ $(rjtune -l --json "$dir/v$i") = *'"placement":"remote"'* ]] && placed=$((placed + 1))
done
is "rjtune sees them there" $placed 4
if command -v jq >/dev/null; then
	is "the JSON report: 98 done" \
		"$(jq -r .outcome "$dir/json" | sort | uniq -c | tr -s ' ')" " 98 done
 1 nothing
 1 null"
else
	skip "the JSON report" "no jq"
fi

# a name that looks like an option
cp "$dir/base" "$dir/-y" && (cd "$dir" && "$relocate" -J "remote=file://$dir/store2,size=1" <<<-y) >"$dir/out" 2>&1
like "a volume of the name -y moves" "$(cat "$dir/out")" "^-y	moved	remote log .*store2\$"

# a move that was cut off: the process is killed when it writes behind byte 65536
cp "$dir/base" "$dir/cut"
{ (ulimit -f 64; exec rjtune -q -J "remote=file://$dir/store2,size=1" "$dir/cut"); } >/dev/null 2>&1
like "a move that was cut off" "$(rjtune -l "$dir/cut")" "^Move under way: +yes"
cp "$dir/cut" "$dir/kept-cut"
"$relocate" -n -J "remote=file://$dir/store2,size=1" <<<"$dir/cut" >"$dir/out" 2>&1
is "-n: status 1" "$?" 1
like "-n tells of it" "$(cat "$dir/out")" "^$dir/cut	half-done	.*: a move was cut off, and would be finished or taken back first"
like "-n: a summary in its own words" "$(cat "$dir/out")" '^0 would move, 1 would not: 1 half-done'
check "-n: it is as it was" cmp "$dir/cut" "$dir/kept-cut"
"$relocate" -J "remote=file://$dir/store2,size=1" <<<"$dir/cut" >"$dir/out" 2>&1
like "without -n it moves" "$(cat "$dir/out")" "^$dir/cut	moved	remote log .*store2\$"

# a reason that is gone: the same list again; what has moved is not moved again
e2fsck -fy "$dir/v$dirty" >/dev/null 2>&1
objects=$(find "$dir/store" -type f | wc -l)
sed -n "$((dirty - 2)),$((dirty + 2))p" "$dir/list" |
	"$relocate" -J "remote=file://$dir/store,size=1" >"$dir/out" 2>&1
is "the rest of them, again: all have moved" "$?" 0
is "one new log" "$(find "$dir/store" -mindepth 1 -maxdepth 1 -type d | wc -l)" 99
check "and nothing else at the store" test \
	"$(find "$dir/store" -type f | wc -l)" -le $((objects + 4))
