#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Running it: the configuration file, SIGHUP, the service manager, the journal's
# levels, /metrics, /status and "stats".
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"

D=$T_DIR/store CONF=$T_DIR/conf
echo segment >"$T_DIR/a"
# what came after line $1 of the log
said() { tail -n "+$(($1 + 1))" "$LOG"; }

# a configuration file that is not usable: one line, by file and line
bad() {
	printf "$2" >"$CONF"
	status "${4:-1}" "$1: refused" timeout 120 "$RJSERVER" --config "$CONF"
	like "in one line" "$(wc -l <<<"$OUT") $OUT" "^1 rjserver: $3"
}
bad "a word that means nothing" '[server]\ndir = x\nport = 7\n' "$CONF:3: \"port\" means nothing"
bad "no section" 'dir = x\n' "$CONF:1: \"dir\" is neither in .server. nor"
bad "another section" '[servers]\ndir = x\n' "$CONF:2: \"dir\" is neither"
bad "no value" '[server]\ndir\n' "$CONF:2: neither"
bad "an empty one" '[server]\ndir =\n' "$CONF:2: dir: says nothing"
bad "a size that is none" '[server]\nmin-free = 5 G\n' "$CONF:2: min-free: \"5 G\" is no size"
bad "a size too large" '[server]\nmin-free = 99999999999T\n' "$CONF:2: min-free: .*is no size"
bad "a time that is none" '[volume a]\nkeep = 5y\n' "$CONF:2: keep: \"5y\" is no time"
bad "a volume that is none" '[volume a/b]\nkeep = 5d\n' "$CONF:2: .volume a/b. names no volumes"
bad "a long line" "[server]\ndir = $(printf 'x%.0s' {1..3000})\n" "$CONF:2: this line is too long"
bad "neither yes nor no" '[server]\ninsecure = maybe\n' "$CONF:2: insecure = maybe: it is yes or no"
bad "no directory" '[server]\nlisten = 127.0.0.1:0\n' "say where the store is"
rm "$CONF"
status 2 "a file that is not there: refused" timeout 120 "$RJSERVER" --config "$CONF"
like "by its name" "$OUT" "$CONF: cannot open"

# the service manager
"$RJ_BUILD/tests/rjserver/notified" "$T_DIR/notify" >"$T_DIR/heard" &
at_exit kill $!
heard() { grep -Eq -- "$1" "$T_DIR/heard"; }
check "somebody listens" wait_for 20 heard ready
export NOTIFY_SOCKET=$T_DIR/notify WATCHDOG_USEC=200000
conf() {
	cat >"$CONF" <<END
# comments, and what the command line says comes first
[server]
dir = $1
listen = 127.0.0.1:1
durability = ${2:-fsync} ; so
insecure = ${3:-yes}
min-free = ${4:-1k}
END
}
conf "$T_DIR/elsewhere"
ACCESS='' start "$D" --config "$CONF" || { note "$(cat "$LOG")"; not_ok "starts"; exit 1; }
like "the command line comes before the file" "$BASE" ':[0-9]{4,}$'
is "for dir, too" "$(test -e "$T_DIR/elsewhere"; echo $?)" 1
check "READY=1" wait_for 20 heard '^READY=1$'
pings() { [ "$(grep -c '^WATCHDOG=1$' "$T_DIR/heard")" -ge "$1" ]; }
check "the watchdog is answered" wait_for 20 pings 3
kill -STOP $SERVER_PID
# a second without; what it had sent before may still be on its way
silent() { [ "$(timeout 1 tail -n 0 -f "$T_DIR/heard" | grep -c WATCHDOG)" = 0 ]; }
check "by a server that lives" wait_for 20 silent
n=$(grep -c WATCHDOG "$T_DIR/heard")
kill -CONT $SERVER_PID
check "and again when it goes on" wait_for 20 pings $((n + 2))

# SIGHUP: taken up, named, or refused as a whole
lines() { wc -l <"$LOG"; }
hup() { local was; was=$(lines); kill -HUP $SERVER_PID; wait_for 60 more "$was" || exit 99; }
more() { said "$1" | grep -q reloaded; }
K=$BASE/host1/$UUID/log
is "before" "$(code -T "$T_DIR/a" "$K/$(seq20 1)")" 201
conf "$D" fsync yes 1000T
at=$(lines); hup
like "SIGHUP is said" "$(said "$at")" '^rjserver: reloaded'
is "and taken up" "$(code -T "$T_DIR/a" "$K/$(seq20 2)")" 507
check "RELOADING=1" wait_for 20 heard '^RELOADING=1 MONOTONIC_USEC=[0-9]+$'
check "and READY=1 again" wait_for 20 eval '[ "$(grep -c ^READY=1 "$T_DIR/heard")" = 2 ]'
conf "$T_DIR/elsewhere" received no 1k
at=$(lines); hup
# dir and listen are the command line's
like "durability needs a restart: named" "$(said "$at")" 'durability is still fsync: it needs a restart'
like "so does insecure" "$(said "$at")" 'insecure is still yes: it needs a restart'
is "the rest is taken up" "$(code -T "$T_DIR/a" "$K/$(seq20 2)")" 201
echo 'min-free = lots' >>"$CONF"
at=$(lines); hup
like "a file that is not usable" "$(said "$at")" "not reloaded, all stays as it was: $CONF:8:"
is "changes nothing" "$(code -T "$T_DIR/a" "$K/$(seq20 3)")" 201
stop
is "stops in order" $? 0
check "STOPPING=1" wait_for 20 heard '^STOPPING=1$'
unset WATCHDOG_USEC
# dir and listen in the file alone
conf "$D"
sed -i 's/127.0.0.1:1$/127.0.0.1:0/' "$CONF"
"$RJSERVER" --config "$CONF" >"$T_DIR/o" 2>"$LOG" &
SERVER_PID=$!
at_exit kill -9 $SERVER_PID
wait_for 20 ready_or_dead "$T_DIR/o"
like "all from the file" "$(cat "$T_DIR/o")" 'listening on 127.0.0.1:'
conf "$T_DIR/elsewhere"
at=$(lines); hup
like "dir needs a restart" "$(said "$at")" "dir is still $D: it needs a restart"
like "so does listen" "$(said "$at")" 'listen is still 127.0.0.1:0: it needs a restart'
stop
unset NOTIFY_SOCKET

# levels for the journal: only if stderr is the journal's
: >"$T_DIR/journal"
JOURNAL_STREAM=$(stat -c %d:%i "$T_DIR/journal") timeout 120 "$RJSERVER" -d "$D" \
	-l 127.0.0.1:1:1 --insecure 2>"$T_DIR/journal"
like "an error for the journal" "$(cat "$T_DIR/journal")" '^<3>-l 127.0.0.1:1:1: not ADDR:PORT'
status 1 "and for others" env JOURNAL_STREAM=1:1 timeout 120 "$RJSERVER" -d "$D" -l x --insecure
like "without" "$OUT" '^rjserver: -l x'

# what it counts
status 0 "an account, and no server runs" timeout 120 "$RJSERVER" adduser -d "$D" late
is "only the token is said" "$(wc -l <<<"$OUT")" 1
status 0 "nor does deluser" timeout 120 "$RJSERVER" deluser -d "$D" late
is "say anything" "$OUT" ""
ADMIN=$(adduser "$D" boss --rights admin --volumes '*')
ACCESS='' start "$D"
status 0 "an account beside a server" timeout 120 "$RJSERVER" adduser -d "$D" late
like "it has to be told" "$OUT" 'the running server takes this up at SIGHUP'
K=$BASE/host1/$UUID/log
for i in 11 12 13; do as "$ADMIN" -T "$T_DIR/a" "$K/$(seq20 $i)" >/dev/null; done
as "$ADMIN" "$K/$(seq20 77)" >/dev/null
code "$BASE/" >/dev/null
is "/metrics" "$(as "$ADMIN" "$BASE/metrics")" 200
check "is of Prometheus's type" head_has 'content-type: text/plain; version=0.0.4; charset=utf-8'
cp "$T_DIR/body" "$T_DIR/metrics"
metric() { sed -n "s/^$1 //p" "$T_DIR/metrics"; }
is "commits are counted" "$(metric rjserver_commit_seconds_count)" 3
is "by method and status" "$(metric 'rjserver_requests_total{method="PUT",status="201"}')" 3
is "what is not there, too" "$(metric 'rjserver_requests_total{method="GET",status="404"}')" 1
is "strangers, too" "$(metric 'rjserver_refused_total{reason="no_credentials"}')" 1
is "what is stored" "$(metric rjserver_stored_segments) $(metric rjserver_stored_bytes)" "6 48"
is "of a volume" "$(metric "rjserver_volume_segments{name=\"host1\",journal=\"$UUID\"}")" 6
is "the buckets end with all" "$(metric 'rjserver_commit_seconds_bucket{le="+Inf"}')" 3
# the text format: HELP and TYPE before the samples of each name, each once, in one piece;
# samples are a name, perhaps labels, a number; buckets only grow
format() {
	awk '
	function bad(why) {print FNR ": " why ": " $0; wrong = 1}
	/^# HELP / {if ($3 in helped) bad("twice"); helped[$3] = 1; now = $3; next}
	/^# TYPE / {
		if ($3 != now) bad("TYPE without HELP")
		if ($4 !~ /^(counter|gauge|histogram)$/) bad("type")
		type = $4; last = -1; next
	}
	/^#/ || /^$/ {bad("neither comment nor sample"); next}
	{
		if (!match($0, /^[a-z_]+(\{[a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*\})? -?[0-9]+(\.[0-9]+)?$/))
			bad("form")
		name = $0; sub(/[{ ].*/, "", name)
		base = name
		if (type == "histogram") sub(/_(bucket|sum|count)$/, "", base)
		if (base != now) bad("out of its place")
		if (type == "counter" && name !~ /_total$/) bad("a counter without _total")
		if (type == "gauge" && name ~ /_total$/) bad("a gauge with _total")
		if (name ~ /_bucket$/) {if ($2 < last) bad("falls"); last = $2}
		if ($0 in seen) bad("twice"); seen[$0] = 1
	}
	END {exit wrong}' "$1"
}
check "the format is right" format "$T_DIR/metrics"
sed 's/^rjserver_stored_bytes /&x/' "$T_DIR/metrics" >"$T_DIR/broken"
if format "$T_DIR/broken" >"$T_DIR/none"; then not_ok "seen: a broken one"; else ok "seen: a broken one"; fi
is "/metrics with a query" "$(as "$ADMIN" "$BASE/metrics?x=1")" 400
is "PUT on /metrics" "$(as "$ADMIN" -T "$T_DIR/a" "$BASE/metrics")" 405
is "HEAD of /metrics" "$(as "$ADMIN" -I "$BASE/metrics")" 200
is "/status" "$(as "$ADMIN" "$BASE/status")" 200
is "is JSON" "$(jq -r '.server.health, (.volumes[] | .name, .segments, .commits, .host, .account)' \
	"$T_DIR/body" | tr '\n' ' ')" "ok host1 6 3 127.0.0.1 boss "
is "a commit is now" "$(jq '.server.now_ms - .volumes[0].last_commit_ms | . >= 0 and . < 60000' \
	"$T_DIR/body")" true

# stats, through the socket
status 0 "stats" timeout 120 "$RJSERVER" stats -d "$D"
like "of the server" "$OUT" '^rjserver [0-9.]+: ok; up [0-9]+ s; answers when fsync$'
like "and the volume" "$OUT" "^host1/$UUID: 48 bytes in 6 segments; last commit 20.* from 127.0.0.1 as boss, lag [0-9.]+ ms$"
status 0 "stats --json" timeout 120 "$RJSERVER" stats -d "$D" --json
is "is JSON" "$(jq .volumes[0].segments <<<"$OUT")" 6
is "the socket is private" "$(stat -c %a "$D/control")" 600
stop
status 2 "stats without a server: exit 2" timeout 120 "$RJSERVER" stats -d "$D"
like "says so" "$OUT" 'no rjserver that runs has this store'
