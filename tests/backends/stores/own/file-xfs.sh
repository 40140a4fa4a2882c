# SPDX-License-Identifier: GPL-2.0-or-later
STORE="a directory of xfs"
REMARK="Each put is written, flushed, and linked to its name; the directory is flushed after it."
store_get() { VERSION="Linux $(uname -r | grep -o '^[0-9.]*[0-9]')"; }
store_start() {
	truncate -s 2G "$1/img" && mkfs.xfs -q "$1/img" && mkdir "$1/mnt" &&
		mount -o loop "$1/img" "$1/mnt" && at_exit umount -l "$1/mnt" || return 1
	B_URL=file://$1/mnt/logs
	mkdir "$1/mnt/logs"
}
