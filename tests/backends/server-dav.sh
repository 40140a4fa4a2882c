# SPDX-License-Identifier: GPL-2.0-or-later
# Apache's mod_dav, with TLS and a password. For what stands where see frame.sh.

DAV_MODULES=/usr/lib/apache2/modules

dav_missing() {
	b_missing apache2 openssl curl
	[ -e $DAV_MODULES/mod_dav_fs.so ] || echo "Apache's mod_dav"
}

dav_config() { # DIR
	local m
	cat <<END
ServerRoot $1
ServerName localhost
Listen 127.0.0.1:$DAV_PORT
Listen 127.0.0.1:$DAV_PLAIN
PidFile $1/httpd.pid
ErrorLog $1/error.log
END
	for m in mpm_event authn_core authn_file authz_core authz_user auth_basic dav dav_fs ssl; do
		echo "LoadModule ${m}_module $DAV_MODULES/mod_$m.so"
	done
	[ "$(id -u)" != 0 ] || printf 'User %s\nGroup %s\n' www-data www-data
	cat <<END
DavLockDB $1/lock/DavLock
DocumentRoot $1/root
SSLEngine on
SSLCertificateFile $1/cert.pem
SSLCertificateKeyFile $1/key.pem
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 60
StartServers 1
ThreadsPerChild 48
<VirtualHost 127.0.0.1:$DAV_PLAIN>
 SSLEngine off
 DocumentRoot $1/root
</VirtualHost>
<Directory />
 Require all denied
</Directory>
<Directory $1/root>
 Dav On
 AuthType Basic
 AuthName rj
 AuthUserFile $1/htpasswd
 Require valid-user
</Directory>
END
}

dav_curl() { curl -sS --max-time 120 --cacert "$DAV_DIR/cert.pem" -u u:pw "${@:2}" "https://127.0.0.1:$DAV_PORT$1"; }
dav_answers() { dav_curl /logs/ -f -o /dev/null -X PROPFIND -H 'Depth: 0'; }

dav_start() {
	DAV_DIR=$1 DAV_PORT=$(free_port) DAV_PLAIN=$(free_port)
	mkdir -p "$1"/{root/logs,lock} && b_cert "$1" || return 1
	printf 'u:%s\n' "$(openssl passwd -apr1 pw)" >"$1/htpasswd"
	dav_config "$1" >"$1/httpd.conf"
	if [ "$(id -u)" = 0 ]; then
		b_way && chmod 755 "$1" && chown -R www-data "$1"/{root,lock} || return 1
	fi
	setsid apache2 -D FOREGROUND -f "$1/httpd.conf" >"$1/out.log" 2>&1 </dev/null &
	at_exit b_end $!
	wait_for 30 dav_answers || return 1
	b_conf "davs://127.0.0.1:$DAV_PORT" "user = u" "password = pw" "ca = $1/cert.pem"
	B_BAD_URL=davs://$B_BAD:$DAV_PORT/logs/bad B_PORTS=$DAV_PORT
	b_conf "davs://$B_BAD:$DAV_PORT" "user = u" "password = pw" "ca = $1/cert.pem" "request_timeout = 5"
	B_URL=davs://127.0.0.1:$DAV_PORT/logs/journals
}
