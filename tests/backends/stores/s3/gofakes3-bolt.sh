# SPDX-License-Identifier: GPL-2.0-or-later
STORE="gofakes3, backend bolt"
REMARK="A server for tests, on one file."
store_get() { get_go github.com/johannesboyne/gofakes3/cmd/gofakes3 v1.2.0; }
store_start() {
	local port
	port=$(free_port)
	store_launch "$port" "$BIN" -host "127.0.0.1:$port" -backend bolt -bolt.db "$1/db" -initialbucket logs || return 1
	store_bucket "$port"
}
