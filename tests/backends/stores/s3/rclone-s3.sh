# SPDX-License-Identifier: GPL-2.0-or-later
STORE="rclone serve s3"
REMARK="A holds in one process: never two over the same files."
store_get() { get_rclone; }
store_start() {
	store_rclone s3 "$1" --auth-key "user,password" || return 1
	b_conf "s3+http://127.0.0.1:$PORT" "user = user" "password = password"
	B_URL=s3+http://127.0.0.1:$PORT/logs/j
}
