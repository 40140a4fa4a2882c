# SPDX-License-Identifier: GPL-2.0-or-later
STORE="rclone serve sftp"
REMARK="A folder can be made twice; rclone serve s3 over the same files is fit."
store_get() { get_rclone; }
store_start() {
	store_rclone sftp "$1" --user rj --pass secret --vfs-cache-mode writes || return 1
	store_login sftp "$PORT"
}
