#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Limits of accounts and volumes, the free-space floor, retention.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"

D=$T_DIR/store CONF=$T_DIR/rjserver.conf
head -c 100000 /dev/urandom >"$T_DIR/a"
head -c 1 /dev/zero >"$T_DIR/b"
ADMIN=$(adduser "$D" boss --rights admin --volumes '*')
BYTES=$(adduser "$D" bytes --volumes 'b*' --max-bytes 350000)
VOLS=$(adduser "$D" vols --volumes 'v*' --max-volumes 2)
uuid() { printf '%08x-8765-4321-0123-456789abcdef' "$1"; }
url() { echo "$BASE/$1/$(uuid "$2")/log/$(seq20 "$3")"; }
put() { as "$1" -T "${5:-$T_DIR/a}" "$(url "$2" "$3" "$4")"; }

cat >"$CONF" <<END
[server]
dir = $D
listen = 127.0.0.1:0
[volume kept*]
keep = 1h
[volume small]
max-bytes = 150000
[volume brief]
keep = 1s
[volume tiny]
max-bytes = 5000
[volume few]
max-objects = 10
[volume progress]
max-bytes = 1M
END
ACCESS="--config $CONF" start "$D" || { note "$(cat "$LOG")"; not_ok "rjserver starts"; exit 1; }

# bytes of an account, over all of its volumes
is "three of 100000 bytes fit 350000" \
	"$(put "$BYTES" b1 1 1)$(put "$BYTES" b1 1 2)$(put "$BYTES" b2 2 1)" 201201201
is "the fourth does not: 507" "$(put "$BYTES" b1 1 3)" 507
like "in words" "$(body)" 'the limit of 350000 bytes of account bytes is reached'
is "it is not stored" "$(as "$BYTES" "$(url b1 1 3)")" 404
is "what is little still fits" "$(put "$BYTES" b1 1 3 "$T_DIR/b")" 201
is "what was refused counts for nothing" "$(put "$BYTES" b1 1 4 "$T_DIR/b")" 201
is "nor what is there already" "$(put "$BYTES" b1 1 4 "$T_DIR/b")" 412
is "others are not held by it" "$(put "$ADMIN" other 3 1)" 201
is "trimming makes room" "$(as "$BYTES" -X DELETE "$(url b1 1 1)")$(put "$BYTES" b1 1 5)" 204201
is "as much as there was" "$(put "$BYTES" b1 1 6)" 507
is "all below, too" \
	"$(as "$BYTES" -X DELETE "${BASE}/b1/$(uuid 1)/log/?below=5")$(put "$BYTES" b1 1 6)" 204201
check "it is said" logged 'refused: 127.0.0.1, account bytes: the limit of 350000 bytes'
is "and counted" "$(counted limit)" 2
# many at once do not pass the limit together
for i in {1..12}; do
	curl -s -m 120 --noproxy '*' -o /dev/null -w '%{http_code}\n' -H "Authorization: Bearer $BYTES" \
		-T "$T_DIR/a" "$(url b3 $((20 + i)) 1)" >"$T_DIR/many.$i" &
	pids[i]=$!
done
wait "${pids[@]}"
is "twelve at once: none passes the limit" "$(cat "$T_DIR"/many.* | sort | uniq -c | tr -s ' \n' ' ')" " 12 507 "
as "$BYTES" -X DELETE "$(url b2 2 1)" >/dev/null
for i in {1..12}; do
	curl -s -m 120 --noproxy '*' -o /dev/null -w '%{http_code}\n' -H "Authorization: Bearer $BYTES" \
		-T "$T_DIR/a" "$(url b3 $((20 + i)) 1)" >"$T_DIR/many.$i" &
	pids[i]=$!
done
wait "${pids[@]}"
is "with room for one: one" "$(grep -c 201 <(cat "$T_DIR"/many.*))" 1

# volumes of an account
is "two volumes" "$(put "$VOLS" v1 1 1)$(put "$VOLS" v1 2 1)" 201201
is "not three" "$(put "$VOLS" v2 3 1)" 507
like "in words" "$(body)" 'the limit of 2 volumes of account vols is reached'
is "more in the two" "$(put "$VOLS" v1 1 2)" 201
is "one of them is emptied: another one" "$(as "$VOLS" -X DELETE "$(url v1 2 1)")$(put "$VOLS" v2 3 1)" 204201
is "and no more" "$(put "$VOLS" v2 4 1)" 507

# a limit of each volume
is "a volume's limit" "$(put "$ADMIN" small 1 1)$(put "$ADMIN" small 1 2)$(put "$ADMIN" small 2 1)" 201507201
like "in words" "$(as "$ADMIN" -T "$T_DIR/a" "$(url small 1 3)") $(body)" 'the limit of 150000 bytes of this volume'

# what is stored counts, not what was sent: an object of no bytes has 384
: >"$T_DIR/empty"
for i in {1..20}; do put "$ADMIN" tiny 1 $i "$T_DIR/empty"; echo; done >"$T_DIR/tiny"
is "empty objects count" "$(sort "$T_DIR/tiny" | uniq -c | tr -s ' \n' ' ')" " 13 201 7 507 "
for i in {1..12}; do put "$ADMIN" few 1 $i "$T_DIR/b"; echo; done >"$T_DIR/few"
is "ten objects, not more" "$(sort "$T_DIR/few" | uniq -c | tr -s ' \n' ' ')" " 10 201 2 507 "
like "in words" "$(put "$ADMIN" few 1 11 "$T_DIR/b") $(body)" 'the limit of 10 objects of this volume'
FEW=$(adduser "$D" few2 --volumes 'q*' --max-objects 2)
kill -HUP $SERVER_PID
check "one account more" wait_for 60 logged 'reloaded: 4 accounts'
is "objects of an account" "$(put "$FEW" q1 1 1)$(put "$FEW" q1 2 1)$(put "$FEW" q2 3 1)" 201201507

# Who is refused leaves nothing behind: not one volume more is known.
known() { as "$ADMIN" "$BASE/metrics" >/dev/null && grep -c '^rjserver_volume_bytes' "$T_DIR/body"; }
before=$(known)
for i in {1..30}; do
	put "$BYTES" b1 $((1000 + i)) 1 "$T_DIR/a"
	put "$VOLS" v9 $((1000 + i)) 1
done >/dev/null
is "sixty refused for new volumes" "$(known)" "$before"
is "one that comes and goes is forgotten, too" \
	"$(put "$ADMIN" other 77 1)$(as "$ADMIN" -X DELETE "$(url other 77 1)")$(known)" "201204$before"

# above its limit a volume takes what lets its log be trimmed, and not much of it
head -c 60000 "$T_DIR/a" >"$T_DIR/c"
fill() {
	local n=$1
	while [ "$(put "$ADMIN" progress 1 $n "$T_DIR/c")" = 201 ]; do n=$((n + 1)); done
	echo $n
}
is "far from the limit nothing is said" "$(put "$ADMIN" progress 1 1 "$T_DIR/c") $(grep -ci '^RJ-Nearly-Full' "$T_DIR/head")" "201 0"
n=$(fill 2)
is "a full volume: 507" "$(put "$ADMIN" progress 1 $n "$T_DIR/c")" 507
is "a retry of what is stored: 412" "$(put "$ADMIN" progress 1 $((n - 1)) "$T_DIR/c")" 412
as "$ADMIN" "$BASE/status" >/dev/null
is "the status warns" "$(jq -r '.volumes[] | select(.name == "progress") | .nearly_full' "$T_DIR/body")" volume
ahead() { as "$ADMIN" -H 'RJ-Progress: 1' -T "${2:-$T_DIR/b}" "$(url progress 1 "$1")"; }
is "the server's health is that of a volume which is full" \
	"$(jq -r '.server as $s | $s.health, any(.volumes[]; .name == $s.limit_of and .full == $s.limit)' "$T_DIR/body" | xargs)" \
	"full true"
is "the volume says so" "$(jq -r '.volumes[] | select(.name == "progress") | .full' "$T_DIR/body")" volume
as "$ADMIN" "$BASE/metrics" >/dev/null
like "the metrics, too" "$(body)" 'rjserver_volume_full.name="progress",.* 1$'
OUT=$(timeout 120 "$RJSERVER" stats -d "$D")
like "stats, too" "$OUT" '^rjserver [^ ]+: full .[a-z]+: the limit of (the volume|its account).; up'
like "stats: the volume" "$OUT" 'FULL, its last commit was refused: the limit of the volume'
is "marked as progress it is taken" "$(ahead $n)" 201
check "with a warning" head_has 'RJ-Nearly-Full: volume'
is "an epoch, too" "$(as "$ADMIN" -T "$T_DIR/b" "$BASE/progress/$(uuid 1)/epoch/$(seq20 1)")" 201
check "which tells the limit" head_has 'RJ-Max-Bytes: 1048576'
as "$ADMIN" "$BASE/status" >/dev/null
is "it is no longer full" "$(jq -r '.volumes[] | select(.name == "progress") | .full, .nearly_full' "$T_DIR/body" | xargs)" volume
is "but not much: 507" "$(ahead $((n + 1)) "$T_DIR/a")" 507
for ((i = 0; i < 300; i++)); do
	[ "$(ahead $((n + 1 + i)))" = 201 ] || break
done
check "and not for ever" test $i -lt 200
is "what was trimmed makes room" \
	"$(as "$ADMIN" -X DELETE "$BASE/progress/$(uuid 1)/log/?below=$n")$(put "$ADMIN" progress 1 $((n + 1 + i)) "$T_DIR/c")" 204201

# retention
is "kept: written" "$(put "$ADMIN" kept1 1 1)$(put "$ADMIN" kept1 1 2)" 201201
is "and not deleted" "$(as "$ADMIN" -X DELETE "$(url kept1 1 1)")" 409
like "in words" "$(body)" 'kept for 3600 seconds'
is "nor all below" "$(as "$ADMIN" -X DELETE "$BASE/kept1/$(uuid 1)/log/?below=2")" 409
is "in whatever words" "$(as "$ADMIN" -X DELETE "$BASE/kept1/$(uuid 1)/log/?least=1&below=2")" 409
is "it is there" "$(as "$ADMIN" "$(url kept1 1 1)")" 200
is "what is not there is not kept" "$(as "$ADMIN" -X DELETE "$(url kept1 1 9)")" 404
is "counted" "$(counted kept)" 3
put "$ADMIN" brief 1 1 >/dev/null
old() { [ "$(as "$ADMIN" -X DELETE "$(url brief 1 1)")" = 204 ]; }
check "after its time it goes" wait_for 20 old

# a reload, and a restart, count the same
kill -HUP $SERVER_PID
check "reloaded" wait_for 20 logged 'reloaded: 4 accounts'
is "the limits hold after a reload" "$(put "$BYTES" b1 1 7)$(put "$VOLS" v2 4 1)" 507507
stop
ACCESS="--config $CONF" start "$D"
is "and after a restart" "$(put "$BYTES" b1 1 7)$(put "$VOLS" v2 4 1)" 507507
is "retention, too" "$(as "$ADMIN" -X DELETE "$(url kept1 1 1)")" 409
adduser "$D" bytes --max-bytes 0 >/dev/null
kill -HUP $SERVER_PID
check "reloaded" wait_for 20 logged 'reloaded: 4 accounts'
is "a limit that was taken away" "$(put "$BYTES" b1 1 7)" 201
stop

# the floor: more than the disk has
free=$(df -B1 --output=avail "$D" | tail -n 1)
ACCESS="--min-free $((free * 2))" start "$D"
is "below the floor: 507" "$(put "$ADMIN" other 3 5)" 507
like "in words" "$(body)" 'the disk of the store is almost full: nothing new is taken'
is "reading goes on" "$(as "$ADMIN" "$(url other 3 1)")" 200
is "deleting, too" "$(as "$ADMIN" -X DELETE "$(url other 3 1)")" 204
is "counted" "$(counted space)" 1
as "$ADMIN" "$BASE/status" >/dev/null
is "the status says so" "$(jq -r .server.health "$T_DIR/body")" full
stop
# between the floor and twice as much
ACCESS="--min-free $((free * 3 / 4))" start "$D"
is "near the floor: taken" "$(put "$ADMIN" other 3 5)" 201
check "with a warning" head_has 'RJ-Nearly-Full: disk'
as "$ADMIN" "$BASE/status" >/dev/null
is "the status says so, too" "$(jq -r .server.health "$T_DIR/body")" low
stop
