# SPDX-License-Identifier: GPL-2.0-or-later
STORE="rclone serve ftp"
REMARK="A folder can be made twice; rclone serve s3 over the same files is fit."
store_get() { get_go github.com/rclone/rclone v1.76.0; }
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1/root/logs"
	store_launch "$port" "$BIN" serve ftp "$1/root" --config "$1/conf" --cache-dir "$1/cache" \
		--addr "127.0.0.1:$port" --user rj --pass secret --vfs-cache-mode writes || return 1
	b_conf "ftp://127.0.0.1:$port" "user = rj" "password = secret" "insecure = yes"
	B_URL=ftp://127.0.0.1:$port/logs
}
