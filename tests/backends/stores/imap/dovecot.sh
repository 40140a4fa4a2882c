# SPDX-License-Identifier: GPL-2.0-or-later
. "$RJ_SRC/tests/backends/server-imap.sh" || exit 99
STORE="dovecot"
REMARK="Maildir; mail_max_userip_connections must allow one connection for each writer and reader."
store_get() { [ -z "$(imap_missing)" ] && VERSION=$(dovecot --version | grep -o '^[0-9.]*'); }
store_start() { imap_start "$1"; }
