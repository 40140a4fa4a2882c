# SPDX-License-Identifier: GPL-2.0-or-later
# vsftpd with TLS. For what stands where see frame.sh. Its only user is one that
# a PAM service of the test's own lets in, by its name alone; it is root behind
# a chroot.

ftp_missing() {
	[ "$(id -u)" = 0 ] || { echo "root"; return; }
	b_missing vsftpd openssl
}

ftp_config() { # DIR PORT SERVICE
	cat <<END
listen=YES
listen_address=127.0.0.1
listen_port=$2
background=NO
anonymous_enable=NO
local_enable=YES
guest_enable=YES
guest_username=root
virtual_use_local_privs=YES
local_root=$1/root
chroot_local_user=YES
allow_writeable_chroot=YES
write_enable=YES
secure_chroot_dir=$1/empty
pam_service_name=$3
ssl_enable=YES
force_local_logins_ssl=YES
force_local_data_ssl=YES
require_ssl_reuse=NO
ssl_ciphers=HIGH
rsa_cert_file=$1/cert.pem
rsa_private_key_file=$1/key.pem
pasv_address=127.0.0.1
pasv_min_port=$(($2 + 1))
pasv_max_port=$(($2 + 60))
seccomp_sandbox=NO
xferlog_enable=NO
max_clients=0
max_per_ip=0
END
}

ftp_start() { # DIR
	local dir=$1 port service=rjtest.$$ pid
	mkdir -p "$dir/root/logs" "$dir/empty" && b_cert "$dir" || return 1
	at_exit rm -f "/etc/pam.d/$service"
	echo rj >"$dir/users"
	printf '%s\n' \
		"auth required pam_listfile.so item=user sense=allow onerr=fail file=$dir/users" \
		'account required pam_permit.so' 'session required pam_permit.so' \
		>"/etc/pam.d/$service" || return 1
	port=$(free_port)
	ftp_config "$dir" "$port" "$service" >"$dir/vsftpd.conf"
	setsid vsftpd "$dir/vsftpd.conf" >"$dir/log" 2>&1 </dev/null &
	pid=$!
	at_exit ftp_end "$pid"
	wait_for 30 listens "$port" || { note "$(cat "$dir/log")"; return 1; }
	B_URL=ftp://127.0.0.1:$port/logs
	B_BAD_URL=ftp://$B_BAD:$port/logs B_PORTS=$port-$((port + 60))
	b_conf "ftp://127.0.0.1:$port" user=rj password=secret "ca=$dir/cert.pem"
	b_conf "ftp://$B_BAD:$port" user=rj password=secret "ca=$dir/cert.pem" "request_timeout = 5"
}

# its sessions are children of its own
ftp_end() {
	local p
	for p in $(pgrep -P "$1"); do
		kill -TERM $(pgrep -P "$p") "$p" 2>/dev/null
	done
	b_end "$1"
}
