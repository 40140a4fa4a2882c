#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A host that was taken for dead commits after rjrecover has read the log, and before its
# fence is there: that was acknowledged, and so is recovered. The volume itself is held then; what
# changed it before makes rjrecover stop.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
strace -o "$T_DIR/trace" -e trace=none true 2>/dev/null || skip_all "no strace"
mnt=$T_DIR/mnt img=$T_DIR/v.img copy=$T_DIR/copy.img FSTYPE=ext4
export ASAN_OPTIONS=detect_leaks=0
mkdir "$T_DIR/store"
volume "$img" ext4 4096 "file://$T_DIR/store" || exit 99
serve "$img" && mount_served "$img" "$mnt" data=journal || exit 99
check "a file" put_file "$mnt/before"
cp --sparse=always "$img" "$copy"

cp --sparse=always "$img" "$T_DIR/changed.img"
status 3 "something changes the volume while its log is read" "$RJ_BUILD/tests/recover/changed" "$T_DIR/changed.img"
like "that is said" "$OUT" "changed since it was read: run rjrecover again; nothing was changed"
check "the other host is not fenced for it" put_file "$mnt/still"
for how in -p -y; do
	cp --sparse=always "$copy" "$T_DIR/denied.img"
	status 12 "the next epoch cannot be claimed: $how" strace -f -q -o "$T_DIR/denied" \
		-e trace=linkat -e inject=linkat:error=EACCES "$RJRECOVER" $how "$T_DIR/denied.img"
	like "... that is said" "$OUT" "Permission denied; run rjrecover again"
	check "... the volume was not changed" cmp "$copy" "$T_DIR/denied.img"
done

loop_over "$copy" || exit 99
# the link that claims the next epoch waits
strace -f -q -o "$T_DIR/trace" -e trace=linkat -e inject=linkat:delay_enter=8000000:when=1 \
	"$RJRECOVER" -p "$DEV" >"$T_DIR/out" 2>&1 &
reader=$!
kill_at_end "$reader"
check "the log was read, and nothing is claimed yet" wait_for 60 grep -q linkat "$T_DIR/trace"
mkdir "$T_DIR/other"
at_exit umount -l "$T_DIR/other"
check "the volume is held" not mount -i -t ext4 -o ro,noload "$DEV" "$T_DIR/other"
check "the other host commits" put_file "$mnt/between"
sum=$(sha256sum <"$mnt/between")
wait "$reader"
is "recovered" $? 0
note "$(cat "$T_DIR/out")"
check "the other host is fenced" not put_file "$mnt/after"
is "what it had committed is there" "$(debugfs -R "cat between" "$DEV" 2>/dev/null | sha256sum)" "$sum"
umount -l "$mnt"

# the other host trims what was listed: that is no loss
img=$T_DIR/w.img log=$T_DIR/store2
(umask 077; printf '[*]\ntrim_interval = 1\n' >>"$RJ_CONF")
mkdir "$log"
volume "$img" ext4 4096 "file://$log" && serve "$img" && mount_served "$img" "$mnt" data=journal || exit 99
check "a file" put_file "$mnt/before"
log=$(echo "$log"/*/log)
loop_over "$img" || exit 99
strace -f -q -o "$T_DIR/trace" -P "$log" -e trace=getdents64 \
	-e inject=getdents64:delay_exit=15000000:when=1 "$RJRECOVER" -p "$DEV" >"$T_DIR/out" 2>&1 &
reader=$!
kill_at_end "$reader"
check "the log was listed" wait_for 60 grep -q getdents64 "$T_DIR/trace"
check "the other host freezes" eval 'fsfreeze -f "$mnt"; fsfreeze -u "$mnt"'
check "and commits" put_file "$mnt/kept"
check "and trims" wait_for 60 not test -e "$log/$(printf %020d 2)"
wait "$reader"
is "the superblock has changed: not recovered" $? 8
like "that is said" "$(cat "$T_DIR/out")" "changed since it was read: run rjrecover again; nothing was changed"
check "the other host is not fenced" put_file "$mnt/after"
exit 0
