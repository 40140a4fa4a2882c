# SPDX-License-Identifier: GPL-2.0-or-later
STORE="GreenMail"
REMARK="A server for tests, in memory: it looks first and stores then."
store_get() { get_jar com.icegreen greenmail-standalone 2.1.4; }
store_start() {
	local port
	port=$(free_port)
	store_launch "$port" java -Xmx300m -Dgreenmail.imap.hostname=127.0.0.1 \
		-Dgreenmail.imap.port="$port" -Dgreenmail.users=u:p@localhost \
		-Dgreenmail.users.login=local_part -jar "$JAR" || return 1
	b_conf "imap://127.0.0.1:$port" "user = u" "password = p" "insecure = yes"
	B_URL=imap://127.0.0.1:$port/logs APART=yes
}
