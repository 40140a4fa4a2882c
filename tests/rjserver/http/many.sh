#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# 1,000 volumes over 200 connections, RJ_MANY_ROUNDS segments each, trimmed as
# they go: in bounded memory and disk. 720 rounds are an hour with a segment
# every 5 seconds (the long form; result in doc/results/rjserver-kills.md).
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"

rounds=${RJ_MANY_ROUNDS:-20}
# a sanitizer's memory is not the server's; a small --file-size: files come and go
SERVER_OPTIONS=--file-size=16M
D=$T_DIR/store
start "$D" --durability=received || { not_ok "rjserver starts"; exit 1; }
rss() { awk '/^VmHWM/ {print $2}' "/proc/$SERVER_PID/status"; }
"$LOAD" many "${BASE##*:}" 1000 200 "$rounds" 8000 >"$T_DIR/many"
is "every put and every check" $? 0
note "$(cat "$T_DIR/many")"
most=$(rss)
used=$(du -sk "$D" | cut -f1)
note "most memory: $most KiB; on disk: $used KiB"
if sanitized "$RJSERVER"; then
	skip "memory is bounded" "with a sanitizer it is not the server's own"
else
	check "memory is bounded" test "$most" -lt 200000
fi
# at most 30,000 objects live, 5 KiB each at the mean
check "disk is bounded" test "$used" -lt 900000
stop
is "stopped in order" $? 0
start "$D" || { note "$(cat "$LOG")"; not_ok "starts again"; exit 1; }
is "the last of each is there" "$(code "$BASE/load/020003e7-0000-4000-8000-000000000000/log/?after=$((rounds - 1))") $(cut -d' ' -f1 "$T_DIR/body")" \
	"200 $(seq20 "$rounds")"
stop
