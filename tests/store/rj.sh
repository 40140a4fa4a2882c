#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rj:// against a real rjserver: the conformance suite, and the faults.
. "$RJ_SRC/tests/support/lib.sh"
export NO_PROXY='*' no_proxy='*'

# tap PROGRAM: run a test program that speaks TAP, and add its results to ours
tap() {
	local line status
	while IFS= read -r line; do
		case $line in
		1..*) ;;
		"ok "* | "not ok "*)
			T_NUM=$((T_NUM + 1))
			[[ $line == ok* ]] || T_BAD=$((T_BAD + 1))
			echo "${line%%ok *}ok $T_NUM - ${line#* - }"
			;;
		status=*) status=${line#status=} ;;
		*) echo "$line" ;;
		esac
	done < <("$@" 2>&1; echo "status=$?")
	[ "$status" -le 1 ] || not_ok "$(basename "$1") ends with status $status"
}

server=$RJ_BUILD/rjserver/rjserver
if [ -x "$server" ]; then
	mkdir "$T_DIR/store"
	"$server" -d "$T_DIR/store" -l 127.0.0.1:0 >"$T_DIR/out" 2>&1 &
	pid=$!
	at_exit wait "$pid"
	at_exit kill "$pid"
	wait_for 10 grep -Eq '127\.0\.0\.1:[1-9]' "$T_DIR/out"
	port=$(grep -Eo '127\.0\.0\.1:[0-9]+' "$T_DIR/out" | head -1)
	is "rjserver says where it listens" "${port:+yes}" yes
	export RJ_TEST_STORE=rj://$port/conform
	tap "$RJ_BUILD/tests/store/test-conform"
else
	skip "conformance of rj://" "no rjserver yet"
fi
tap "$RJ_BUILD/tests/store/test-http"
