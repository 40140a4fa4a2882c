#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A history whose log is at a store of another maker: bases as files and at the store, of the
# mounted and the unmounted volume, restored over unmounts; follow and fold. RJ_LONG: at each of
# these servers that is installed; else at one of mode B and one of mode A.
. "$RJ_SRC/tests/history/run.sh" || exit 99
. "$RJ_SRC/tests/backends/frame.sh" || exit 99
seed=${RJ_SEED:-$RANDOM}
note "RJ_SEED=$seed"
at_exit umount -l "$T_DIR/look"
at_exit end_mount
end_mount() { umount -l "$T_DIR/mnt" 2>/dev/null; kill_daemon "$VOL"; }
ops() { "$WORK" ops mnt $((++seed)) "${1:-200}" >/dev/null; }
volume() { # of 48 MiB, with a journal that goes round all the time
	truncate -s 48M v.img && mkdir -p mnt &&
		"$MKRJFS" -q -F -t ext4 -b 4096 -N 1024 -J "remote=$B_URL,size=4${1:+,$1}" v.img
}
back() { rm -f r.img; timeout 300 "$RJBACKUP" restore --verify=none --base="$B_URL" -o r.img; }
base() { rm -f base.img; timeout 300 "$RJBACKUP" base --hold=1h -o base.img "$@"; }

# two that go on with one base: the slower one is refused, and leaves it as the other has made it
two_at_once() { # NAME
	local name=$1 slow number was
	(timeout 300 "$RJBACKUP" base --hold=1h --rate=2 -o "$B_URL" mnt >slow.out 2>&1 &
		echo $! >pid; wait $!; echo $? >slow.status) &
	slow=$!
	check "$name: a base is begun" wait_for 120 begun
	pkill -STOP -P "$(cat pid)"
	status 0 "$name: another rjbackup goes on with it" timeout 300 "$RJBACKUP" base --hold=1h -o "$B_URL" mnt
	number=$(sed -n 's/.*#\([0-9]*\): base of.*/\1/p' <<<"$OUT")
	was=$("$RJBACKUP" ls "$B_URL" | grep "  base $number: ")
	ops
	pkill -CONT -P "$(cat pid)"
	wait "$slow"
	is "$name: ... the first one is refused" "$(cat slow.status)" 8
	like "$name: ... and says what stays" "$(cat slow.out)" "; base $number, which another rjbackup has finished, stays$"
	is "$name: ... as it was" "$("$RJBACKUP" ls "$B_URL" | grep "  base $number: ")" "$was"
}
begun() { "$RJBACKUP" ls "$B_URL" | grep -q "not finished"; }

history_of() { # NAME [J-WORDS]
	local name=$1
	check "$name: a volume" volume "${2:-}" || return
	check "$name: mounted" rj_mount || return
	ops
	status 0 "$name: a base" base mnt
	ops; check "$name: marker a" mark a
	check "$name: ... is restored" restored "segment:$(cat a.segment)" a
	head -c $((20 << 20)) /dev/urandom >mnt/large
	status 0 "$name: a base at the store" timeout 300 "$RJBACKUP" base --hold=1h -o "$B_URL" mnt
	two_at_once "$name"
	ops; check "$name: marker b" mark b
	check "$name: ... is restored from the store" back
	check "$name: ... as it was" same_as r.img b
	check "$name: unmounted" rj_umount
	check "$name: ... the base goes on to there" restored latest b
	check "$name: mounted again" rj_mount
	ops; check "$name: marker c" mark c
	check "$name: ... is restored from the first base" restored "segment:$(cat c.segment)" c
	check "$name: ... by its time" restored "$(cat b.time)" b
	status 0 "$name: follow" timeout 300 "$RJBACKUP" follow --once --hold=1h --base=base.img
	check "$name: ... marker c is restored" restored "segment:$(cat c.segment)" c
	check "$name: unmounted again" rj_umount
	status 0 "$name: a base of the unmounted volume" base "$VOL"
	check "$name: ... is the volume" restored latest c
	check "$name: mounted again" rj_mount
	ops; check "$name: marker d" mark d
	check "$name: ... is restored from that base" restored "segment:$(cat d.segment)" d
	status 0 "$name: fold" timeout 300 "$RJBACKUP" fold --base=base.img
	check "$name: ... marker d is restored" restored "segment:$(cat d.segment)" d
	check "$name: unmounted" rj_umount
	check "$name: the log is sound" "$RJ_BUILD/rjlog/rjlog" verify "$B_URL"
	rm -f ./*.img
}
found=
for server in sftp rgw dav ftp imap; do
	[ -n "${RJ_LONG:-}" ] || [ $server = sftp ] || [ $server = rgw ] || continue
	. "$RJ_SRC/tests/backends/server-$server.sh" || exit 99
	what=$("${server}_missing" | tr '\n' ' ')
	if [ -n "$what" ]; then
		skip "$server" "not installed: $what"
		continue
	fi
	history_conf ""
	check "$server: starts" b_start $server || continue
	history_of $server ack=received
	found=1
done
[ -n "$found" ] || skip_all "none of these servers is installed"
exit 0
