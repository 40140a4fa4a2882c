#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A server and a directory hold the log. While the directory is alone the worker
# is killed with -9, and another one goes on; then the keeper dies too, and the
# recovery needs the directory only. Then the volume moves to one store and back.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
command -v jq >/dev/null || skip_all "needs jq"
[ "$(printf '6.9\n%s\n' "$(uname -r | cut -d- -f1)" | sort -V | head -n 1)" = 6.9 ] ||
	skip_all "older than Linux 6.9"
. "$RJ_SRC/tests/rjournald/twins.sh"
RJTUNE=$RJ_BUILD/rjtune/rjtune
mkdir "$T_DIR/b" && start_a || exit 99
B=file://$T_DIR/b
field() { $LIMIT "$RJCTL" status --json "$img" | jq -r "$1"; }
restarted() { [ "$(field .restarts)" = 1 ] && [ "$(field .mode)" = alone ]; }
# a file whose fsync returns; one that does not cannot be killed
soon() {
	dd if=/dev/urandom of="$mnt/$1" bs=9000 count=1 conv=fsync status=none &
	wait_for 20 gone $! && wait $!
}

printf '[*]\nloss_timeout = 1\ndurable = yes\n' >"$RJ_CONF"
check "a volume with a server and a directory" volume "$img" ext4 4096 "$A,remote=$B"
UUID=$("$RJLOG" ls "$A" | cut -d' ' -f1)
check "served and mounted" served
check "files whose fsync returned" fsynced "$mnt" 5 "$T_DIR/s"
kill_pid "$A_PID"
check "without the server the fsync returns" soon lost-a
check "the directory says that it is alone" alone "$B" 2
kill -KILL "$(worker_pid "$img")"
check "the worker is killed: another one goes on, alone" wait_for 30 restarted
check "a fsync returns" soon killed
files
check "the machine stops, and with it the keeper" crash "$img" "$mnt" "$T_DIR/c.img"
img=$T_DIR/c.img
status 0 "recovered without the server" "$RJRECOVER" -p "$img"
start_a
check "mounted with both" served
check "all that was acknowledged is there" intact
check "both are needed, though nothing is written" wait_for 30 both_needed
check "they are the same" same
check "unmounted" timeout 30 umount "$mnt"
check "ended" unserve

# ---- to one store, and back ----
status 0 "from two stores to one" "$RJTUNE" -q -J "remote=$A,size=8" "$img"
like "listed" "$("$RJTUNE" -l "$img")" "$A\$"
status 0 "and to two" "$RJTUNE" -q -J "remote=$A,remote=$B,size=8" "$img"
like "listed" "$("$RJTUNE" -l "$img")" "$A,$B\$"
status 16 "no fallback beside two stores" "$RJTUNE" -q -J "remote=$A,remote=$B,fallback=$T_DIR/f" "$img"
like "in one clear line" "$OUT" 'no fallback beside two stores'
check "served and mounted" served
check "all is there" intact
check "a fsync returns" soon moved
check "unmounted" timeout 30 umount "$mnt"
check "ended" unserve
