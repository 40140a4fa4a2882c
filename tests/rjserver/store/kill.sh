#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kill -9 under load, RJ_KILL_ROUNDS times: every acknowledged object is there
# with its bytes, every acknowledged deletion stays, nothing is there by half.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"

D=$T_DIR/store ACKS=$T_DIR/acks
ALL=$T_DIR/acks.all
rounds=${RJ_KILL_ROUNDS:-8}
RANDOM=${RJ_SEED:=$((RANDOM * 32768 + RANDOM))}
note "RJ_SEED=$RJ_SEED"
# small data files: checkpoints, cleaning and recycling are cut off too
SERVER_OPTIONS="--file-size=4194304"
for ((round = 1; round <= rounds; round++)); do
	: >"$ACKS"
	opt=
	((round % 3)) || opt=--durability=received
	# shellcheck disable=SC2086
	start "$D" $opt || { note "$(cat "$LOG")"; not_ok "start $round"; exit 1; }
	"$LOAD" put "${BASE##*:}" 6 $((round * 1000000)) 40000 "$ACKS" >"$T_DIR/load" &
	load=$!
	sleep "0.$((RANDOM % 3 + 1))$((RANDOM % 10))5"
	stop KILL
	wait $load
	is "round $round: no answer but success" $? 0
	start "$D" || { note "$(cat "$LOG")"; not_ok "restart $round"; exit 1; }
	cat "$ACKS" >>"$ALL"
	# all rounds together now and then only: it takes longer each time
	if ((round % 10 == 0 || round == rounds)); then
		check "what all rounds acknowledged is there" \
			"$LOAD" verify "${BASE##*:}" "$ALL"
	fi
	if [ -s "$ACKS" ]; then
		check "round $round: what was acknowledged is there, and whole" \
			"$LOAD" verify "${BASE##*:}" "$ACKS"
	else
		skip "round $round" "the machine was too slow for one write"
	fi
	if grep -q DAMAGED "$LOG"; then
		note "$(cat "$LOG")"; not_ok "round $round: no damage"; fi
	# every other time the next load meets a store that was killed again
	if ((round % 2)); then stop; else stop KILL; fi
done
note "$(wc -l <"$ALL") acknowledgements in all"
