#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rj:// and file://: our own server and a directory, under the same faults as the
# stores of others; and a host that another one takes over from.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/backends/frame.sh"
. "$RJ_SRC/tests/backends/volume.sh"
RACERS=$RJ_BUILD/tests/backends/racers
suite() { # PROGRAM URL [VARIABLE=VALUE...]
	check "test-$1 on ${2%%:*} ${*:3}" timeout 120 env RJ_TEST_STORE="$2" "${@:3}" \
		"$RJ_BUILD/tests/$1"
}
races() { # URL
	check "${1%%:*}: ${RJ_RACERS:-16} racers, ${RJ_ROUNDS:-6} rounds: one winner in each" \
		"$RACERS" "$1" "${RJ_RACERS:-16}" "${RJ_ROUNDS:-6}"
}

check "rjserver starts" start_server "$T_DIR/store"
races "$SRV_URL/races"
b_faults "$SRV_PORT" rj
suite store/test-conform "rj://127.0.0.1:$FAULT_PORT/faults" RJ_TEST_RETRY=1
suite log/test-model "rj://127.0.0.1:$FAULT_PORT/model" RJ_TEST_RETRY=1 RJ_LIVES=1
b_faults_seen

mkdir "$T_DIR/objects"
races "file://$T_DIR/objects"
suite store/test-conform "file://$T_DIR/objects" RJ_TEST_FAULTS=20

B_URL=$SRV_URL/volumes B_ACK=
b_key "$T_DIR/seal.key"
b_main_path rj-key "key=$T_DIR/seal.key"
b_fenced "$T_DIR/rj-key.crashed"
B_URL=file://$T_DIR/objects
b_main_path file-key "key=$T_DIR/seal.key"
b_fenced "$T_DIR/file-key.crashed"
