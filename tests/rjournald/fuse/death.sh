#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes of rjournald are killed while the served device has dirty pages: all of them end, and
# nothing on the machine waits for the device. With descriptors released in another order they
# would wait in their own exit for the file that they alone serve, and each blkid and e2fsck with
# them; the abort at the end is for that.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
img=$T_DIR/v.img MNT=$T_DIR/mnt FSTYPE=ext4
mkdir "$T_DIR/store" "$T_DIR/fusectl" "$MNT"
mount -t fusectl none "$T_DIR/fusectl" && at_exit umount "$T_DIR/fusectl"
abort() { [ ! -e "$T_DIR/fusectl/$1/abort" ] || echo 1 >"$T_DIR/fusectl/$1/abort"; }
dirty() { dd if="$LOOP" of="$LOOP" bs=4k count=1 seek=1 skip=1 conv=notrunc status=none; }
served() {
	serve "$img" -q || return 1
	WORKER=$(worker_pid "$img")
	CONNECTION=$(stat -c %d "$RJ_RUN"/*/mnt)
	at_exit abort "$CONNECTION"
}
next_worker() { local was=$WORKER; WORKER=$(worker_pid "$img") && [ -n "$WORKER" ] && [ "$WORKER" != "$was" ]; }
ended() { # NAME
	check "$1: the supervisor has ended" wait_for 60 gone "$DPID"
	check "$1: the worker has ended" wait_for 60 gone "$WORKER"
}
check "a volume" volume "$img" ext4 4096 "file://$T_DIR/store"
for pages in clean dirty; do
	for killed in supervisor both; do
		what="$pages, $killed"
		check "$what: served" served
		[ $pages = clean ] || check "$what: a buffered write" dirty
		if [ $killed = both ]; then kill -KILL "$DPID" "$WORKER"; else kill -KILL "$DPID"; fi
		ended "$what"
		timeout -s KILL 60 blkid -p "$LOOP" >/dev/null 2>&1
		check "$what: a look at the device ends" [ $? != 137 ]
	done
done
check "after a worker: served" served
kill -KILL "$WORKER"
check "after a worker: the next worker serves" wait_for 60 next_worker
check "after a worker: a buffered write" dirty
kill -KILL "$DPID"
ended "after a worker"

check "mounted: served" served
check "mounted: mounted" mount_served "$img" "$MNT" data=journal
check "mounted: a file" put_file "$MNT/a" 100
echo more >"$MNT/b"
dirty
kill -KILL "$DPID" "$WORKER"
ended "mounted"
check "mounted: it can be unmounted" timeout -s KILL 60 umount "$MNT"
status 0 "mounted: rjrecover -p" $LIMIT "$RJRECOVER" -p "$img"
exit 0
