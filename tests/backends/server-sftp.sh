# SPDX-License-Identifier: GPL-2.0-or-later
# OpenSSH's sftp-server, by public key. For what stands where see frame.sh.

sftp_missing() { b_missing sshd ssh-keygen; }

sftp_config() { # DIR PORT
	cat <<END
Port $2
ListenAddress 127.0.0.1
HostKey $1/hostkey
PidFile none
AuthorizedKeysFile $1/id.pub
AuthenticationMethods publickey
PermitRootLogin prohibit-password
AllowUsers $(id -un)
StrictModes no
UsePAM no
AllowTcpForwarding no
X11Forwarding no
PermitTTY no
MaxStartups 200
MaxSessions 100
Subsystem sftp internal-sftp
ForceCommand internal-sftp
END
}

sftp_start() { # DIR
	local dir=$1 port pid address
	mkdir -p "$dir/logs" || return 1
	[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
	ssh-keygen -q -t ed25519 -N '' -f "$dir/hostkey" &&
		ssh-keygen -q -t ecdsa -m PEM -N '' -f "$dir/id" || return 1
	port=$(free_port)
	for address in 127.0.0.1 "$B_BAD"; do
		printf '[%s]:%s %s\n' $address "$port" "$(cut -d' ' -f1,2 "$dir/hostkey.pub")"
		b_conf "sftp://$address:$port" "user=$(id -un)" "clientkey=$dir/id" \
			"known_hosts=$dir/known_hosts" "request_timeout = 5"
	done >"$dir/known_hosts"
	sftp_config "$dir" "$port" >"$dir/sshd_config"
	setsid "$(PATH=$PATH:/usr/sbin command -v sshd)" -D -e -f "$dir/sshd_config" \
		>"$dir/log" 2>&1 </dev/null &
	pid=$!
	at_exit sftp_end "$pid"
	wait_for 30 listens "$port" || { note "$(cat "$dir/log")"; return 1; }
	B_URL=sftp://127.0.0.1:$port$dir/logs
	B_BAD_URL=sftp://$B_BAD:$port$dir/logs B_PORTS=$port
}

# its sessions are children of its own
sftp_end() {
	local p
	for p in $(pgrep -P "$1"); do
		kill -TERM $(pgrep -P "$p") "$p" 2>/dev/null
	done
	b_end "$1"
}
