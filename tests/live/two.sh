#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# two.sh [STORE...] (rj, file, sftp, local): two hosts, one volume, one log, partitions
# in between. Host A writes; host B takes the volume over, recovers and writes.
# Whatever A was ever told is there is in what B goes on with, and A is told
# nothing more: there is one history. Then A takes it back from B.
#
# The volume that both share is a copy made while A writes. In data=journal A's own
# copy never gets what the log does not have, as long as the log gives nothing up:
# when a quarter of the journal (a third in newer kernels) has been written back, the
# kernel moves the tail, and what was before that is in A's copy only. So the journal
# is large, and who has written much slows down: 600 operations (about 30 MB), then 4
# a second. That it was enough is looked at.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/live/frame.sh" || exit 99
. "$RJ_SRC/tests/backends/frame.sh" || exit 99
. "$RJ_SRC/tests/backends/server-sftp.sh" || exit 99
need_wire
seed=${RJ_SEED:-$RANDOM$RANDOM}
note "RJ_SEED=$seed"
RANDOM=$seed
A=2 B=3 SIZE=224M JOURNAL=256 told=0 taken=0
short_patience 'loss_timeout = 1'
hosts 3 "$seed" || exit 99
server 1 || exit 99

# sftp_on_1: sshd on host 1; sets B_URL
sftp_on_1() {
	local dir=$T_DIR/sftp
	mkdir -p "$dir/logs" /run/sshd &&
		ssh-keygen -q -t ed25519 -N '' -f "$dir/hostkey" &&
		ssh-keygen -q -t ecdsa -m PEM -N '' -f "$dir/id" || return 1
	printf '127.77.0.1 %s\n' "$(cut -d' ' -f1,2 "$dir/hostkey.pub")" >"$dir/known_hosts"
	sftp_config "$dir" 22 | sed 's/^ListenAddress .*/ListenAddress 127.77.0.1/' >"$dir/sshd_config"
	nsenter --net="${NS[1]}" "$(PATH=$PATH:/usr/sbin command -v sshd)" -D -e \
		-f "$dir/sshd_config" >"$dir/log" 2>&1 </dev/null &
	at_exit sftp_end "$!"
	wait_for 30 grep -q 'Server listening' "$dir/log" || { note "$(cat "$dir/log")"; return 1; }
	B_URL=sftp://127.77.0.1$dir/logs
	b_conf sftp://127.77.0.1 "user=$(id -un)" "clientkey=$dir/id" \
		"known_hosts=$dir/known_hosts" "connect_timeout = 10" "request_timeout = 10"
}

# as HOST COMMAND...: with that host's daemon, mount, record and writer
declare -A OF
as() {
	local v h=$1; shift
	CLIENT=$h RJ_RUN=$T_DIR/$store/run$h MNT=$T_DIR/$store/mnt$h
	FLOOR_DIR=$T_DIR/$store/floor$h local_conf "$T_DIR"
	for v in IMG DPID WRITER VOLUME_DEV JOURNAL_DEV MOUNTED_AT BEGINS; do
		printf -v "$v" %s "${OF[$v.$h]:-}"
	done
	RECORD=$T_DIR/$store/record$h
	"$@" || return 1
	for v in IMG DPID WRITER VOLUME_DEV JOURNAL_DEV MOUNTED_AT BEGINS; do OF[$v.$h]=${!v}; done
}
# writes SEED FOLDER: notes in BEGINS where the log begins that a replay needs
writes() {
	write_history "$1" 2 "$2" 5 300 && goes_on 8 && BEGINS=$(status_of oldest) && [ -n "$BEGINS" ]
}
has_failed() { status_of mode | grep -Eq '^(fenced|failed)$'; }
# partition HOST: one drawn; sets HOW
partition() {
	case $((RANDOM % 4)) in
	0) HOW="no partition" ;;
	1) HOW="it is cut off"; net set "$1" down=1 ;;
	2) HOW="nothing comes from it"; net set "$1" mute=1 ;;
	3) HOW="its network is bad"; net set "$1" loss=20 delay=5 jitter=20 ;;
	esac >>"$T_DIR/wire.said"
}
here() {
	note "host $CLIENT: $($LIMIT "$RJCTL" status --json "$IMG" 2>&1)" \
		"$(kernel_errors 2>&1 | tail -n 20)"
}
# evidence HOST...: for whoever looks for the cause of what failed
evidence() {
	local h
	for h; do as "$h" here; done
	# when each of the last was put, those that are not of the log too
	find "$T_DIR/sftp/logs" "$T_DIR/shared" -type f -printf '%T+ %P %s\n' 2>/dev/null |
		sort | tail -n 40 | sed 's/^/# /'
	[ -z "${RJ_KEEP:-}" ] && return
	mkdir -p "$RJ_KEEP/two.$store.$seed" && # not what is mounted there
		cp -ax --sparse=always "$T_DIR/$store" "$T_DIR"/srv* "$RJ_KEEP/two.$store.$seed"
}
# shared COPY: its volume as it is on the disk. What its kernel writes back from
# now on is in its own only; at once, as much as can be
shared() { cp --sparse=always "$IMG" "$1" && sync -f "$MNT"; }
# take_over NEW OLD IMAGE N: host NEW recovers IMAGE while host OLD writes; then
# it writes itself, in a folder and record of its own
take_over() {
	local new=$1 old=$2 image=$3 n=$4 what
	partition "$old"
	what="$store: host $new after host $old ($HOW)"
	OF[IMG.$new]=$image
	as "$new" check "$what: recovers" recover_on "$image"
	cp --sparse=always "$image" "$image.recovered"
	as "$new" check "$what: mounts" mount_on data=journal
	as "$new" check "$what: writes" writes "$((seed + n))" "of$n"
	# all that follows would wait in vain
	((T_BAD == 0)) || { evidence "$old" "$new"; return; }
	net heal "$old" >>"$T_DIR/wire.said"
	as "$old" check "$what: the other's writer is told of it" wait_for 60 gone "${OF[WRITER.$old]}"
	as "$old" check "$what: its rjournald has failed" wait_for 30 has_failed
	count=$(RECORD=$T_DIR/$store/record$old acked)
	as "$old" check "$what: and acknowledges nothing" not dd if=/dev/zero \
		of="$MNT/late" bs=1k count=1 conv=fsync status=none
	as "$new" check "$what: while we go on" goes_on 8
	is "$what: what it was told of does not grow" \
		"$(RECORD=$T_DIR/$store/record$old acked)" "$count"
	RECORD=$T_DIR/$store/record$old check "$what: every one of its $count operations is ours" \
		history_there "$image.recovered" "$((seed + n - 1))" "of$((n - 1))"
	told=$((told + count)) taken=$((taken + 1))
	as "$old" its_log_begins "$what"
	((T_BAD == 0)) || evidence "$old" "$new"
	as "$old" machine_stops "$T_DIR/$store/old"
}
its_log_begins() {
	is "$1: its journal never gave anything up" "$(status_of oldest)" "$BEGINS"
}

two_hosts() { # STORE URL
	local img=$T_DIR/$1/v.img more=
	[ "$1" != sftp ] || more=,ack=received
	store=$1 OF=()
	mkdir -p "$T_DIR/$store"
	OF[IMG.$A]=$img
	as $A check "$store: a volume" volume_on "$2" "ext$((3 + RANDOM % 2))" 4096 \
		"on_loss=block,size=$JOURNAL$more" &&
		as $A check "$store: A mounts" mount_on data=journal &&
		as $A check "$store: A writes" writes "$seed" of0
	((T_BAD == 0)) || return
	as $A check "$store: B sees the volume" shared "$img.b"
	take_over $B $A "$img.b" 1
	((T_BAD == 0)) || return
	as $B check "$store: A sees the volume" shared "$img.a"
	take_over $A $B "$img.a" 2
	((T_BAD == 0)) || return
	as $A check "$store: A stops" machine_stops "$img.end"
	as $A check "$store: it can be recovered" recover_on "$img.end"
	RECORD=$T_DIR/$store/record$A check "$store: the last writer's" \
		history_there "$img.end" "$((seed + 2))" of2
	as $A check "$store: e2fsck finds nothing" sound "$img.end"
}

in_mode() { $LIMIT "$RJCTL" status --json "$IMG" | grep -q "\"mode\":\"$1\""; }
# refused REGEX IMAGE: rjrecover says why, in its status too, and changes nothing
refused() {
	local rc
	OUT=$(recover_on "$2" 2>&1); rc=$?
	(((rc & 4) != 0)) && grep -Eq "$1" <<<"$OUT" || { echo "$rc: $OUT"; return 1; }
}
# A is cut off and goes on alone in its file; B may not go on, and is told to. What A
# was told while the store was there is B's; what it was told after that stays in its file.
alone() {
	local dir=$T_DIR/local img=$T_DIR/local/v.img count
	store=local OF=()
	mkdir -p "$dir/fb"
	OF[IMG.$A]=$img OF[IMG.$B]=$img.b
	as $A check "local: a volume" volume_on "$(server_url 1)/local" ext4 4096 \
		"fallback=$dir/fb,size=$JOURNAL" &&
		as $A check "local: A mounts" mount_on data=journal &&
		as $A check "local: A writes" writes "$seed" of0
	((T_BAD == 0)) || return
	kill_pid "${OF[WRITER.$A]}"
	cp "$dir/record$A" "$dir/record"
	net set $A down=1 >>"$T_DIR/wire.said"
	as $A check "local: A is cut off, and writes" writes "$((seed + 1))" alone
	as $A check "local: in its file" in_mode degraded
	cp --sparse=always "$img" "$img.b" && cp "$img.b" "$img.before"
	# B has that path too: what is open stays A's
	mv "$dir/fb" "$dir/fbA" && mkdir "$dir/fb"
	as $B check "local: B is refused" refused 'fallback file .* is not there.*--accept-loss' "$img.b"
	check "local: and nothing is changed" cmp "$img.b" "$img.before"
	as $B check "local: B is told to go on" recover_on --accept-loss "$img.b"
	cp --sparse=always "$img.b" "$img.recovered"
	as $B check "local: B mounts" mount_on data=journal
	as $B check "local: B writes" writes "$((seed + 2))" of2
	((T_BAD == 0)) || return
	as $A check "local: A has gone on meanwhile" goes_on 5
	net heal $A >>"$T_DIR/wire.said"
	as $A check "local: A is back, and fenced" wait_for 60 in_mode fenced
	as $A check "local: its writer is told of it" wait_for 60 gone "${OF[WRITER.$A]}"
	count=$(RECORD=$dir/record$A acked)
	as $A check "local: and nothing is acknowledged" not dd if=/dev/zero \
		of="$dir/mnt$A/late" bs=1k count=1 conv=fsync status=none
	as $B check "local: while B goes on" goes_on 8
	is "local: what A was told of does not grow" "$(RECORD=$dir/record$A acked)" "$count"
	RECORD=$dir/record CLIENT=$B check "local: what A had put into the store is B's" \
		history_there "$img.recovered" "$seed" of0
	as $A machine_stops "$img.a" "$dir"/fbA/*.rjfallback
	as $B check "local: B stops" machine_stops "$img.end" "$dir"/fb/*.rjfallback
	as $B check "local: it can be recovered" recover_on "$img.end"
	RECORD=$dir/record$B CLIENT=$B check "local: all that B was told is there" \
		history_there "$img.end" "$((seed + 2))" of2
	mv "$dir/fb" "$dir/fbB" && mv "$dir/fbA" "$dir/fb"
	as $A check "local: A with its file is refused" refused 'went on without segments' "$img.a"
}

[ $# != 0 ] || set -- rj sftp local
for kind; do
	case $kind in
	rj) two_hosts rj "$(server_url 1)/two" ;;
	local) alone ;;
	file) mkdir "$T_DIR/shared" && two_hosts file "file://$T_DIR/shared" ;;
	sftp)
		missing=$(sftp_missing)
		if [ -n "$missing" ]; then skip "$kind" "not installed: $missing"; continue; fi
		sftp_on_1 && two_hosts sftp "$B_URL"
		;;
	esac
done
note "$told acknowledged; $taken losses, each to the other host; $(net count)"
