# SPDX-License-Identifier: GPL-2.0-or-later
STORE="a directory of tmpfs"
REMARK="For tests: the flushes reach memory only, and a reboot takes all of it."
store_get() { VERSION="Linux $(uname -r | grep -o '^[0-9.]*[0-9]')"; }
store_start() {
	mkdir "$1/mnt" && mount -t tmpfs -o size=512M tmpfs "$1/mnt" && at_exit umount -l "$1/mnt" || return 1
	B_URL=file://$1/mnt/logs
	mkdir "$1/mnt/logs"
}
