#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# WebDAV: Apache's mod_dav, with TLS and a password. Mode B, always.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
. "$RJ_SRC/tests/backends/frame.sh"
. "$RJ_SRC/tests/backends/mainpath.sh"
need_root
b_need dav

RJLOG=$RJ_BUILD/rjlog/rjlog RACERS=$RJ_BUILD/tests/backends/racers

check "Apache starts" b_start dav || exit 1
check "${RJ_RACERS:-16} racers, ${RJ_ROUNDS:-6} rounds: one winner in each" \
	"$RACERS" "$B_URL" "${RJ_RACERS:-16}" "${RJ_ROUNDS:-6}"
check "the log's races" env RJ_TEST_STORE="$B_URL" timeout 120 "$RJ_BUILD/tests/log/test-race"

b_conf "davs://127.0.0.1:$DAV_PORT/logs/wrong" "password = hunter2hunter2"
refused() { # NAME URL REGEX
	status 8 "$1" "$RJLOG" ls "$2"
	like "$1: said" "$OUT" "$3"
	check "$1: no secret in it" not grep -E "hunter2" <<<"$OUT"
}
refused "a wrong password" "davs://127.0.0.1:$DAV_PORT/logs/wrong" 'refuses us \(status 401'
b_conf "davs://127.0.0.1:$DAV_PORT/logs/noca" "ca = /etc/ssl/certs/ca-certificates.crt"
refused "a certificate that nobody signed" "davs://127.0.0.1:$DAV_PORT/logs/noca" 'is not who it should be'

# mod_dav does not flush what it stores
status 1 "mkrjfs refuses a store that is not durable" \
	"$MKRJFS" -q -F -t ext4 -J "remote=$B_URL,size=8" "$T_DIR/n.img" 64M
like "... and says what to do" "$OUT" 'add ack=received'
if [ -c /dev/fuse ] && [ -c /dev/loop-control ]; then
	main_path dav "$B_URL" ",ack=received"
	b_key "$T_DIR/seal.key"
	main_path dav-key "$B_URL" ",ack=received,key=$T_DIR/seal.key"
else
	skip "the main path" "no FUSE or loop devices"
fi
