# SPDX-License-Identifier: GPL-2.0-or-later
STORE="SeaweedFS"
REMARK="Master, volume server, filer and S3 gateway in one process. The 20 races of the probe took a minute: contended puts take seconds."
store_get() {
	get_go github.com/seaweedfs/seaweedfs/weed v0.0.0-20261109003541-7506e5f91cd6 || return 1
	VERSION="of 2026-11-09"
}
store_start() {
	local port
	port=$(free_port)
	mkdir -p "$1/data"
	cat >"$1/s3.json" <<'END'
{"identities": [{"name": "rj", "credentials": [{"accessKey": "user", "secretKey": "password"}],
  "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}
END
	store_launch "$port" "$BIN" server -dir="$1/data" -ip=127.0.0.1 -ip.bind=127.0.0.1 -master.port="$((port - 3000))" \
		-volume.port="$((port - 3001))" -filer -filer.port="$((port - 3002))" -s3 -s3.port="$port" \
		-s3.config="$1/s3.json" -volume.max=20 -master.volumeSizeLimitMB=64 || return 1
	wait_for 60 curl -fsS -o /dev/null --aws-sigv4 aws:amz:us-east-1:s3 --user user:password \
		-X PUT "http://127.0.0.1:$port/logs" || return 1
	b_conf "s3+http://127.0.0.1:$port" "user = user" "password = password"
	B_URL=s3+http://127.0.0.1:$port/logs/j
}
