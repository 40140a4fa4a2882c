#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjournald is killed with -9 under load, again and again: the kernel sees no
# error, and nothing that was fsynced is lost when at last everything dies.
# RJ_KILLS=100: so many times for each kind of volume (doc/hot-restart.md).
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
kills=${RJ_KILLS:-4}
RANDOM=${RJ_SEED:=$((RANDOM * 32768 + RANDOM))}
note "RJ_SEED=$RJ_SEED"

# a kernel that hands out again what was not answered
[ "$(printf '6.9\n%s\n' "$(uname -r | cut -d- -f1)" | sort -V | head -n 1)" = 6.9 ] ||
	skip_all "older than Linux 6.9"

start_server "$T_DIR/srv" || exit 99
restarts() { $LIMIT "$RJCTL" status --json "$img" | sed 's/.*"restarts":\([0-9]*\).*/\1/'; }
state() { $LIMIT "$RJCTL" status --json "$img" | grep -q "\"mode\":\"$1\""; }
# since BEGUN (seconds of uptime)
kernel_errors() {
	dmesg | awk -F'[][ ]+' -v t="$BEGUN" '$2 > t' | grep -E "(JBD2|EXT4-fs error|I/O error|Aborting journal).*${1#/dev/}\\>"
}

# Files fsynced one after the other, each noted outside when it is.
record() {
	local n=0
	while [ ! -e "$T_DIR/enough" ]; do
		n=$((n + 1))
		head -c $((n % 9000 + 1)) /dev/urandom >"$mnt/rec.$n" &&
			sync "$mnt/rec.$n" || { echo "$n" >>"$T_DIR/refused"; return 1; }
		(cd "$mnt" && sha256sum "rec.$n") >>"$T_DIR/acked"
		((n > 300)) && rm -f "$mnt/rec.$((n - 300))"
	done
}
# What makes transactions: dbench where it is, or files written and removed.
load() {
	local i
	if type dbench >/dev/null 2>&1; then
		(cd "$T_DIR" && dbench -D "$mnt" -t 100000 2) >"$T_DIR/dbench" 2>&1
	else
		while :; do
			for i in 1 2 3 4 5 6 7 8; do
				dd if=/dev/zero of="$mnt/load.$i" bs=64k count=$i \
					conv=fsync status=none || return 1
			done
		done
	fi
}
# kill_once: the worker, at some instant; then wait for the one after it
kill_once() {
	local before worker
	sleep "0.$((RANDOM % 6))$((RANDOM % 10))"
	worker=$(worker_pid "$img")
	before=$(restarts)
	[ -n "$worker" ] && kill -KILL "$worker" || return 1
	wait_for 30 eval '[ "$(restarts)" -gt "$before" ]'
}
under_load() {
	local type=$1 i recorder loader died=0
	img=$T_DIR/$type.img mnt=$T_DIR/$type
	rm -f "$T_DIR/enough" "$T_DIR/acked" "$T_DIR/refused"
	truncate -s 160M "$img" && "$MKRJFS" -q -F -t "$type" \
		-J "remote=$SRV_URL/$type,size=8" "$img" || return 1
	FSTYPE=$type
	check "$type: serve" serve "$img"
	check "$type: mount" mount_served "$img" "$mnt" "$2"
	BEGUN=$(cut -d" " -f1 /proc/uptime)
	volume_loop=$(awk -v m="$mnt" '$2 == m {print $1}' /proc/mounts)
	record &
	recorder=$!
	load &
	loader=$!
	at_exit eval "kill_tree $loader; touch '$T_DIR/enough'"
	wait_for 60 test -s "$T_DIR/acked" || exit 99
	for ((i = 0; i < kills; i++)); do
		kill_once || died=1
	done
	is "$type: each time another worker went on" "$died $(restarts)" "0 $kills"
	note "$type: $(wc -l <"$T_DIR/acked") files fsynced under $kills kills"
	touch "$T_DIR/enough"
	wait "$recorder"
	check "$type: no fsync failed" test ! -e "$T_DIR/refused"
	is "$type: no error counted" \
		"$(cat "/sys/fs/ext4/${volume_loop#/dev/}/errors_count")" 0
	is "$type: no error logged" "$(kernel_errors "$LOOP"; kernel_errors "$volume_loop")" ""
	check "$type: the load ran to the end" kill -0 "$loader"
	status 0 "$type: then everything dies" crash "$img" "$mnt" "$T_DIR/$type.dead"
	kill_tree "$loader"
	wait "$loader" 2>/dev/null
	recovered "$type"
}
# kill_tree PID: and its children
kill_tree() {
	local p
	for p in $(pgrep -P "$1"); do kill_tree "$p"; done
	kill -KILL "$1" 2>/dev/null
}
recovered() {
	local type=$1 dead=$T_DIR/$1.dead look=$T_DIR/look
	status 0 "$type: rjrecover, and a full check finds nothing" env \
		RJ_RUN="$T_DIR/run2" $LIMIT "$RJRECOVER" -q -p --verify=full "$dead"
	mkdir -p "$look"
	$LIMIT mount -t "$type" -o loop,ro,noload "$dead" "$look"
	at_exit umount -l "$look"
	(cd "$look" && tail -n 250 "$T_DIR/acked" | sha256sum --quiet -c) >"$T_DIR/missing" 2>&1
	is "$type: every fsynced file is there" "$(head -n 5 "$T_DIR/missing")" ""
	$LIMIT umount "$look"
}
under_load ext3 ""
under_load ext4 data=journal

# ---- in the middle of stopping ----
volume "$T_DIR/stop.img" ext3 1024 "$SRV_URL/stop" || exit 99
img=$T_DIR/stop.img mnt=$T_DIR/stop
serve "$img" --until-unmount && mount_served "$img" "$mnt" && put_file "$mnt/a"
supervisor=$(daemon_pid "$img")
kill -TERM "$supervisor"
wait_for 10 eval '$LIMIT "$RJCTL" status "$img" | grep -q mounted'
kill -KILL "$(worker_pid "$img")"
check "killed after SIGTERM, while mounted: it goes on" put_file "$mnt/b"
worker=$(worker_pid "$img")
# the last phase, as when it is killed before it says that it ends
printf '\3' | dd of="$(find "/proc/$worker/fd" -lname '/memfd:rjournald*')" \
	bs=1 seek=2912 conv=notrunc status=none
kill -KILL "$worker"
check "killed at the very end: the next worker does not end before the unmount" \
	eval '$LIMIT "$RJCTL" status "$img" | grep -q mounted && put_file "$mnt/b2"'
check "and still ends with the unmount" umount "$mnt"
check "with its process gone" wait_for 30 gone "$supervisor"

# ---- another release takes over ----
serve "$img" && mount_served "$img" "$mnt" && put_file "$mnt/c"
is "rjctl restart, while it is mounted" "$($LIMIT "$RJCTL" restart "$mnt")" restarted
like "starts the program anew" "$(ps -o args= -p "$(worker_pid "$img")")" --take-over
check "which goes on" put_file "$mnt/c2"
kill -KILL "$(worker_pid "$img")"
check "and is itself taken over from" put_file "$mnt/c3"

# ---- the supervisor dies, and all with it ----
worker=$(worker_pid "$img")
kill -KILL "$(daemon_pid "$img")"
check "without its supervisor a worker ends" wait_for 10 gone "$worker"
status 1 "and the journal fails" $LIMIT dd if=/dev/zero of="$mnt/d" bs=1k count=1 conv=fsync
$LIMIT umount -l "$mnt"
status 0 "rjrecover" $LIMIT "$RJRECOVER" -p -q "$img"
check "it is served again, over what the dead ones left" serve "$img"

# ---- another host took over while there was no worker ----
mount_served "$img" "$mnt" && put_file "$mnt/e"
supervisor=$(daemon_pid "$img")
cp --sparse=always "$img" "$T_DIR/copy.img"
worker=$(worker_pid "$img")
kill -STOP "$supervisor"
kill -KILL "$worker"
status 0 "a recovery elsewhere" env RJ_RUN="$T_DIR/run2" $LIMIT "$RJRECOVER" -p -q "$T_DIR/copy.img"
kill -CONT "$supervisor"
status 1 "fences the next worker" $LIMIT dd if=/dev/zero of="$mnt/f" bs=1k count=1 conv=fsync
check "which has failed" wait_for 10 state fenced
like "because of the other writer" "$($LIMIT "$RJCTL" status "$img")" 'another writer'
kill -KILL "$(worker_pid "$img")"
wait_for 60 eval '[ "$(restarts)" -ge 2 ]' || exit 99
status 1 "and so has the one after it" $LIMIT dd if=/dev/zero of="$mnt/g" bs=1k count=1 conv=fsync
$LIMIT umount -l "$mnt"
true
