#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Files are shortened while the kernel commits them: some copies in the log fail their checksum,
# as the kernel zeroes the end of a block that it has summed (doc/upstream/truncate-checksum.md).
# The history goes on over them, and rjrecover replays them.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
. "$RJ_SRC/tests/history/base/mounts.sh" || exit 99
SHORTEN=$RJ_BUILD/tests/history/crash/shorten
history_conf ""
JOURNAL_TIMES=8
check "a volume" new_history image ext4 4096
check "files are shortened" "$SHORTEN" mnt 3
check "a marker" mark m
check "... is restored" restored latest m
zeroed=0
for ((i = 1; i <= 6 && !zeroed; i++)); do
	(cd mnt && exec "$SHORTEN" . 60 2>/dev/null) &
	load=$!
	check "a transaction of this mount is in the log" sync -f mnt
	sleep 2
	check "the machine stops, $i" rj_crash
	"$RJRECOVER" -p --json "$VOL" >recover.json
	check "... and is recovered ($?)" test $? -le 1
	zeroed=$(jq '.plan.zeroed // 0' recover.json)
	check "... mounted again" mounted_again
	wait_for 60 gone $load
done
note "$zeroed copies in the log fail their checksum, after crash $((i - 1))"
check "a base" base
check "files are shortened again" "$SHORTEN" mnt 1
check "a marker" mark n
check "... is restored" restored latest n
check "unmounted" rj_umount
check "... sound" served_fsck "$T_DIR/v.img" -fn
exit 0
