#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# S3: Ceph's radosgw, plain and with TLS; and what is no S3.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/backends/frame.sh"
. "$RJ_SRC/tests/backends/volume.sh"
b_need rgw

RJLOG=$RJ_BUILD/rjlog/rjlog RACERS=$RJ_BUILD/tests/backends/racers
conform() { RJ_TEST_STORE=$1 timeout 120 "$RJ_BUILD/tests/store/test-conform"; }

check "radosgw starts" b_start rgw || exit 1
S3=$B_URL
check "the conformance suite, path style" conform "$S3"

# with TLS, the bucket's name in the host's
b_conf "s3+https://localhost" "user = $RGW_AK" "password = $RGW_SK" \
	"ca = $T_DIR/rgw/cert.pem" "style = virtual" "region = us-east-1"
VIRTUAL=s3+https://localhost:$RGW_TLS_PORT/$RGW_BUCKET/tls/a
check "$((4 + ${RJ_LONG:-0})) racers with TLS, virtual-host style" "$RACERS" "$VIRTUAL" 4 3
check "path style with TLS" "$RACERS" "$RGW_TLS_URL" 4 3

check "${RJ_RACERS:-16} racers, ${RJ_ROUNDS:-6} rounds: one winner in each" \
	"$RACERS" "$S3" "${RJ_RACERS:-16}" "${RJ_ROUNDS:-6}"

# the same suite through a proxy that harms every fifth request
b_faults "$RGW_PORT" "s3+http" "user = $RGW_AK" "password = $RGW_SK"
check "the conformance suite under faults" env RJ_TEST_RETRY=1 \
	RJ_TEST_STORE="s3+http://127.0.0.1:$FAULT_PORT/$RGW_BUCKET/faults" \
	timeout 120 "$RJ_BUILD/tests/store/test-conform"
b_faults_seen

# errors in words, and no secret in them
b_conf "s3+http://127.0.0.1:$RGW_PORT/logs/wrong" "password = hunter2hunter2"
refused() { # STATUS NAME URL REGEX
	status "$1" "$2" "$RJLOG" ls "$3"
	like "$2: said" "$OUT" "$4"
	check "$2: no secret in it" not grep -E "hunter2|$RGW_SK" <<<"$OUT"
}
refused 8 "a wrong secret key" "s3+http://127.0.0.1:$RGW_PORT/logs/wrong" 'refuses us \(status 403: SignatureDoesNotMatch'
refused 16 "no such bucket" "s3+http://127.0.0.1:$RGW_PORT/nobucket/x" 'there is no bucket of that name'
refused 8 "no access key" "s3+http://localhost:$RGW_PORT/logs/x" 'rj.conf has no user for it'
b_conf "s3+https://127.0.0.1:$RGW_TLS_PORT/logs/noca" "ca = /etc/ssl/certs/ca-certificates.crt"
refused 8 "a certificate that nobody signed" \
	"s3+https://127.0.0.1:$RGW_TLS_PORT/logs/noca" 'is not who it should be'

B_URL=$S3
b_durable_refused
b_conf "${S3%/*}/durable" "user = $RGW_AK" "password = $RGW_SK" "durable = yes"
check "durable = yes in rj.conf allows ack=durable" volume "$T_DIR/known.img" ext4 4096 "${S3%/*}/durable"
b_main_path s3
b_key "$T_DIR/seal.key"
b_main_path s3-key "key=$T_DIR/seal.key"
b_fenced "$T_DIR/s3-key.crashed"
