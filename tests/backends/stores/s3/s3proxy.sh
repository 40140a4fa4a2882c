# SPDX-License-Identifier: GPL-2.0-or-later
STORE="S3Proxy, backend filesystem-nio2"
REMARK="A gateway: this backend ignores the condition."
store_get() { get_jars org.gaul s3proxy 2.7.0; }
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1/root/logs"
	cat >"$1/conf" <<END
s3proxy.authorization=none
s3proxy.endpoint=http://127.0.0.1:$port
jclouds.provider=filesystem-nio2
jclouds.identity=u
jclouds.credential=p
jclouds.filesystem.basedir=$1/root
END
	store_launch "$port" java -Xmx400m -cp "$CLASSES" org.gaul.s3proxy.Main --properties "$1/conf" || return 1
	store_bucket "$port"
}
