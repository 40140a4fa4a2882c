#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Mode B (doc/log-format.md): random lives over a tree whose calls fail, lose
# their answer, come late, or give an empty list. All rules kept: nothing that
# was acknowledged is lost. One rule left out: the same lives find it.
. "$RJ_SRC/tests/support/lib.sh"
lives() { # RULE LIVES [SEED]
	timeout 600 env RJ_TEST_STORE="tree:$1" RJ_LIVES="$2" ${3:+RJ_SEED=$3} \
		"$RJ_BUILD/tests/log/test-model"
}
# found RULE: by what the test says, not by a time that is over
found() { lives "$1" 300 7 >"$T_DIR/out" 2>&1; [ $? = 1 ]; }

check "every rule kept, ${RJ_LIVES:=60} lives" lives faults "$RJ_LIVES"
# a race that is lost only now and then: it is given more than one chance
raced() {
	local i
	for ((i = 0; i < 20; i++)); do
		timeout 600 env RJ_TEST_STORE=tree:shared RJ_ROUNDS=4 \
			"$RJ_BUILD/tests/log/test-race" >"$T_DIR/out" 2>&1
		case $? in 0) ;; 1) return 0 ;; *) return 1 ;; esac
	done
	return 1
}
check "without it: a folder is made by one only" raced
check "without it: a look behind each put" found nolook
check "without it: a list must show the own epoch" found blind
check "without it: the end is looked for after the claim" found early
