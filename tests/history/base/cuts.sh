# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced after run.sh: a command killed at its 1st, 2nd, 3rd, ... write, and what that may leave.
# The kills are strace's, on entry to the system call. RJ_LONG: each of them; else six, and the
# last ones. FROM is what a base is made of, BASE what is restored.
command -v strace >/dev/null || skip_all "needs strace"
mkdir look || exit 99
strace -o trace -e trace=none true 2>/dev/null || skip_all "no ptrace here"
no_wrapper
RJTUNE=$RJ_BUILD/rjtune/rjtune
FROM=mnt BASE=good.img
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
# the end of that move, and rjtune --accept-loss, make it the volume.
last_step() {
	"$RJTUNE" --resume cut.img >out 2>&1
	"$RJTUNE" --accept-loss -y -J size=1 cut.img >>out 2>&1
	same_as cut.img m || { cat out; return 1; }
}
make_base() { timeout 120 "$RJBACKUP" base --hold=1h -o cut.img "$FROM"; }
restore_it() { timeout 120 "$RJBACKUP" restore --base="$BASE" -o cut.img; }
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
		"${BEFORE:-true}" >before.out 2>&1 || { note "cut $at: $(<before.out)"; bad=$((bad + 1)); }
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
