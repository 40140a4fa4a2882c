# SPDX-License-Identifier: GPL-2.0-or-later
STORE="WsgiDAV"
REMARK="On its own server (cheroot), without accounts. A list during a rename may end with status 500; it is asked again."
store_get() { get_pip wsgidav 4.4.0 cheroot==11.1.2; }
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1/root/logs"
	store_launch "$port" "$BIN/wsgidav" --host 127.0.0.1 --port "$port" --root "$1/root" \
		--auth anonymous --server cheroot -q && B_URL=dav://127.0.0.1:$port/logs
}
