#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# WebDAV: Apache's mod_dav, with TLS and a password. Mode B, always.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/backends/frame.sh"
. "$RJ_SRC/tests/backends/volume.sh"
b_need dav

RJLOG=$RJ_BUILD/rjlog/rjlog RACERS=$RJ_BUILD/tests/backends/racers
suite() { # PROGRAM URL [VARIABLE=VALUE...]
	check "dav${WAY:-}: $1 ${*:3}" timeout 200 env RJ_TEST_STORE="$2" "${@:3}" "$RJ_BUILD/tests/$1"
}

check "Apache starts" b_start dav || exit 1
suite store/test-tree "$B_URL"
check "${RJ_RACERS:-16} racers, ${RJ_ROUNDS:-6} rounds: one winner in each" \
	"$RACERS" "$B_URL" "${RJ_RACERS:-16}" "${RJ_ROUNDS:-6}"
suite log/test-race "$B_URL"

# through a proxy that harms every fifth request
WAY=", a proxy of faults"
b_faults "$DAV_PLAIN" dav "user = u" "password = pw"
BAD=dav://127.0.0.1:$FAULT_PORT/logs/faults
suite store/test-tree "$BAD" RJ_TEST_RETRY=1
suite log/test-model "$BAD" RJ_TEST_RETRY=1 RJ_LIVES=1
b_faults_seen
RJ_CUTS=${RJ_CUTS:-20} # its requests are few and large
b_cuts "$B_PORTS"
is "a bad way to it" $? 0
WAY=", a bad way"
suite store/test-tree "$B_BAD_URL" RJ_TEST_RETRY=1
b_faults_seen

b_conf "davs://127.0.0.1:$DAV_PORT/logs/wrong" "password = hunter2hunter2"
refused() { # NAME URL REGEX
	status 8 "$1" "$RJLOG" ls "$2"
	like "$1: said" "$OUT" "$3"
	check "$1: no secret in it" not grep -E "hunter2" <<<"$OUT"
}
refused "a wrong password" "davs://127.0.0.1:$DAV_PORT/logs/wrong" 'refuses us \(status 401'
b_conf "davs://127.0.0.1:$DAV_PORT/logs/noca" "ca = /etc/ssl/certs/ca-certificates.crt"
refused "a certificate that nobody signed" "davs://127.0.0.1:$DAV_PORT/logs/noca" 'is not who it should be'

b_durable_refused # mod_dav does not flush what it stores
b_rolled_back "$T_DIR/dav/root/logs/journals"
b_main_path dav
b_key "$T_DIR/seal.key"
b_main_path dav-key "key=$T_DIR/seal.key"
b_fenced "$T_DIR/dav-key.crashed"
