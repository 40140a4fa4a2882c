#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A connection that is open ends when its certificate expires, is revoked, or its CA
# is none any more; the others go on.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"

D=$T_DIR/store
new_ca ca && new_ca other && new_cert server localhost ca && new_cert host1 host1 ca &&
	new_cert host2 host2 ca && new_cert host3 host3 other &&
	new_cert brief brief ca || { not_ok "certificates are made"; exit 1; }
cat >"$PKI/ca.conf" <<END
[ca]
default_ca = it
[it]
database = $PKI/index
default_md = sha256
policy = any
rand_serial = yes
new_certs_dir = $PKI
default_crl_days = 2
[any]
commonName = supplied
END
: >"$PKI/index"
ca() { openssl ca -batch -config "$PKI/ca.conf" -cert "$PKI/ca.pem" -keyfile "$PKI/ca.key" "$@" >>"$PKI/log" 2>&1; }
HOST2=$(adduser "$D" host2 --certificate host2)
for n in host1 host3 brief; do adduser "$D" $n --no-token --certificate $n >/dev/null; done
cp "$PKI/ca.pem" "$PKI/clients.pem"
ACCESS="--cert $PKI/server.pem --key $PKI/server.key --client-ca $PKI/clients.pem" \
	start "$D" || { note "$(cat "$LOG")"; not_ok "rjserver starts"; exit 1; }

declare -A PIDS IN
# connect NAME [OPTION...]: a connection of this name
connect() {
	local fd
	mkfifo "$T_DIR/$1.in"
	timeout 200 openssl s_client -connect "127.0.0.1:${BASE##*:}" -quiet "${@:2}" \
		<"$T_DIR/$1.in" >"$T_DIR/$1.out" 2>/dev/null &
	PIDS[$1]=$!
	at_exit kill ${PIDS[$1]}
	exec {fd}>"$T_DIR/$1.in"
	IN[$1]=$fd
}
with() { connect "$1" -cert "$PKI/$1.pem" -key "$PKI/$1.key"; }
answers() { [ "$(grep -ac '^HTTP/1.1 200' "$T_DIR/$1.out")" -ge "$2" ]; }
# asks NAME NUMBER [HEADER]: its request of this number is answered
asks() {
	printf '%s\r\n' 'GET / HTTP/1.1' "${@:3}" '' >&"${IN[$1]}"
	wait_for 60 answers "$1" "$2"
}
over() { ! kill -0 "${PIDS[$1]}" 2>/dev/null; }
reload() {
	RELOADS=$((1 + $(grep -c reloaded "$LOG")))
	kill -HUP $SERVER_PID
	reloaded() { [ "$(grep -c reloaded "$LOG")" -ge $RELOADS ]; }
	check "reloaded" wait_for 60 reloaded
}

with host1 && with host2 && connect token
check "a certificate" asks host1 1
check "another" asks host2 1
check "a token" asks token 1 "Authorization: Bearer $HOST2"
reload
check "a reload changes nothing" asks host1 2

# revoked
ca -revoke "$PKI/host1.pem" && ca -gencrl -out "$PKI/crl.pem" || not_ok "a CRL is made"
cat "$PKI/ca.pem" "$PKI/crl.pem" >"$PKI/clients.pem"
reload
check "the connection of a revoked certificate ends" wait_for 60 over host1
check "another goes on" asks host2 2
check "and that with a token" asks token 2 "Authorization: Bearer $HOST2"
cp "$PKI/ca.pem" "$PKI/ca.copy"
export CURL_CA_BUNDLE=$PKI/ca.copy
BASE=https://${BASE#http://}
cert() { code --cert "$PKI/$1.pem" --key "$PKI/$1.key" "$BASE/"; }
is "it gets no other" "$(cert host1)" 000
is "but who is not on the list" "$(cert host2)" 200

# expired
end=$(date -u -d '15 seconds' +%Y%m%d%H%M%SZ)
ca -in "$PKI/brief.csr" -out "$PKI/brief.pem" -notext -startdate 20200101000000Z -enddate "$end" ||
	not_ok "a brief certificate is made"
with brief
check "a certificate that will expire" asks brief 1
check "its connection ends with it" wait_for 60 over brief
check "others go on" asks host2 3

# another CA
cp "$PKI/other.pem" "$PKI/clients.pem"
reload
check "without its CA a connection ends" wait_for 60 over host2
check "that with a token goes on" asks token 3 "Authorization: Bearer $HOST2"
is "clients of the new CA" "$(cert host3)" 200
stop
is "stopped in order" $? 0
