#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Who may do what: tokens, rights, volumes; what strangers hear; adduser,
# deluser, users.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"

D=$T_DIR/store F=$T_DIR/store/accounts
echo segment >"$T_DIR/a"

# the accounts file
HOST1=$(adduser "$D" host1)
like "adduser prints a token" "$HOST1" '^host1\.[0-9a-f]{64}$'
is "and nobody else can read the file" "$(stat -c %a "$F")" 600
is "which has no token in it" "$(grep -c "${HOST1#*.}" "$F")" 0
is "a host's rights, on its own name" "$(timeout 120 "$RJSERVER" users -d "$D")" \
	"host1: append,read,trim; volumes host1; token"
READER=$(adduser "$D" reader --rights read --volumes 'web*,host1')
WRITER=$(adduser "$D" writer --rights append --volumes 'web*')
WATCHER=$(adduser "$D" watcher --rights watch --volumes '*')
ADMIN=$(adduser "$D" boss --rights admin --volumes '*')
OLD=$(adduser "$D" old.name_with-dots)
NOBODY=$(adduser "$D" nobody --rights '' --volumes '')
is "six hashes, all different" "$(grep -c ^token "$F") $(grep ^token "$F" | sort -u | wc -l)" "7 7"
cp "$F" "$T_DIR/before"
refused() {
	status 1 "adduser $2: exit 1" timeout 120 "$RJSERVER" adduser -d "$D" "${@:3}"
	like "and says why" "$OUT" "$1"
}
refused 'no name for an account' "a path" ../x
refused 'no name for an account' "a long name" "$(printf 'n%.0s' {1..64})"
refused '"fly" is no right' "a right that is none" x --rights read,fly
refused 'names no volumes' "a volume that is none" x --volumes 'a/b'
refused 'names no volumes' "a star in the middle" x --volumes 'a*b'
refused 'is no size' "a size that is none" x --max-bytes lots
refused 'neither a token nor a certificate' "nothing to show" x --no-token
refused 'common name' "a certificate with a semicolon" x --certificate 'a;b'
refused 'which of them' "both" x --no-token --new-token
check "none of these changed the file" cmp "$T_DIR/before" "$F"
status 2 "deluser of nobody: exit 2" timeout 120 "$RJSERVER" deluser -d "$D" stranger
like "and says so" "$OUT" 'no account stranger'
chmod 640 "$F"
status 2 "an accounts file that others read: exit 2" timeout 120 "$RJSERVER" users -d "$D"
like "and says so" "$OUT" 'others can read it'
chmod 600 "$F"
# eight at once: none is lost
for i in 1 2 3 4 5 6 7 8; do adduser "$D" "many$i" >/dev/null & pids[i]=$!; done
wait "${pids[@]}"
is "adduser at once: all are there" "$(timeout 120 "$RJSERVER" users -d "$D" | grep -c ^many)" 8

ACCESS='' start "$D" || { note "$(cat "$LOG")"; not_ok "rjserver starts"; exit 1; }
K=$BASE/host1/$UUID W=$BASE/web7/$UUID
O=$(seq20 1)

# refusals are said, but at most 20 in ten seconds: look at these first
is "a stranger" "$(code "$BASE/")$(code -H "Authorization: Bearer $HOST1.x" "$BASE/")" 401401
check "without credentials: it is said" logged 'refused: 127.0.0.1: no credentials'
check "with wrong ones, too" logged 'refused: 127.0.0.1: unknown credentials'

# the rights
is "append: PUT" "$(as "$HOST1" -T "$T_DIR/a" "$K/log/$O")" 201
is "append: PUT an epoch" "$(as "$HOST1" -T "$T_DIR/a" "$K/epoch/$O")" 201
is "read: GET" "$(as "$HOST1" "$K/log/$O") $(body)" "200 segment"
is "read: list" "$(as "$HOST1" "$K/log/")" 200
is "read: journals" "$(as "$HOST1" "$BASE/host1/")" 200
is "read: stream" "$(as "$HOST1" "$K/log/?from=1")" "$(as "$ADMIN" "$K/log/?from=1")"
is "an epoch is not trimmed" "$(as "$HOST1" -X DELETE "$K/epoch/$O")" 403
is "nor all below one" "$(as "$HOST1" -X DELETE "$K/epoch/?below=9")" 403
is "but by the admin" "$(as "$ADMIN" -X DELETE "$K/epoch/$O")" 204
is "trim: DELETE" "$(as "$HOST1" -X DELETE "$K/log/$O")" 204
as "$HOST1" -T "$T_DIR/a" "$K/epoch/$(seq20 2)" >/dev/null
is "without a log, epochs protect nothing: trim" "$(as "$HOST1" -X DELETE "$K/epoch/$(seq20 2)")" 204
is "writer: PUT by its prefix" "$(as "$WRITER" -T "$T_DIR/a" "$W/log/$O")" 201
is "writer: no GET" "$(as "$WRITER" "$W/log/$O")" 403
is "writer: no HEAD" "$(as "$WRITER" -I "$W/log/$O")" 403
is "writer: no list" "$(as "$WRITER" "$W/log/")" 403
is "writer: no DELETE" "$(as "$WRITER" -X DELETE "$W/log/$O")" 403
is "reader: GET" "$(as "$READER" "$W/log/$O") $(body)" "200 segment"
is "reader: no PUT" "$(as "$READER" -T "$T_DIR/a" "$W/log/$(seq20 2)")" 403
is "reader: no DELETE" "$(as "$READER" -X DELETE "$W/log/$O")" 403
is "watcher: metrics" "$(as "$WATCHER" "$BASE/metrics")" 200
as "$WATCHER" "$BASE/names" >/dev/null
is "watcher: the names that hold something" "$(body | xargs)" web7
as "$HOST1" "$BASE/names" >/dev/null
is "an account: no name of others" "$(body | xargs)" ""
is "writer: no names" "$(as "$WRITER" "$BASE/names")" 403
is "a stranger: no names" "$(code "$BASE/names")" 401
is "watcher: no segments" "$(as "$WATCHER" "$W/log/$O")" 403
is "watcher: no list" "$(as "$WATCHER" "$W/log/")" 403
is "writer: no metrics" "$(as "$WRITER" "$BASE/metrics")" 403
is "nobody: no rights" "$(as "$NOBODY" "$K/log/$O")$(as "$NOBODY" "$BASE/status")" 403403
is "admin: all" "$(as "$ADMIN" "$W/log/$O")$(as "$ADMIN" -T "$T_DIR/a" "$W/log/$(seq20 2)")" 200201
is "metrics show only one's own volumes" \
	"$(as "$HOST1" "$BASE/metrics")$(grep -c 'name="web7"' "$T_DIR/body")" 2000

# volumes of others: the same answer, whether there is something or not
for t in "$HOST1" "$OLD"; do
	for u in "$W/log/$O" "$W/log/$(seq20 77)" "$BASE/web7/" "$BASE/nowhere/" "$W/log/"; do
		echo "$(as "$t" "$u") $(body)"
	done
done | sort -u >"$T_DIR/answers"
is "a token for another volume: 403, always the same" "$(cat "$T_DIR/answers")" "403 not allowed"
is "and no PUT" "$(as "$HOST1" -T "$T_DIR/a" "$W/log/$(seq20 9)")" 403
is "and no DELETE" "$(as "$HOST1" -X DELETE "$W/log/$O")" 403
is "and nothing came of it" "$(as "$ADMIN" "$W/log/$(seq20 9)")$(as "$ADMIN" "$W/log/$O")" 404200
is "a prefix is not its own beginning" "$(as "$READER" "$BASE/we/")" 403
check "it is said" logged 'refused: 127.0.0.1, account host1: a volume of others'
is "and counted" "$(($(counted volume) >= 12))" 1

# strangers: one answer to everything
flipped=${HOST1%?}$([ "${HOST1: -1}" = 0 ] && echo 1 || echo 0)
strangers() {
	local u
	for u in / /page.js /status /metrics "/host1/$UUID/log/$O" "/host1/$UUID/log/$(seq20 77)" \
		/host1/ /nowhere/ /etc/passwd "/host1/../host1/$UUID/log/$O" \
		"/host1/%2e%2e/log/$O" "//$UUID/log/$O" "/host1/$UUID/log/%30" "/$(printf 'n%.0s' {1..4000})"; do
		echo "$(code "$@" "$BASE$u") $(body)"
		echo "$(code "$@" -T "$T_DIR/a" "$BASE$u") $(body)"
		echo "$(code "$@" -X DELETE "$BASE$u") $(body)"
	done | sort -u
}
no="401 not allowed"
n=$(counted unknown_credentials) m=$(counted no_credentials)
is "no credentials: 401, whatever is asked" "$(strangers)" "$no"
check "with the way to get in" head_has 'www-authenticate: basic realm="rjserver"'
is "a token with one digit changed" "$(strangers -H "Authorization: Bearer $flipped")" "$no"
is "they are counted" "$(counted unknown_credentials) $(counted no_credentials)" "$((n + 42)) $((m + 42))"
for h in 'Bearer' 'Bearer ' 'Bearer .' 'Bearer host1.' "Bearer ${HOST1#*.}" "Bearer x$HOST1" \
	"Bearer boss.${HOST1#*.}" 'Basic' 'Basic !!!!' 'Basic Og==' 'Digest x' \
	"Bearer $(printf 'n%.0s' {1..3000})" "$HOST1" "Bearer ${HOST1^^}"; do
	is "refused: ${h:0:30}" "$(code -H "Authorization: $h" "$BASE/host1/")" 401
done
is "a browser's way: user and token" "$(code -u "host1:$HOST1" "$BASE/host1/")" 200
is "or what is behind the dot" "$(code -u "host1:${HOST1#*.}" "$BASE/host1/")" 200
is "a name with dots" "$(code -u "old.name_with-dots:$OLD" "$BASE/old.name_with-dots/")" 200
is "not another user" "$(code -u "boss:$HOST1" "$BASE/host1/")" 401
is "nor with no password" "$(code -u host1: "$BASE/host1/")" 401
is "no token is said" "$(grep -c "${HOST1#*.}" "$LOG")" 0
is "and not without end" "$(($(grep -c refused "$LOG") < 100))" 1
# paths that are no keys, with an account: 400, nothing touched
for u in "/host1/../web7/$UUID/log/$O" "/host1/..%2fweb7/$UUID/log/$O" "/host1%2f..%2fweb7/$UUID/log/$O" \
	"/host1/./$UUID/log/$O" "//web7/$UUID/log/$O" "/host1/$UUID/log/../../../web7/$UUID/log/$O"; do
	like "no way around by $u" "$(as "$HOST1" "$BASE$u")" '^(400|403)$'
	if grep -q segment "$T_DIR/body"; then not_ok "read by $u"; fi
done

# adduser of an account that is there
for q in '' -q; do
	status 1 "adduser $q once more: refused" timeout 120 "$RJSERVER" adduser $q -d "$D" host1
	is "it says so, and how to get a token" "$OUT" \
		"rjserver: account host1 exists already, and keeps its token: --new-token gives it another one"
done
D2=$T_DIR/certified
status 0 "an account with a certificate alone" \
	timeout 120 "$RJSERVER" adduser -q -d "$D2" host3 --no-token --certificate host3
status 1 "adduser once more: refused" timeout 120 "$RJSERVER" adduser -d "$D2" host3
is "with no word of a token that it keeps" "$OUT" \
	"rjserver: account host3 exists already, and has no token: --new-token gives it one"
status 0 "its limit is changed" timeout 120 "$RJSERVER" adduser -d "$D" --max-objects 500 host1
like "the token stays, and adduser says so" "$OUT" '^rjserver: account host1 is changed, and keeps its token$'
is "it does" "$(as "$HOST1" "$BASE/host1/")" 200

# changes take effect at SIGHUP, and not before
NEW=$(adduser "$D" host1 --new-token)
timeout 120 "$RJSERVER" deluser -q -d "$D" reader
is "an old token, before the reload" "$(as "$HOST1" "$BASE/host1/")" 200
reloaded() { [ "$(grep -c 'reloaded' "$LOG")" -ge "$1" ]; }
kill -HUP $SERVER_PID
wait_for 60 reloaded 1 || exit 99
is "and after" "$(as "$HOST1" "$BASE/host1/")" 401
is "the new one" "$(as "$NEW" "$BASE/host1/")" 200
is "an account that is gone" "$(as "$READER" "$W/log/$O")" 401
# two tokens at once
SECOND=$(adduser "$D" host1 --add-token)
kill -HUP $SERVER_PID
wait_for 60 reloaded 2 || exit 99
is "beside a second token the first one is good" "$(as "$NEW" "$BASE/host1/")" 200
is "and the second" "$(as "$SECOND" "$BASE/host1/")" 200
is "another secret is not" "$(as "${SECOND%?}x" "$BASE/host1/")" 401
like "users shows two" "$(timeout 120 "$RJSERVER" users -d "$D")" '^host1: .*; two tokens'
cp "$F" "$T_DIR/two"
status 1 "a third one is refused" timeout 120 "$RJSERVER" adduser -d "$D" host1 --add-token
like "and the way on is named" "$OUT" '--drop-token ends the older one'
check "nothing is changed" cmp "$F" "$T_DIR/two"
status 0 "the older one ends" timeout 120 "$RJSERVER" adduser -d "$D" host1 --drop-token
kill -HUP $SERVER_PID
wait_for 60 reloaded 3 || exit 99
is "the first token is over" "$(as "$NEW" "$BASE/host1/")" 401
is "the second is not" "$(as "$SECOND" "$BASE/host1/")" 200
NEW=$SECOND
status 1 "the last one is not dropped" timeout 120 "$RJSERVER" adduser -d "$D" host1 --drop-token
like "so it is said" "$OUT" 'has one token'
echo 'rights = fly' >>"$F"
kill -HUP $SERVER_PID
wait_for 60 reloaded 4 || exit 99
like "a bad file is named by its line" "$(grep 'not reloaded' "$LOG")" \
	"not reloaded, all stays as it was: $F:[0-9]+: \"fly\" is no right"
is "and changes nothing" "$(as "$NEW" "$BASE/host1/")" 200
stop
is "it stops in order" $? 0
ACCESS='' start "$D"
is "a bad file at the start" $? 1
like "is named" "$(cat "$LOG")" "$F:[0-9]+: \"fly\" is no right"
