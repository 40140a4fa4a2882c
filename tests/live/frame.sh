# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced after lib.sh: hosts with a bad network between them, servers on them,
# volumes that are written to, and what must be true afterwards.
. "$RJ_SRC/tests/support/rj.sh" || exit 99
LIVE=$RJ_BUILD/tests/live
RJCTL=$RJ_BUILD/rjctl/rjctl
# a wedged device must not hang the suite
LIMIT="timeout -k 5 120"
export no_proxy='*'

need_wire() {
	need_fuse_loop
	[ -c /dev/net/tun ] || skip_all "no /dev/net/tun"
	unshare -n true 2>/dev/null || skip_all "no network namespaces"
	grep -q ext4 /proc/filesystems || modprobe ext4 2>/dev/null ||
		skip_all "no ext4 in this kernel"
}

# ---- the network ----
# hosts N SEED: N hosts, 127.77.0.1 and so on, joined by tests/live/wire.c
declare -A NS
hosts() {
	local word n file
	coproc WIRE { exec "$LIVE/wire" "$1" "$2"; } 2>"$T_DIR/wire.err"
	WIRE_PROCESS=$WIRE_PID
	kill_at_end "$WIRE_PROCESS"
	while read -t 120 -r word n file <&"${WIRE[0]}"; do
		[ "$word" = ready ] && return 0
		NS[$n]=$file
	done
	cat "$T_DIR/wire.err" >&2
	return 1
}
# on HOST COMMAND...: run it there
on() { local h=$1; shift; nsenter --net="${NS[$h]}" "$@"; }
# net COMMAND...: see wire.c; prints its answer
net() {
	local answer
	echo "$*" >&"${WIRE[1]}" && read -t 120 -r answer <&"${WIRE[0]}" &&
		echo "$answer" && [ "$answer" != 'what?' ]
}
# tool HOST NAME PROGRAM: $T_DIR/bin/NAME runs it there
tool() {
	mkdir -p "$T_DIR/bin"
	printf '#!/bin/sh\nexec nsenter --net=%s %q "$@"\n' "${NS[$1]}" "$3" >"$T_DIR/bin/$2"
	chmod +x "$T_DIR/bin/$2"
}

# ---- servers: server I (1, 2) is on host I, its data in $T_DIR/srvI ----
declare -A SERVER
server_url() { echo "rj://127.77.0.$1:7000"; }
server() {
	local log=$T_DIR/server.$1.$RANDOM.log
	mkdir -p "$T_DIR/srv$1"
	# not by on(): that would be a shell between, and its number
	nsenter --net="${NS[$1]}" "$RJSERVER" -d "$T_DIR/srv$1" \
		-l "127.77.0.$1:7000" --insecure >"$log" 2>&1 &
	SERVER[$1]=$!
	kill_at_end "$!"
	wait_for 60 grep -q 'listening on' "$log" || { cat "$log" >&2; return 1; }
}
# short_patience [LINE]: for all stores; SHIP_EARLY: see rj.conf(5)
short_patience() {
	(umask 077; printf '[*]\nconnect_timeout = 2\nrequest_timeout = 2\n%s\n%s\n' \
		"${SHIP_EARLY:+ship_early = $SHIP_EARLY}" "${1:-}" >"$RJ_CONF")
}

# ---- a volume in use ----
# volume_on URLS TYPE BLOCKSIZE [MORE-J]: $IMG, 48 MiB
volume_on() {
	truncate -s ${SIZE:-48M} "$IMG" && on "$CLIENT" "$MKRJFS" -q -F -t "$2" -b "$3" \
		-J "remote=$1${4:+,$4}" "$IMG"
}
# mount_on OPTIONS: $IMG at $MNT, by mount.rj on host $CLIENT
mount_on() {
	mkdir -p "$MNT"
	at_exit umount -l "$MNT"
	on "$CLIENT" $LIMIT "$MOUNT_RJ" "$IMG" "$MNT" ${1:+-o "$1"} || return 1
	DPID=$(daemon_pid "$IMG") && [ -n "$DPID" ] || return 1
	kill_at_end "$DPID"
	VOLUME_DEV=$(findmnt -n -o SOURCE "$MNT") && VOLUME_DEV=${VOLUME_DEV#/dev/}
	JOURNAL_DEV=$(status_of journal_device) && JOURNAL_DEV=${JOURNAL_DEV#/dev/}
	MOUNTED_AT=$(cut -d' ' -f1 /proc/uptime)
}
# write_history SEED [THREADS [FOLDER [PAUSE [MANY]]]]: in the background, below $MNT;
# noted in $RECORD, and what went wrong in $RECORD.said
RECORD=$T_DIR/record
write_history() {
	rm -f "$RECORD"
	mkdir -p "$MNT/${3:-.}" && sync -f "$MNT"
	"$LIVE/history" write "$MNT/${3:-.}" "$RECORD" "$1" "${2:-3}" "${4:-0}" "${5:-0}" \
		>"$RECORD.said" 2>&1 &
	WRITER=$!
	kill_at_end "$WRITER"
}
# status_of NAME: that number or word of the status of $IMG's rjournald
status_of() {
	$LIMIT "$RJCTL" status --json "$IMG" | grep -Eo "\"$1\":(\"[^\"]*|[0-9]*)" | sed 's/^[^:]*:"\{0,1\}//'
}
acked() { "$LIVE/history" count "$RECORD"; }
# goes_on MORE: so many more operations are acknowledged, within a minute
goes_on() {
	local from; from=$(acked)
	wait_for 60 eval "[ \$(acked) -ge $((from + $1)) ]"
}
# kernel_errors: what the kernel complained of since the mount, of our devices
kernel_errors() {
	dmesg 2>/dev/null | awk -v from="$MOUNTED_AT" -v a="$VOLUME_DEV" -v b="$JOURNAL_DEV" '
		{t = $0; sub(/^\[ */, "", t); sub(/\].*/, "", t)}
		t + 0 >= from + 0 && (/[Ee]rror|[Aa]bort|[Ff]ailed|blocked for/) &&
			($0 ~ a "[^0-9]" || $0 ~ b "[^0-9]")'
	[ "$(cat "/sys/fs/ext4/$VOLUME_DEV/errors_count" 2>/dev/null)" = 0 ] ||
		echo "errors_count of $VOLUME_DEV: $(cat "/sys/fs/ext4/$VOLUME_DEV/errors_count" 2>&1)"
	cat "$RECORD.said"
}
# machine_stops COPY [FALLBACK]: as crash in rj.sh, FALLBACK as it was at that moment
# too. The writer gets its death before the journal
# does: what waits for an aborted journal may be told by JBD2 that all is well
# (jbd2_complete_transaction() of a transaction that is gone returns 0), and a
# machine that has stopped tells nobody anything.
machine_stops() {
	freeze_daemon "$DPID" && cp --sparse=always "$IMG" "$1" || return 1
	[ ! -e "${2:-}" ] || cp -p "$2" "$1.fallback" || return 1
	kill -KILL "$WRITER" 2>/dev/null # it may have ended long ago
	kill_pid "$DPID"
	umount -l "$MNT"
	wait_for 60 gone "$WRITER" && wait_for 60 not grep -qF "$MNT " /proc/mounts || return 1
	[ ! -e "${2:-}" ] || mv "$1.fallback" "$2"
}

# ---- afterwards ----
# recover_on COPY: on host $CLIENT
recover_on() { on "$CLIENT" $LIMIT "$RJRECOVER" -p "$@"; }
# verified URL: a log without a gap
verified() {
	local out
	out=$(on "$CLIENT" $LIMIT "$RJ_BUILD/rjlog/rjlog" verify "$1" 2>&1) || { echo "$out"; return 1; }
}
# sound COPY: e2fsck finds nothing
sound() {
	local out
	tool "$CLIENT" rjournald "$RJOURNALD"
	out=$(RJOURNALD=$T_DIR/bin/rjournald served_fsck "$1" -fn 2>&1) || { echo "$out"; return 1; }
	! grep -v '^Superblock hint for external' <<<"$out" | grep -Ei 'fix|wrong|error'
}
# history_there COPY SEED [FOLDER]: all of $RECORD
history_there() {
	local back=$T_DIR/back rc
	mkdir -p "$back" && mount -t ext4 -o ro,noload,loop "$1" "$back" || return 1
	"$LIVE/history" check "$back/${3:-.}" "$RECORD" "$2"
	rc=$?
	umount "$back"
	return $rc
}
