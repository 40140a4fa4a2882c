# SPDX-License-Identifier: GPL-2.0-or-later
. "$RJ_SRC/tests/backends/server-sftp.sh" || exit 99
STORE="OpenSSH's sftp-server"
REMARK="MaxStartups and MaxSessions must allow one connection for each writer and reader."
store_get() { [ -z "$(sftp_missing)" ] && VERSION=$(ssh -V 2>&1 | sed 's/OpenSSH_\([0-9.p]*\).*/\1/'); }
store_start() { sftp_start "$1"; }
