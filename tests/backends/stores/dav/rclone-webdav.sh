# SPDX-License-Identifier: GPL-2.0-or-later
STORE="rclone serve webdav"
REMARK="A folder can be made twice; rclone serve s3 over the same files is fit."
store_get() { get_go github.com/rclone/rclone v1.76.0; }
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1/root/logs"
	store_launch "$port" "$BIN" serve webdav "$1/root" --config "$1/conf" --cache-dir "$1/cache" \
		--addr "127.0.0.1:$port" && B_URL=dav://127.0.0.1:$port/logs
}
