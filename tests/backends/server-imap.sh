# SPDX-License-Identifier: GPL-2.0-or-later
# dovecot with TLS; mailboxes are Maildirs. For what stands where see frame.sh.

imap_missing() {
	[ "$(id -u)" = 0 ] || { echo "root"; return; }
	b_missing dovecot openssl
	[ -e /usr/lib/dovecot/imap ] || [ -e /usr/libexec/dovecot/imap ] || echo dovecot-imapd
}

imap_config() { # DIR PORT TLSPORT
	cat <<END
base_dir = $1/run
state_dir = $1/state
instance_name = rjtest-$$
log_path = $1/log
protocols = imap
listen = 127.0.0.1
ssl = required
ssl_cert = <$1/cert.pem
ssl_key = <$1/key.pem
auth_mechanisms = plain
auth_failure_delay = 0
mail_location = maildir:$1/mail/%u
mail_fsync = optimized
mail_uid = nobody
mail_gid = nogroup
first_valid_uid = 1
mail_max_userip_connections = 200
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=$1/mail/%u
}
service imap-login {
  chroot =
  inet_listener imap {
    port = $2
  }
  inet_listener imaps {
    port = $3
  }
}
service imap {
  process_limit = 300
}
service anvil {
  chroot =
}
namespace inbox {
  inbox = yes
}
END
}

imap_start() { # DIR
	local dir=$1 port tls
	mkdir -p "$dir/run" "$dir/mail" "$dir/state" && b_cert "$dir" || return 1
	# the mail processes are nobody's, and must get to their folder
	chmod o+x "$T_DIR" "$dir" && chown nobody "$dir/mail" || return 1
	port=$(free_port) tls=$(free_port)
	imap_config "$dir" "$port" "$tls" >"$dir/dovecot.conf"
	setsid "$(PATH=$PATH:/usr/sbin command -v dovecot)" -F -c "$dir/dovecot.conf" \
		>"$dir/out" 2>&1 </dev/null &
	at_exit b_end $!
	wait_for 30 listens "$port" && wait_for 10 listens "$tls" ||
		{ note "$(cat "$dir/out" "$dir/log")"; return 1; }
	B_URL=imap://127.0.0.1:$port/logs
	B_TLS_URL=imaps://127.0.0.1:$tls/logs
	B_BAD_URL=imap://$B_BAD:$port/logs B_PORTS=$port
	b_conf "imap://$B_BAD:$port" user=rj password=secret "ca=$dir/cert.pem" "request_timeout = 5"
	b_conf "imap://127.0.0.1:$port" user=rj password=secret "ca=$dir/cert.pem"
	b_conf "imaps://127.0.0.1:$tls" user=rj password=secret "ca=$dir/cert.pem"
}
