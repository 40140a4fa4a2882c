# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests/boot/run: what scenes are made of.

must() { # WHAT COMMAND...: one line of TAP; a scene ends with its first failure
	local what=$1; shift
	n=$((n + 1))
	if "$@" >"$T/out"; then echo "ok $n - $scene: $what"; return 0; fi
	sed 's/^/# /' "$T/out"
	echo "not ok $n - $scene: $what"
	failed=$((failed + 1))
	return 1
}

rjserver() {
	LD_LIBRARY_PATH=$(echo "$T"/host/usr/lib/*-linux-gnu) "$T/host/usr/sbin/rjserver" "$@"
}
server_start() { # [PORT]: on this machine, which the guest sees as 10.0.2.2
	local access=(--insecure)
	PORT=${1:-$(vm_port)} || return 1
	[ -z "$TLS" ] || access=(--cert "$T/server.pem" --key "$T/server.key")
	: >"$T/listening"
	# in its own process: its number is that of the server
	(LD_LIBRARY_PATH=$(echo "$T"/host/usr/lib/*-linux-gnu) exec "$T/host/usr/sbin/rjserver" -q \
		-d "$T/store" -l "127.0.0.1:$PORT" "${access[@]}" >"$T/listening" 2>"$T/server.log") &
	SERVER_PID=$!
	for _ in {1..600}; do
		grep -qs listening "$T/listening" && return 0
		sleep 0.1
	done
	return 1
}
server_stop() {
	[ -z "${SERVER_PID:-}" ] ||
		{ kill -CONT "$SERVER_PID" && kill "$SERVER_PID" && wait "$SERVER_PID"; } 2>/dev/null
	SERVER_PID=
}
server_tls() { # from now on with a certificate and an account
	TLS=yes
	openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=10.0.2.2 \
		-addext subjectAltName=IP:10.0.2.2 -keyout "$T/server.key" -out "$T/server.pem" \
		2>/dev/null && rjserver adduser -q -d "$T/store" --volumes boot boot >"$T/token"
}
# what rj.conf(5) wants for that server, and a key
client_tls() {
	vm_in 'cat >/etc/rjprogs/ca.pem' <"$T/server.pem" &&
		vm_in 'umask 77 && cat >/etc/rjprogs/token' <"$T/token" && vm "umask 77 &&
		rjtune --genkey /etc/rjprogs/key && cat >>/etc/rjprogs/rj.conf <<-END
		[rjs://10.0.2.2:$PORT]
		tokenfile = /etc/rjprogs/token
		ca = /etc/rjprogs/ca.pem
		[rjs://10.0.2.2:$PORT/boot]
		keyfile = /etc/rjprogs/key
		END"
}

# format [WORDS [JOURNAL [TYPE]]]: /dev/vdb, and its line in fstab with the mount
# options WORDS; JOURNAL is more for mkrjfs -J
format() {
	vm "mkrjfs -q -t ext4 -J size=8,remote=rj${TLS:+s}://10.0.2.2:$PORT/boot${2:+,$2} /dev/vdb &&
		echo '/dev/vdb $D ${3:-rj} _netdev${1:+,$1} 0 0' >>/etc/fstab &&
		systemctl daemon-reload && sync"
}
# What most scenes begin with: format with these arguments, mounted and under load.
begin() {
	must "server" server_start && must "boot" vm_booted && must "format" format "$@" &&
		must "mount" vm mount "$D" && must "load" load_begin
}
# off [SECONDS [COMMAND]]: an orderly end, after SECONDS of its own at the latest
off() {
	must "${2:-poweroff}" vm_poweroff "${2:-poweroff}" || return 1
	load_end
	must "within ${1:-30} s" [ "$VM_OWN" -lt "${1:-30}0" ]
}
boot_again() { vm_start && must "boot again" vm_up; }

# tasks NAME...: what rjprogs(7) says, typed as the page has it; /dev/vdb is the disk
tasks() {
	local task
	for task; do
		task_commands "$top/man/rjprogs.7" "$task" | sed 's|/dev/sdb1|/dev/vdb|g' >"$T/task" && [ -s "$T/task" ] &&
			must "task $task" vm_in 'cat >/root/task && bash -e /root/task </dev/null 2>&1' \
			<"$T/task" || return 1
	done
}
# the page's account, client, key and new volume, with the server on the same machine
page_volume() {
	D=/srv/data
	tasks account && must "copy the token and the certificate" vm \
		'cp /root/host1.token /etc/rjprogs/journal.token &&
		cp /etc/rjprogs/rjserver.pem /etc/rjprogs/journal-ca.pem' &&
		tasks client key new same
}

# drop: from now on the guest's packets to the server go nowhere
drop() { vm "nft 'add table inet hole; add chain inet hole out { type filter hook output priority 0; }; add rule inet hole out tcp dport $PORT drop'"; }
# refused COMMAND...: systemctl does not do it, and the volume is as it was
refused() { ! vm "systemctl $*" && is_mounted; }
own_scope() { vm 'grep -q "/system.slice/rjournald-.*\.scope$" "/proc/$(head -qn1 /run/rjprogs/*/lock)/cgroup"'; }

# Files that are written and fsynced, one after the other; their numbers are
# here, in $T/acked, as soon as fsync(2) has returned.
load_begin() {
	vm "i=0; while echo \$i >$D/f\$i && sync $D/f\$i; do echo \$i; i=\$((i + 1)); done" \
		>"$T/acked" 2>/dev/null &
	LOAD_PID=$!
	for _ in {1..600}; do
		[ "$(wc -l <"$T/acked")" -lt 20 ] || return 0
		sleep 0.1
	done
	return 1
}
# 20 more files are acknowledged
goes_on() {
	local end=$((SECONDS + 120)) from
	from=$(wc -l <"$T/acked")
	while [ "$(wc -l <"$T/acked")" -lt $((from + 20)) ]; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.2
	done
}
load_end() { [ -z "${LOAD_PID:-}" ] || wait "$LOAD_PID" 2>/dev/null; LOAD_PID=; }

# How many of the files that were acknowledged are not there as they were; -1: it
# could not be seen.
lost() {
	sed '$!b; /^[0-9]*$/!d' "$T/acked" | vm_in "while read -r i; do
		[ \"\$(cat $D/f\$i 2>/dev/null)\" = \"\$i\" ] || echo \$i
		done; echo end" | awk 'END {print NR - 1}'
}

# ordered UNIT: the mounted unit comes after the network, as a remote file system
ordered() {
	vm systemctl show -p After,Before "$1" | tee "$T/order" &&
		grep -q '^After=.*network-online\.target' "$T/order" &&
		grep -q '^Before=.*remote-fs\.target' "$T/order" &&
		! grep -q '^Before=.*local-fs\.target' "$T/order"
}
is_mounted() { vm "ls $D >/dev/null; findmnt -n -t ext4 $D >/dev/null && rjctl check $D"; }
# error_lines BOOT: of the kernel's log and the daemon's, in the boot BOOT (-1, 0)
error_lines() {
	vm "journalctl -q -b $1 | grep -ciE 'I/O error|EXT4-fs error|JBD2: Error|aborted journal|rjournald.*(error|failed)'"
}
failed_units() { vm "systemctl list-units --failed --plain --no-legend | wc -l"; }
# seconds from the start of user space to the mount, of this boot
mount_seconds() {
	vm "systemctl show -p ActiveEnterTimestampMonotonic --value $(systemd-escape -p --suffix=mount $D) |
		awk '{printf \"%.1f\", \$1 / 1e6}'"
}
on_console() { grep -aF "$1" "$VM/console.log"; }
not_on_console() { ! on_console "$1"; }
no_errors() { [ "$1" = 0+0 ] || { [ "$2" = ended-badly ] && [ "${1#*+}" = 0 ]; }; }
tenths() { [ -z "$1" ] && echo - || echo "$(($1 / 10)).$(($1 % 10))"; }

# After a boot: mounted, nothing lost, no error in the boot before nor in this
# ($1 "ended-badly": in this).
# The table's line: seconds to shut down, seconds to mount, lost, error lines,
# failed units.
judge() {
	must "mounted at boot" is_mounted || return 1
	RESULT=("$(tenths "$VM_OWN")" "$(mount_seconds)" "$(lost)"
		"$(error_lines -1)+$(error_lines 0)" "$(failed_units)")
	must "nothing lost of $(wc -l <"$T/acked")" [ "${RESULT[2]}" = 0 ] &&
		must "no error line" no_errors "${RESULT[3]}" "${1:-}" &&
		must "no failed unit" [ "${RESULT[4]}" = 0 ]
}
