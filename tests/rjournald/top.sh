#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjctl top: rates and waits of volumes that are written to, idle, without their server, and dead;
# colours on a terminal alone.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
start_server "$T_DIR/srv" || exit 99
FSTYPE=ext4
for v in busy idle; do
	check "$v: a volume" volume "$T_DIR/$v" ext4 4096 "$SRV_URL/$v" on_loss=block
	serve "$T_DIR/$v" && mount_served "$T_DIR/$v" "$T_DIR/$v.mnt" || exit 99
done
DAEMON=$DPID
writer() { while [ ! -e "$T_DIR/stop" ]; do put_file "$T_DIR/busy.mnt/f" || return; done; }
top() { $LIMIT "$RJCTL" top -b -d 1 "$@"; }
# column NAME N: word N of the last line of the volume; bytes are two words
column() { awk -v v="$T_DIR/$1.mnt" -v n="$2" 'length($1) && index(v, $1) && substr(v, length(v) - length($1) + 1) == $1 {x = $n} END {print x}' <<<"$OUT"; }
writer &
WRITER=$!
status 0 "three tables" top -n 3
is "each has a head" "$(grep -c '^VOLUME .*COMMITS/S' <<<"$OUT")" 3
is "and a line for each volume" "$(grep -c online <<<"$OUT")" 6
check "the busy one commits" awk -v x="$(column busy 3)" 'BEGIN {exit !(x > 5)}'
check "and a commit waits for some time" awk -v x="$(column busy 6)" 'BEGIN {exit !(x > 0)}'
is "the idle one does not" "$(column idle 3)" 0.0
check "in batch mode nothing moves the cursor" eval '! grep -q $'"'\\033'"' <<<"$OUT"'
check "its columns are drawn" grep -q '#' <<<"$(LC_ALL=C top -n 2)"
status 0 "one volume" top -n 1 "$T_DIR/idle.mnt"
is "has one line" "$(grep -c online <<<"$OUT")" 1
touch "$T_DIR/stop"
wait "$WRITER"

on_terminal() { script -qec "$*" /dev/null </dev/null; }
if command -v script >/dev/null; then
	like "on a terminal the mode has a colour" "$(TERM=xterm NO_COLOR='' on_terminal "$RJCTL" status "$T_DIR/idle")" $'mode +\033\\[32monline\033\\[0m'
	check "with NO_COLOR it has none" eval '! TERM=xterm NO_COLOR=1 on_terminal "$RJCTL" status "$T_DIR/idle" | grep -q $'"'\\033'"
fi
check "into a pipe it has none" eval '! $LIMIT "$RJCTL" status "$T_DIR/idle" | grep -q $'"'\\033'"

stop_server
put_file "$T_DIR/busy.mnt/late" &
WRITER=$!
waits() { OUT=$(top -n 1) && [ "$(column busy 2)" = waiting ]; }
check "without its server it waits" wait_for 60 waits
check "and the store lacks something" test "$(column busy 9)" != none
kill -KILL "$DAEMON" "$(pgrep -P "$DAEMON")"
dead() { OUT=$(top -n 1) && grep -q ' dead ' <<<"$OUT"; }
check "a daemon that was killed is dead" wait_for 60 dead
start_server "$T_DIR/srv" "$SRV_PORT" >/dev/null
wait "$WRITER"
(sleep 1; pkill -TERM -f "rjctl top -b -d 1 $T_DIR/busy.mnt") &
status 0 "a signal ends it" top "$T_DIR/busy.mnt"
status 0 "unmounted, while its server is there" $LIMIT umount "$T_DIR/busy.mnt"
status 1 "no volume" env RJ_RUN="$T_DIR/none" "$RJCTL" top
like "is said" "$OUT" '^rjctl: no rjournald is running'
status 2 "no number" "$RJCTL" top -n x
status 2 "not for status" "$RJCTL" status -b
exit 0
