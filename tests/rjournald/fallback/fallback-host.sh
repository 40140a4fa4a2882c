#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two hosts that can serve one volume have each a fallback file under its path.
# The one of the host that did not serve it last is idle, and proves nothing.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
mnt=$T_DIR/mnt
lose_server() { kill_pid "$SRV_PID"; }
restart_server() { start_server "$T_DIR/srv" "$SRV_PORT"; }
mode() { $LIMIT "$RJCTL" status --json "$img" | grep -q "\"mode\":\"$1\""; }
stop() { $LIMIT umount "$mnt" && kill -TERM "$DPID" && wait_for 60 gone "$DPID"; }
up() { serve "$img" && mount_served "$img" "$mnt"; }
# to HOST: from here on the file under the path is HOST's
to() { mv "$T_DIR/fb" "$T_DIR/host.$host" && mv "$T_DIR/host.$1" "$T_DIR/fb" && host=$1; }

start_server "$T_DIR/srv" || exit 99
printf '[%s]\nloss_timeout = 1\n' "$SRV_URL" >"$RJ_CONF"
chmod 600 "$RJ_CONF"
mkdir "$T_DIR/fb" "$T_DIR/host.b"
host=a img=$T_DIR/v.img FSTYPE=ext4
volume "$img" ext4 1024 "$SRV_URL/one" "fallback=$T_DIR/fb,fallback_size=48" || exit 99

# each host has served it once, and stopped
check "served here" up
put_file "$mnt/a"
check "and stopped" stop
to b
check "served there, with a file of its own" up
put_file "$mnt/b"
check "and stopped" stop

to a
check "served here again" up
put_file "$mnt/c"
lose_server
put_file "$mnt/d"
check "on in the file" wait_for 30 mode degraded
sum=$(sha256sum <"$mnt/d")
status 0 "the machine stops" crash "$img" "$mnt" "$T_DIR/c.img"
restart_server
img=$T_DIR/c.img
to b
cp --sparse=always "$img" "$T_DIR/was.img"
status 1 "there it is not served" "$RJOURNALD" "$img"
like "and why" "$OUT" 'not the one that it was last served with.*--accept-loss'
status 4 "nor recovered" "$RJRECOVER" "$img"
like "and why" "$OUT" 'not the one that it was last served with.*--accept-loss'
check "nothing was changed" cmp "$img" "$T_DIR/was.img"
# the backup's extension does not know of the last mounts
dd if=/dev/zero of="$T_DIR/was.img" bs=1k seek=1 count=1 conv=notrunc status=none
status 4 "nor with the backup superblock" "$RJRECOVER" -y -f "$T_DIR/was.img"
like "and why" "$OUT" 'not the one that it was last served with.*--accept-loss'
rm "$T_DIR"/fb/*
status 4 "nor without a file" "$RJRECOVER" -y -f "$T_DIR/was.img"
like "and why" "$OUT" 'is not there: it may hold segments that were acknowledged'
to a
check "here it is recovered" "$RJRECOVER" "$img"
check "and served" up
is "with what only this file had" "$(sha256sum <"$mnt/d")" "$sum"
check "and stopped" stop
to b
check "then there as well" up
is "with all of it" "$(sha256sum <"$mnt/d")" "$sum"

# a crash with the store at hand: the file is idle, and the right one
put_file "$mnt/e"
status 0 "the machine stops" crash "$img" "$mnt" "$T_DIR/d.img"
img=$T_DIR/d.img
to a
status 4 "the other host cannot know that" "$RJRECOVER" "$img"
status 0 "it goes on when told so" "$RJRECOVER" --accept-loss "$img"
check "and serves" up
check "nothing was lost" test -s "$mnt/e"
status 0 "the machine stops" crash "$img" "$mnt" "$T_DIR/e.img"
img=$T_DIR/e.img
# a file that cannot be used says nothing of the log, which is whole
cp --sparse=always "$img" "$T_DIR/was.img"
for file in "$T_DIR"/fb/*; do mv "$file" "$T_DIR/whole"; done
head -c 20M "$T_DIR/whole" >"$file"
status 4 "its file is cut off: -y does not give up the log" "$RJRECOVER" -y "$img"
like "and why" "$OUT" 'cut off: .*--accept-loss goes on without that file'
check "nothing was changed" cmp "$img" "$T_DIR/was.img"
mv "$T_DIR/whole" "$file"
check "the host that served it last recovers it" "$RJRECOVER" "$img"

# recovered here from the file alone, while another host went on without it
check "served" up
lose_server
put_file "$mnt/f"
check "on in the file" wait_for 30 mode degraded
check "which needs nothing before it" eval 'mount -o remount,ro "$mnt" && mount -o remount,rw "$mnt"'
put_file "$mnt/g"
status 0 "the machine stops" crash "$img" "$mnt" "$T_DIR/f.img"
cp --sparse=always "$T_DIR/f.img" "$T_DIR/g.img"
status 0 "recovered from the file alone" "$RJRECOVER" -p "$T_DIR/f.img"
mv "$T_DIR/floor" "$T_DIR/floor.a"
to b
restart_server
img=$T_DIR/g.img
status 0 "the other host goes on when told so" "$RJRECOVER" --accept-loss "$img"
check "and serves" up
put_file "$mnt/h"
to a
status 4 "the first one does not take that away" "$RJRECOVER" -p "$T_DIR/f.img"
like "and why" "$OUT" 'went on without its log in epoch [0-9]+, and another host with the log'
check "the other one goes on" put_file "$mnt/i"
status 0 "what it wrote is given up when told so" "$RJRECOVER" --accept-loss "$T_DIR/f.img"
like "and said" "$OUT" 'given up .--accept-loss.: what another host wrote to the log at .* in epoch [0-9]+, after'
check "that one is stopped" eval '! timeout 60 dd if=/dev/zero of="$mnt/j" count=1 conv=fsync status=none'
umount -l "$mnt"
