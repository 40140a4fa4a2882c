#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Crash states over two stores: the second is lost and comes back, then the first;
# the recovery has both or one of them. The long form is tests/crash/long.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh" || exit 99
need_fuse_loop
. "$RJ_SRC/tests/crash/run.sh" || exit 99
crash_setup || exit 99
seed=${RJ_SEED:-$((RANDOM * 32768 + RANDOM))}
note "RJ_SEED=$seed"
# sum NAME: of that count of all workers
sum() { awk -v name="$1" '{ for (i = 1; i < NF; i++) if ($i == name) n += $(i + 1) } END { print n + 0 }' "$CRASH_DIR"/out.*; }

check "recorded" crash_record ext4-4k-ordered+two 10 "$seed"
check "every state is recovered, or one store alone is refused" crash_states "$seed" 30 2
note "$(cat "$CRASH_DIR"/out.*)"
check "some had one store only ($(sum one)), and some of these were refused ($(sum refused))" \
	eval "[ $(sum one) -gt $(sum refused) ] && [ $(sum refused) -gt 0 ]"

# one store is taken as it is, without the proof that it suffices
CRASH_LOSS=-l
status 1 "without the proof: found out" crash_states "$seed" 30 2
like "by what is not there" "$OUT" 'BAD .*(gone|bytes|byte|not)'
note "$(tail -n 1 <<<"$OUT")"
exit 0
