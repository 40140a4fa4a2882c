# SPDX-License-Identifier: GPL-2.0-or-later
. "$RJ_SRC/tests/backends/server-nginx.sh" || exit 99
STORE="nginx's DAV module"
REMARK="It has no PROPFIND: use Apache or lighttpd."
store_get() { [ -z "$(nginx_missing)" ] && VERSION=$(nginx -v 2>&1 | grep -o '[0-9.]*[0-9]'); }
store_start() { nginx_start "$1" && B_URL=$NGINX_DAV; }
