#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjbackup mount: a moment is mounted read-only without a copy of the base, which stays as it
# is; umount ends all of it, also after kill -9 of either process.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"
at_exit umount -l "$T_DIR/then"
at_exit umount -l "$T_DIR/small"
history_conf ""
mkdir scratch then
BASE=$T_DIR/base.img
mount_at() { timeout 120 "$RJBACKUP" mount --scratch=scratch --at="$1" --base="$BASE" "${@:2}"; }
# the processes of mounts of this test
servers() { pgrep -f "rjbackup mount .*--base=$BASE"; }
none() { ! servers; }
cleared() { [ ! -e "/sys/block/${1#/dev/}/loop/backing_file" ]; }
# ended NAME DEVICE: nothing is left but the base
ended() {
	check "$1: the process ends" wait_for 60 none
	check "$1: the loop device is cleared" wait_for 60 cleared "$2"
	is "$1: no file" "$(ls scratch)" ""
	check "$1: the base is as it was" cmp base.img good.img
}
same_as_then() { "$WORK" manifest then >then.manifest && cmp "$1.manifest" then.manifest; }

for kind in "ext4 4096" "ext3 1024"; do
	rm -rf v.img base.img
	words=
	if [ "$kind" = "ext3 1024" ]; then
		for key in this other; do "$RJ_BUILD/rjtune/rjtune" --genkey "$T_DIR/$key.key"; done
		words=,key=$T_DIR/this.key
		history_conf "keyfile = $T_DIR/this.key"
	fi
	check "$kind$words: a volume" history_volume $kind journal "$words"
	"$WORK" ops mnt 1 300 >/dev/null
	status 0 "$kind: a base" "$RJBACKUP" base -o "$BASE" mnt
	cp --sparse=always base.img good.img
	"$WORK" ops mnt 2 300 >/dev/null
	mkdir mnt/project && cp -r "$RJ_SRC/lib/history" mnt/project/
	# deleted while open: the end of a restore writes to the volume
	exec 9>mnt/held && echo held >&9 && sync -f mnt && rm mnt/held
	check "$kind: the moment" mark before
	cp -a mnt/project project.expected
	rm -r mnt/project && "$WORK" ops mnt 3 300 >/dev/null && sync -f mnt

	status 0 "$kind: it is mounted" mount_at "$(cat before.time)" then
	like "... and told" "$OUT" "^then: mounted as of 2.*, segment [0-9]+, [0-9]+ transactions"
	dev=$(findmnt -no SOURCE then)
	check "$kind: each file is as it was" same_as_then before
	check "... so is the restored volume" restored "$(cat before.time)" before
	status 0 "$kind: a drill mounts it as ext4" timeout 120 "$RJBACKUP" drill --scratch=scratch \
		--at="$(cat before.time)" --exec='findmnt -n -t ext4 "$1"' --base="$BASE"
	cp -a then/project mnt/
	check "$kind: the folder is back" diff -r --no-dereference project.expected mnt/project
	OUT=$(touch then/new 2>&1)
	like "$kind: a write is refused" "$OUT" "Read-only file system"
	check "... and no remount" not mount -i -o remount,rw then
	check "$kind: one process serves it" test "$(servers | wc -l)" = 1
	is "$kind: no file has a name" "$(ls scratch)" ""
	check "$kind: the base is locked, for readers and against writers" flock -n -s base.img true
	check "... as long as it is mounted" not flock -n -x base.img true
	check "$kind: unmounted" umount then
	ended "$kind" "$dev"
	exec 9>&-
	rm -rf project.expected
	[ "$kind" = "ext3 1024" ] || check "$kind: the volume is unmounted" history_umount
done

# ---- kill -9 ----
status 0 "mounted by segment, and from a URL, with the whole check" mount_at \
	"segment:$(cat before.segment)" --verify=full \
	"$(grep -ao "rj://127.0.0.1:$SRV_PORT/[a-zA-Z0-9-]*" v.img | head -n 1)" then
dev=$(findmnt -no SOURCE then)
check "each file is as it was" same_as_then before
kill -9 "$(servers)"
check "the process is killed: umount is enough" umount then
ended "killed" "$dev"
tries=0 early=0
for ms in 010 030 060 100 150 250 400; do
	"$RJBACKUP" mount --scratch=scratch --at="$(cat before.time)" --base="$BASE" then \
		>/dev/null 2>&1 &
	pid=$!
	sleep "0.$ms"
	tries=$((tries + 1))
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	if mountpoint -q then; then umount then; else early=$((early + 1)); fi
	wait_for 60 none || break
done
check "rjbackup is killed $tries times, $early of them before the mount: no process is left" none
check "... and at least once before it" test "$early" -ge 1
ended "killed early" "$dev"

# ---- what is refused ----
# refused NAME STATUS TEXT WORDS...: in one line
refused() {
	local name=$1 want=$2 text=$3; shift 3
	status "$want" "$name: refused" mount_at "$@"
	like "$name: why" "$OUT" "^rjbackup: .*$text"
	is "$name: nothing is mounted" "$(findmnt -no SOURCE then)" ""
	check "$name: no process" wait_for 60 none
}
refused "the future" 1 "the last commit in the log is of 2" "@$(($(date +%s) + 3600))" then
refused "before the base" 1 "whole at segment" @1000000000 then
refused "not a moment" 16 "is not a moment" tomorrow then
refused "no DIR" 16 "no DIR given" latest
refused "a DIR that is not there" 8 "nowhere: cannot mount there: No such file" latest nowhere
refused "a DIR that is a file" 8 "good.img: cannot mount there: Not a directory" latest good.img
refused "where the volume is mounted" 8 "mnt: /dev/loop.* is mounted there" latest mnt
flock -x base.img sleep 60 &
locker=$!
check "a base that is being changed" wait_for 60 not flock -n -s base.img true
refused "its mount" 8 "base.img: another rjbackup is changing this base" latest then
status 8 "... and its restore" "$RJBACKUP" restore --base=base.img -o r.img
like "... is refused" "$OUT" "^rjbackup: base.img: another rjbackup is changing this base"
pkill -P "$locker"; kill_pid "$locker"
refused "-o" 16 "mount takes no -o" latest -o r.img then
refused "another key" 32 "key" latest --key other.key then
status 0 "the key by --key" env RJ_CONF=/dev/null timeout 120 "$RJBACKUP" mount --scratch=scratch \
	--at="$(cat before.time)" --key this.key --base="$BASE" then
check "... each file is as it was" same_as_then before
check "... unmounted" umount then
mkdir small && mount -t tmpfs -o size=64k none small
refused "a full scratch disk" 8 "the scratch file: cannot write .*: No space left on device$" latest --scratch=small then
check "... nothing is left there" umount small
check "the volume is unmounted" history_umount
exit 0
