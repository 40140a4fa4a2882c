# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests that speak TLS: a CA and certificates of it, in $T_DIR/pki,
# and a server that has them.
PKI=$T_DIR/pki
mkdir -p "$PKI"

# new_ca NAME: NAME.pem, NAME.key
new_ca() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
		-keyout "$PKI/$1.key" -out "$PKI/$1.pem" -days 60 -subj "/CN=test CA $1" \
		2>>"$PKI/log"
}
# new_cert FILE CN CA [DAYS]: FILE.pem, FILE.key; DAYS below 0: it has expired; for
# the addresses $SAN, if that is set
new_cert() {
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$PKI/$1.key" \
		-out "$PKI/$1.csr" -subj "/CN=$2" 2>>"$PKI/log" || return
	openssl x509 -req -in "$PKI/$1.csr" -CA "$PKI/$3.pem" -CAkey "$PKI/$3.key" \
		-CAcreateserial -days "${4:-60}" -out "$PKI/$1.pem" 2>>"$PKI/log" \
		-extfile <(echo "subjectAltName=${SAN:-IP:127.0.0.1,DNS:localhost}") || return
	chmod 600 "$PKI/$1.key"
}
# not_yet FILE CN CA: as new_cert, valid from tomorrow on
not_yet() {
	new_cert "$@" && : >"$PKI/index" && echo 7777 >"$PKI/serial" &&
		openssl ca -batch -notext -in "$PKI/$1.csr" -out "$PKI/$1.pem" \
			-startdate "$(date -u -d '+1 day' +%Y%m%d%H%M%SZ)" \
			-enddate "$(date -u -d '+3 days' +%Y%m%d%H%M%SZ)" -config <(printf '%s\n' \
			'[ca]' 'default_ca = it' '[it]' "database = $PKI/index" "serial = $PKI/serial" \
			"new_certs_dir = $PKI" "certificate = $PKI/$3.pem" "private_key = $PKI/$3.key" \
			'default_md = sha256' 'policy = any' 'x509_extensions = ext' '[any]' \
			'commonName = supplied' '[ext]' "subjectAltName = ${SAN:-IP:127.0.0.1,DNS:localhost}") \
			2>>"$PKI/log"
}
# adduser DIR NAME [OPTION...]: its token
adduser() {
	local dir=$1
	shift
	timeout 120 "$RJSERVER" adduser -q -d "$dir" "$@"
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
	curl -s -m 120 --noproxy '*' -H "Authorization: Bearer $ADMIN" "$BASE/metrics" |
		sed -n "s/^rjserver_refused_total{reason=\"$1\"} //p"
}
logged() { grep -Eq -- "$1" "$LOG"; }
