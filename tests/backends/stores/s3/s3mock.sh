# SPDX-License-Identifier: GPL-2.0-or-later
STORE="Adobe S3Mock"
REMARK="A server for tests: it looks first and stores then."
store_get() { get_jar com.adobe.testing s3mock 4.7.0 exec; }
store_start() {
	local port
	port=$(free_port)
	store_launch "$port" java -Xmx400m -jar "$JAR" --server.port="$(free_port)" \
		--com.adobe.testing.s3mock.store.root="$1" \
		--com.adobe.testing.s3mock.httpPort="$port" || return 1
	store_bucket "$port"
}
