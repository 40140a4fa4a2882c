#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Reads that wait for the disk hold up nobody's commits: the data files lie on a
# file system that keeps reads waiting as long as the test wants.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
need_fuse_loop

GATE=$T_DIR/gate M=$T_DIR/mnt READS=8
mkdir "$M" "$T_DIR/real"
"$RJ_BUILD/tests/rjserver/store/slowfs" "$T_DIR/real" "$M" "$GATE" 2>"$T_DIR/slowfs.log" &
at_exit kill $!
at_exit umount -l "$M"
at_exit rm -f "$GATE"
wait_for 60 mountpoint -q "$M" || { note "$(cat "$T_DIR/slowfs.log")"; not_ok "a slow disk"; exit 1; }
SERVER_OPTIONS=--file-size=1M
start "$M/d" || { note "$(cat "$LOG" "$T_DIR/slowfs.log")"; not_ok "rjserver starts"; exit 1; }
A=$BASE/a/$UUID/log B=$BASE/b/$UUID/log
head -c 100000 /dev/urandom >"$T_DIR/o"
bad=0
for ((n = 1; n <= READS; n++)); do
	{ echo "$n"; cat "$T_DIR/o"; } >"$T_DIR/o.$n"
	[ "$(code -T "$T_DIR/o.$n" "$A/$(seq20 $n)")" = 201 ] || bad=$((bad + 1))
done
is "host A has written" $bad 0

# get NAME URL: in the background
get() {
	curl -s -m 300 --noproxy '*' -o "$T_DIR/got.$1" -w '%{http_code}' "$2" >"$T_DIR/code.$1" &
	PIDS+=($!)
}
# host_b FROM TO: its commits; how many were not acknowledged
host_b() {
	local n refused=0
	for ((n = $1; n <= $2; n++)); do
		[ "$(code -T "$T_DIR/o" "$B/$(seq20 $n)")" = 201 ] || refused=$((refused + 1))
	done
	echo $refused
}
parked() { [ "$(stat -c %s "$GATE.parked" 2>/dev/null || echo 0)" -ge "$1" ]; }
whole() { [ "$(cat "$T_DIR/code.$1")" = 200 ] && cmp -s "$T_DIR/got.$1" "$T_DIR/o.$1"; }
all_whole() { local n; for ((n = $1; n <= $2; n++)); do whole $n || return 1; done; }

: >"$GATE"
PIDS=()
for ((n = 1; n <= READS; n++)); do get $n "$A/$(seq20 $n)"; done
get stream "$A/?from=1"
check "host A's reads wait for the disk" wait_for 60 parked 1
is "host B's commits do not: 30 of them, in three data files" "$(host_b 1 30)" 0
running=0
for p in "${PIDS[@]}"; do ! kill -0 "$p" 2>/dev/null || running=$((running + 1)); done
is "and all of A's reads still wait" $running ${#PIDS[@]}
is "what is gone is gone" "$(code -X DELETE "$A/$(seq20 $READS)")" 204
is "lists are served, too" "$(code "$A/") $(wc -l <"$T_DIR/body")" "200 $((READS - 1))"
rm "$GATE"
wait "${PIDS[@]}"
check "then they get their bytes" all_whole 1 $((READS - 1))
check "the deleted one was read, or is gone" grep -qE '^(200|404)$' "$T_DIR/code.$READS"
for ((n = 1; n < READS; n++)); do
	echo "$(seq20 $n) $(wc -c <"$T_DIR/o.$n")"
	cat "$T_DIR/o.$n"
done >"$T_DIR/want"
echo end >>"$T_DIR/want"
is "and so does the stream" "$(cat "$T_DIR/code.stream")" 200
check "of all that is there" cmp "$T_DIR/got.stream" "$T_DIR/want"

# a stream waits for an object that is deleted meanwhile
waiting_stream() { # NAME FROM: it waits for the object FROM
	: >"$GATE"
	rm -f "$GATE.parked"
	PIDS=()
	get "$1" "$A/?from=$2"
	wait_for 60 parked 1
}
framed() { # FILE NUMBER: as a stream has it
	echo "$(seq20 "$2") $(wc -c <"$1")"
	cat "$1"
}
goes_on() { # NAME: the disk answers; the stream ends, and says that
	rm "$GATE"
	wait "${PIDS[@]}"
	is "$1: the stream comes to its end" "$(cat "$T_DIR/code.$2") $(tail -c 4 "$T_DIR/got.$2")" "200 end"
}
check "a stream waits for object 1" waiting_stream first 1
is "which is deleted" "$(code -X DELETE "$A/$(seq20 1)")" 204
goes_on "deleted" first
for ((n = 2; n < READS; n++)); do framed "$T_DIR/o.$n" $n; done >"$T_DIR/want"
echo end >>"$T_DIR/want"
check "deleted: it has what follows, byte by byte" cmp "$T_DIR/got.first" "$T_DIR/want"

check "a stream waits for object 2" waiting_stream again 2
head -c 150001 /dev/urandom >"$T_DIR/longer"
is "which is deleted" "$(code -X DELETE "$A/$(seq20 2)")" 204
is "and stored again, longer" "$(code -T "$T_DIR/longer" "$A/$(seq20 2)")" 201
goes_on "stored again" again
for f in o.2 longer; do
	{ framed "$T_DIR/$f" 2; tail -c +$((1 + $(framed "$T_DIR/o.2" 2 | wc -c))) "$T_DIR/want"; } >"$T_DIR/want.$f"
done
one_of_both() { cmp "$T_DIR/got.again" "$T_DIR/want.o.2" || cmp "$T_DIR/got.again" "$T_DIR/want.longer"; }
check "stored again: it has one of both, and what follows, byte by byte" one_of_both

check "a stream waits for object 3" waiting_stream last 3
is "which is deleted, with all that follow" "$(code -X DELETE "$A/?below=$READS")" 204
goes_on "all deleted" last
is "all deleted: nothing else is in it" "$(cat "$T_DIR/got.last")" end
for n in 1 2 3; do
	is "object $n again" "$(code -T "$T_DIR/o.$n" "$A/$(seq20 $n)")" 201
done

# who goes while the disk is waited for
: >"$GATE"
rm -f "$GATE.parked"
PIDS=()
get 1 "$A/$(seq20 1)"
get 2 "$A/?from=1"
check "reads wait again" wait_for 60 parked 2
kill "${PIDS[@]}"
wait "${PIDS[@]}" 2>/dev/null
is "their hosts go: commits go on" "$(host_b 31 33)" 0
rm "$GATE"
is "and so do reads" "$(code "$A/$(seq20 1)")" 200
is "nothing is damaged" "$(grep -c DAMAGED "$LOG")" 0
: >"$GATE"
rm -f "$GATE.parked"
get 3 "$A/$(seq20 3)"
check "one waits at the end" wait_for 60 parked 1
kill $SERVER_PID
rm "$GATE"
wait $SERVER_PID 2>/dev/null
is "the server stops in order" $? 0
start "$M/d"
is "all commits are there" "$(code "$BASE/b/$UUID/log/") $(wc -l <"$T_DIR/body")" "200 33"
stop
