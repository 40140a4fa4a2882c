#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each kind of fault strikes once or more under a writing volume (one.sh): the
# kernel sees no error, nothing acknowledged is lost, recovery is clean. A
# hundred seeds of each: tests/live/long.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/live/frame.sh" || exit 99
need_wire
seed=${RJ_SEED:-$RANDOM$RANDOM}
note "RJ_SEED=$seed"

# start KIND POLICY: in the background
names=() pids=()
start() {
	TMPDIR=$T_DIR timeout -k 20 600 bash "$RJ_SRC/tests/live/one.sh" "$1" "$2" \
		"$seed" >"$T_DIR/$1.$2" 2>&1 </dev/null &
	pids+=($!) names+=("$1.$2")
}
# finish: wait for the first that was started
finish() {
	local name=${names[0]}
	if wait "${pids[0]}"; then
		ok "$name: nothing is lost, and no error seen"
		note "$(grep -E '^# [0-9]+ acknowledged' "$T_DIR/$name")"
	else
		note "$(cat "$T_DIR/$name")"
		not_ok "$name: tests/live/one.sh ${name/./ } $seed"
	fi
	pids=("${pids[@]:1}") names=("${names[@]:1}")
}
for run in kill.block restart.error freeze.block full.block lost.block \
	duplicate.block delay.block reset.block down.block mute.block loss.block \
	mix.block mix.error kill.local mix.local worker.local; do
	start ${run/./ }
	((${#pids[@]} < ${RJ_AT_ONCE:-4})) || finish
done
while ((${#pids[@]})); do finish; done
