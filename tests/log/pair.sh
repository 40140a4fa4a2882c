#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two stores (doc/two-stores.md): random lives in which stores and hosts come
# and go. All rules kept: nothing that was acknowledged is lost. One rule left
# out: the same lives find it.
. "$RJ_SRC/tests/support/lib.sh"
lives() { # RULE LIVES SEED
	timeout 100 env RJ_LEAVE_OUT="$1" RJ_LIVES="$2" RJ_SEED="$3" \
		"$RJ_BUILD/tests/log/test-pair"
}
found() { ! lives "$1" "${3:-4000}" "${2:-1}" >"$T_DIR/out" 2>&1 && grep -q "^# .*RJ_LIVES=1: " "$T_DIR/out"; }

check "every rule kept" lives 0 300 1
# two of --accept-loss, of which the first was cut off, had claimed the same epoch
check "a life that was lost once" lives 0 1 10366744
check "without it: a mark before the first lone acknowledgement" found 1 100000
check "without it: a flag speaks for one store only" found 2
check "without it: together again begins in the store that is alone" found 4
check "without it: one store alone must prove that it suffices" found 8
check "without it: a claim stands right behind what it looked at" found 32
check "without it: a log that lacks what the volume saw is not the log" found 64
rival() { timeout 60 env RJ_LEAVE_OUT="$1" "$RJ_BUILD/tests/log/test-rival" >"$T_DIR/out" 2>&1; }
check "every rule kept: two hosts" rival 0
check "without it: the log that is not taken is fenced" eval '! rival 16 && grep -q "^# .* lost something" "$T_DIR/out"'
check "without it: over a gap nothing is copied but behind a bridge" eval '! rival 128 && grep -q "^# .* over a gap lost something" "$T_DIR/out"'
