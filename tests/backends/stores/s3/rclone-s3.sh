# SPDX-License-Identifier: GPL-2.0-or-later
STORE="rclone serve s3"
REMARK="A holds in one process: never two over the same files."
store_get() { get_go github.com/rclone/rclone v1.76.0; }
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1/root/logs"
	store_launch "$port" "$BIN" serve s3 "$1/root" --config "$1/conf" --cache-dir "$1/cache" \
		--addr "127.0.0.1:$port" --auth-key "user,password" || return 1
	b_conf "s3+http://127.0.0.1:$port" "user = user" "password = password"
	B_URL=s3+http://127.0.0.1:$port/logs/j
}
