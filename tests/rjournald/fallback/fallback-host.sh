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
volume "$img" ext4 4096 "$SRV_URL/one" "fallback=$T_DIR/fb,fallback_size=48" || exit 99

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
check "the host that served it last recovers it" "$RJRECOVER" "$img"
