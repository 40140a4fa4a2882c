#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Thousands of connections that are ready at once: what one of them costs the server does
# not grow with their number. It is processor time that is compared, of one process.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"

start "$T_DIR/store" --durability=received || { not_ok "rjserver starts"; exit 1; }
timeout 600 "$RJ_BUILD/tests/rjserver/http/herd" "${BASE##*:}" $SERVER_PID 8000 >"$T_DIR/herd"
rc=$?
[ $rc != 77 ] || skip_all "too few descriptors"
note "$(cat "$T_DIR/herd")"
is "one of 8000 costs as much as one of 500" $rc 0
stop
is "stopped in order" $? 0
