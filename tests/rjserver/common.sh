# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the tests of rjserver: start it, stop it, ask it.
RJSERVER=$RJ_BUILD/rjserver/rjserver
LOAD=$RJ_BUILD/tests/rjserver/http/load
UUID=0fedcba9-8765-4321-0123-456789abcdef
SERVER_PID= BASE= LOG=

# start DIR [OPTION...]: sets SERVER_PID, BASE (the URL) and LOG (its stderr).
# For everybody on this machine, unless ACCESS is set to other options;
# SERVER_OPTIONS go to each start.
start() {
	local dir=$1 out=$T_DIR/out.$RANDOM
	shift
	LOG=$T_DIR/stderr
	: >"$out"
	"$RJSERVER" -d "$dir" -l 127.0.0.1:0 ${ACCESS---insecure} ${SERVER_OPTIONS-} "$@" >"$out" 2>"$LOG" &
	SERVER_PID=$!
	at_exit kill -9 $SERVER_PID
	wait_for 20 ready_or_dead "$out" || return 1
	grep -q '^rjserver: listening on ' "$out" || return 1
	BASE=http://$(sed -n 's/^rjserver: listening on //p' "$out")
}
ready_or_dead() { [ -s "$1" ] || ! kill -0 $SERVER_PID; }
# stop [SIGNAL]: its exit status
stop() {
	kill "-${1:-TERM}" $SERVER_PID
	wait $SERVER_PID 2>/dev/null
}
seq20() { printf '%020d' "$1"; }
# code CURL-ARGUMENT...: the status; headers in $T_DIR/head, body in $T_DIR/body
code() {
	curl -s -m 120 --noproxy '*' --path-as-is -D "$T_DIR/head" -o "$T_DIR/body" \
		-w '%{http_code}' "$@"
}
body() { cat "$T_DIR/body"; }
head_has() { tr -d '\r' <"$T_DIR/head" | grep -qix -- "$1"; }
# the object's file offsets: place KEY-NUMBER, in the single data file
data_file() { printf '%s/store/%08d.rjd' "$1" "${2:-1}"; }
