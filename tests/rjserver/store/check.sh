#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjserver check: what is whole, what is damaged, what is gone; nothing changed.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"

SERVER_OPTIONS="--file-size=1048576"
D=$T_DIR/store
sums() { find "$1" -type f -exec md5sum {} + | sort; }
check_it() { # NAME STATUS REGEX
	local before
	before=$(sums "$D")
	status "$2" "$1: exit $2" timeout 120 "$RJSERVER" check "$D"
	like "$1: says so" "$OUT" "$3"
	is "$1: nothing is changed" "$(sums "$D")" "$before"
}
start "$D" || { not_ok "rjserver starts"; exit 1; }
check "200 objects" "$LOAD" bench "${BASE##*:}" 2 1 100 20000
# it marks the end of what it wrote when a second has gone by: not while we look
stopped() { ! sed 's/.*) //' "/proc/$SERVER_PID/task"/*/stat | grep -qv '^T'; }
kill -STOP $SERVER_PID
check "a server, at rest" wait_for 30 stopped
check_it "a server is running" 2 'a server is using it'
kill -CONT $SERVER_PID
stop
check "there is a checkpoint" test -e "$D/store/checkpoint"
check_it "stopped" 0 ': [0-9]+ data files, 200 objects, 4000000 bytes: all whole$'
start "$D"
: >"$T_DIR/none"
code -T "$T_DIR/none" "$BASE/n/$UUID/log/$(seq20 1)" >/dev/null
stop KILL
check_it "killed" 0 '201 objects, 4000000 bytes: all whole$'
cp -a "$D" "$T_DIR/keep"
F=$(data_file "$D" 2)
flip "$F" 300000
check_it "a flipped byte" 2 '1 damaged, 0 missing'
like "the object is named" "$OUT" 'DAMAGED: the object /load/'
cp "$T_DIR/keep/store/00000002.rjd" "$F"
rm "$F"
check_it "a file is gone" 2 '(00000002.rjd: gone|records that must be here)'
start "$D" && { not_ok "the server does not start"; stop KILL; }
like "it names the file" "$(cat "$LOG")" '00000002.rjd: gone or cut off'
like "and says how much" "$(cat "$LOG")" 'knows [0-9]+ objects'
rm "$D/store/checkpoint"
start "$D"
is "without the checkpoint it serves what is left, as damaged" \
	"$(code "$BASE/n/$UUID/log/$(seq20 99)")" 500
stop
rm -rf "$D"
mkdir "$D"
status 2 "not a store: exit 2" "$RJSERVER" check "$D"
like "says so" "$OUT" 'is .* the directory of a store'
status 1 "no directory: exit 1" "$RJSERVER" check
