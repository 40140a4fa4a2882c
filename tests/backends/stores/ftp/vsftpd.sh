# SPDX-License-Identifier: GPL-2.0-or-later
. "$RJ_SRC/tests/backends/server-ftp.sh" || exit 99
STORE="vsftpd"
REMARK="With TLS. max_clients and max_per_ip must allow one connection for each writer and reader."
store_get() { [ -z "$(ftp_missing)" ] && VERSION=$(dpkg-query -W -f '${Version}' vsftpd 2>/dev/null | grep -o '^[0-9.]*'); }
store_start() { ftp_start "$1"; }
