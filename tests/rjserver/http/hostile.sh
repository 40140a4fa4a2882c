#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Clients that are slow, silent, gone or mad: cut off or ignored; the others are
# not disturbed, and nothing of it is stored.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"

# each request has so many seconds from its first byte to its last
SERVER_OPTIONS=--request-time=5s
start "$T_DIR/store" || { not_ok "rjserver starts"; exit 1; }
P=/host1/$UUID/log
K=$BASE$P
head -c 3000000 /dev/urandom >"$T_DIR/big"
for n in 1 2 3 4 5 6; do code -T "$T_DIR/big" "$K/$(seq20 $n)" >/dev/null; done
check "the hostile client" timeout 400 "$RJ_BUILD/tests/rjserver/http/hostile" "${BASE##*:}" "$P"
is "the server still serves" "$(code "$K/$(seq20 1)")" 200
check "whole" cmp "$T_DIR/big" "$T_DIR/body"
is "nothing came of it" "$(code "$K/") $(wc -l <"$T_DIR/body")" "200 6"
stop
is "stopped in order" $? 0

# stopped in the middle of a stream
start "$T_DIR/store"
"$RJ_BUILD/tests/rjserver/http/hostile" "${BASE##*:}" "$P" hold >"$T_DIR/hold" &
hold=$!
wait_for 60 test -s "$T_DIR/hold" || exit 99
stop
is "stopped in the middle of a stream" $? 0
wait $hold

# a body for which there is no memory in its time
SERVER_OPTIONS=--request-time=12s
start "$T_DIR/store"
check "a body without memory is answered" timeout 400 "$RJ_BUILD/tests/rjserver/http/hostile" "${BASE##*:}" "$P" starve
stop
is "stopped in order" $? 0
