# SPDX-License-Identifier: GPL-2.0-or-later
STORE="moto"
REMARK="A server for tests, in memory: it ends with its process."
store_get() { get_pip moto 5.2.5 'moto[server]==5.2.5'; }
store_start() {
	local port
	port=$(free_port)
	store_launch "$port" "$BIN/moto_server" -H 127.0.0.1 -p "$port" || return 1
	store_bucket "$port"
}
