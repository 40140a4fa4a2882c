#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The server has no room, and the worker dies: its successor waits for room, as
# it would have.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
mnt=$T_DIR/mnt img=$T_DIR/v.img FSTYPE=ext4
mode() { $LIMIT "$RJCTL" status --json "$img" | grep -q "\"mode\":\"$1\""; }
said_again() { [ "$(grep -c 'is full' "$T_DIR/log")" -gt "$told" ]; }
mkdir "$T_DIR/srv"
mount -t tmpfs -o size=24m full "$T_DIR/srv" || skip_all "no tmpfs"
at_exit umount -l "$T_DIR/srv"
SRV_OPTIONS="--insecure --min-free=240k" start_server "$T_DIR/srv" || exit 99
volume "$img" ext4 4096 "$SRV_URL/one" || exit 99
"$RJOURNALD" -f "$img" >"$T_DIR/loop" 2>"$T_DIR/log" &
check "served" wait_for 30 test -s "$T_DIR/loop"
LOOP=$(<"$T_DIR/loop")
at_exit kill_pid "$(daemon_pid "$img")"
check "mounted" mount_served "$img" "$mnt"
worker=$(worker_pid "$img")
check "the server is full" fill_server
put_file "$mnt/a" 100 & writer=$!
check "a commit waits for room" wait_for 30 mode waiting
told=$(grep -c 'is full' "$T_DIR/log")
kill -KILL "$worker"
check "another worker finds it full, too" wait_for 30 said_again
check "room" mount -o remount,size=64m "$T_DIR/srv"
check "and the write is acknowledged" wait "$writer"
check "and another one" put_file "$mnt/b"
check "unmount" $LIMIT umount "$mnt"
check "and stopped" $LIMIT "$RJCTL" stop "$img"
