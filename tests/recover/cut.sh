#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A whole recovery killed at its 1st, 2nd, 3rd, ... write, then run again: the
# volume is always the same as without the cut, for a journal inside the volume
# and one on a device. The kills are strace's, on entry to the system call.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
command -v strace >/dev/null || skip_all "needs strace"
export RJ_STATE=$T_DIR/state ASAN_OPTIONS=detect_leaks=0
cd "$T_DIR" || exit 99
bin=$RJ_BUILD/tests/jbd2
tool=$RJRECOVER
[ ! -x "$RJ_BUILD/rjrecover/.libs/rjrecover" ] || {
	tool=$RJ_BUILD/rjrecover/.libs/rjrecover # the wrapper's writes do not count
	export LD_LIBRARY_PATH=$RJ_BUILD/lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}
strace -o trace -e trace=none true 2>/dev/null || skip_all "no ptrace here"

calls=pwrite64,pwritev,pwritev2,io_uring_enter,fsync,fdatasync
# cut_at CALL N COMMAND...: killed when it enters its Nth CALL: strace counts each name by itself
cut_at() {
	local call=$1 n=$2; shift 2
	# in a subshell of its own, whose shell says "Killed" to nobody
	(strace -f -q -o trace -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" \
		"$@" >out 2>&1; exit $?) 2>/dev/null
}
# list COMMAND...: those of $calls that it makes in the file list, each with its number among those
# of that name
list() {
	strace -f -q -o trace -e "trace=$calls" "$@" >out 2>&1 || return 1
	sed -n 's/^[0-9]* *\([a-z0-9_]*\)(.*/\1/p' trace | awk '{print $1, ++n[$1]}' >list
}

# everywhere NAME JOURNAL-ARGUMENTS...: v.was and j.was are the crash state
everywhere() {
	local name=$1 call n rc cuts=0 bad=0; shift
	cp v.was v; cp j.was j
	check "$name: recovered without a cut" list "$tool" -q "$@" v
	cp v v.good; cp j j.good
	while read -r call n; do
		cp v.was v; cp j.was j
		cut_at "$call" "$n" "$tool" -q "$@" v
		rc=$?
		# io_uring takes several requests at once, or one: there is no such call this time
		((rc)) || { cmp v v.good && cmp j j.good && continue; }
		cuts=$((cuts + 1))
		((rc == 137)) || { note "cut at $call $n: status $rc" "$(<out)"; bad=$((bad + 1)); continue; }
		# a cut in the very last calls leaves a volume that says "clean"
		"$tool" -q "$@" v >out 2>&1 && cmp v v.good && cmp j j.good ||
			{ note "cut at $call $n" "$(<out)"; bad=$((bad + 1)); }
	done <list
	is "$name: each of $cuts cuts ends in the same volume" $bad 0
	check "$name: and there were enough of them" test $cuts -gt "$least"
}

truncate -s 24M v && mke2fs -q -F -t ext4 -b 4096 -O ^resize_inode,^metadata_csum -J size=4 v &&
	debugfs -w -R "feature needs_recovery" v >/dev/null 2>&1
debugfs -R "dump <8> j" v 2>/dev/null
dd if=v bs=4096 skip=5900 count=60 status=none >before
check "a log" "$bin/make-log" 5 j 5900 60 before expect less
debugfs -R "stat <8>" v 2>/dev/null | sed '1,/^EXTENTS:/d' | tr -d ' ' | tr , '\n' |
	sed -n 's/^(\([0-9]*\)-\([0-9]*\)):\([0-9]*\)-.*/\1 \3 \2/p' |
	while read -r log at last; do
		dd if=j of=v bs=4096 skip="$log" seek="$at" count=$((last - log + 1)) \
			conv=notrunc status=none
	done
cp v v.was; : >j.was
least=8
everywhere "internal"
check "internal: and that is right" eval 'dd if=v.good bs=4096 skip=5900 count=60 status=none | cmp - expect'

# a device, made without one: a journal of the right UUID and user
dev() {
	truncate -s 24M v && truncate -s 6000k j &&
		mke2fs -q -F -O journal_dev -b 4096 j && loop_over j &&
		mke2fs -q -F -t ext4 -b 4096 -O ^resize_inode -J "device=$DEV" v && sync "$DEV" && losetup -d "$DEV" &&
		debugfs -w -R "feature needs_recovery" v
}
if [ "$(id -u)" = 0 ] && [ -c /dev/loop-control ] && [ -z "${RJ_TEST_SKIP_SYSTEM:-}" ]; then
	rm -f v j
	check "a journal device" dev
	check "a log on it" "$bin/make-log" 6 j 5900 60 before expect less
	cp v v.was; cp j j.was
	everywhere "device" -J device=j
	check "device: and that is right" eval 'dd if=v.good bs=4096 skip=5900 count=60 status=none | cmp - expect'
else
	skip "device" "needs root and loop devices"
fi
exit 0
