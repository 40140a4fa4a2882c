#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A restore at every segment of a recorded log gives what a crash there leaves, recovered.
# The recorder is that of tests/crash. RJ_LONG=N: N runs, of all kinds, and longer ones.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh" || exit 99
need_fuse_loop
. "$RJ_SRC/tests/crash/run.sh" || exit 99
crash_setup || exit 99
EVERY=$RJ_BUILD/tests/history/blocks/every
seed=${RJ_SEED:-$((RANDOM * 32768 + RANDOM))}
note "RJ_SEED=$seed"
count=12
[ -z "${RJ_LONG:-}" ] || count=40
kinds=(ext4-4k-journal ext3-1k-journal ext4-1k-journal ext3-4k-journal)
for ((n = 0; n < ${RJ_LONG:-1}; n++)); do
	kind=${kinds[(seed + n) % 4]}
	check "$kind: recorded" crash_record "$kind" "$count" $((seed + n))
	mkdir "$CRASH_DIR/every"
	status 0 "$kind: each moment is the crash state there" \
		"$EVERY" "$CRASH_DIR/events" "$CRASH_DIR/base" "$CRASH_DIR/every"
	note "seed $((seed + n)) $kind: $OUT"
done
exit 0
