# SPDX-License-Identifier: GPL-2.0-or-later
STORE="Cyrus IMAP"
REMARK="With a hierarchy of slashes (unixhierarchysep) and 100 processes at most (maxchild)."
store_get() { get_deb cyrus-imapd sasl2-bin libsasl2-modules-db; }
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1"/{conf,spool,run} && b_way && chmod 711 "$1" || return 1
	cat >"$1/imapd.conf" <<END
configdirectory: $1/conf
partition-default: $1/spool
defaultpartition: default
cyrus_user: nobody
cyrus_group: nogroup
admins: admin
allowplaintext: yes
sasl_mech_list: PLAIN
sasl_pwcheck_method: auxprop
sasl_auxprop_plugin: sasldb
sasl_sasldb_path: $1/sasldb
unixhierarchysep: yes
altnamespace: no
virtdomains: off
autocreate_quota: 0
autocreate_post: no
autocreate_inbox_folders: logs
proc_path: $1/run/proc
mboxname_lockpath: $1/run/lock
servername: localhost
duplicatesuppression: no
idlesocket: $1/run/idle
notifysocket: $1/run/notify
lmtpsocket: $1/run/lmtp
END
	cat >"$1/cyrus.conf" <<END
START {
	recover cmd="/usr/sbin/cyrus ctl_cyrusdb -C $1/imapd.conf -r"
}
SERVICES {
	imap cmd="imapd -C $1/imapd.conf -U 100" listen="127.0.0.1:$port" prefork=4 maxchild=100
}
EVENTS {
	nothing cmd="/bin/true" period=1440
}
END
	echo secret | saslpasswd2 -p -c -f "$1/sasldb" -u localhost rj &&
		chown -R nobody:nogroup "$1" || return 1
	store_launch "$port" /usr/lib/cyrus/bin/master \
		-C "$1/imapd.conf" -M "$1/cyrus.conf" -p "$1/run/pid" || return 1
	b_conf "imap://127.0.0.1:$port" "user = rj" "password = secret" "insecure = yes"
	B_URL=imap://127.0.0.1:$port/INBOX/logs
}
