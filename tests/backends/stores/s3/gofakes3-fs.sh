# SPDX-License-Identifier: GPL-2.0-or-later
STORE="gofakes3, backend directfs"
REMARK="A server for tests: its lists do not begin where they were asked to."
store_get() { get_go github.com/johannesboyne/gofakes3/cmd/gofakes3 v1.2.0; }
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1"/{root,meta}
	store_launch "$port" "$BIN" -host "127.0.0.1:$port" -backend directfs -directfs.path "$1/root" \
		-directfs.meta "$1/meta" -directfs.bucket logs || return 1
	store_bucket "$port"
}
