#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjbackup base and restore killed at their 1st, 2nd, 3rd, ... write: what is left is
# nothing, or a file that no tool takes for a base or a volume, or the whole of it; the
# command run again says what to do. The kills are strace's, on entry to the system call.
# RJ_LONG: each of them; else six, and the last ones.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh" || exit 99
. "$RJ_SRC/tests/history/run.sh" || exit 99
need_fuse_loop
command -v strace >/dev/null || skip_all "needs strace"
cd "$T_DIR" && mkdir look || exit 99
strace -o trace -e trace=none true 2>/dev/null || skip_all "no ptrace here"
export ASAN_OPTIONS=detect_leaks=0
no_wrapper
RJTUNE=$RJ_BUILD/rjtune/rjtune
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"
calls=pwrite64,pwritev,pwritev2,io_uring_enter,fsync,fdatasync,ftruncate,sendmsg
# untaken FILE: no tool takes it, and none changes it
untaken() {
	local rc=0
	cp --sparse=always "$1" untaken.img || return 1
	not "$RJRECOVER" -p "$1" || rc=1
	not e2fsck -fy "$1" || rc=1
	not mount -i -t ext4 -o loop "$1" look || { umount look; rc=1; }
	not "$RJOURNALD" -q "$1" || rc=1
	not "$RJBACKUP" restore -n --base="$1" -o none.img || rc=1
	cmp "$1" untaken.img || rc=1
	return $rc
}
stopped="; rjbackup was stopped while it made that: remove it"
not_begun() { [ ! -s cut.img ] || cmp -s -n 2048 cut.img /dev/zero; }
# left_base: after a cut: nothing, something that is not taken, or a base
left_base() {
	[ -e cut.img ] || { nothing=$((nothing + 1)); return 0; }
	if "$RJBACKUP" ls cut.img >out 2>&1; then
		all=$((all + 1))
		ln -f cut.img base.img && restored latest m
		return
	fi
	if not_begun; then
		empty=$((empty + 1)) # not even begun
	else
		half=$((half + 1))
		grep -q "was stopped while it made this file: remove it" out || return 1
		OUT=$(make_base 2>&1)
		[ $? = 8 ] && grep -q "cut.img: cannot make: File exists$stopped\$" <<<"$OUT" || return 1
	fi
	untaken cut.img
}
# left_volume: after a cut: nothing, something that is not taken, or the volume
left_volume() {
	local rc
	[ -e cut.img ] || { nothing=$((nothing + 1)); return 0; }
	not "$RJBACKUP" ls cut.img >out 2>&1 || return 1
	OUT=$(restore_it 2>&1)
	[ $? = 8 ] || return 1
	if grep -q "this is a volume" out && ! mount -i -t ext4 -o loop cut.img look; then
		last=$((last + 1))
		grep -q "cut.img: cannot make: File exists$stopped\$" <<<"$OUT" || return 1
		last_step
	elif grep -q "cut.img: cannot make: File exists$stopped\$" <<<"$OUT"; then
		half=$((half + 1))
		untaken cut.img
	elif not_begun; then
		empty=$((empty + 1))
		untaken cut.img
	else
		all=$((all + 1))
		! mountpoint -q look || umount look
		same_as cut.img m
	fi
}
# last_step: its journal, which is nowhere, is being taken away. Everything else is there:
# the end of that move, and rjtune -f, make it the volume.
last_step() {
	"$RJTUNE" --resume cut.img >out 2>&1
	"$RJTUNE" -f -y -J size=1 cut.img >>out 2>&1
	same_as cut.img m || { cat out; return 1; }
}
make_base() { timeout 120 "$RJBACKUP" base --hold=1h -o cut.img mnt; }
restore_it() { timeout 120 "$RJBACKUP" restore --base=good.img -o cut.img; }
# everywhere NAME LEFT COMMAND...: a cut at each write, or at some
everywhere() {
	local name=$1 left=$2 at=0 call n total rc bad=0 cuts=0; shift 2
	nothing=0 empty=0 half=0 last=0 all=0
	check "$name: without a cut" list "$@"
	total=$(wc -l <list)
	rm -f cut.img
	check "$name: writes" test "$total" -gt 16
	while read -r call n; do
		at=$((at + 1))
		[ -n "${RJ_LONG:-}" ] || ((at % (total / 6) == 1 || at > total - 10)) || continue
		rm -f cut.img
		cut_at "$call" "$n" "$@"
		rc=$?
		((rc)) || continue # other threads took a few of its requests: there is no such call
		cuts=$((cuts + 1))
		((rc == 137)) && "$left" >left.out 2>&1 ||
			{ note "cut $at of $total, $call: status $rc" "$(<out)" "$(<left.out)" "$OUT"; bad=$((bad + 1)); }
	done <list
	is "$name: each of $cuts cuts left nothing, something that is not taken, or the whole" $bad 0
	note "$name, $total writes: nothing $nothing, not begun $empty, unfinished $half, the last step $last, whole $all"
	check "$name: some were unfinished" test $half -gt 2
	rm -f cut.img
}

history_conf ""
# backup superblocks, that e2fsck finds when the first is not there
# ext3 logs its superblock with each file that is deleted while open
check "a volume" history_volume ext3 1024 journal ""
check "in use" "$WORK" ops mnt 1 200
status 0 "a base" "$RJBACKUP" base -o good.img mnt
"$WORK" ops mnt 2 200 >/dev/null
# deleted while open: the end of a restore writes to the volume
exec 9>mnt/held && echo held >&9 && sync -f mnt && rm mnt/held
check "a marker" mark m
everywhere "base" left_base "$RJBACKUP" base --hold=1h -o cut.img mnt
status 0 "base, after that" make_base
ln -f cut.img base.img
check "base: which is good" restored latest m
rm -f cut.img
everywhere "restore" left_volume "$RJBACKUP" restore --base=good.img -o cut.img
status 0 "restore, after that" restore_it
check "restore: which is right" same_as cut.img m
exec 9>&-
check "unmounted" history_umount
exit 0
