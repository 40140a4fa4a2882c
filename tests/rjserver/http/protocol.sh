#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# doc/http-protocol.md, line by line.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"

D=$T_DIR/store
start "$D" || { not_ok "rjserver starts"; exit 1; }
K=$BASE/host1/$UUID
head -c 32768 /dev/urandom >"$T_DIR/a"
head -c 1000 /dev/urandom >"$T_DIR/b"
: >"$T_DIR/empty"

is "the root says the version" "$(code "$BASE/") $(body)" \
	"200 rjserver $("$RJSERVER" -V | cut -d' ' -f3)"

# objects
is "PUT a new key" "$(code -T "$T_DIR/a" -H 'If-None-Match: *' "$K/log/$(seq20 1)")" 201
is "its answer is short" "$(tr -d '\r' <"$T_DIR/head" | grep -v '^HTTP/1.1 100' | cut -d: -f1 | xargs)" \
	"HTTP/1.1 201 Created Content-Length Date"
is "PUT it again" "$(code -T "$T_DIR/b" -H 'If-None-Match: *' "$K/log/$(seq20 1)")" 412
is "and without the header" "$(code -T "$T_DIR/b" "$K/log/$(seq20 1)")" 412
is "GET it" "$(code "$K/log/$(seq20 1)")" 200
check "its bytes are the first ones" cmp "$T_DIR/a" "$T_DIR/body"
check "as octets" head_has 'content-type: application/octet-stream'
is "HEAD it" "$(code -I "$K/log/$(seq20 1)")" 200
check "with its length" head_has 'content-length: 32768'
is "GET a missing key" "$(code "$K/log/$(seq20 2)")" 404
is "HEAD a missing key" "$(code -I "$K/log/$(seq20 2)")" 404
is "an epoch is another key" "$(code -T "$T_DIR/b" "$K/epoch/$(seq20 1)")" 201
is "so is another name" "$(code -T "$T_DIR/b" "$BASE/host2/$UUID/log/$(seq20 1)")" 201
is "an empty object" "$(code -T "$T_DIR/empty" "$K/log/$(seq20 3)")" 201
is "is there" "$(code "$K/log/$(seq20 3)") $(wc -c <"$T_DIR/body")" "200 0"
is "the largest number" "$(code -T "$T_DIR/b" "$K/log/18446744073709551615")" 201
is "DELETE" "$(code -X DELETE "$K/log/18446744073709551615")" 204
is "DELETE what is gone" "$(code -X DELETE "$K/log/18446744073709551615")" 404
is "GET what is gone" "$(code "$K/log/18446744073709551615")" 404
is "PUT what is gone" "$(code -T "$T_DIR/a" "$K/log/18446744073709551615")" 201
is "GET it again" "$(code "$K/log/18446744073709551615")" 200
check "and see the new bytes" cmp "$T_DIR/a" "$T_DIR/body"

# lists
is "list" "$(code "$K/log/")" 200
is "shows numbers and lengths" "$(body)" "$(seq20 1) 32768
$(seq20 3) 0
18446744073709551615 32768"
check "as text" head_has 'content-type: text/plain'
is "HEAD of a list" "$(code -I "$K/log/")" 200
is "list after 1" "$(code "$K/log/?after=1&limit=1") $(body)" "200 $(seq20 3) 0"
check "says that there is more" head_has 'rj-more: 1'
is "list after 3" "$(code "$K/log/?after=3") $(body)" \
	"200 18446744073709551615 32768"
if head_has 'rj-more: 1'; then not_ok "the last page"; else ok "the last page"; fi
is "list after the last" "$(code "$K/log/?after=18446744073709551615") $(body)" "200 "
is "a directory never written to" \
	"$(code "$BASE/host1/11111111-1111-1111-1111-111111111111/log/") $(body)" "200 "
is "journals of a name" "$(code "$BASE/host1/") $(body)" "200 $UUID"
is "journals of no name" "$(code "$BASE/host9/") $(body)" "200 "
for q in after= after=x after=-1 limit=0 limit= foo=1 'after=1&foo' \
	after=18446744073709551616 'after=1;limit=1' 'after=%31'; do
	is "list ?$q" "$(code "$K/log/?$q")" 400
done
is "a query on an object" "$(code "$K/log/$(seq20 1)?x=1")" 400
is "a query on a name" "$(code "$BASE/host1/?x=1")" 400

# methods
for m in POST PATCH OPTIONS TRACE; do
	is "$m on a key" "$(code -X $m "$K/log/$(seq20 1)")" 405
done
check "405 says what is allowed" head_has 'allow: get, head, put, delete'
for u in "$K/log/" "$K/epoch/" "$BASE/host1/" "$BASE/"; do
	is "PUT on ${u#"$BASE"}" "$(code -X PUT -d x "$u")" 405
done
for u in "$BASE/host1/" "$BASE/"; do
	is "DELETE on ${u#"$BASE"}" "$(code -X DELETE "$u")" 405
done

# streams, and deletion of all below a number
S=$BASE/stream/$UUID
for n in 3 7 8 9; do
	code -T "$T_DIR/b" "$S/log/$(seq20 $n)" >/dev/null
done
code -T "$T_DIR/empty" "$S/log/$(seq20 10)" >/dev/null
stream_of() { # NUMBER...: what a stream of copies of b looks like
	local n
	for n in "$@"; do printf '%020d 1000\n' "$n"; cat "$T_DIR/b"; done
	printf '%020d 0\nend\n' 10
}
is "a stream" "$(code "$S/log/?from=7")" 200
stream_of 7 8 9 >"$T_DIR/want"
check "is what doc/http-protocol.md says" cmp "$T_DIR/want" "$T_DIR/body"
check "as objects" head_has 'content-type: application/x-rj-objects'
check "in chunks" head_has 'transfer-encoding: chunked'
is "a stream to HTTP/1.0" "$(code -0 "$S/log/?from=0")" 200
stream_of 3 7 8 9 >"$T_DIR/want"
check "has all too" cmp "$T_DIR/want" "$T_DIR/body"
is "a stream from behind the last" "$(code "$S/log/?from=11") $(body)" "200 end"
for q in from= from=x 'from=1&limit=1' 'from=1&from=2' from=18446744073709551616; do
	is "stream ?$q" "$(code "$S/log/?$q")" 400
done
is "HEAD of a stream" "$(code -I "$S/log/?from=1")" 400
is "the connection is good for more" "$(curl -s --noproxy '*' -o /dev/null -o /dev/null \
	-w '%{num_connects}' "$S/log/?from=1" "$S/log/?from=1")" 10
is "DELETE below 9" "$(code -X DELETE "$S/log/?below=9")" 204
check "says how many those were" head_has 'rj-deleted: 3'
is "leaves the others" "$(code "$S/log/") $(body | cut -d' ' -f1)" "200 $(seq20 9)
$(seq20 10)"
is "none left to delete" "$(code -X DELETE "$S/log/?below=9")" 204
for q in '' '?below=' '?below=-1' '?below=1&x' '?after=1'; do
	is "DELETE on a directory $q" "$(code -X DELETE "$S/log/$q")" 400
done
is "a deleted number again" "$(code -T "$T_DIR/b" "$S/log/$(seq20 7)")" 201
is "DELETE all of a directory" "$(code -X DELETE "$S/log/?below=18446744073709551615")" 204
is "it is empty" "$(code "$S/log/") $(body)" "200 "

# keys of any other form: refused by every method, nothing touched
long=$(printf 'n%.0s' {1..64})
bad=("/host1" "//$UUID/log/$(seq20 5)" "//x/host1/$UUID/log/$(seq20 5)" "/host1/$UUID" "/host1/$UUID/" "/host1/$UUID/log"
	"/host1/$UUID/log/5" "/host1/$UUID/log/$(seq20 0)" "/host1/$UUID/log/$(seq20 5)/"
	"/host1/$UUID/log/0$(seq20 5)" "/host1/$UUID/tmp/$(seq20 5)" "/host1/$UUID/log//$(seq20 5)"
	"/host1/${UUID^^}/log/$(seq20 5)" "/host1/$UUID/log/99999999999999999999"
	"/../$UUID/log/$(seq20 5)" "/host1/../host1/$UUID/log/$(seq20 5)"
	"/host1/%2e%2e/log/$(seq20 5)" "/host%31/$UUID/log/$(seq20 5)"
	"/host1/$UUID/log/%30$(seq20 5 | cut -c2-)" "/host1%2f$UUID/log/$(seq20 5)"
	"/.host/$UUID/log/$(seq20 5)" "/$long/$UUID/log/$(seq20 5)" "/a+b/$UUID/log/$(seq20 5)"
	"/etc/passwd" "/host1/$UUID/log/$(seq20 5)%00" "/host1/$UUID/log/$(seq20 5);x")
for k in "${bad[@]}"; do
	got=$(code -T "$T_DIR/b" "$BASE$k")$(code "$BASE$k")$(code -X DELETE "$BASE$k")
	is "refused: $k" "$got" 400400400
done
is "nothing came of it" "$(code "$BASE/host1/") $(body)" "200 $UUID"
is "nor here" "$(code "$K/log/?after=3") $(body)" "200 18446744073709551615 32768"
name63=${long:1}
is "63 characters are a name" "$(code -T "$T_DIR/b" "$BASE/$name63/$UUID/log/$(seq20 1)")" 201

# sizes and lengths
head -c $((16 << 20)) /dev/urandom >"$T_DIR/most"
cp "$T_DIR/most" "$T_DIR/over"
printf x >>"$T_DIR/over"
head -c $((20 << 20)) /dev/zero >"$T_DIR/far"
is "16 MiB is the most" "$(code -T "$T_DIR/most" "$K/log/$(seq20 10)")" 201
is "and comes back" "$(code "$K/log/$(seq20 10)")" 200
check "whole" cmp "$T_DIR/most" "$T_DIR/body"
is "a byte more is refused" "$(code -T "$T_DIR/over" "$K/log/$(seq20 11)")" 413
is "20 MiB is refused" "$(code -T "$T_DIR/far" "$K/log/$(seq20 11)")" 413
is "nothing of it is there" "$(code "$K/log/$(seq20 11)")" 404
is "no length is refused" \
	"$(code -H 'Transfer-Encoding: chunked' -T "$T_DIR/b" "$K/log/$(seq20 11)")" 411
# raw: say what curl would not
raw() {
	exec 3<>"/dev/tcp/127.0.0.1/${BASE##*:}"
	printf "$@" >&3
	timeout 120 head -n 1 <&3 | tr -d '\r'
	exec 3>&-
}
P=/host1/$UUID/log/$(seq20 11)
like "PUT with nothing at all" "$(raw 'PUT %s HTTP/1.1\r\nHost: x\r\n\r\n' "$P")" ' 411 '
like "a negative length" "$(raw 'PUT %s HTTP/1.1\r\nContent-Length: -1\r\n\r\n' "$P")" ' 400 '
like "a length of words" "$(raw 'PUT %s HTTP/1.1\r\nContent-Length: 1x\r\n\r\n' "$P")" ' 400 '
like "not HTTP" "$(raw 'hello there, server\r\n\r\n')" ' 400 '
like "headers without an end" \
	"$(raw 'GET / HTTP/1.1\r\nX: %s\r\n\r\n' "$(head -c 9000 /dev/zero | tr '\0' x)")" ' 431 '
# what two readers could understand in two ways: 400, and nothing behind it is read
twice='PUT %s HTTP/1.1\r\n%b\r\n\r\nabcGET / HTTP/1.1\r\n\r\n'
while IFS='|' read -r what head; do
	exec 3<>"/dev/tcp/127.0.0.1/${BASE##*:}"
	# shellcheck disable=SC2059
	printf "$twice" "$P" "$head" >&3
	is "$what" "$(timeout 120 cat <&3 | tr -d '\r' | grep -a ^HTTP/)" "HTTP/1.1 400 Bad Request"
	exec 3>&-
done <<'END'
two lengths|Content-Length: 3\r\nContent-Length: 3
two lengths in one|Content-Length: 3, 3
a length and a coding|Content-Length: 3\r\nTransfer-Encoding: chunked
a coding and a length|Transfer-Encoding: identity\r\nContent-Length: 3
a bare line feed|Content-Length: 3\nX: y
a folded line|Content-Length: 3\r\nX: y\r\n z
a blank before the colon|Content-Length : 3
a line that is no header|Content-Length: 3\r\nhello
two hosts|Host: a\r\nHost: b\r\nContent-Length: 3
a length with a sign|Content-Length: +3
END
# a body that stops in the middle
exec 3<>"/dev/tcp/127.0.0.1/${BASE##*:}"
printf 'PUT %s HTTP/1.1\r\nContent-Length: 1000\r\n\r\nhalf' "$P" >&3
exec 3>&-
# two requests in one piece
exec 3<>"/dev/tcp/127.0.0.1/${BASE##*:}"
printf 'PUT %s HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET %s HTTP/1.1\r\nConnection: close\r\n\r\n' \
	"${P%1}2" "${P%1}2" >&3
like "pipelined requests" "$(timeout 120 cat <&3 | tr -d '\r' | tr '\n' ' ')" '201 .* 200 .*abc$'
exec 3>&-
is "half a body is no object" "$(code "$K/log/$(seq20 11)")" 404

# keep-alive: one connection for three requests
n=$(curl -s --noproxy '*' -o /dev/null -o /dev/null -o /dev/null -w '%{num_connects}' \
	"$BASE/" "$K/log/" "$K/log/$(seq20 1)")
is "one connection serves many requests" "$n" 100

stop
is "SIGTERM: exit 0" $? 0
start "$D"
K=$BASE/host1/$UUID
is "all is there after a restart" "$(code "$K/log/") $(body | wc -l)" "200 5"
is "GET after a restart" "$(code "$K/log/$(seq20 1)")" 200
check "the same bytes" cmp "$T_DIR/a" "$T_DIR/body"
is "nothing to complain of" "$(cat "$LOG")" ""
stop INT
is "SIGINT: exit 0" $? 0
