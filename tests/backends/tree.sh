# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by ftp.sh, sftp.sh and imap.sh with NAME set: a real server, what
# tree.h promises, the log's rules with real racers, and a volume's whole path.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/backends/frame.sh"
. "$RJ_SRC/tests/backends/volume.sh"
b_need "$NAME"
check "$NAME: the server starts" b_start "$NAME"
suite() { # PROGRAM [VARIABLE=VALUE...]
	check "test-$1" timeout 100 env RJ_TEST_STORE="$B_URL" "${@:2}" \
		"$RJ_BUILD/tests/$1"
}
suite store/test-tree
suite log/test-race RJ_ROUNDS=2 RJ_RACERS=6
suite log/test-model RJ_LIVES=1
b_durable_refused
b_main_path main
b_fenced "$T_DIR/main.crashed"
