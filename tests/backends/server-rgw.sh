# SPDX-License-Identifier: GPL-2.0-or-later
# Ceph's S3: one monitor, one OSD on a file, one radosgw. For what stands where
# see frame.sh.

RGW_AK=RJACCESSKEY000000001 RGW_SK=rjsecretkeyrjsecretkeyrjsecretkey000001
RGW_BUCKET=logs

rgw_missing() {
	b_missing ceph-mon ceph-osd radosgw ceph ceph-authtool radosgw-admin monmaptool openssl curl
}

rgw_config() { # DIR MONPORT PORT TLSPORT
	cat <<END
[global]
fsid = $(cat /proc/sys/kernel/random/uuid)
mon initial members = a
mon host = [v2:127.0.0.1:$2/0]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
ms bind msgr1 = false
keyring = $1/keyring
log file = $1/log/\$name.log
run dir = $1/run
admin socket = $1/run/\$name.asok
crash dir = $1/log
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pgp num = 8
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
mon warn on pool no redundancy = false
[mon]
mon data = $1/mon
mon cluster log file = $1/log/cluster.log
mon data avail warn = 1
mon data avail crit = 0
mon osd min up ratio = 0
paxos propose interval = 0.05
paxos min wait = 0.01
[osd]
osd data = $1/osd
osd objectstore = bluestore
bluestore block size = 4294967296
bluestore block create = true
osd memory target = 939524096
osd max object name len = 256
osd max object namespace len = 64
[client]
rgw frontends = beast endpoint=127.0.0.1:$3 ssl_endpoint=127.0.0.1:$4 ssl_certificate=$1/cert.pem ssl_private_key=$1/key.pem
rgw run sync thread = false
rgw enable usage log = false
rgw enable ops log = false
rgw thread pool size = 64
rgw override bucket index max shards = 1
rgw dynamic resharding = false
rgw dns name = localhost
END
}

rgw_keys() { # DIR
	local add="ceph-authtool $1/keyring --gen-key"
	ceph-authtool --create-keyring "$1/keyring" --gen-key -n mon. --cap mon 'allow *' &&
		$add -n client.admin --cap mon 'allow *' --cap osd 'allow *' &&
		$add -n osd.0 --cap mon 'allow profile osd' --cap osd 'allow *' &&
		$add -n client.rgw --cap mon 'allow rw' --cap osd 'allow rwx' &&
		chmod 600 "$1/keyring"
}

# a daemon in the foreground of a session of its own, so that no signal meant for
# the test meets it; at_exit ends it
rgw_launch() { # DIR NAME COMMAND...
	local dir=$1 name=$2 pid
	shift 2
	setsid "$@" >"$dir/log/$name.out" 2>&1 </dev/null &
	pid=$!
	at_exit b_end "$pid" 15
}

rgw_ceph() { timeout 120 ceph -c "$1/ceph.conf" --name client.admin --keyring "$1/keyring" "${@:2}"; }
rgw_osd_up() { rgw_ceph "$1" osd stat | grep -q '1 up'; }

# rgw_curl PATH OPTION...: a signed request by curl itself
rgw_curl() {
	curl -sS --max-time 120 --aws-sigv4 aws:amz:us-east-1:s3 --user "$RGW_AK:$RGW_SK" \
		-H x-amz-content-sha256:UNSIGNED-PAYLOAD "${@:2}" "http://127.0.0.1:$RGW_PORT$1"
}
rgw_answers() { [ "$(rgw_curl / -o /dev/null -w '%{http_code}')" = 200 ]; }

rgw_start() {
	local d=$1 mon uuid
	uuid=$(cat /proc/sys/kernel/random/uuid)
	mon=$(free_port) RGW_PORT=$(free_port) RGW_TLS_PORT=$(free_port)
	mkdir -p "$d"/{run,log,mon,osd} && b_cert "$d" || return 1
	rgw_config "$d" "$mon" "$RGW_PORT" "$RGW_TLS_PORT" >"$d/ceph.conf"
	export CEPH_CONF=$d/ceph.conf
	rgw_keys "$d" >/dev/null || return 1
	monmaptool --create --clobber --fsid "$(sed -n 's/^fsid = //p' "$d/ceph.conf")" \
		--addv a "[v2:127.0.0.1:$mon/0]" "$d/monmap" >/dev/null &&
		ceph-mon -c "$d/ceph.conf" -i a --mkfs --monmap "$d/monmap" \
			--keyring "$d/keyring" >"$d/log/mkfs.mon.out" 2>&1 || return 1
	rgw_launch "$d" mon ceph-mon -f -c "$d/ceph.conf" -i a
	wait_for 30 rgw_ceph "$d" mon stat || return 1
	rgw_ceph "$d" osd new "$uuid" 0 >/dev/null 2>&1 &&
		ceph-osd -c "$d/ceph.conf" -i 0 --mkfs --osd-uuid "$uuid" --no-mon-config \
			>"$d/log/mkfs.osd.out" 2>&1 || return 1
	rgw_launch "$d" osd ceph-osd -f -c "$d/ceph.conf" -i 0
	wait_for 60 rgw_osd_up "$d" || return 1
	timeout 60 radosgw-admin -c "$d/ceph.conf" --name client.admin --keyring "$d/keyring" \
		user create --uid=rj --display-name=rj --access-key="$RGW_AK" \
		--secret-key="$RGW_SK" >"$d/log/user.out" 2>&1 || return 1
	rgw_launch "$d" rgw radosgw -f -c "$d/ceph.conf" --name client.rgw --keyring "$d/keyring"
	wait_for 60 rgw_answers || return 1
	rgw_curl "/$RGW_BUCKET" -o /dev/null -f -X PUT --data '' || return 1
	b_conf "s3+http://127.0.0.1:$RGW_PORT" "user = $RGW_AK" "password = $RGW_SK"
	b_conf "s3+https://127.0.0.1:$RGW_TLS_PORT" "user = $RGW_AK" "password = $RGW_SK" \
		"ca = $d/cert.pem"
	B_URL=s3+http://127.0.0.1:$RGW_PORT/$RGW_BUCKET/journals
	RGW_TLS_URL=s3+https://127.0.0.1:$RGW_TLS_PORT/$RGW_BUCKET/journals
}
