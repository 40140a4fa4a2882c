#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Clients that never pause: others' puts are answered beside them, and what lies
# in the batch when the server is told to stop is written whole.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"

flood() { # CONNECTIONS: sets FLOOD
	: >"$T_DIR/flood"
	"$RJ_BUILD/tests/rjserver/http/flood" "${BASE##*:}" "$1" >"$T_DIR/flood" &
	FLOOD=$!
	at_exit kill $FLOOD
	wait_for 20 test -s "$T_DIR/flood" || { not_ok "a flood"; exit 1; }
}
put_came() { # of the first connection
	local first
	first=$(printf %08x $(($1 * 1000 + 1)))-0000-4000-8000-000000000000
	[ "$(code "$BASE/load/$first/log/")" = 200 ] && [ -s "$T_DIR/body" ]
}
start "$T_DIR/store" || { not_ok "rjserver starts"; exit 1; }
flood 4
check "puts beside a flood of refused requests" \
	timeout 120 "$LOAD" bench "${BASE##*:}" 1 1 40 4096
check "it still comes" kill -0 $FLOOD
stop
is "stopped in order in the midst of it" $? 0
wait $FLOOD

# with so many there is something in the batch nearly always
for ((i = 1; i <= 2; i++)); do
	: >"$T_DIR/acks"
	start "$T_DIR/store" || { not_ok "rjserver starts"; exit 1; }
	flood 1
	"$LOAD" put "${BASE##*:}" 30 $((i * 1000000)) 10000 "$T_DIR/acks" >"$T_DIR/load" &
	load=$!
	wait_for 20 put_came "$i" || not_ok "$i: puts come"
	stop
	is "$i: stopped in order among puts" $? 0
	wait $load
	is "$i: no answer but success" $? 0
	wait $FLOOD
	status 0 "$i: the store is whole" timeout 60 "$RJSERVER" check "$T_DIR/store"
	start "$T_DIR/store" || { not_ok "rjserver starts"; exit 1; }
	check "$i: what was acknowledged is there" "$LOAD" verify "${BASE##*:}" "$T_DIR/acks"
	stop
done
