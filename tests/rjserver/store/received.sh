#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# With --durability=received, too, there are checkpoints, and data files in which nothing
# lives are dropped.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"

D=$T_DIR/store
head -c 10000 /dev/urandom >"$T_DIR/a"
start "$D" --durability=received --file-size=64k || { note "$(cat "$LOG")"; not_ok "rjserver starts"; exit 1; }
K=$BASE/n/$UUID/log
n=0 bad=0
# an object comes and goes
turn() {
	n=$((n + 1))
	[ "$(code -T "$T_DIR/a" "$K/$(seq20 $n)") $(code -X DELETE "$K/$(seq20 $n)")" = "201 204" ] ||
		bad=$((bad + 1))
}
files() { find "$D/store" -name '*.rjd' | wc -l; }
# one under way is taken over when something is written
few() {
	local i
	for ((i = 0; i < 100; i++)); do
		(($(files) > 4)) || return 0
		sleep 0.2
		turn
	done
	return 1
}
for ((i = 0; i < 40; i++)); do turn; done
check "nothing lives: few data files" few
note "$(files) of $(find "$D/store" -name '*.rjd' | sort | tail -n 1)"
check "there is a checkpoint" test -s "$D/store/checkpoint"
is "$n objects came and went" "$bad" 0
is "one stays" "$(code -T "$T_DIR/a" "$K/$(seq20 999)")" 201
stop KILL
start "$D" --durability=received --file-size=64k
K=$BASE/n/$UUID/log
is "after kill -9 it alone is there" "$(code "$K/") $(cat "$T_DIR/body")" "200 $(seq20 999) 10000"
stop
is "stopped in order" $? 0
