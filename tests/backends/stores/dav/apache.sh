# SPDX-License-Identifier: GPL-2.0-or-later
. "$RJ_SRC/tests/backends/server-dav.sh" || exit 99
STORE="Apache's mod_dav"
REMARK="With TLS and a password of a cheap hash (apr1): a costly one (bcrypt) is computed for each request."
store_get() { [ -z "$(dav_missing)" ] && VERSION=$(apache2 -v | sed -n 's|.*Apache/\([0-9.]*\).*|\1|p'); }
store_start() { dav_start "$1"; }
