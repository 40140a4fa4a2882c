#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A store that is full, though most of what it holds could be deleted: the log is
# trimmed at once and the volume goes on by itself; a recovery gets through even at
# the floor; nothing that was fsynced is lost. An 8 MiB journal that data goes
# through too (data=journal), trimmed by default once a minute.
#   full-server.sh [WHAT...]   disk (of a server), volume, account (limits there),
#                              file (a full directory); all of them
#   full-server.sh soak MINUTES [FSTYPE]   write at a server with room for three
#                              times the journal, and judge
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
need_root

export FSTYPE=ext4
ROUNDS=$([ -n "${RJ_LONG:-}" ] && echo 20 || echo 2)
# Quiet, it takes some 0.2 s; a trimmer that nobody wakes sleeps for a minute.
MOST_MS=50000
ROOM=$((24 << 20))
CONF=$T_DIR/rjserver.conf MNT=$T_DIR/mnt

# set_room BYTES: how much the server of KIND may hold, or (disk) must leave free
set_room() {
	mkdir -p "$T_DIR/$KIND"
	{
		printf '[server]\ndir = %s\nlisten = 127.0.0.1:0\n' "$D"
		[ "$KIND" = account ] || echo 'insecure = yes'
		[ "$KIND" != disk ] || echo "min-free = $1"
		[ "$KIND" != volume ] || printf '[volume *]\nmax-bytes = %s\n' "$1"
	} >"$CONF"
	[ "$KIND" != account ] ||
		"$RJSERVER" adduser -q -d "$D" --max-bytes "$1" v >>"$T_DIR/token"
	[ -n "$SRV_PID" ] || return 0
	RELOADS=$(reloads)
	kill -HUP "$SRV_PID" && wait_for 60 reloaded
}
reloads() { grep -c ': reloaded' "$T_DIR/$KIND.log"; }
reloaded() { [ "$(reloads)" -gt "$RELOADS" ]; }
small_disk() { mkdir -p "$1" && mount -t tmpfs -o "size=$2" none "$1" && at_exit umount -l "$1"; }
# set_up KIND: a full-to-be store; URL
set_up() {
	KIND=$1 D=$T_DIR/$1/d SRV_PID= TOKEN=
	if [ "$KIND" = disk ]; then
		small_disk "$T_DIR/$1" 56m || skip_all "cannot mount a tmpfs"
		set_room $((8 << 20))
	elif [ "$KIND" = file ]; then
		small_disk "$D" 24m || skip_all "cannot mount a tmpfs"
		URL=file://$D
		return
	else
		set_room $ROOM
	fi
	[ "$KIND" != account ] || TOKEN=$(cat "$T_DIR/token")
	"$RJSERVER" --config "$CONF" >"$T_DIR/$1.out" 2>"$T_DIR/$1.log" &
	SRV_PID=$!
	kill_at_end "$SRV_PID"
	wait_for 60 grep -q 'listening on' "$T_DIR/$1.out" || return 1
	URL=rj://$(sed -n 's/.*listening on //p' "$T_DIR/$1.out")/v
	(umask 077; printf '[%s]\n%s\n' "$URL" "${TOKEN:+token = $TOKEN}" >"$RJ_CONF")
}

# metric NAME: of the daemon
metric() { "$RJCTL" metrics "$IMG" 2>/dev/null | sed -n "s/^rjournald_$1{[^}]*} //p"; }
# write_one: 700 kB, fsynced; PAUSE (ms) becomes the longest time of all
write_one() {
	local from=${EPOCHREALTIME/./} ms file=$MNT/f.$((N % 8))
	N=$((N + 1))
	head -c 700000 /dev/urandom >"$file" && timeout -k 1 110 sync "$file" || return 1
	ms=$(((${EPOCHREALTIME/./} - from) / 1000))
	((ms <= PAUSE)) || PAUSE=$ms
}
# until_full: write until the store has refused something once more; WARNED: it
# warned before, and rjctl shows that
until_full() {
	local before i
	before=$(metric put_failures_total)
	for ((i = 0; i < 300; i++)); do
		write_one || return 1
		[ -n "$WARNED" ] || [ "$(metric store_nearly_full)" = 0 ] ||
			WARNED=$("$RJCTL" status "$IMG" | grep 'nearly full')
		[ "$(metric put_failures_total)" = "$before" ] || return 0
	done
	return 1
}
online() { [ "$("$RJCTL" status --json "$IMG" | jq -r .mode)" = online ]; }
# at_the_floor: from now on the store of KIND has no room for anything ordinary
at_the_floor() {
	local json
	json=$("$RJSERVER" stats -d "$D" --json)
	if [ "$KIND" = disk ]; then
		set_room $(($(jq .server.free_bytes <<<"$json") * 4 / 3))
	else
		set_room "$(jq '[.volumes[].stored_bytes] | add' <<<"$json")"
	fi
}

# too_small: a limit below twice the journal is said when it is claimed
too_small() {
	check "a limit of 12 MiB" set_room $((12 << 20))
	check "served nevertheless" serve "$IMG"
	like "it is said" "$(cat "$T_DIR/.check")" 'less than twice its journal \(8388608 bytes\)'
	check "and ended" unserve
	set_room $ROOM
}

# one KIND
one() {
	local round
	N=0 PAUSE=0 WARNED= IMG=$T_DIR/$1.img
	set_up "$1" || { not_ok "$1: a store"; return; }
	check "$1: a volume" volume "$IMG" ext4 1024 "$URL"
	[ "$1" != volume ] || too_small
	check "served" serve "$IMG"
	check "and mounted" mount_served "$IMG" "$MNT" data=journal
	for ((round = 1; round <= ROUNDS; round++)); do
		check "$1: full, and it goes on by itself ($round)" until_full
		check "online again" wait_for 60 online
	done
	note "$1: the longest wait of $N fsyncs: $PAUSE ms"
	check "$1: in time" test $PAUSE -lt $MOST_MS
	check "files whose fsync returned" fsynced "$MNT" 10 "$T_DIR/sums"
	[ "$1" = file ] || like "$1: it was warned of" "$WARNED" 'nearly full   (its disk|the volume.s limit|our account.s limit)'
	check "crash" crash "$IMG" "$MNT" "$T_DIR/crash.img"
	mv "$T_DIR/crash.img" "$IMG"
	if [ "$1" != file ]; then
		check "$1: at the floor" at_the_floor
		status 0 "$1: recovery gets through" $LIMIT "$RJRECOVER" -p "$IMG"
		note "$(tail -n 2 <<<"$OUT")"
		[ "$1" = disk ] && set_room $((8 << 20)) || set_room $ROOM
	fi
	check "$1: served again" serve "$IMG"
	check "and mounted" mount_served "$IMG" "$MNT" data=journal
	check "$1: nothing is lost" sh -c "cd '$MNT' && sha256sum --quiet -c '$T_DIR/sums'"
	check "and it is written to" write_one
	umount "$MNT" && unserve
	[ -z "$SRV_PID" ] || stop_server
}

# soak MINUTES [FSTYPE]
soak() {
	local end=$((SECONDS + $1 * 60)) dev
	FSTYPE=${2:-ext4} N=0 PAUSE=0 IMG=$T_DIR/soak.img
	set_up volume && volume "$IMG" "$FSTYPE" 1024 "$URL" && serve "$IMG" &&
		mount_served "$IMG" "$MNT" data=journal || { not_ok "soak: set up"; return; }
	dev=$(findmnt -no SOURCE "$MNT")
	echo "full-server.sh: soak $$" >/dev/kmsg
	while ((SECONDS < end)); do
		write_one || { not_ok "soak: a write failed"; break; }
	done
	note "$N fsyncs of 700 kB, the longest $PAUSE ms, $(metric put_failures_total) puts refused"
	is "no error of the kernel" "$(dmesg | sed "1,/full-server.sh: soak $$\$/d" | grep -E "(EXT[34]-fs|JBD2).*(error|abort)" |
		grep -cE "${dev##*/}\b|${LOOP##*/}\b")" 0
	check "files whose fsync returned" fsynced "$MNT" 100 "$T_DIR/sums"
	check "crash" crash "$IMG" "$MNT" "$T_DIR/crash.img"
	mv "$T_DIR/crash.img" "$IMG"
	status 0 "recovery" $LIMIT "$RJRECOVER" -p "$IMG"
	check "served again" serve "$IMG"
	check "and mounted" mount_served "$IMG" "$MNT" data=journal
	check "nothing is lost" sh -c "cd '$MNT' && sha256sum --quiet -c '$T_DIR/sums'"
	umount "$MNT" && unserve
	stop_server
}

if [ "${1:-}" = soak ]; then
	soak "$2" "${3:-}"
else
	[ $# -gt 0 ] || set -- disk volume account file
	for kind; do one "$kind"; done
fi
