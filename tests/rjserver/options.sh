#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The command line of rjserver, and one server for one directory and address.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"

D=$T_DIR/d
# usage NAME REGEX OPTION...: exit 1, the first line matches, nothing made
usage() {
	local name=$1 want=$2
	shift 2
	status 1 "$name: exit 1" timeout 120 "$RJSERVER" "$@"
	like "$name: says so" "$(head -n 1 <<<"$OUT")" "^rjserver: (.*[^a-z])?$want"
	if [ -e "$D" ]; then not_ok "$name: nothing is made"; else ok "$name: nothing is made"; fi
}
L="-l 127.0.0.1:0 --insecure"
usage "no directory" '-d DIR' $L
usage "no address" '-l ADDR:PORT' -d "$D"
usage "a word too many" 'foo: not an option' -d "$D" $L foo
usage "a wrong durability" 'fsync or received' -d "$D" $L --durability=some
usage "no accounts" 'there are no accounts; make one with' -d "$D" -l 127.0.0.1:0
usage "a certificate without its key" 'TLS needs both' -d "$D" $L --cert /dev/null
usage "a key without its certificate" 'TLS needs both' -d "$D" $L --key /dev/null
usage "client certificates without TLS" '--client-ca: client certificates need TLS' \
	-d "$D" $L --client-ca /dev/null
usage "a wrong size" '--min-free: .*is no size' -d "$D" $L --min-free 5X
usage "a file too small" '--file-size: .*64k to 1G' -d "$D" $L --file-size 63k
usage "a request without time" '--request-time: .*1s to 1h' -d "$D" $L --request-time 0s
usage "an option of a subcommand" 'only an option of the subcommands' -d "$D" $L --rights read
usage "an option of the server" 'not an option of users' users -d "$D" --cert x
usage "a subcommand without a name" 'say which account' deluser -d "$D"
for a in 127.0.0.1 127.0.0.1: :7490 127.0.0.1:99999 127.0.0.1:x ::1:7490 '[::1]' '[]:1' \
	127.0.0.1:-1 nosuchhost.invalid:1; do
	usage "-l $a" "-l " -d "$D" --insecure -l "$a"
done
status 2 "an address of somebody else: exit 2" "$RJSERVER" -d "$D" --insecure -l 192.0.2.1:7490
like "and says so" "$OUT" 'cannot listen there'
status 2 "a parent that is not there: exit 2" "$RJSERVER" -d "$D/x/y" $L
like "and names it" "$OUT" "$D/x/y: cannot make the directory"
status 0 "--help" "$RJSERVER" --help
status 0 "-V" "$RJSERVER" -V

start "$D" || { not_ok "rjserver starts"; exit 1; }
is "the directory is private" "$(stat -c %a "$D")" 700
is "the ready line is all of stdout" "$(cat "$T_DIR"/out.*)" "rjserver: listening on ${BASE#http://}"
is "loopback: nothing to warn of" "$(cat "$LOG")" ""
status 2 "a second server on the directory: exit 2" "$RJSERVER" -d "$D" $L
like "and says why" "$OUT" 'another rjserver is using it'
status 2 "a second server on the port: exit 2" "$RJSERVER" -d "$T_DIR/d2" --insecure -l "${BASE#http://}"
is "the first one is not disturbed" "$(code "$BASE/")" 200
stop KILL
start "$D"
is "kill -9 leaves no lock" $? 0
stop
like "a stop is noted" "$(cat "$LOG")" '^rjserver: stopped$'
start "$D" -q
stop
is "but not with -q" "$(cat "$LOG")" ""

# other addresses
serve_at() {
	: >"$T_DIR/o" # not what the one before had said
	"$RJSERVER" -d "$D" --insecure -l "$@" >"$T_DIR/o" 2>"$T_DIR/e" &
	SERVER_PID=$!
	at_exit kill -9 $SERVER_PID
	wait_for 20 ready_or_dead "$T_DIR/o"
}
if serve_at '[::1]:0' && [ -s "$T_DIR/o" ]; then
	like "IPv6" "$(cat "$T_DIR/o")" '^rjserver: listening on \[::1\]:[0-9]+$'
	is "and it answers" "$(code "http://$(sed 's/.* //' "$T_DIR/o")/")" 200
	stop
else
	skip "IPv6" "no ::1 here"
fi
serve_at localhost:0
like "a name" "$(cat "$T_DIR/o")" '^rjserver: listening on (127\.|\[::1\])'
stop

# An address that others could reach: in a network of its own, nobody can.
alone() {
	: >"$T_DIR/o"
	unshare -n bash -c 'ip link set lo up && ip addr add 192.0.2.1/32 dev lo &&
		exec timeout 120 "$@"' bash "$RJSERVER" -d "$D" -l 192.0.2.1:0 "$@" \
		>"$T_DIR/o" 2>"$T_DIR/e" &
	SERVER_PID=$!
	wait_for 30 ready_or_dead "$T_DIR/o"
	kill $SERVER_PID # timeout passes it on
	wait $SERVER_PID
}
if unshare -n ip link set lo up 2>/dev/null; then
	alone --insecure
	like "--insecure is not for it" "$(cat "$T_DIR/e")" '--insecure is for loopback addresses'
	alone
	like "nor is it served without TLS" "$(cat "$T_DIR/e")" 'tokens would cross the network in clear'
	is "nothing is said on stdout" "$(cat "$T_DIR/o")" ""
else
	skip "an address that others could reach" "no network namespaces, or no ip(8)"
fi
