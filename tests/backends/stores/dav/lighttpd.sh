# SPDX-License-Identifier: GPL-2.0-or-later
STORE="lighttpd's mod_webdav"
REMARK="Without a database of locks, which journals do not need."
store_get() { get_deb lighttpd lighttpd-mod-webdav; }
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1"/{root/logs,tmp}
	cat >"$1/conf" <<END
server.modules = ( "mod_webdav" )
server.document-root = "$1/root"
server.upload-dirs = ( "$1/tmp" )
server.bind = "127.0.0.1"
server.port = $port
server.errorlog = "$1/error.log"
server.max-keep-alive-requests = 1000000
webdav.activate = "enable"
END
	store_launch "$port" lighttpd -D -f "$1/conf" && B_URL=dav://127.0.0.1:$port/logs
}
