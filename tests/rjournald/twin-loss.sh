#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One store goes on alone and is lost; the administrator gives it up and goes on
# with the other. When the lost one is all that there is, it still says that it
# is alone, and has more: it is not taken for the volume's log all the same.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
. "$RJ_SRC/tests/rjournald/twins.sh"
start_a && start_b || exit 99

check "a volume with two stores" volume "$img" ext4 4096 "$A,remote=$B"
UUID=$("$RJLOG" ls "$A" | cut -d' ' -f1)
check "served and mounted" served
check "files whose fsync returned" fsynced "$mnt" 3 "$T_DIR/s"
kill_pid "$A_PID"
check "without the first the fsync returns" one lost-a
check "and the second log says so" alone "$B" 2
check "much more" fsynced "$mnt" 30 "$T_DIR/s2"
check "the machine stops" crash "$img" "$mnt" "$T_DIR/c.img"
img=$T_DIR/c.img

kill_pid "$B_PID"
start_a
status 0 "the second is given up: --accept-loss" "$RJRECOVER" -p --accept-loss "$img"
note "$OUT"
check "served and mounted with the first" served
check "files whose fsync returned" fsynced "$mnt" 3 "$T_DIR/s3"
files
check "the machine stops" crash "$img" "$mnt" "$T_DIR/d.img"
img=$T_DIR/d.img

kill_pid "$A_PID"
start_b
sum=$(sha256sum <"$img")
check "the second still says that it is alone" alone "$B" 2
status 12 "the second alone: refused" "$RJRECOVER" -p "$img"
note "$OUT"
like "and says why" "$OUT" 'ends before what the volume saw.*gone on without'
is "nothing was changed" "$(sha256sum <"$img")" "$sum"
start_a
status 0 "with both: recovered" "$RJRECOVER" -p "$img"
check "served and mounted" served
check "all that was acknowledged since is there" intact
check "unmounted" timeout 30 umount "$mnt"
check "ended" unserve
