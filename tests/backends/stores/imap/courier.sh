# SPDX-License-Identifier: GPL-2.0-or-later
STORE="Courier IMAP"
REMARK="Without its logins: couriertcpd starts imapd on a Maildir (PREAUTH)."
store_get() { get_deb courier-imap courier-base && VERSION=${VERSION#*+}; }
store_start() {
	local port
	port=$(free_port)
	maildirmake.courier "$1/mail" 2>/dev/null || maildirmake "$1/mail" || return 1
	maildirmake.courier -f logs "$1/mail" 2>/dev/null || maildirmake -f logs "$1/mail"
	chown -R nobody:nogroup "$1/mail" && b_way && chmod 711 "$1" || return 1
	store_launch "$port" couriertcpd -address=127.0.0.1 -maxprocs=100 -maxperip=100 \
		-nodnslookup -noidentlookup -user=nobody "$port" /usr/bin/env HOME="$1" \
		IMAP_CAPABILITY="IMAP4rev1 UIDPLUS CHILDREN NAMESPACE" IMAP_MAILBOX_SANITY_CHECK=1 \
		/usr/bin/imapd "$1/mail" || return 1
	b_conf "imap://127.0.0.1:$port" "user = rj" "password = secret" "insecure = yes"
	B_URL=imap://127.0.0.1:$port/INBOX.logs
}
