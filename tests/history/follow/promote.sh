#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The disk is lost: a base and the log are promoted to the volume itself, on another host. Every
# fsync that the kernel has acknowledged is there, the old writer is fenced, the new volume is
# written to. Cut at each write a base is left, or a volume that needs recovery.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
for dir in mnt new look; do at_exit umount -l "$T_DIR/$dir"; done
kill_daemons_at_end "$T_DIR/base.img" "$T_DIR/v.img"
seed=${RJ_SEED:-$((RANDOM * 32768 + RANDOM))}
note "RJ_SEED=$seed"
HISTORY=$RJ_BUILD/tests/live/history RJCTL=$RJ_BUILD/rjctl/rjctl
mkdir new look
# other_host COMMAND...: what runs on the old one is not seen there
other_host() { RJ_RUN=$T_DIR/run2 "$@"; }
promote() { other_host timeout 120 "$RJBACKUP" promote "$@"; }
# writes: in the background, below mnt; each acknowledged operation is noted in record
writes() {
	rm -f record
	"$HISTORY" write mnt record "$seed" 3 5 200 >record.said 2>&1 &
	WRITER=$!
	kill_at_end $WRITER
}
acked() { "$HISTORY" count record; }
goes_on() { local from; from=$(acked); wait_for 60 eval "[ \$(acked) -ge $((from + $1)) ]"; }
# ended PID: all of its threads; a zombie may have others, which keep its files open
ended() { gone "$1" && [ "$(ls "/proc/$1/task" 2>/dev/null | wc -l)" -le 1 ]; }
# disk_lost: the host stops under load; the writer gets its death before the journal does
disk_lost() {
	local worker; worker=$(worker_pid "$T_DIR/v.img")
	freeze_daemon "$DPID" || return 1
	kill -KILL "$WRITER"
	kill_pid "$DPID"
	umount -l mnt
	wait_for 60 gone "$WRITER" && wait_for 60 ended "$worker" && rm v.img
}
# all_there VOLUME: it is sound, and has every operation of the record
all_there() {
	local rc
	other_host served_fsck "$T_DIR/$1" -fn >fsck.out 2>&1 || { cat fsck.out; return 1; }
	mount -i -t ext4 -o ro,noload,loop "$1" look || return 1
	"$HISTORY" check look record "$seed"
	rc=$?
	umount look
	return $rc
}
# used: the promoted volume is mounted as any other one, and takes more
used() {
	other_host "$MOUNT_RJ" "$T_DIR/base.img" new -o data=journal &&
		"$HISTORY" check new record "$seed" && fsynced new 20 sums && other_host "$UMOUNT_RJ" new
}

kinds "$seed" "ext4 4096" "ext3 1024"
for kind in "${KINDS[@]}"; do
	rm -f ./*.img
	history_conf ""
	check "$kind: a volume" history_volume $kind journal ""
	writes
	check "$kind: under load" goes_on 50
	status 0 "$kind: a base" "$RJBACKUP" base -o base.img mnt
	check "$kind: more" goes_on 50
	status 0 "$kind: promote -n" promote -n base.img
	like "$kind: ... says to what" "$OUT" "^base.img: would be the volume as of 2.*, segment [0-9]+, or later$"
	OUT=$(timeout 120 "$RJBACKUP" promote base.img 2>&1); rc=$?
	is "$kind: where the volume is served" $rc 8
	like "$kind: ... it is refused" "$OUT" "an rjournald of this host serves the volume.*rjctl stop --force $T_DIR/v.img,"
	check "$kind: and nothing happens to the writer" goes_on 50
	check "$kind: the disk is lost, and its host" disk_lost
	count=$(acked)
	began=$(date +%s%N)
	status 0 "$kind: promoted" promote base.img
	like "$kind: ... it says to what" "$OUT" "base.img: is the volume now, as of 2.*its log goes on in epoch [0-9]+"
	note "$count operations were acknowledged; promoted in $((($(date +%s%N) - began) / 1000000)) ms"
	check "$kind: each acknowledged operation is there" all_there base.img
	check "$kind: the volume is used" used
	check "$kind: ... and is sound" other_host served_fsck "$T_DIR/base.img" -fn
	status 16 "$kind: it is no base any more" promote base.img
done

# ---- the old writer lives ----
rm -f ./*.img
check "a volume" history_volume ext4 4096 journal ""
writes
status 0 "a base" "$RJBACKUP" base -o base.img mnt
"$RJBACKUP" follow -q --base=base.img >follow.out 2>&1 &
follower=$!
kill_at_end $follower
check "a standby is made of it" wait_for 60 grep -q ' whole as of' follow.out
whole() { "$RJBACKUP" ls --json base.img | jq .earliest.segment; }
first=$(whole)
check "it is followed, under load" goes_on 100
later() { [ "$(whole)" -gt "$first" ]; }
check "... to a later commit" wait_for 60 later
is "... and -q tells the first one" "$(grep -c ' whole as of' follow.out)" 1
status 0 "promoted, while the old host writes" promote base.img
check "its writer is told" wait_for 60 gone "$WRITER"
mode() { "$RJCTL" status --json v.img | grep -q '"mode":"\(fenced\|failed\)"'; }
check "its rjournald is fenced" wait_for 60 mode
check "and acknowledges nothing" not dd if=/dev/zero of=mnt/late bs=4k count=1 conv=fsync status=none
check "the follower ends" wait_for 60 gone $follower
wait $follower
check "... with an error" test $? -gt 0
check "each acknowledged operation is there" all_there base.img
check "the volume is used" used
umount -l mnt; kill_pid "$DPID"
check "the old disk is an older copy" not "$RJRECOVER" -p v.img

# ---- a standby that follows a copy of the log ----
rm -f ./*.img; mkdir copy
check "a volume" history_volume ext4 4096 journal ""
AT=$(grep -ao "rj://127.0.0.1:$SRV_PORT/[a-zA-Z0-9-]*" v.img | head -n 1)
writes
status 0 "a base" "$RJBACKUP" base -o base.img mnt
check "more" goes_on 50
status 0 "the log is copied" "$RJ_BUILD/rjlog/rjlog" copy "$AT" "file://$T_DIR/copy"
status 0 "the base follows the copy" timeout 120 "$RJBACKUP" follow --once --base=base.img "file://$T_DIR/copy"
check "more, which the copy lacks" goes_on 50
sum=$(sha256sum <base.img)
status 16 "it is not promoted with the copy" promote base.img "file://$T_DIR/copy"
like "... which is told" "$OUT" "promote takes no URL "
is "... and nothing is changed" "$(sha256sum <base.img)" "$sum"
status 0 "promoted with the log, while the old host writes" promote base.img
check "its writer is told" wait_for 60 gone "$WRITER"
check "each acknowledged operation is there" all_there base.img
check "the volume is used" used
umount -l mnt; kill_pid "$DPID"

# ---- a volume that was unmounted ----
rm -f ./*.img
check "a volume" history_volume ext4 4096 journal ""
status 0 "a base" "$RJBACKUP" base -o base.img mnt
writes; goes_on 30; kill -TERM $WRITER; wait $WRITER
check "unmounted" history_umount
cp --sparse=always base.img early.img
cp --sparse=always v.img c.img
status 0 "promoted" promote base.img
check "each acknowledged operation is there" all_there base.img
check "the volume is used" used
sum=$(sha256sum <early.img)
status 1 "another copy of the base is not the volume any more" promote early.img
is "... and nothing is changed in it" "$(sha256sum <early.img)" "$sum"
like "... it says" "$OUT" "early.img: is not what the volume is now: its history ends with segment"
check "... it is a base still" "$RJBACKUP" ls early.img

# forget_daemons: those that served an earlier v.img are not taken for that of the next one
forget_daemons() {
	local pid
	for pid in $(pgrep -f "rjournald .*$T_DIR/v.img\$"); do kill_pid "$pid"; done
	wait_for 60 not pgrep -f "rjournald .*$T_DIR/v.img\$" >/dev/null
}

# ---- a volume with a mark ----
# marked_volume: large enough for a backup superblock
marked_volume() {
	forget_daemons && rm -f ./*.img
	truncate -s 160M v.img &&
		"$MKRJFS" -q -F -t ext4 -b 4096 -J "remote=$SRV_URL/marked,size=4" v.img &&
		history_mount journal
}
# mark_of FILE: the segment in the mark of its first backup superblock
mark_of() { od -An -tu8 -j $((32768 * 4096 + 0x2DC + 8)) -N 8 "$1" | tr -d ' '; }
raised() { [ "$(mark_of v.img)" -gt "$1" ]; }
check "a volume with a mark" marked_volume
writes
check "... which is raised" wait_for 60 raised 1
status 0 "a base" "$RJBACKUP" base -o base.img mnt
old=$(mark_of base.img)
check "... and raised again, and again" wait_for 60 raised "$old"
check "... far beyond that of the base" wait_for 60 raised "$(mark_of v.img)"
check "the disk is lost" disk_lost
status 0 "promoted" promote --json base.img
fence=$(tr -d ' ' <<<"$OUT" | sed -n 's/^"fence":\([0-9]*\),$/\1/p')
check "... the mark is that of the fence" test "$(mark_of base.img)" -ge "$fence"
check "each acknowledged operation is there" all_there base.img
check "the volume is used" used

# ---- a fallback file ----
# fallback_volume [COMMAND]: its store is lost under load, and comes back when the host has
# stopped; COMMAND comes before the base
fallback_volume() {
	forget_daemons && rm -rf ./*.img fb && mkdir fb &&
		history_volume ext4 4096 journal ",fallback=$T_DIR/fb/v,on_loss=local" && ${1:-true} &&
		"$RJBACKUP" base -o base.img mnt && { writes; goes_on 30; } && kill_pid "$SRV_PID" &&
		goes_on 100 && disk_lost && start_server "$T_DIR/srv" "$SRV_PORT"
}
history_conf "loss_timeout = 1"
check "a volume with a fallback file, whose store is lost" fallback_volume
status 0 "promoted where the file is" promote base.img
check "each acknowledged operation is there" all_there base.img
check "the volume is used" used
check "again" fallback_volume
mv fb/v elsewhere
# refused WHY: what the file may hold is given up by the word alone; -n says the same
refused() {
	local before
	before=$(sha256sum <base.img)
	status 1 "$1: refused" promote base.img
	like "$1: with the way without loss first" "$OUT" \
		"the fallback file .*/fb/v of the old host is not here \(.*$2.*\), and may hold segments that were acknowledged after segment [0-9]+, .*: copy that file to this host, .*; rjbackup promote --accept-loss gives up"
	status 1 "$1: refused by -n, too" promote -n base.img
	is "$1: the base is as it was" "$(sha256sum <base.img)" "$before"
}
refused "without the file" "no fallback file is there"
mv elsewhere fb/v
check "where the file was copied to, nothing is lost" promote base.img
check "each acknowledged operation is there" all_there base.img
check "again" fallback_volume
mv fb/v elsewhere
status 0 "given up" promote --accept-loss base.img
like "... which is said" "$OUT" "given up \(--accept-loss\): what the fallback file .*/fb/v of the old host holds after segment"
check "the volume is sound" other_host served_fsck "$T_DIR/base.img" -fn
check "... and has no fallback file" not grep -q fallback <("$RJ_BUILD/rjtune/rjtune" -l base.img)
# as of a host that served the volume in the mount before
older_file() { cp --sparse=always fb/v older && history_umount && history_mount journal; }
check "again" fallback_volume older_file
mv fb/v elsewhere && mv older fb/v
refused "with an older file" "of this host is of epoch [0-9]+, the last mount was in epoch [0-9]+"
status 0 "given up" promote --accept-loss base.img
check "the volume is sound" other_host served_fsck "$T_DIR/base.img" -fn
check "... and has no fallback file" not grep -q fallback <("$RJ_BUILD/rjtune/rjtune" -l base.img)

# an unmount that the log has: the file of the old host held nothing then
check "again" eval 'forget_daemons && rm -rf ./*.img fb && mkdir fb &&
	history_volume ext4 4096 journal ",fallback=$T_DIR/fb/v,on_loss=local" && history_umount &&
	rj_mount && "$RJBACKUP" base -o base.img mnt'
writes; goes_on 30; kill -TERM $WRITER; wait $WRITER
check "unmounted in order" rj_umount
mv fb/v elsewhere
status 0 "promoted without the file of the old host" promote base.img
check "each acknowledged operation is there" all_there base.img

# ---- cut at each write ----
if ! strace -o trace -e trace=none true 2>/dev/null; then
	skip "cuts" "no strace, or no ptrace here"
	exit 0
fi
no_wrapper
calls=write,pwrite64,pwritev,pwritev2,io_uring_enter,fsync,fdatasync
calls+=,link,linkat,rename,renameat,renameat2
rm -f ./*.img
mkdir store; SRV_URL=file://$T_DIR/store
history_conf ""
check "a volume with its log in a directory" history_volume ext4 4096 journal ""
status 0 "a base" "$RJBACKUP" base -o base.img mnt
writes; check "under load" goes_on 60
status 0 "followed" "$RJBACKUP" follow --once --base=base.img
check "more" goes_on 20
check "the disk is lost" disk_lost
cp --sparse=always base.img was.img; cp -a store store.was
as_before() { rm -rf store; cp -a store.was store; cp --sparse=always was.img base.img; }
# go_on: whatever a cut left
go_on() {
	if "$RJBACKUP" ls base.img >/dev/null 2>&1; then
		bases=$((bases + 1))
		promote base.img
	else
		volumes=$((volumes + 1))
		"$RJRECOVER" -p base.img; [ $? -le 1 ]
	fi
}
as_before
check "its writes" other_host list "$RJBACKUP" promote base.img
total=$(wc -l <list)
bad=0 bases=0 volumes=0 at=0
while read -r call n; do
	at=$((at + 1))
	[ -n "${RJ_LONG:-}" ] || ((at % 3 == 1 || at > total - 60)) || continue
	as_before
	other_host cut_at "$call" "$n" "$RJBACKUP" promote base.img
	rc=$?
	((rc)) || continue # other threads took a few of its requests: there is no such call
	((rc == 137)) || { note "cut $at, $call: status $rc" "$(<out)"; bad=$((bad + 1)); continue; }
	go_on >out 2>&1 && all_there base.img >>out 2>&1 ||
		{ note "cut $at of $total, $call" "$(<out)"; bad=$((bad + 1)); }
done <list
is "each of $((bases + volumes)) cuts leaves a base ($bases) or a volume ($volumes), and all is there then" $bad 0
check "... and there were enough of both" test "$bases" -gt 10 -a "$volumes" -gt 10
exit 0
