# SPDX-License-Identifier: GPL-2.0-or-later
STORE="dufs"
REMARK="A folder can be made twice: it looks first and makes then."
store_get() { get_crate dufs 0.47.0 && BIN=$BIN/dufs; }
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1/root/logs"
	store_launch "$port" "$BIN" -A -b 127.0.0.1 -p "$port" "$1/root" && B_URL=dav://127.0.0.1:$port/logs
}
