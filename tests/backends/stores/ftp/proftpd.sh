# SPDX-License-Identifier: GPL-2.0-or-later
STORE="proftpd"
REMARK="MaxInstances must allow one connection for each writer and reader."
store_get() { get_deb proftpd-core; }
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1/root/logs" && chown -R nobody "$1/root" && b_way && chmod 711 "$1" || return 1
	echo "rj:$(openssl passwd -6 secret):65534:65534::$1/root:/bin/sh" >"$1/passwd"
	chmod 600 "$1/passwd"
	cat >"$1/conf" <<END
ServerType standalone
DefaultAddress 127.0.0.1
SocketBindTight on
Port $port
PassivePorts $((port + 1)) $((port + 60))
User nobody
Group nogroup
AuthOrder mod_auth_file.c
AuthUserFile $1/passwd
RequireValidShell off
DefaultRoot ~
AllowOverwrite on
MaxInstances 100
PidFile $1/pid
ScoreboardFile $1/scoreboard
DelayTable none
SystemLog $1/system.log
TransferLog none
WtmpLog off
END
	store_launch "$port" proftpd -n -c "$1/conf" || return 1
	store_login ftp "$port"
}
