#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# More connections than descriptors: who has shown that a request is let in is
# served, whoever says nothing makes room for others, and the log is not filled.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"

ulimit -n 64 || skip_all "cannot limit the descriptors"
start "$T_DIR/store" || { not_ok "rjserver starts"; exit 1; }
ulimit -Sn 64
port=${BASE##*:}
key=/x/$UUID/log/$(seq20 1)
lines() { wc -l <"$LOG"; }
# ask: a request over the connection that is descriptor 9; its status line
ask() {
	local line rest
	printf 'GET / HTTP/1.1\r\nHost: x\r\n\r\n' >&9 && read -r -t 120 line <&9 &&
		tr -d '\r' <<<"$line"
	while read -r -t 120 rest <&9 && [ "${rest%% *}" != rjserver ]; do :; done
}
exec 9<>/dev/tcp/127.0.0.1/"$port"
like "a connection is served" "$(ask)" "^HTTP/1.1 200"

# two processes' worth of idle connections: this shell has no more descriptors
# than the server
crowd() {
	local i fd
	for ((i = 0; i < 40; i++)); do
		exec {fd}<>/dev/tcp/127.0.0.1/"$port" || break
	done
	touch "$T_DIR/crowd.$1"
	exec sleep 100
}
crowd 1 & first=$!
crowd 2 & second=$!
at_exit kill $first $second
wait_for 60 test -e "$T_DIR/crowd.1" -a -e "$T_DIR/crowd.2" || exit 99
check "rjserver says that there are too many" \
	wait_for 30 grep -q "too many connections" "$LOG"
is "others get in beside them" "$(code "$BASE/")" 200
check "but not again and again ($(lines) lines)" test "$(lines)" -lt 10
is "nor does it work for nothing" "$(awk '{print ($14 + $15 < 200)}' "/proc/$SERVER_PID/stat")" 1
like "who was there before is served" "$(ask)" "^HTTP/1.1 200"
is "others put" "$(code -T "$0" -H 'If-None-Match: *' "$BASE$key")" 201
kill $first $second
stop
is "stopped in order" $? 0
