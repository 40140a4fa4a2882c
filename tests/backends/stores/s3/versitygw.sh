# SPDX-License-Identifier: GPL-2.0-or-later
STORE="versitygw"
REMARK="Its posix backend."
store_get() { get_go github.com/versity/versitygw/cmd/versitygw v1.8.0; }
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1/root/logs"
	store_launch "$port" "$BIN" -a user -s password -p "127.0.0.1:$port" -q posix "$1/root" || return 1
	b_conf "s3+http://127.0.0.1:$port" "user = user" "password = password"
	B_URL=s3+http://127.0.0.1:$port/logs/j
}
