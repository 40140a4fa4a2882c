#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each command of each section EXAMPLES is typed as it stands, in its order, with volumes of ext3
# and of ext4, and what it did is looked at. Replaced are only names of devices and folders, and
# what a user has to fill in: a moment, the number of a hold, the UUID of a journal.
. "$RJ_SRC/tests/support/machine.sh"
[ -n "${MACHINE:-}" ] || machine sdb1 sdc1
machine_boot journal journals server journal.example.org
cd "$M" && mkdir tree /srv/log backup then mnt || exit 99
TYPE=ext3 SERVER=

# ---- the pages ----
# page NAME: its commands are typed from here on
page() {
	PAGE=$1 AT=0
	mapfile -t COMMANDS < <(page_examples "$RJ_SRC/man/$1")
	SEEN+=" $1"
	check "$PAGE has examples" test ${#COMMANDS[@]} -gt 0
}
filled() { # TEXT: with what stands for the names of the page
	sed -E "s#/dev/loop0#${LOOP:-}#g; s#/dev/(sdb1|vg/vol1)#$sdb1#g
		s#/backup/#$M/backup/#g; s#/then\b#$M/then#g; s#/(mnt|var/mail)\b#$M/mnt#g
		s#0fedcba9-8765-4321-0123-456789abcdef#${UUID:-}#g
		s#2026-11-23 14:04:59#${MOMENT:-}#g; s#--hold=775656411307#--hold=${HOLD:-}#g
		s#--time=1h#--time=2s#; s#rjadvise --json#rjadvise --time=2s --json#" <<<"$1"
}
# typed STATUS COMMAND: the page's next command, which is COMMAND; its output is in $OUT
typed() {
	local want=$1 command=${COMMANDS[AT]:-none} rc
	AT=$((AT + 1))
	[ "$command" = "$2" ] || { not_ok "$PAGE, command $AT: $2"; note "the page has: $command"; return; }
	command=$(filled "$command")
	OUT=$(eval "$command" 2>&1 </dev/null)
	rc=$?
	[ $rc = "$want" ] || note "status $rc: $command" "$OUT"
	check "$TYPE: $PAGE: $2" test $rc = "$want"
}
# left_alone COMMAND: the page's next one cannot be typed with a volume of this type
left_alone() { is "$TYPE: $PAGE: left alone" "${COMMANDS[AT]:-none}" "$1"; AT=$((AT + 1)); }
all_typed() { is "$TYPE: $PAGE has no other command" "${COMMANDS[*]:$AT}" ""; }

# ---- the machine's state ----
serve_logs() { # [OPTION...]: a new server
	[ -z "$SERVER" ] || { kill "$SERVER"; wait "$SERVER"; }
	rjserver -q -d "$M/logs" -l 127.0.0.1:7490 "${@:---insecure}" >"$M/server.log" 2>&1 &
	SERVER=$!
	wait_for 60 curl -sk -o /dev/null "http${1:+s}://127.0.0.1:7490/"
}
lose_server() { [ -z "$SERVER" ] || { kill "$SERVER"; wait "$SERVER"; }; SERVER=; rm -rf "$M/logs"; }
# new_volume HOST NAME: on the disk, its log there; mounted, with files
new_volume() {
	mkrjfs -q -F -t "$TYPE" -J "remote=rj://$1:7490/$2,size=8" "$sdb1" && in_use
}
in_use() {
	mount -t rj -o "${1:-data=journal}" "$sdb1" mnt && fsynced mnt 5 "$M/sums"
}
same() { (cd "${1:-mnt}" && sha256sum --quiet -c "$M/sums"); }
unmounted() { umount mnt && wait_for 60 eval '! pgrep -x rjournald'; }
crashed() { crash "$sdb1" mnt disk && dd if=disk of="$sdb1" bs=1M status=none conv=fsync; }
rest() { mount "${@:2}" "$1" mnt && same && umount mnt; } # it can be mounted, and has the files
(umask 077; printf '[rjs://journal.example.org]\nca = %s\ntokenfile = %s\n' \
	"$M/srv.pem" "$M/token" >/etc/rjprogs/rj.conf)
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout srv.key -out srv.pem \
	-days 60 -subj /CN=server -addext subjectAltName=DNS:server,DNS:journal.example.org 2>>log
chmod 600 srv.key
echo tree >tree/file
check "a server" serve_logs

# in_background COMMAND: the page's next one, which goes on until stopped STATUS
in_background() {
	local command=${COMMANDS[AT]:-none}
	AT=$((AT + 1))
	[ "$command" = "$1" ] || { not_ok "$PAGE, command $AT: $1"; note "the page has: $command"; return; }
	ASKED=$1
	: >"$M/background"
	(trap - EXIT; eval "exec $(filled "$command")") </dev/null >>"$M/background" 2>&1 &
	BACKGROUND=$!
}
stopped() { # STATUS
	kill -TERM $BACKGROUND
	wait $BACKGROUND
	is "$TYPE: $PAGE: $ASKED: ends" $? "$1"
}

page mkrjfs.8
typed 0 'mkrjfs -J remote=rj://journal:7490/web1,size=64 /dev/sdb1'
is "its journal has 64 MB, at that server" \
	"$(rjtune -l --json "$sdb1" | jq -r '.journal | .url, .bytes' | xargs)" "rj://journal:7490/web1 67108864"
is "it is an ext3 volume" "$(blkid -p -o value -s TYPE "$sdb1")" ext3
typed 0 'mkrjfs -t ext4 -b 4096 -d tree -J remote=file:///srv/log disk.img 2G'
is "the image has 2 GB" "$(stat -c %s disk.img)" $((2 << 30))
is "the image has the directory" "$(debugfs -R 'cat file' disk.img 2>/dev/null)" tree
is "its journal is in the folder" "$(rjtune -l --json disk.img | jq -r .journal.url)" file:///srv/log
all_typed
rm disk.img

as_one() {
	page mount.rj.8
	mkrjfs -q -F -t "$TYPE" -J "remote=rj://journal:7490/m$TYPE,size=8" "$sdb1"
	typed 0 'mount -t rj /dev/sdb1 /srv'
	check "$TYPE: it takes files" fsynced /srv 5 "$M/sums"
	umount /srv
	typed 0 'mount -t rj -o data=journal,noatime /dev/sdb1 /srv'
	check "$TYPE: they are there" same /srv
	like "$TYPE: with these options" "$(findmnt -no OPTIONS /srv)" 'noatime.*data=journal'
	all_typed

	page rjctl.8
	typed 0 'rjctl status /srv'
	like "$TYPE: it is shown" "$OUT" "mode          online"
	typed 0 'rjctl status --json | jq .mode'
	is "$TYPE: its mode" "$OUT" '"online"'
	typed 0 'rjctl check >/run/rjcheck || cat /run/rjcheck'
	is "$TYPE: nothing is said of a volume that is well" "$OUT" ""
	all_typed

	page umount.rj.8
	typed 0 'umount /srv'
	check "$TYPE: nothing is mounted" eval '! findmnt -t ext3,ext4 /srv'
	all_typed

	page rjournald.8
	if [ "$TYPE" = ext3 ]; then
		typed 0 'rjournald --until-unmount /dev/sdb1'
		LOOP=$(tail -n 1 <<<"$OUT")
		typed 0 'mount -t ext3 -o journal_path=/dev/loop0 /dev/sdb1 /mnt'
		check "by hand: the files are there" same
		# it looks once a second
		check "by hand: the daemon sees the mount" wait_for 60 eval 'rjctl status mnt | grep -q ": mounted"'
		typed 0 'umount /mnt'
		check "by hand: its daemon ends" wait_for 60 eval '! pgrep -x rjournald'
	else
		left_alone 'rjournald --until-unmount /dev/sdb1'
		left_alone 'mount -t ext3 -o journal_path=/dev/loop0 /dev/sdb1 /mnt'
		left_alone 'umount /mnt'
	fi
	all_typed

	page rjlog.8
	lose_server; serve_logs
	check "$TYPE: a volume of that name" new_volume journals "sdb1"
	typed 0 'rjlog ls rj://journals:7490/sdb1'
	UUID=$(rjtune -l --json "$sdb1" | jq -r .journal.uuid)
	like "$TYPE: its log is listed" "$OUT" "$UUID  segments 1 to [0-9]+"
	typed 0 'rjlog verify rj://journals:7490/sdb1'
	typed 0 'rjlog verify -q rj://journals:7490/sdb1'
	is "$TYPE: silent" "$OUT" ""
	unmounted
	rjtune -J "remote=rj://server:7490/moved$TYPE" "$sdb1" >/dev/null || not_ok "$TYPE: moved"
	typed 0 'rjlog ls rj://journals:7490/sdb1'
	typed 0 'rjlog rm --volume=/dev/sdb1 rj://journals:7490/sdb1/0fedcba9-8765-4321-0123-456789abcdef'
	like "$TYPE: of the old log only fences are left" "$OUT" '[1-9][0-9]* segments removed; [0-9]+ fences stay'
	check "$TYPE: the volume has its files" rest "$sdb1" -t rj
	check "$TYPE: a volume that crashes" new_volume journals "sdb1"
	crashed
	typed 0 'rjlog show --json rj://journals:7490/sdb1 | jq .plan.last_commit_ns'
	like "$TYPE: the last commit is of today" "$(date -d "@${OUT%?????????}" +%F)" "$(date +%F)"
	all_typed

	page rjrecover.8
	typed 0 'rjrecover -n /dev/sdb1'
	like "$TYPE: it says what is to be done" "$OUT" 'transactions to replay: [1-9]'
	typed 0 'rjrecover -p /dev/sdb1'
	check "$TYPE: the files are there" rest "$sdb1" -t rj
	check "$TYPE: in use again" in_use
	crashed
	rm -f /var/tmp/sdb1.e2undo
	typed 0 'rjrecover --verify=full -z /var/tmp/sdb1.e2undo /dev/sdb1'
	check "$TYPE: the files are there, too" rest "$sdb1" -t rj
	check "$TYPE: there is a way back" test -s /var/tmp/sdb1.e2undo
	lose_server
	rm /var/tmp/sdb1.e2undo
	typed 0 'rjtune --accept-loss -z /var/tmp/sdb1.e2undo -J size=64 /dev/sdb1'
	is "$TYPE: its journal is inside" "$(rjtune -l --json "$sdb1" | jq -r .journal.placement)" internal
	check "$TYPE: the files of before are there" rest "$sdb1" -t "$TYPE"
	all_typed
	check "$TYPE: a server again" serve_logs

	page rjtune.8
	typed 0 'rjtune -J remote=rj://journal.example.org/vol1 /dev/vg/vol1'
	typed 0 'rjtune -l /dev/vg/vol1'
	like "$TYPE: it is there" "$OUT" 'Journal URL: +rj://journal.example.org/vol1'
	check "$TYPE: the files are there, by the server" rest "$sdb1" -t rj
	typed 0 'rjtune -J size=64 /dev/vg/vol1'
	check "$TYPE: and by the journal inside" rest "$sdb1" -t "$TYPE"
	rjtune -J remote=rj://journal.example.org/vol1 "$sdb1" >/dev/null && in_use && crashed
	lose_server
	typed 0 'rjtune --accept-loss -z /root/vol1.e2undo -O ^has_journal /dev/vg/vol1'
	check "$TYPE: it is a volume without a journal" e2fsck -fn "$sdb1"
	rm /root/vol1.e2undo
	check "$TYPE: a server once more" serve_logs
	printf '[rj://journal.example.org]\nkeyfile = %s\n' "$M/key" >>/etc/rjprogs/rj.conf
	rjtune --genkey "$M/key" >/dev/null && rjtune -q -J "remote=rj://journal.example.org/vol1,key=$M/key" "$sdb1"
	check "$TYPE: with a key" in_use
	unmounted
	rm "$M/key"
	typed 0 'rjtune --accept-loss --old-key=none -J size=64 /dev/vg/vol1'
	sed -i '/^.rj:/,$d' /etc/rjprogs/rj.conf
	check "$TYPE: without the key the files are there" rest "$sdb1" -t "$TYPE"
	all_typed

	page rjbackup.8
	lose_server; serve_logs
	mkrjfs -q -F -t "$TYPE" -J "remote=rj://server:7490/sdb1,size=8" "$sdb1"
	typed 0 'mount -t rj -o data=journal /dev/sdb1 /mnt'
	check "$TYPE: files" fsynced mnt 5 "$M/sums"
	mkdir mnt/project && fsynced mnt/project 5 "$M/project"
	typed 0 'rjbackup base --hold=7d -o /backup/sdb1.base /mnt'
	HOLD=$(sed -n 's/^hold \([0-9]*\) .*/\1/p' <<<"$OUT")
	typed 0 'rjbackup ls rj://server/sdb1'
	like "$TYPE: the hold is listed" "$OUT" "hold $HOLD of rjbackup"
	typed 0 'rjbackup expire --hold=775656411307 rj://server/sdb1'
	is "$TYPE: and gone" "$(rjbackup ls rj://server/sdb1 | grep -c "hold $HOLD")" 0
	typed 0 'rm /backup/sdb1.base'
	rjbackup base --hold=7d -o backup/sdb1.base mnt >/dev/null || not_ok "$TYPE: another base"
	sleep 0.1; MOMENT=$(date '+%F %T.%N'); sleep 0.1
	rm -r mnt/project && echo newer >mnt/newer && sync -f mnt
	changes
	typed 0 'rjbackup mount --at="2026-11-23 14:04:59" --base=/backup/sdb1.base /then'
	typed 0 'cp -a /then/project /mnt/'
	check "$TYPE: what was deleted is back" eval '(cd mnt/project && sha256sum --quiet -c "$M/project")'
	typed 0 'umount /then'
	sync -f mnt
	in_background 'rjbackup follow --hold=2d --base=/backup/sdb1.base'
	check "$TYPE: it follows" wait_for 60 grep -q 'whole as of' background
	stopped 0
	unmounted
	cp "$sdb1" lost # the volume is lost
	typed 0 'rjbackup promote /backup/sdb1.base'
	typed 0 'mount -t rj -o data=journal /backup/sdb1.base /mnt'
	check "$TYPE: the standby has the files" same
	is "$TYPE: the last one, too" "$(cat mnt/newer)" newer
	umount mnt
	check "$TYPE: another volume" new_volume server "sdb1"
	rm backup/sdb1.base && rjbackup base --hold=7d -o backup/sdb1.base mnt >/dev/null
	typed 0 'rjbackup drill --compare=/mnt --base=/backup/sdb1.base'
	like "$TYPE: it restores" "$OUT" 'compared: [0-9]+ the same, 0 differ'
	all_typed

	page rjadvise.8
	unmounted
	rm -f backup/*
	mke2fs -q -F -t "$TYPE" "$sdc1" && mount "$sdc1" mnt && mount "$sdc1" /srv
	lose_server
	rjserver adduser -q -d "$M/logs" host1 >token 2>/dev/null && chmod 600 token
	check "$TYPE: a server with TLS" serve_logs --cert srv.pem --key srv.key
	typed 0 'rjadvise --time=1h --probe --store=rjs://journal.example.org/host1 /var/mail'
	typed 0 'rjadvise --json /srv | jq '"'.choices[] | [.journal, .data, .syncs_per_s]'"
	like "$TYPE: the choices" "$OUT" '^  "remote",$'
	all_typed
	umount mnt /srv
	lose_server; serve_logs
}
# changes: the page of what changed, and then the page before again
changes() {
	local commands=("${COMMANDS[@]}") at=$AT
	page rjbackup-changes.7
	typed 0 'rjbackup diff --base=/backup/sdb1.base "2026-11-23 14:04:59" now'
	like "$TYPE: what went" "$OUT" "^- /project/$"
	typed 0 'rjbackup find --base=/backup/sdb1.base project'
	like "$TYPE: when" "$OUT" "^/project: from before the base, until 2"
	typed 0 'rjbackup undelete --base=/backup/sdb1.base --to=/mnt /project'
	check "$TYPE: it is back" eval '(cd mnt/project && sha256sum --quiet -c "$M/project")'
	rm -r mnt/project && sync -f mnt
	all_typed
	PAGE=rjbackup.8 AT=$at COMMANDS=("${commands[@]}")
}
for TYPE in ext3 ext4; do as_one; done
lose_server

TYPE=- page rjserver.8
in_background 'rjserver -d /var/lib/rjserver -l 127.0.0.1:7490 --insecure'
check "it listens" wait_for 60 grep -q 'listening on' background
stopped 0
typed 0 'rjserver adduser -d /var/lib/rjserver host1'
typed 0 "rjserver adduser -d /var/lib/rjserver --rights watch --volumes '*' prometheus"
in_background 'rjserver -d /var/lib/rjserver -l 0.0.0.0:7490 --cert srv.pem --key srv.key'
check "it listens with TLS" wait_for 60 curl -s -o /dev/null --cacert srv.pem https://server:7490/
stopped 0
rm -rf /var/lib/rjserver/*
rjserver -q -d /var/lib/rjserver -l 127.0.0.1:7490 --insecure 2>"$M/server.log" &
SERVER=$!
wait_for 60 curl -s -o /dev/null http://127.0.0.1:7490/
mkrjfs -q -F -J remote=rj://server:7490/host1,size=8 "$sdb1"
UUID=$(rjtune -l --json "$sdb1" | jq -r .journal.uuid)
typed 0 'curl http://127.0.0.1:7490/host1/'
like "the journal is listed" "$OUT" "$UUID"
typed 0 'curl http://127.0.0.1:7490/host1/0fedcba9-8765-4321-0123-456789abcdef/log/'
like "its segments are listed" "$OUT" 00000000000000000001
all_typed
kill "$SERVER"

# a file, and no commands: it is read, and a section of it counts
page rj.conf.5
(umask 077; printf '%s\n' "${COMMANDS[@]}" >/etc/rjprogs/rj.conf)
status 0 "the file of rj.conf(5) is read" rjlog ls file:///srv/log
cp "$RJ_SRC/contrib/rj.conf" /etc/rjprogs/rj.conf
status 0 "and that of contrib/" rjlog ls file:///srv/log

is "each page with examples was typed" \
	"$(cd "$RJ_SRC/man" && grep -l '^\.SH EXAMPLE' ./*.[1-9] | while read -r p; do
		[[ "$SEEN " == *" ${p#./} "* ]] || echo "${p#./}"; done)" ""
exit 0
