#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The disk of the fallback file takes no writes for a time: what stands in it then is old, and is
# not taken for the log's end. And a file that is damaged.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
mnt=$T_DIR/mnt img=$T_DIR/v.img FSTYPE=ext4
lose_server() { kill_pid "$SRV_PID"; }
restart_server() { start_server "$T_DIR/srv" "$SRV_PORT"; }
mode() { $LIMIT "$RJCTL" status --json "$img" | grep -q "\"mode\":\"$1\""; }
empty_journal() { $LIMIT mount -o remount,ro "$mnt" && $LIMIT mount -o remount,rw "$mnt"; }
acked() { $LIMIT "$RJCTL" status --json "$img" | sed -n 's/.*"acknowledged":\([0-9]*\).*/\1/p'; }
near() { od -v -An -w512 -tu8 -j 40 "$T_DIR"/floor/* | awk '$1 > n {n = $1} END {print n + 0}'; }
noted() { [ "$(near)" -ge "$(acked)" ]; }
there() { (cd "$mnt" && test -s "$1"); }

start_server "$T_DIR/srv" || exit 99
printf '[%s]\nloss_timeout = 1\n' "$SRV_URL" >"$RJ_CONF"
chmod 600 "$RJ_CONF"

# ---- the file, which has all of the log, cannot say that the log goes on at the store ----
truncate -s 44M "$T_DIR/disk"
loop_over "$T_DIR/disk" || exit 99
local_conf "$T_DIR" "$DEV"
# of two groups at least: such a volume has a mark
truncate -s 160M "$img" && "$MKRJFS" -q -F -t ext4 -b 4096 -J "remote=$SRV_URL/one,size=8,fallback=$DEV" "$img" || exit 99
check "serve" serve "$img"
check "mount" mount_served "$img" "$mnt"
put_file "$mnt/a"
lose_server
put_file "$mnt/b"
check "on in the file" wait_for 30 mode degraded
check "the journal is emptied" empty_journal
put_file "$mnt/c"
like "the file alone is enough" "$($LIMIT "$RJCTL" status --json "$img")" '"self_sufficient":true'
at_exit blockdev --setrw "$DEV" # or nothing can be unmounted
blockdev --setro "$DEV"
restart_server
check "the server gets it all, while the file takes no writes" wait_for 60 mode online
put_file "$mnt/d"
check "the journal is emptied" empty_journal
put_file "$mnt/e"
check "this host's floor goes on" wait_for 60 noted
status 0 "the machine stops" crash "$img" "$mnt" "$T_DIR/c.img"
lose_server
img=$T_DIR/c.img
blockdev --setrw "$DEV"
cp --sparse=always "$img" "$T_DIR/was.img"
status 12 "the old state is refused while the store is away" "$RJRECOVER" -p "$img"
like "for what this host saw" "$OUT" 'the log went on there after segment'
rm -r "$T_DIR/floor"
status 12 "without the floor, too" "$RJRECOVER" -p "$img"
like "for the volume's mark" "$OUT" 'the log went on there after segment'
check "nothing was changed" cmp "$img" "$T_DIR/was.img"
restart_server
check "the store is back: recovered" "$RJRECOVER" -p "$img"
check "serve" serve "$img"
check "mount" mount_served "$img" "$mnt"
check "with the newest file" there e
check "unmount" $LIMIT umount "$mnt"
kill -TERM "$DPID"
check "stopped" wait_for 60 gone "$DPID"

# ---- a spoilt file: put aside where the volume says that it was empty, or as told to ----
img=$T_DIR/w.img
local_conf "$T_DIR"
volume "$img" ext4 4096 "$SRV_URL/two" "fallback=$T_DIR/fb" || exit 99
kept() { find "$T_DIR" -name 'fb.kept-*' | wc -l; }
for size in 0 1M; do
	truncate -s $size "$T_DIR/fb"
	check "cut to $size while empty: served" serve "$img"
	check "mount" mount_served "$img" "$mnt"
	put_file "$mnt/f"
	check "unmount" $LIMIT umount "$mnt"
	kill -TERM "$DPID"
	check "stopped" wait_for 60 gone "$DPID"
done
is "both are kept" "$(kept)" 2
check "serve" serve "$img"
check "mount" mount_served "$img" "$mnt"
put_file "$mnt/g"
status 0 "the machine stops" crash "$img" "$mnt" "$T_DIR/x.img"
img=$T_DIR/x.img
truncate -s 1M "$T_DIR/fb"
status 1 "cut while in use: not served" "$RJOURNALD" "$img"
status 4 "nor recovered" "$RJRECOVER" -y "$img"
is "and it stays" "$(kept)" 2
status 0 "--accept-loss" "$RJRECOVER" --accept-loss "$img"
is "keeps it" "$(kept)" 3
check "served, with a new one" serve "$img"
check "mount" mount_served "$img" "$mnt"
check "nothing was lost" there g
check "unmount" $LIMIT umount "$mnt"
kill_pid "$DPID"
exit 0
