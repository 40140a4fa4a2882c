#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The tasks of rjprogs(7): the commands of the page are run as they are written,
# on a machine of their own: own mounts, network and processes, in which the
# tools are in /usr/sbin and the server listens on port 7490 of
# journal.example.org. Replaced are names of devices and the moment of a deletion;
# systemctl starts and stops what the installed unit says, as there is no systemd. At
# the end the package's own test (autopkgtest) runs on that machine.
. "$RJ_SRC/tests/support/machine.sh"
[ -n "${MACHINE:-}" ] || machine sdb1 sdc1 sdd1
machine_boot journal.example.org
PAGE=$RJ_SRC/man/rjprogs.7
mkdir -p /usr/share/doc/rjprogs/examples
cp -r "$RJ_SRC/contrib/monitoring" /usr/share/doc/rjprogs/examples/
cp "$RJ_SRC/contrib/systemd/rjserver.conf" /etc/rjprogs/
cp "$RJ_SRC/contrib/systemd/rjbackup-drill.conf" /usr/share/doc/rjprogs/examples/
mkdir -p /etc/systemd/system
cp "$RJ_SRC/contrib/systemd/rjbackup-drill@.timer" /etc/systemd/system/
cp "$RJ_SRC/contrib/systemd/rjbackup-drill@.service.in" /etc/systemd/system/rjbackup-drill@.service
getent passwd rjserver >/dev/null || {
	echo 'rjserver:x:4242:4242::/var/lib/rjserver:/usr/sbin/nologin' >>/etc/passwd
	echo 'rjserver:x:4242:' >>/etc/group
}

unit=$RJ_SRC/contrib/systemd/rjserver.service.in
SERVER=
server_up() {
	local command run=()
	command=$(sed -n 's|@sbindir@|/usr/sbin|; s/^ExecStart=//p' "$unit")
	# as its user, where that one may read the build
	setpriv --reuid=rjserver --regid=rjserver --clear-groups rjserver -V >/dev/null 2>&1 &&
		run=(setpriv --reuid=rjserver --regid=rjserver --clear-groups)
	: >"$M/up"
	"${run[@]}" $command >"$M/up" 2>>"$M/log" &
	SERVER=$!
	wait_for 60 grep -q 'listening on' "$M/up" || { cat "$M/log"; return 1; }
}
server_down() { kill -TERM "$SERVER" && wait "$SERVER"; }
drill_started() {
	(. /etc/rjprogs/drill/data.conf && eval "$(sed -n 's|@sbindir@|/usr/sbin|; s/^ExecStart=//p' \
		/etc/systemd/system/rjbackup-drill@.service)")
}
reloads() { grep -c 'reloaded: ' "$M/log" || :; }
systemctl() {
	local n u
	case $* in
	"enable --now rjserver") server_up ;;
	"stop rjserver" | "disable --now rjserver") server_down ;;
	"restart rjserver") server_down; server_up ;;
	daemon-reload) ;;
	"reload rjserver")
		n=$(reloads)
		kill -HUP "$SERVER" && wait_for 60 eval "[ \$(reloads) -gt $n ]" ;;
	"start rjbackup-drill@data") drill_started ;;
	"enable --now "*.timer)
		for u in "${@:3}"; do
			u=${u/@*./@.}
			[ -s "/etc/systemd/system/$u" ] &&
				[ -s "/etc/systemd/system/${u%timer}service" ] || return 1
		done ;;
	*) echo "systemctl: what is $*?"; return 1 ;;
	esac
}

# ---- the page ----
commands() {
	task_commands "$PAGE" "$1" | sed "s|/dev/sdb1|$sdb1|g; s|/dev/sdc1|$sdc1|g; s|/dev/sdd1|$sdd1|g
		s|2026-11-23 14:04:59|${second_before:-}|g"
}
done_tasks=" "
# task NAME: run its commands; none may fail
task() {
	local rc
	done_tasks+="$1 "
	commands "$1" >"$M/task"
	[ -s "$M/task" ] || { not_ok "task $1 is in the page"; return; }
	# in this shell: systemctl keeps the server's number
	eval "step() { $(cat "$M/task")
	}" || { note "$(cat "$M/task")"; not_ok "task $1 is in order"; return; }
	trap 'failed=$?' ERR
	failed=0
	set -E
	step </dev/null >"$M/out" 2>&1
	rc=$?
	set +E
	trap - ERR
	if [ $rc$failed = 00 ]; then
		ok "task $1"
	else
		note "status $rc, $failed: $(cat "$M/task")" "$(tail -n 30 "$M/out")"
		not_ok "task $1"
	fi
}
here() { awk -v d="$1" '$2 == d {found = 1} END {exit !found}' /proc/mounts; }
same() { (cd "$1" && sha256sum --quiet -c "$2"); }

task account
cp /root/host1.token /etc/rjprogs/journal.token
cp /etc/rjprogs/rjserver.pem /etc/rjprogs/journal-ca.pem
task client
like "there is no log yet" "$(cat "$M/out")" 'no logs$'
task key
task new
check "the volume is mounted" here /srv/data
like "its journal is encrypted, at the server" "$(rjtune -l "$sdb1")" \
	'rjs://journal.example.org/host1-data'
check "files are fsynced" fsynced /srv/data 5 "$M/sums"
task same
like "the volume is mounted after the server" "$(cat /etc/fstab)" \
	'^[^ ]* /srv/data rj _netdev,x-systemd.after=rjserver.service,nofail 0 0$'

mke2fs -q -F -t ext4 "$sdc1" && mkdir -p /mnt && mount -t ext4 "$sdc1" /mnt &&
	fsynced /mnt 5 "$M/old"
task existing
check "the files are there" same /srv/old "$M/old"
like "the journal is at the server" "$(rjtune -l "$sdc1")" 'host1-old'
task back
check "the files are there, the journal inside" same /srv/old "$M/old"
check "not remote" eval '! rjtune -l "$sdc1" | grep -q host1-old'
umount /srv/old

task many
is "the journal is at the server" "$(rjtune -l --json "$sdc1" | jq -r .journal.url)" \
	"rjs://journal.example.org/host1-$(blkid -p -o value -s UUID "$sdc1")"
check "and can be mounted there" mount -t rj "$sdc1" /srv/old
check "the files are there" same /srv/old "$M/old"
umount /srv/old
task many-back
is "the journal is inside again" "$(rjtune -l --json "$sdc1" | jq -r .journal.placement)" internal
is "the report has both moves" "$(jq -r .result /root/moved | xargs)" "ok ok"
task check
task timers
task watch
like "the metrics are there" "$(cat "$M/out")" '^rjserver_info'

# both rotations while the volume is written to: no fsync fails, and none waits long
write_on() {
	local i at
	for ((i = 0; ; i++)); do
		at=${EPOCHREALTIME/.}
		dd if=/dev/urandom of=/srv/data/rotate.$i bs=1k count=1 conv=fsync status=none ||
			exit 1
		echo "$((${EPOCHREALTIME/.} - at)) $i" >>"$M/waits"
		(cd /srv/data && sha256sum rotate.$i) >>"$M/rotated"
		[ ! -e "$M/enough" ] || exit 0
		sleep 0.05
	done
}
write_on &
writer=$!
old_token=$(cat /etc/rjprogs/journal.token)
with_token() { curl -s -o /dev/null -w '%{http_code}' --cacert /etc/rjprogs/rjserver.pem \
	-H "Authorization: Bearer $1" https://journal.example.org:7490/host1-data/; }
task token
is "the old token is good" "$(with_token "$old_token")" 200
is "the new one, too" "$(with_token "$(cat /root/host1.token)")" 200
task token-host
task token-drop
is "the old token is over" "$(with_token "$old_token")" 401
check "a further write" fsynced /srv/data 5 "$M/sums"
check "the volume is well" wait_for 60 rjctl check /srv/data
old_serial=$(openssl x509 -noout -serial -in /etc/rjprogs/rjserver.pem)
task certificate
task certificate-host
task certificate-change
shown() {
	openssl s_client -connect journal.example.org:7490 </dev/null 2>/dev/null |
		openssl x509 -noout -serial
}
check "the server shows the new certificate" [ "$(shown)" != "$old_serial" ]
check "a further write" fsynced /srv/data 5 "$M/sums"
task certificate-end
touch "$M/enough"
wait "$writer"
is "no fsync failed" "$?" 0
note "the longest fsync: $(sort -n "$M/waits" | tail -n 1 | cut -d' ' -f1) us of $(wc -l <"$M/waits")"
check "each file of these is there" same /srv/data "$M/rotated"
(cd /srv/data && rm -f rotate.*)

# the account has less room than its volume writes before the kernel lets the log
# be trimmed
rjserver adduser -q -d /var/lib/rjserver --max-bytes 64K host1 2>/dev/null &&
	systemctl reload rjserver
many() {
	local i
	for ((i = 0; i < 200; i++)); do
		dd if=/dev/urandom of=/srv/data/many.$i bs=4k count=1 conv=fsync status=none ||
			return 1
	done
}
many &
writer=$!
check "the volume waits for room" wait_for 60 eval 'rjctl check /srv/data | grep -q CRITICAL'
task full
check "it goes on" wait_for 60 gone $writer
check "and is well" wait_for 60 rjctl check /srv/data
like "the page's command shows the account" "$(cat "$M/out")" host1

task upgrade
check "it is well" wait_for 60 rjctl check /srv/data
of_status() { rjctl status --json /srv/data | sed -n "s/.*\"$1\":\"\?\([^,\"]*\).*/\1/p"; }
before=$(of_status restarts)
status 0 "the package's postinst" sh "$RJ_SRC/packaging/debian/rjprogs.postinst" configure 0.0.1-1
if [ -z "$OUT" ]; then
	is "replaced the program of the volume" "$(of_status restarts)" $((before + 1))
else
	like "left the volume as it was" "$OUT" 'keep the program that they were mounted with'
fi
check "the volume is well" wait_for 60 rjctl check /srv/data
loop=$(of_status journal_device)
like "udev's rule fits the journal's loop device" "$(cat "/sys/block/${loop##*/}/loop/backing_file")" \
	'^/run/rjprogs/[^/]*/mnt/journal$'

task move-from
rm -rf /var/lib/rjserver/* /etc/rjprogs/rjserver.key
task move-to
check "the volume goes on" fsynced /srv/data 5 "$M/sums"
check "and is well" wait_for 60 rjctl check /srv/data

task history
mkdir /srv/data/project && fsynced /srv/data/project 5 "$M/project"
sleep 0.1 # the clock of commits is a few milliseconds late
second_before=$(date '+%F %T.%N')
sleep 0.1
rm -r /srv/data/project && echo newer >/srv/data/newer && sync -f /srv/data
task undo
check "the folder is back" same /srv/data/project "$M/project"
like "what was written since is there, too" "$(cat /srv/data/newer)" newer
task prove
like "the volume restores, and is the same" "$(cat "$M/out")" "compared: [0-9]+ the same, 0 differ"
task weekly
like "rjctl says so" "$(cat "$M/out")" '^  drill         verified at '
like "and Prometheus is told" "$(cat /var/lib/prometheus/node-exporter/rjbackup-data.prom)" \
	'^rjbackup_drill_success\{.*\} 1$'

# the host stops while it is writing; its disk goes to another one
dd if=/dev/urandom of=/srv/data/lost bs=64k count=4 conv=fsync status=none
(cd /srv/data && sha256sum lost) >>"$M/sums"
check "the host stops" crash "$sdb1" /srv/data "$T_DIR/disk"
# first as if there were no disk; then the machine's other disks are as they were
both=(/var/lib/rjserver /var/lib/rjprogs)
server_down
for dir in "${both[@]}"; do mkdir -p "$T_DIR/was$dir" && cp -a "$dir/." "$T_DIR/was$dir"; done
server_up
task disk
check "without the disk, each file that was fsynced is there" same /srv/data "$M/sums"
check "the new volume takes more" fsynced /srv/data/project 5 "$M/project"
check "its log is the same one" eval 'rjtune -l "$sdd1" | grep -q host1-data'
check "unmounted" umount /srv/data
server_down
for dir in "${both[@]}"; do find "$dir" -mindepth 1 -delete && cp -a "$T_DIR/was$dir/." "$dir"; done
server_up
dd if="$T_DIR/disk" of="$sdd1" bs=1M status=none conv=fsync
task host
check "each file that was fsynced is there" same /srv/data "$M/sums"
check "unmounted" umount /srv/data

# the server is lost for good, with a volume mounted
sed "s|$sdb1|$sdd1|" -i /etc/fstab
sdb1=$sdd1
check "mounted again" mount /srv/data
server_down
# the accounts come from a backup
find /var/lib/rjserver -mindepth 1 ! -name accounts -delete
server_up
task reseed
check "the volume takes more" fsynced /srv/data/project 5 "$M/project"
server_down
rm -rf /var/lib/rjserver/*
task lost
check "every file is there" same /srv/data "$M/sums"
check "those of the last minute, too" same /srv/data/project "$M/project"
umount /srv/data

# and all of it goes: a journal at the server, as task existing has it
rjserver adduser -q -d /var/lib/rjserver --volumes 'host1*' host1 >/etc/rjprogs/journal.token &&
	chown -R rjserver: /var/lib/rjserver && server_up
status 0 "a volume with its journal at the server" rjtune -q \
	-J remote=rjs://journal.example.org/host1-data,size=64 "$sdb1"
check "mounted" mount /srv/data
check "written to" fsynced /srv/data 5 "$M/sums"
task remove
check "it is a plain ext4" eval 'grep -q " /srv/data ext4 " /proc/mounts'
check "every file is there" same /srv/data "$M/sums"
task remove-server
check "nothing is left of the server" [ -z "$(ls -A /var/lib/rjserver)" ]
umount /srv/data

check "the test that Debian's package brings" sh "$RJ_SRC/packaging/debian/tests/main-job"

is "each task of the page was run" \
	"$(sed -n 's/^\.\\" task //p' "$PAGE" | while read -r t; do
		[[ $done_tasks == *" $t "* ]] || echo "$t"; done)" ""
