#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The log's tests again, on other stores: a tree in memory, in which only
# folders are exclusive; file://; and a real rjserver.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
export no_proxy='*'

run_all() { # NAME URL
	local t
	for t in log damage race model writer-state trim hold point; do
		check "test-$t on $1" timeout 600 env RJ_TEST_STORE="$2" \
			"$RJ_BUILD/tests/log/test-$t"
	done
}

run_all "a tree (mode B)" tree
mkdir "$T_DIR/objects"
run_all "file://" "file://$T_DIR/objects"
like "the objects are files under their keys" \
	"$(cd "$T_DIR/objects" && find . -type f | head -n 1)" \
	'^\./[0-9a-f-]{36}/(log|epoch|hold|mark)/[0-9]{20}$'

check "rjserver starts" start_server "$T_DIR/store"
run_all "rj://" "$SRV_URL/log"
check "test-prefetch on rj://" timeout 600 env RJ_TEST_STORE="$SRV_URL/log" \
	"$RJ_BUILD/tests/log/test-prefetch"
