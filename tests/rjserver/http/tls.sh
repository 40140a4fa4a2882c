#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# TLS: client certificates, strangers of every kind, half-open peers, new
# certificates at SIGHUP.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"

D=$T_DIR/store
echo segment >"$T_DIR/a"
new_ca ca && new_ca other && new_cert server localhost ca && new_cert host1 host1 ca &&
	new_cert late host1 ca -1 && new_cert unknown host1 other && new_cert nobody stranger ca ||
	{ note "$(cat "$PKI/log")"; not_ok "certificates are made"; exit 1; }
adduser "$D" host1 --no-token --certificate host1 >"$T_DIR/none"
is "no token for who has a certificate" "$(cat "$T_DIR/none")" ""
status 1 "one certificate, one account" timeout 120 "$RJSERVER" adduser -d "$D" h2 --certificate host1
like "says so" "$OUT" 'the certificate host1 is that of account host1'
ADMIN=$(adduser "$D" boss --rights admin --volumes '*')
HOST2=$(adduser "$D" host2)

# files that are not usable
new_cert wide wide ca
chmod 644 "$PKI/wide.key"
bad() {
	status "$1" "$2: exit $1" timeout 120 "$RJSERVER" -d "$D" -l 127.0.0.1:0 "${@:4}"
	like "and names it" "$OUT" "$3"
}
bad 2 "a key for everybody" 'wide.key: everybody can read this private key' \
	--cert "$PKI/wide.pem" --key "$PKI/wide.key"
bad 2 "a key of another certificate" 'host1.key: not usable as the certificate' \
	--cert "$PKI/server.pem" --key "$PKI/host1.key"
bad 2 "a certificate that is none" 'log: not usable as a certificate' --cert "$PKI/log" \
	--key "$PKI/server.key"
bad 2 "a certificate that is not there" 'nowhere.pem: not usable' --cert "$PKI/nowhere.pem" \
	--key "$PKI/server.key"
bad 2 "a CA that is none" "clients' CA" --cert "$PKI/server.pem" --key "$PKI/server.key" \
	--client-ca "$PKI/log"

printf '[server]\nmin-free = 1k\n' >"$T_DIR/conf"
tls_start "$D" --config "$T_DIR/conf" || { note "$(cat "$LOG")"; not_ok "rjserver starts"; exit 1; }
PORT=${BASE##*:} K=$BASE/host1/$UUID/log
O=$(seq20 1)
cert() { code --cert "$PKI/$1.pem" --key "$PKI/$1.key" "${@:2}"; }
head -c 5000000 /dev/urandom >"$T_DIR/large"
is "a client certificate: PUT" "$(cert host1 -T "$T_DIR/a" "$K/$O")" 201
is "and GET" "$(cert host1 "$K/$O") $(body)" "200 segment"
is "a large one" "$(cert host1 -T "$T_DIR/large" "$K/$(seq20 2)")" 201
is "and back" "$(cert host1 "$K/$(seq20 2)")" 200
check "the same" cmp "$T_DIR/large" "$T_DIR/body"
is "a stream of all" "$(cert host1 "$K/?from=1")" 200
check "has all" test "$(wc -c <"$T_DIR/body")" -ge 5000008
is "not the volume of others" "$(cert host1 "$BASE/host2/$UUID/log/$O")" 403
is "a token over TLS" "$(as "$HOST2" -T "$T_DIR/a" "$BASE/host2/$UUID/log/$O")" 201
is "the token says who, before the certificate" \
	"$(cert host1 -H "Authorization: Bearer $HOST2" "$K/$O")" 403
is "a wrong token is not saved by a certificate" \
	"$(cert host1 -H "Authorization: Bearer x.1" "$K/$O")" 401
n=$(curl -s --noproxy '*' --cert "$PKI/host1.pem" --key "$PKI/host1.key" -o /dev/null \
	-o /dev/null -w '%{num_connects}' "$K/$O" "$K/$O")
is "keep-alive" "$n" 10
# what clients speak
for v in 1.2 1.3; do
	is "TLS $v" "$(cert host1 "--tlsv$v" --tls-max $v "$K/$O")" 200
done

# strangers. Each: no answer of HTTP, a line in the log (the same one only once a
# minute), a count of one
refused() { # NAME REGEX COMMAND...
	local had
	had=$(counted tls)
	"${@:3}" >"$T_DIR/got" 2>&1 </dev/null
	counted_more() { [ "$(counted tls)" -gt "$had" ]; }
	check "$1: is counted" wait_for 30 counted_more
	like "and said" "$(cat "$LOG")" "refused: 127.0.0.1: $2"
	is "and nothing was read" "$(grep -c segment "$T_DIR/got")" 0
}
ask() { timeout 120 curl -s --noproxy '*' --cert "$PKI/$1.pem" --key "$PKI/$1.key" "$K/$O" "${@:2}"; }
refused "an expired certificate" 'its certificate: certificate has expired' ask late
refused "a certificate of an unknown CA" 'its certificate: unable to get (local )?issuer' ask unknown
refused "a client that does not trust us" 'the other end said: .*unknown CA|no TLS handshake' \
	ask host1 --cacert "$PKI/other.pem"
old() {
	printf 'GET /host1/%s/log/%s HTTP/1.1\r\n\r\n' "$UUID" "$O" |
		timeout 120 openssl s_client -connect "127.0.0.1:$PORT" "-$1" -cipher ALL:@SECLEVEL=0 -quiet
}
refused "TLS 1.1" 'TLS: protocol version' old tls1_1
refused "TLS 1.0" 'TLS: protocol version' old tls1
refused "plain HTTP" 'no TLS handshake' \
	timeout 120 curl -s --noproxy '*' "http://127.0.0.1:$PORT/host1/$UUID/log/$O"
garbage() { head -c 3000 /dev/urandom >/dev/tcp/127.0.0.1/"$PORT"; }
refused "garbage" '(TLS:|no TLS handshake)' garbage
n=$(counted unknown_credentials)
is "a good certificate of nobody: 401" "$(cert nobody "$K/$O") $(body)" "401 not allowed"
is "and counted" "$(counted unknown_credentials)" $((n + 1))
is "no certificate at all: 401" "$(code "$K/$O")" 401

# half-open: many connect and say nothing, or stop in the middle; others work
for i in {1..30}; do
	exec {fd}<>"/dev/tcp/127.0.0.1/$PORT"
	if ((i % 2)); then printf '\x16\x03\x01\x02\x00\x01' >&"$fd"; fi
	fds[i]=$fd
done
is "beside 30 that only connect" "$(cert host1 "$K/$O")" 200
cut_off() {
	local fd
	for fd in "${fds[@]}"; do
		read -r -t 0.001 -u "$fd" _
		(($? == 1)) || return 1 # 1: end of file; above 128: nothing yet
	done
}
check "all are cut off after ten seconds" wait_for 25 cut_off
check "which is said" logged 'refused: 127.0.0.1: no TLS handshake within 10 seconds'
for fd in "${fds[@]}"; do exec {fd}>&-; done
is "and it serves on" "$(cert host1 "$K/$O")" 200

# SIGHUP: another CA of clients, another certificate of ours
cp "$PKI/other.pem" "$PKI/ca.new"
new_cert server2 localhost ca
is "before: the first certificate" "$(cert host1 "$K/$O")" 200
reloaded() { [ "$(grep -c 'reloaded' "$LOG")" -ge "$1" ]; }
serial() {
	timeout 120 openssl s_client -connect "127.0.0.1:$PORT" </dev/null 2>/dev/null |
		openssl x509 -noout -serial
}
was=$(serial)
export CURL_CA_BUNDLE=$PKI/ca.copy
cp "$PKI/ca.pem" "$PKI/ca.copy"
echo broken >"$PKI/ca.pem"
kill -HUP $SERVER_PID
check "a CA that is none: said" wait_for 20 reloaded 1
check "and named" logged "not reloaded, all stays as it was: .*ca.pem: not usable"
is "and all stays" "$(cert host1 "$K/$O")" 200
kill -HUP $SERVER_PID
check "asked again, said again" wait_for 60 reloaded 2
cp "$PKI/other.pem" "$PKI/ca.pem"
cp "$PKI/server2.pem" "$PKI/server.pem"
cp "$PKI/server2.key" "$PKI/server.key"
# all or nothing: an account, a limit and certificates are new, and one file is bad
export CURL_CA_BUNDLE=$PKI/ca.copy
HOST3=$(adduser "$D" host3)
printf '[server]\nmin-free = 1000T\n' >"$T_DIR/conf"
n=2
spoilt() { # FILE REGEX
	cp -p "$1" "$T_DIR/good"
	echo nonsense >"$1"
	kill -HUP $SERVER_PID
	n=$((n + 1))
	check "${1##*/} is bad: said" wait_for 20 reloaded $n
	like "and named" "$(grep 'not reloaded' "$LOG" | tail -n 1)" "not reloaded, all stays as it was: $1:$2"
	cp -p "$T_DIR/good" "$1"
	is "the certificate stays" "$(serial)" "$was"
	is "and whose clients are let in" "$(cert host1 "$K/$O")$(cert unknown "$K/$O")" 200000
	is "and the accounts" "$(as "$HOST3" "$BASE/host3/")$(as "$HOST2" "$BASE/host2/")" 401200
	is "and the limits" "$(cert host1 -T "$T_DIR/a" "$K/$(seq20 $n)")" 201
}
spoilt "$PKI/server.pem" ' not usable as a certificate'
spoilt "$PKI/server.key" ' not usable as the certificate'
spoilt "$D/accounts" '1: '
spoilt "$T_DIR/conf" '1: '
kill -HUP $SERVER_PID
check "reloaded" wait_for 20 reloaded $((n + 1))
check "with the account" logged 'reloaded: 4 accounts'
is "which is let in" "$(as "$HOST3" "$BASE/host3/")" 200
is "and the limit holds" "$(as "$HOST3" -T "$T_DIR/a" "$BASE/host3/$UUID/log/$O")" 507
isnt=$(serial)
is "a new certificate of ours" "$([ -n "$isnt" ] && [ "$was" != "$isnt" ] && echo yes)" yes
is "clients of the new CA" "$(cert unknown "$K/$O")" 200
is "and none of the old one" "$(cert host1 "$K/$O")" 000
# URLs with the scheme of the other kind
RJLOG=$RJ_BUILD/rjlog/rjlog
export no_proxy='*'
status 8 "rj:// where TLS is spoken" timeout 60 "$RJLOG" ls "rj://127.0.0.1:$PORT/x"
like "says how the URL begins" "$OUT" "^rjlog: rj://127.0.0.1:$PORT/x: .*with TLS, the URL begins with rjs://\)$"
"$RJSERVER" -d "$T_DIR/plain" -l 127.0.0.1:0 --insecure >"$T_DIR/plain.out" 2>&1 &
at_exit kill -9 $!
check "a server without TLS" wait_for 20 grep -q 'listening on' "$T_DIR/plain.out"
url=rjs://$(sed -n 's/.*listening on //p' "$T_DIR/plain.out")/x
status 8 "rjs:// where it is not" timeout 60 "$RJLOG" ls "$url"
like "says so, and how the URL begins" "$OUT" "^rjlog: $url: .*does not speak TLS; without it, the URL begins with rj://$"
stop
is "it stops in order" $? 0
