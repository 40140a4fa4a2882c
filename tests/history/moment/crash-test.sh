#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjbackup drill --at=every: a program's own crash test. SQLite moves money between two tables, and
# another program syncs in the middle: with its rollback journal each commit is sound, without one
# the first that is not is found, by any number of jobs, and restored.
. "$RJ_SRC/tests/history/run.sh" || exit 99
python3 -c 'import sqlite3' 2>/dev/null || skip_all "no sqlite3 in Python"
start_server "$T_DIR/srv" || exit 99
for m in mnt one; do at_exit umount -l "$T_DIR/$m"; done
history_conf ""
mkdir scratch one
BASE=$T_DIR/base.img
APPS=$RJ_SRC/tests/history/moment/apps.py
bank() { mkdir -p "mnt/$2" && python3 "$APPS" "$1" "$2" "mnt/$2" "${3:-0}"; }
drill() { timeout 900 "$RJBACKUP" drill --scratch=scratch --base="$BASE" "$@"; }
none() { ! pgrep -f "rjbackup drill .*--base=$BASE"; }
untouched() { # NAME
	check "$1: nothing is left" wait_for 60 none
	is "$1: no file" "$(ls scratch)" ""
	check "$1: the base is as it was" cmp base.img good.img
}
# first_bad OPTION...: BAD and GOOD
first_bad() {
	OUT=$(drill --json --exec="${CHECK:-python3 $APPS check $APP \"\$1/$APP\"}" "$@" 2>err)
	RC=$?
	BAD=$(jq -r .first_bad.segment <<<"$OUT") GOOD=$(jq -r .last_good.segment <<<"$OUT")
}
seed=${RJ_SEED:-$RANDOM}
note "RJ_SEED=$seed"
kinds "$seed" "ext4 4096" "ext3 1024"
for kind in "${KINDS[@]}"; do
	rm -rf v.img base.img
	check "$kind: a volume" history_volume $kind journal ""
	"$WORK" ops mnt 1 50 >/dev/null
	check "$kind: a program" bank init sqlite-delete && sync -f mnt
	status 0 "$kind: a base" "$RJBACKUP" base -o "$BASE" mnt
	cp --sparse=always base.img good.img
	bank write sqlite-delete 4 && sync -f mnt
	APP=sqlite-delete
	first_bad --at=every --jobs=2
	is "$kind: with its journal SQLite is sound at each commit" "$RC $BAD" "0 null"
	all=$(jq .moments <<<"$OUT")
	check "$kind: $all commits" test "$all" -ge 12
	is "$kind: the last one is the log's" "$(jq .last_good.tid <<<"$OUT")" \
		"$("$RJBACKUP" ls --json "$BASE" | jq .reached.tid)"
	CHECK=true first_bad --at=every
	is "$kind: one job tries as many" "$RC $(jq .moments <<<"$OUT")" "0 $all"
	CHECK=true first_bad --at=every:5
	check "$kind: a fifth of them" test $(($(jq .moments <<<"$OUT") * 5)) -le $((all + 10))
	status 0 "$kind: what cannot be judged is counted" drill --at=every:10 --exec='exit 125'
	like "... and told" "$OUT" '^[0-9]+ moments tried, [0-9]+ of them could not be judged'

	rm base.img
	check "$kind: a program that is not safe" bank init sqlite-off && sync -f mnt
	status 0 "$kind: a later base" "$RJBACKUP" base -o "$BASE" mnt
	cp --sparse=always base.img good.img
	bank write sqlite-delete 2 && bank write sqlite-off 4 && touch mnt/late && sync -f mnt
	APP=sqlite-off
	first_bad --at=every -o bad.img
	is "$kind: without one it is not" "$RC" 4
	bad=$BAD good=$GOOD
	like "$kind: why is told" "$(cat err)" 'money was made or lost|not whole'
	check "$kind: the last good one is before it" test "$good" -lt "$bad"
	check "$kind: the bad one is restored" mount -o loop bad.img one
	status 1 "$kind: it has what was found" python3 "$APPS" check $APP one/$APP
	umount one
	timeout 120 "$RJBACKUP" mount --writable --scratch=scratch --at="segment:$good" --base="$BASE" one
	status 0 "$kind: the good one has not" python3 "$APPS" check $APP one/$APP
	umount one && wait_for 60 none
	rm bad.img
	first_bad --at=every --jobs=3
	is "$kind: three jobs find the same" "$RC $BAD $GOOD" "4 $bad $good"
	# what stays bad is found by a part of the commits, too
	CHECK='[ ! -e "$1/late" ]' first_bad --at=every
	is "$kind: the commit that made a file is found" "$RC $((GOOD < BAD))" "4 1"
	bad=$BAD good=$GOOD
	for how in --at=every:7 "--at=every:4 --jobs=2"; do
		# shellcheck disable=SC2086
		CHECK='[ ! -e "$1/late" ]' first_bad $how
		is "$kind: ... by $how" "$RC $BAD $GOOD" "4 $bad $good"
	done
	touch bad.img
	status 8 "$kind: a file that is there is no place for the bad moment" \
		drill --at=every -o bad.img --exec=true
	like "... and said before the work" "$OUT" 'bad.img: it is there already'
	rm bad.img
	status 0 "$kind: a daemon that the command leaves" drill --at=every:10 \
		--exec="cd \"\$1\" && { setsid sleep 3000.$$ >/dev/null 2>&1 & } && sleep 0.1 && pgrep -fx 'sleep 3000.$$'"
	check "... ends with it" eval '! pgrep -fx "sleep 3000.$$"'
	status 4 "$kind: ... and a failure is one nevertheless" drill --at=every:10 \
		--exec="cd \"\$1\" && { setsid sleep 3000.$$ >/dev/null 2>&1 & } && false"
	untouched "$kind"
	drill --at=every --jobs=2 --exec='echo >>began; sleep 60' >out 2>&1 &
	check "$kind: two commands run" wait_for 60 eval '[ "$(wc -l <began)" = 2 ]'
	pkill -TERM -o -f "rjbackup drill .*--base=$BASE"
	wait $!
	is "$kind: a signal ends it" $? 8
	rm began
	untouched "$kind: after a signal"
	history_umount || exit 99
done
status 16 "without a command" drill --at=every
status 16 "with --compare" drill --at=every --exec=true --compare=.
status 16 "--jobs alone" drill --exec=true --jobs=2
status 16 "no number" drill --at=every:x --exec=true
status 16 "not for restore" "$RJBACKUP" restore --at=every --base="$BASE" -o x
