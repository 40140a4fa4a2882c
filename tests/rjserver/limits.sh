#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Limits of accounts and volumes, the free-space floor, retention.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/certs.sh"

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
	"$(as "$BYTES" -X DELETE "${BASE}/b1/$(uuid 1)/log/?below=5")$(put "$BYTES" b1 1 7)" 204201
check "it is said" logged 'refused: 127.0.0.1, account bytes: the limit of 350000 bytes'
is "and counted" "$(counted limit)" 2
# many at once do not pass the limit together
for i in {1..12}; do
	curl -s -m 20 --noproxy '*' -o /dev/null -w '%{http_code}\n' -H "Authorization: Bearer $BYTES" \
		-T "$T_DIR/a" "$(url b3 9 $i)" >"$T_DIR/many.$i" &
	pids[i]=$!
done
wait "${pids[@]}"
is "twelve at once: none passes the limit" "$(cat "$T_DIR"/many.* | sort | uniq -c | tr -s ' \n' ' ')" " 12 507 "
as "$BYTES" -X DELETE "$(url b2 2 1)" >/dev/null
for i in {1..12}; do
	curl -s -m 20 --noproxy '*' -o /dev/null -w '%{http_code}\n' -H "Authorization: Bearer $BYTES" \
		-T "$T_DIR/a" "$(url b3 9 $i)" >"$T_DIR/many.$i" &
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
check "reloaded" wait_for 20 logged 'reloaded: 3 accounts'
is "the limits hold after a reload" "$(put "$BYTES" b1 1 20)$(put "$VOLS" v2 4 1)" 507507
stop
ACCESS="--config $CONF" start "$D"
is "and after a restart" "$(put "$BYTES" b1 1 20)$(put "$VOLS" v2 4 1)" 507507
is "retention, too" "$(as "$ADMIN" -X DELETE "$(url kept1 1 1)")" 409
adduser "$D" bytes --max-bytes 0 >/dev/null
kill -HUP $SERVER_PID
check "reloaded" wait_for 20 logged 'reloaded: 3 accounts'
is "a limit that was taken away" "$(put "$BYTES" b1 1 20)" 201
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
