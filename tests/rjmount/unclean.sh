#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# "Needs no recovery" is not "clean". A volume that was written to without its journal, and not
# unmounted, and one in whose empty journal the kernel noted an error, are checked whole, as by
# e2fsck and the kernel, before they are used or their journal is moved.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
img=$T_DIR/v.img mnt=$T_DIR/mnt crashed=$T_DIR/crashed.img RJTUNE=$RJ_BUILD/rjtune/rjtune
mkdir -p "$mnt" "$T_DIR/store/v" "$T_DIR/store/e"
at_exit umount -l "$mnt"
kill_daemons_at_end "$img" "$crashed"
mountrj() { $LIMIT "$MOUNT_RJ" "$@"; }
feature() { dumpe2fs -h "$1" 2>/dev/null | grep "^Filesystem features" | grep -q needs_recovery; }
state() { dumpe2fs -h "$1" 2>/dev/null | sed -n 's/^Filesystem state: *//p'; }
ln -s "$(realpath "$RJRECOVER")" "$T_DIR/fsck.rj"
check "a volume" volume "$img" ext4 4096 "file://$T_DIR/store/v"

# ---- noload ----
status 32 "noload alone is refused" mountrj "$img" "$mnt" -o noload
like "noload alone: the way on" "$OUT" "noload without ro .*; give -o ro,noload$"
status 32 "noload and rw" mountrj "$img" "$mnt" -o ro,noload,rw
check "noload and ro" mountrj "$img" "$mnt" -o noload,ro
umount "$mnt"
# another program, here mount(8) itself, writes without the journal, and the machine stops
check "used without its journal" mount -i -t ext4 -o loop,noload "$img" "$mnt"
(for i in {1..40}; do mkdir "$mnt/d$i" && cp /etc/passwd "$mnt/d$i/f" && rm -rf "$mnt/d$((i - 1))"; done) 2>/dev/null
sync -f "$mnt"
(for i in {1..40}; do mkdir "$mnt/e$i" && cp /etc/passwd "$mnt/e$i/f" && rm -rf "$mnt/e$((i - 1))"; done) 2>/dev/null &
busy=$!
cp --sparse=always "$img" "$crashed"
wait $busy
umount "$mnt"
check "it does not say that it needs recovery" not feature "$crashed"
is "but it is not clean" "$(state "$crashed")" "not clean"
cp --sparse=always "$crashed" "$T_DIR/was.img"
again() { cp --sparse=always "$T_DIR/was.img" "$crashed"; }
# sound NAME COMMAND...: the whole volume is checked by it, and e2fsck finds nothing then
sound() {
	local name=$1 rc; shift
	again
	OUT=$($LIMIT "$@" "$crashed" 2>&1)
	rc=$?
	like "$name: checks the whole volume" "$OUT" "written to without its journal.*checking the whole volume with e2fsck"
	if [ $rc = 4 ]; then # what e2fsck -p leaves
		status 1 "$name: -y repairs the rest" $LIMIT "$RJRECOVER" -y "$crashed"
	else
		check "$name: status $rc is success" test $rc -le 1
	fi
	is "$name: clean then" "$(state "$crashed")" clean
	check "$name: sound then" served_fsck "$crashed" -fn
}
sound "rjrecover -p" "$RJRECOVER" -p
sound "rjrecover" "$RJRECOVER"
sound "fsck.rj -a" "$T_DIR/fsck.rj" -a
again
status 0 "rjrecover -n changes nothing" $LIMIT "$RJRECOVER" -n "$crashed"
like "rjrecover -n: says what the run does" "$OUT" "written to without its journal.*e2fsck is to check the whole volume"
check "rjrecover -n: the volume is as it was" cmp "$T_DIR/was.img" "$crashed"
status 4 "rjtune -J is refused" "$RJTUNE" -J size=4 "$crashed"
OUT=$(mountrj "$crashed" "$mnt" 2>&1)
rc=$?
like "mount.rj checks the whole volume" "$OUT" "checking the whole volume with e2fsck"
if [ $rc = 0 ]; then
	check "mount.rj: every file can be read" eval 'find "$mnt" -type f -exec cat {} + >/dev/null'
	umount "$mnt"
	wait_for 60 nothing_left "$crashed" || exit 99
	check "mount.rj: sound after the unmount" served_fsck "$crashed" -fn
else
	status 4 "mount.rj refuses what e2fsck -p does not mend" $LIMIT "$RJRECOVER" -p "$crashed"
fi

# ---- an error that the kernel noted in the journal ----
# noted IMAGE: s_errno of an internal journal is -5, as after an abort
noted() {
	local at
	at=$(($(debugfs -R "bmap <8> 0" "$1" 2>/dev/null) * 1024))
	[ "$(od -An -tx1 -j $at -N 4 "$1" | tr -d ' ')" = c03b3998 ] || return 1
	printf '\xff\xff\xff\xfb' | dd of="$1" bs=1 seek=$((at + 32)) conv=notrunc status=none
}
error_of() {
	od -An -tx1 -j $(($(debugfs -R "bmap <8> 0" "$1" 2>/dev/null) * 1024 + 32)) -N 4 "$1" | tr -d ' '
}
truncate -s 64M "$T_DIR/e.img"
mke2fs -q -F -t ext4 -b 1024 -O ^metadata_csum,^64bit "$T_DIR/e.img" >/dev/null
check "an error is noted in an empty journal" noted "$T_DIR/e.img"
cp --sparse=always "$T_DIR/e.img" "$T_DIR/f.img"
status 4 "rjtune -J would drop it" "$RJTUNE" -J "remote=file://$T_DIR/store/e" "$T_DIR/e.img"
like "rjtune: says what, and the way on" "$OUT" "noted an error of the volume in its journal, which a move would drop; run rjrecover, or give -y"
check "rjtune: the volume is as it was" cmp "$T_DIR/e.img" "$T_DIR/f.img"
OUT=$($LIMIT "$RJRECOVER" -p "$T_DIR/e.img" 2>&1)
check "rjrecover -p: is success" test $? -le 1
like "rjrecover -p checks the whole volume" "$OUT" "checking the whole volume with e2fsck -p"
is "rjrecover -p: the note is gone" "$(error_of "$T_DIR/e.img")" 00000000
is "rjrecover -p: clean then" "$(state "$T_DIR/e.img")" clean
status 0 "rjtune -y has it checked first" "$RJTUNE" -y -J "remote=file://$T_DIR/store/e" "$T_DIR/f.img"
is "rjtune -y: clean then" "$(state "$T_DIR/f.img")" clean
exit 0
