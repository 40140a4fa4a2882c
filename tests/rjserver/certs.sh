# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests that speak TLS: a CA and certificates of it, in $T_DIR/pki,
# and a server that has them.
PKI=$T_DIR/pki
mkdir -p "$PKI"

# new_ca NAME: NAME.pem, NAME.key
new_ca() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
		-keyout "$PKI/$1.key" -out "$PKI/$1.pem" -days 2 -subj "/CN=test CA $1" \
		2>>"$PKI/log"
}
# new_cert FILE CN CA [DAYS]: FILE.pem, FILE.key; DAYS below 0: it has expired
new_cert() {
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$PKI/$1.key" \
		-out "$PKI/$1.csr" -subj "/CN=$2" 2>>"$PKI/log" || return
	openssl x509 -req -in "$PKI/$1.csr" -CA "$PKI/$3.pem" -CAkey "$PKI/$3.key" \
		-CAcreateserial -days "${4:-2}" -out "$PKI/$1.pem" 2>>"$PKI/log" \
		-extfile <(echo "subjectAltName=IP:127.0.0.1,DNS:localhost") || return
	chmod 600 "$PKI/$1.key"
}
# adduser DIR NAME [OPTION...]: its token
adduser() {
	local dir=$1
	shift
	timeout 20 "$RJSERVER" adduser -q -d "$dir" "$@"
}
# tls_start DIR [OPTION...]: as start(), with TLS, accounts and certificates of
# clients; BASE is the https URL, and code() trusts the CA
tls_start() {
	ACCESS="--cert $PKI/server.pem --key $PKI/server.key --client-ca $PKI/ca.pem" \
		start "$@" || return
	BASE=https://${BASE#http://}
	export CURL_CA_BUNDLE=$PKI/ca.pem
}
# as TOKEN CURL-ARGUMENT...: code() with the token
as() { code -H "Authorization: Bearer $1" "${@:2}"; }
# counted REASON: how many refusals the server has counted; asks with $ADMIN
counted() {
	curl -s -m 20 --noproxy '*' -H "Authorization: Bearer $ADMIN" "$BASE/metrics" |
		sed -n "s/^rjserver_refused_total{reason=\"$1\"} //p"
}
logged() { grep -Eq -- "$1" "$LOG"; }
