# SPDX-License-Identifier: GPL-2.0-or-later
STORE="rjserver"
REMARK="Durable by default. Commits of several volumes share a flush. Accounts, limits, TLS: rjserver(8)."
store_get() { VERSION=$("$RJSERVER" --version | grep -o '[0-9.]*[0-9]' | head -n 1); }
store_start() { start_server "$1/data" && B_URL=$SRV_URL/stores; }
