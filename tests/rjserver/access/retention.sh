#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Retention holds against who has a host's rights: the newest of all that would go
# decides, nobody plants a segment far ahead, and damage keeps all.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"

D=$T_DIR/store CONF=$T_DIR/rjserver.conf
yes "planted" | head -c 20000 >"$T_DIR/a"
ADMIN=$(adduser "$D" boss --rights admin --volumes '*')
HOST=$(adduser "$D" host --volumes 'host,kept')
LONG=$(printf 'v%.0s' {1..63})
LONG_HOST=$(adduser "$D" "$LONG" --volumes "$LONG")
url() { echo "$BASE/$1/$UUID/log/$(seq20 "$2")"; }
put() { as "$1" -T "${4:-$T_DIR/a}" "$(url "$2" "$3")"; }
below() { as "$1" -X DELETE "$BASE/$2/$UUID/log/?below=$3"; }
# conf SECONDS: for how long volume host is kept
conf() {
	cat >"$CONF" <<-END
	[server]
	dir = $D
	listen = 127.0.0.1:0
	[volume host]
	keep = ${1}s
	[volume kept]
	keep = 1h
	[volume $LONG]
	keep = 1h
	END
}
conf 3600
ACCESS="--config $CONF" start "$D" || { note "$(cat "$LOG")"; not_ok "rjserver starts"; exit 1; }

# the order of the log
is "a log may begin anywhere" "$(put "$HOST" kept 7)" 201
is "and goes on" "$(put "$HOST" kept 8)" 201
is "not over a gap: 409" "$(put "$HOST" kept 10)" 409
like "in words" "$(body)" 'the last segment here is 8: only an admin may leave a gap'
is "far ahead: 409" "$(put "$HOST" kept 999999)" 409
is "it is not stored" "$(as "$HOST" "$(url kept 999999)")" 404
is "an admin may" "$(put "$ADMIN" kept 10)" 201
is "what lies before may be filled" "$(put "$HOST" kept 9)" 201
# a section's name may be as long as a volume's or an account's
is "a long name" "$(put "$LONG_HOST" "$LONG" 1)$(put "$LONG_HOST" "$LONG" 2)" 201201
is "has its rule: 409" "$(below "$LONG_HOST" "$LONG" 2)" 409
# The last one is old, those before it are not.
is "a piece of a base" "$(as "$HOST" -T "$T_DIR/a" "$BASE/host/$UUID/base/$(printf %013d%07d 3 1)")" 201
is "one is planted" "$(put "$ADMIN" host 999999)" 201
planted=$SECONDS
old_enough() { ((SECONDS - planted > 22)); }
is "none young would go: 409 for the planted one" "$(below "$HOST" host 1000000)" 409
wait_for 60 old_enough || exit 99
conf 20
kill -HUP $SERVER_PID
check "kept for 20 seconds now" wait_for 60 logged 'reloaded'
is "segments of this moment" "$(put "$HOST" host 1)$(put "$HOST" host 2)" 201201
is "the newest of all decides: 409" "$(below "$HOST" host 1000000)" 409
echo short >"$T_DIR/short"
is "the base is finished" "$(as "$HOST" -T "$T_DIR/short" "$BASE/host/$UUID/base/$(printf %013d%07d 3 0)")" 201
is "its long pieces stay with it: 409" "$(as "$HOST" -X DELETE "$BASE/host/$UUID/base/?below=40000000&least=10000")" 409
is "they are there" "$(as "$HOST" "$(url host 1)")$(as "$HOST" "$(url host 2)")" 200200
is "whoever asks" "$(below "$ADMIN" host 1000000)" 409
conf 1
kill -HUP $SERVER_PID
gone() { [ "$(below "$HOST" host 1000000)" = 204 ]; }
check "after their time all go" wait_for 60 gone
is "all of them" "$(as "$HOST" "$(url host 1)")$(as "$HOST" "$(url host 999999)")" 404404

# A base is as old as its manifest, place 0; one without a manifest is not finished.
piece() { echo "$BASE/kept/$UUID/base/$(printf %013d%07d "$1" "$2")"; }
put_pieces() { local p; for p in "${@:2}"; do as "$HOST" -T "$T_DIR/a" "$(piece "$1" "$p")"; done; }
is "two bases, one of which is finished" "$(put_pieces 3 9999999 1 0)$(put_pieces 4 9999999 1)" 201201201201201
for p in 0 1 9999999; do
	is "a piece of that one, $p: 409" "$(as "$HOST" -X DELETE "$(piece 3 $p)")" 409
done
is "all below, too" "$(as "$ADMIN" -X DELETE "$BASE/kept/$UUID/base/?below=9999999999")" 409
is "of the other one they go" "$(as "$HOST" -X DELETE "$(piece 4 1)")$(as "$HOST" -X DELETE "$(piece 4 9999999)")" 204204
is "no piece of nothing" "$(as "$HOST" -X DELETE "$(piece 0 1)")" 404

# by the checkpoint and by the log, which a start reads
stop
ACCESS="--config $CONF" start "$D"
is "after a restart, too" "$(below "$HOST" kept 30)" 409
yes "the last one" | head -c 20000 >"$T_DIR/last"
is "one more" "$(put "$HOST" kept 11 "$T_DIR/last")" 201
stop
# the last one is damaged: the others are no older for that
F=$D/store/00000001.rjd
at=$(grep -abo "the last one" "$F" | head -n 1 | cut -d: -f1)
printf X | dd of="$F" bs=1 seek="$at" conv=notrunc status=none
ACCESS="--config $CONF" start "$D"
check "the last one is damaged" test "$(as "$HOST" "$(url kept 11)")" = 500
is "it keeps all: 409" "$(below "$HOST" kept 30)" 409
is "and itself" "$(as "$HOST" -X DELETE "$(url kept 11)")" 409
is "they are there" "$(as "$HOST" "$(url kept 7)")" 200
stop
