#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Puts of every size, cut anywhere, piped, many at once, refused: whole on the disk
# after a kill.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"

P=/host1/$UUID/log
relay() { # MODE...
	local line ends=
	while read -r line; do
		case $line in
		"ok - "*) ok "${line#ok - }" ;;
		"not ok - "*) not_ok "${line#not ok - }" ;;
		"ends "*) ends=$line ;;
		*) note "$line" ;;
		esac
	done < <(timeout 100 "$RJ_BUILD/tests/rjserver/http/put-forms" "${BASE##*:}" "$P" "$@"; echo "ends with $?")
	is "the client${1:+, $1}" "$ends" "ends with 0"
}
start "$T_DIR/store" || { not_ok "rjserver starts"; exit 1; }
relay
stop KILL
start "$T_DIR/store" || { not_ok "it starts again"; exit 1; }
relay look
is "nothing was lost" "$(grep -cE 'damaged|lost|torn' "$LOG")" 0
stop
is "stopped in order" $? 0
status 0 "the store is whole" timeout 60 "$RJSERVER" check "$T_DIR/store"
