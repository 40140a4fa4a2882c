#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The store is lost at the last unmount, and the journal fails (on_loss=error): the
# daemon of mount.rj ends, one that was started by hand stays and says how it is.
# The next mount recovers what was fsynced.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
img=$T_DIR/v.img mnt=$T_DIR/mnt
mkdir "$mnt"
kill_daemons_at_end "$img"
at_exit umount -l "$mnt"
start_server "$T_DIR/srv" || exit 99
check "a volume" volume "$img" ext4 4096 "$SRV_URL/v" on_loss=error
there() { (cd "$mnt" && sha256sum --quiet -c "$T_DIR/sums"); }
lose() { fsynced "$mnt" 3 "$T_DIR/sums" && stop_server && echo late >"$mnt/late"; }
back() { start_server "$T_DIR/srv" "$SRV_PORT"; }

check "mounted" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
check "the store is lost" lose
$LIMIT "$UMOUNT_RJ" "$mnt" >"$T_DIR/said" 2>&1
note "umount.rj: status $?" "$(cat "$T_DIR/said")"
check "unmounted: the daemon ends" wait_for 60 nothing_left "$img"
status 1 "status finds no daemon" $LIMIT "$RJCTL" status "$img"
status 2 "check is critical" $LIMIT "$RJCTL" check "$img"
check "the store is back" back
check "the next mount recovers" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
check "what was fsynced is there" there
check "unmounted in order" $LIMIT "$UMOUNT_RJ" "$mnt"
check "nothing is left" wait_for 60 nothing_left "$img"

check "served by hand" serve "$img"
FSTYPE=ext4 check "mounted with its device" mount_served "$img" "$mnt"
check "the store is lost again" lose
$LIMIT umount "$mnt"
check "unmounted: the daemon is there" $LIMIT "$RJCTL" status "$img"
failed() { OUT=$($LIMIT "$RJCTL" status "$img") && grep -q '^  mode          failed' <<<"$OUT"; }
check "and says that it has failed" wait_for 60 failed
like "and is not mounted" "$OUT" "^$img: ready, "
like "and what to do" "$OUT" '^  next          rjctl stop, then rjrecover -p, or mount it again$'
check "the store is back again" back
status 32 "it is not mounted while that daemon is there" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
$LIMIT "$RJCTL" stop -q "$img"
check "rjctl stop ends it" wait_for 60 nothing_left "$img"
check "then the next mount recovers" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
check "what was fsynced is there once more" there
check "unmounted in order again" $LIMIT "$UMOUNT_RJ" "$mnt"
check "nothing is left again" wait_for 60 nothing_left "$img"

# ---- a daemon looks at the volume, and only then both the mount and its daemon end ----
strace -o "$T_DIR/trace" -e trace=none true 2>/dev/null || exit 0
export ASAN_OPTIONS=detect_leaks=0
FSTYPE=ext4
uuid=$(dumpe2fs -h "$img" 2>/dev/null | awk '/^Filesystem UUID/ {print $3}')
check "served and mounted" eval 'serve "$img" --until-unmount && mount_served "$img" "$mnt"'
first=$DPID
strace -f -I 1 -qq -o "$T_DIR/trace" -P "$RJ_RUN/$uuid" -e trace=mkdir,mkdirat \
	-e inject=mkdir,mkdirat:delay_enter=8000000:when=1 "$RJOURNALD" -q "$img" >"$T_DIR/loop" 2>/dev/null &
tracer=$!
kill_at_end "$tracer"
check "another daemon has looked at it" wait_for 60 grep -q mkdir "$T_DIR/trace"
check "unmounted" $LIMIT umount "$mnt"
check "its daemon ends" wait_for 60 gone "$first"
check "the other one serves" wait_for 60 test -s "$T_DIR/loop"
kill "$tracer" # it detaches
wait_for 60 gone "$tracer"
LOOP=$(cat "$T_DIR/loop")
check "mounted" mount_served "$img" "$mnt"
check "files" fsynced "$mnt" 3 "$T_DIR/sums"
check "the machine stops" crash "$img" "$mnt" "$T_DIR/crashed.img"
img=$T_DIR/crashed.img
kill_daemons_at_end "$img"
status 0 "the next mount recovers" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
check "what was fsynced is there" there
check "unmounted in order" $LIMIT "$UMOUNT_RJ" "$mnt"
exit 0
