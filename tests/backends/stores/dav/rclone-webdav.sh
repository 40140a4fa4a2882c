# SPDX-License-Identifier: GPL-2.0-or-later
STORE="rclone serve webdav"
REMARK="A folder can be made twice; rclone serve s3 over the same files is fit."
store_get() { get_rclone; }
store_start() {
	store_rclone webdav "$1" && B_URL=dav://127.0.0.1:$PORT/logs
}
