#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjctl move: the log of a mounted volume goes to another store while files are written, and a
# power cut before, in or after that finds every acknowledged file.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/move/frame.sh"
start_server "$T_DIR/srv1" || exit 99
one=$SRV_URL/one
start_server "$T_DIR/srv2" || exit 99
two=$SRV_URL/two

check "a volume in use" used_volume "$one" -t ext4
check "a writer" write_on
check "moved" $LIMIT "$RJCTL" move --to="$two" "$mnt"
url_is "it is there" "$two"
check "writes go on" writes_more
check "the machine stops" power_cut
check "recovered from there, with all files" recovered
url_is "and served from there" "$two"
check "a writer again" write_on
older_copy() { freeze_daemon "$(daemon_pid "$img")" && cp --sparse=always "$img" "$1" && thaw_daemon "$(daemon_pid "$img")"; }
check "a copy of the disk" older_copy "$T_DIR/old.img"
check "moved back" $LIMIT "$RJCTL" move --to="$one" "$mnt"
check "writes go on" writes_more
check "the writer ends" stop_writing
check "unmounted" unmounted
status 4 "the copy is refused, whose log was left" $LIMIT "$RJRECOVER" -p "$T_DIR/old.img"
like "as an older copy" "$OUT" 'older copy'
status 0 "the volume names the first place again" "$RJ_BUILD/rjtune/rjtune" -l "$img"
like "in all its superblocks" "$OUT" "$one"
exit 0
