# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by ftp.sh, sftp.sh and imap.sh with NAME set, and FILES, where the server keeps
# each object as a file: a real server, what
# tree.h promises, the log's rules with real racers, both on a bad way, and a
# volume's whole path.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/backends/frame.sh"
. "$RJ_SRC/tests/backends/volume.sh"
b_need "$NAME"
check "$NAME: the server starts" b_start "$NAME"
suite() { # PROGRAM [VARIABLE=VALUE...]
	check "$NAME${WAY:-}: $1 ${*:2}" timeout 200 env RJ_TEST_STORE="$B_URL" "${@:2}" \
		"$RJ_BUILD/tests/$1"
}
suite store/test-tree ${FILES:+RJ_TEST_FILES="$T_DIR/$FILES"}
suite log/test-race RJ_ROUNDS=2 RJ_RACERS=6
suite log/test-model RJ_LIVES=1
b_cuts "$B_PORTS"
is "a bad way to it" $? 0
GOOD=$B_URL B_URL=$B_BAD_URL WAY=", a bad way"
suite store/test-tree RJ_TEST_RETRY=1 ${FILES:+RJ_TEST_FILES="$T_DIR/$FILES"}
# of the same seed it would write the log that the suite above left in this store
[ -z "${RJ_SEED:-}" ] || export RJ_SEED=$((RJ_SEED + 1))
suite log/test-model RJ_TEST_RETRY=1 RJ_LIVES=1
B_URL=$GOOD WAY=
b_faults_seen
b_durable_refused
[ -z "${FILES:-}" ] || b_rolled_back "$T_DIR/$FILES"
b_main_path main
b_key "$T_DIR/seal.key"
b_main_path main-key "key=$T_DIR/seal.key"
b_fenced "$T_DIR/main-key.crashed"
