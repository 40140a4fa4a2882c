#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rj:// against a real rjserver: the conformance suite, and the faults.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
export no_proxy='*'

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

start_server "$T_DIR/store" && ok "rjserver starts" || not_ok "rjserver starts"
export RJ_TEST_STORE=$SRV_URL/conform
tap "$RJ_BUILD/tests/store/test-conform"
tap "$RJ_BUILD/tests/store/test-http"
