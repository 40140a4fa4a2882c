# SPDX-License-Identifier: GPL-2.0-or-later
STORE="pyftpdlib"
REMARK="One process, asynchronous."
store_get() { get_pip pyftpdlib 2.2.0; }
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1/root/logs"
	store_launch "$port" "$BIN/python" -m pyftpdlib -i 127.0.0.1 -p "$port" -w -d "$1/root" -u rj -P secret || return 1
	store_login ftp "$port"
}
