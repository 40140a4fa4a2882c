#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Our own clients and a server with accounts: rjlog with what rj.conf says.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"

D=$T_DIR/store
RJLOG=$RJ_BUILD/rjlog/rjlog
new_ca ca && new_ca other && new_cert server localhost ca && new_cert host2 host2 ca ||
	{ not_ok "certificates are made"; exit 1; }
HOST1=$(adduser "$D" host1)
READER=$(adduser "$D" reader --rights read --volumes host1)
adduser "$D" host2 --no-token --certificate host2
tls_start "$D" || { note "$(cat "$LOG")"; not_ok "rjserver starts"; exit 1; }
unset CURL_CA_BUNDLE
URL=rjs://${BASE#https://}
# conf LINE...: rj.conf for this server
conf() {
	printf '%s\n' "[$URL]" "$@" >"$RJ_CONF"
	chmod 600 "$RJ_CONF"
}
probe() { timeout 60 "$RJLOG" probe "$@" </dev/null; }
denied() {
	status "$1" "$2: status $1" probe "$URL/$3"
	like "says so" "$OUT" "$4"
	is "and no token" "$(grep -c "${HOST1#*.}" <<<"$OUT")" 0
}
conf "ca = $PKI/ca.pem" "token = $HOST1"
status 0 "a token: rjlog probe writes, races, lists and deletes" probe "$URL/host1"
note "$OUT"
denied 8 "the volume of others" host2 "$URL/host2: [a-z]+: the journal server refuses us \\(status 403"
conf "ca = $PKI/ca.pem" "cert = $PKI/host2.pem" "clientkey = $PKI/host2.key"
status 0 "a certificate: it does, too" probe "$URL/host2"
denied 8 "the volume of others" host1 "$URL/host1: [a-z]+: the journal server refuses us \\(status 403"
conf "ca = $PKI/ca.pem" "token = $READER"
truncate -s 64M "$T_DIR/v.img" && mke2fs -q -F -t ext4 -L old "$T_DIR/v.img" && cp "$T_DIR/v.img" "$T_DIR/was.img" || exit 99
status 1 "a token that may only read: mkrjfs refuses" "$RJ_BUILD/mkrjfs/mkrjfs" -q -F -t ext4 -J "remote=$URL/host1" "$T_DIR/v.img"
like "... and says so" "$OUT" "403.*nothing was changed"
check "... the old file system is there" cmp "$T_DIR/v.img" "$T_DIR/was.img"
conf "ca = $PKI/ca.pem"
denied 8 "neither" host1 "$URL/host1: the journal server refuses us \\(status 401.*rj.conf has no token or user for this URL"
conf "ca = $PKI/ca.pem" "token = ${HOST1%?}x"
denied 8 "a wrong token" host1 "status 401.*does not take the token of rj.conf"
conf "ca = $PKI/ca.pem" "user = host1" "password = ${HOST1%?}x"
denied 8 "a wrong password" host1 "status 401.*does not take the user and password of rj.conf"
conf "ca = $PKI/other.pem" "token = $HOST1"
denied 8 "a server that we do not trust" host1 "certificate"
# the system's certificates, which are our CA alone
if [ -d /etc/ssl/certs ] && mount -t tmpfs none /etc/ssl/certs; then
	at_exit umount -l /etc/ssl/certs
	cp "$PKI/ca.pem" "/etc/ssl/certs/$(openssl x509 -noout -hash -in "$PKI/ca.pem").0"
	cp "$PKI/ca.pem" /etc/ssl/certs/ca-certificates.crt
	denied 8 "ca= is used instead of them" host1 "certificate"
	conf "token = $HOST1"
	status 0 "which would take the server" probe "$URL/host1"
	umount -l /etc/ssl/certs
	conf "ca = $PKI/other.pem" "token = $HOST1"
else skip "ca= and the certificates of the system" "no mount over /etc/ssl/certs"; fi
# files that cannot be used: which, and why, in one line without OpenSSL's numbers
# unusable NAME REGEX LINE...: with these lines in rj.conf
unusable() {
	local name=$1 want=$2
	shift 2
	conf "$@"
	status 16 "$name: refused" probe "$URL/host1"
	like "$name: says so" "$OUT" "^rjlog: $URL/host1: a certificate or key of rj.conf cannot be used: $want\$"
	is "$name: in one line" "$(wc -l <<<"$OUT")" 1
}
openssl pkey -in "$PKI/host2.key" -aes256 -passout pass:secret -out "$PKI/locked.key" 2>>"$PKI/log"
cat "$PKI/host2.pem" "$PKI/locked.key" >"$PKI/locked.pem"
: >"$T_DIR/empty"
head -c 300 "$PKI/ca.pem" >"$T_DIR/cut"
own="cert = $PKI/host2.pem" ca="ca = $PKI/ca.pem"
unusable "no file of authorities" "$T_DIR/none: No such file or directory" "ca = $T_DIR/none"
unusable "an empty one" "$T_DIR/empty: no certificates \\(PEM\\): no certificate or crl found" "ca = $T_DIR/empty"
unusable "one that is cut" "$T_DIR/cut: no certificates \\(PEM\\): bad end line" "ca = $T_DIR/cut"
unusable "no certificate of ours" "$T_DIR/none: No such file or directory" "$ca" "cert = $T_DIR/none"
unusable "an empty one of ours" "$T_DIR/empty: no certificate \\(PEM\\): no start line" "$ca" "cert = $T_DIR/empty"
unusable "another certificate's key" "$PKI/server.key: not the key \\(PEM\\) of our certificate: key values mismatch" \
	"$ca" "$own" "clientkey = $PKI/server.key"
unusable "no key beside our certificate" "$PKI/host2.pem: not the key \\(PEM\\) of our certificate: .*" "$ca" "$own"
unusable "a key with a passphrase" "$PKI/locked.key: not the key .*: write it without its passphrase, by openssl pkey" \
	"$ca" "$own" "clientkey = $PKI/locked.key"
unusable "the same, beside its certificate" "$PKI/locked.pem: not the key .*: write it without its passphrase, .*" \
	"$ca" "cert = $PKI/locked.pem"
# TLS in the kernel, asked for by openssl.cnf: bio_write() cannot say what is no data
printf '%s\n' 'openssl_conf = all' '[all]' 'ssl_conf = ssl' '[ssl]' 'system_default = it' '[it]' \
	'Options = KTLS' >"$T_DIR/openssl.cnf"
conf "$ca" "token = $HOST1"
if strace -o "$T_DIR/none" true 2>/dev/null; then
	status 0 "openssl.cnf asks for the kernel's TLS: it works" \
		env "OPENSSL_CONF=$T_DIR/openssl.cnf" ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0" strace -f -e trace=setsockopt -o "$T_DIR/trace" "$RJLOG" ls "$URL/host1"
	check "our sockets are traced" grep -q TCP_NODELAY "$T_DIR/trace"
	check "and none is the kernel's" eval '! grep -q TCP_ULP "$T_DIR/trace"'
else skip "openssl.cnf asks for the kernel's TLS" "strace does not work here"; fi
# a dot ends a name that is not to be completed: it is no part of the certificate's
URL=${URL/127.0.0.1/localhost.}
conf "$ca" "token = $HOST1"
status 0 "a name that ends with a dot" probe "$URL/host1"
stop
is "it stops in order" $? 0
# bad_server NAME REGEX: with the new certificate of the server
bad_server() {
	tls_start "$D" || { not_ok "rjserver starts: $1"; return; }
	unset CURL_CA_BUNDLE
	URL=rjs://${BASE#https://}
	conf "ca = $PKI/ca.pem" "token = $HOST1"
	denied 8 "$1" host1 "$2"
	stop
}
new_cert server localhost ca -1
bad_server "an expired certificate" "expired \\(renew the certificate of the server\\)"
not_yet server localhost ca
bad_server "one that is not valid yet" "not yet valid \\(is the clock right"
SAN=DNS:elsewhere.example.org new_cert server localhost ca
bad_server "one of another host" "is not who it should be: its certificate does not name 127.0.0.1"
# the subject's name counts where there are no alternative names
openssl req -new -key "$PKI/server.key" -subj /CN=127.0.0.1 -out "$PKI/server.csr" 2>>"$PKI/log" &&
	openssl x509 -req -in "$PKI/server.csr" -CA "$PKI/ca.pem" -CAkey "$PKI/ca.key" \
		-CAcreateserial -days 60 -out "$PKI/server.pem" 2>>"$PKI/log" ||
	not_ok "a certificate without alternative names is made"
tls_start "$D" || not_ok "rjserver starts with a name in the subject"
unset CURL_CA_BUNDLE
URL=rjs://${BASE#https://}
conf "ca = $PKI/ca.pem" "token = $HOST1"
status 0 "a name in the subject alone" probe "$URL/host1"
stop
