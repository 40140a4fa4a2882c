# SPDX-License-Identifier: GPL-2.0-or-later
STORE="s3rver"
REMARK="A server for tests: it ignores the condition."
store_get() { get_npm s3rver 3.7.1; }
store_start() {
	local port
	port=$(free_port)
	store_launch "$port" "$NPM/node_modules/.bin/s3rver" -d "$1" -a 127.0.0.1 -p "$port" -s --configure-bucket logs || return 1
	b_conf "s3+http://127.0.0.1:$port" "user = S3RVER" "password = S3RVER"
	B_URL=s3+http://127.0.0.1:$port/logs/j
}
