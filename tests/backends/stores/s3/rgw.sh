# SPDX-License-Identifier: GPL-2.0-or-later
. "$RJ_SRC/tests/backends/server-rgw.sh" || exit 99
STORE="Ceph's radosgw"
REMARK="One monitor, one OSD (BlueStore on a file)."
store_get() {
	[ -z "$(rgw_missing)" ] || get_deb radosgw ceph-mon ceph-osd ceph-base ceph-common || return 1
	VERSION=$(ceph --version | grep -o '[0-9.]*[0-9]' | head -n 1)
}
store_start() { rgw_start "$1"; }
