#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Crash states of both devices, made by the running kernel; the long form is
# tests/crash/long. And daemons whose commit rule is wrong are found out.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh" || exit 99
need_fuse_loop
. "$RJ_SRC/tests/crash/run.sh" || exit 99
crash_setup || exit 99
seed=${RJ_SEED:-$((RANDOM * 32768 + RANDOM))}
note "RJ_SEED=$seed"
kinds=(ext4-4k-ordered ext3-1k-journal ext4-1k-async ext4-4k-writeback ext4-4k-journal)
kind=${kinds[seed % 5]}
check "recorded: $kind" crash_record "$kind" 25 "$seed"
check "every state is recovered, and holds what was acknowledged" crash_states "$seed" 60
note "$(cat "$CRASH_DIR"/out.*)"

# the server goes away and comes back: the fallback file's writes are recorded too
check "recorded: a fallback file" crash_record ext4-4k-ordered+fallback 10 "$seed"
check "every state is recovered" crash_states "$seed" 30
note "$(cat "$CRASH_DIR"/out.*)"
like "in some of them the log goes on in the file" "$(cat "$CRASH_DIR"/out.*)" ' local [1-9]'

# with a rule that lets every block wait, or only the commit block, what was
# acknowledged is not there
good=$RJOURNALD
for rule in badrule badrule-commit; do
	RJOURNALD=$RJ_BUILD/tests/rjournald/$rule/rjournald
	check "$rule: recorded" crash_record ext4-4k-ordered 16 "$seed"
	status 1 "$rule: found out" crash_states "$seed" 40
	like "$rule: by what is not there" "$OUT" 'BAD .*(gone|bytes|byte|not)'
	note "$(tail -n 1 <<<"$OUT")"
done
RJOURNALD=$good
exit 0
