#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An administrator's days, a few walks of them: what is typed in any state loses no acknowledged
# file with status 0 (walk.py says what else holds). RJ_SEED chooses them; tests/days/run is the
# long form.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh"
need_fuse_loop
export PYTHONDONTWRITEBYTECODE=1
PYTHON=/usr/bin/python3
[ -x $PYTHON ] || PYTHON=python3
$PYTHON -c 'import hypothesis' 2>/dev/null || skip_all "no python3-hypothesis"
$PYTHON "$RJ_SRC/tests/days/walk.py" --cases="$RJ_SRC/tests/days/cases" >"$T_DIR/out" 2>&1
rc=$?
note "$(sed 's/^# //' "$T_DIR/out")"
is "no walk that was bad is bad" $rc 0
$PYTHON "$RJ_SRC/tests/days/walk.py" --walks="${RJ_WALKS:-20}" --seed="${RJ_SEED:-1}" >"$T_DIR/out" 2>&1
rc=$?
note "$(sed 's/^# //' "$T_DIR/out")"
is "no walk shows what none may show" $rc 0
check "walks were made" grep -qE '^# [1-9][0-9]* walks, [1-9][0-9]+ steps, 0 bad' "$T_DIR/out"
exit 0
