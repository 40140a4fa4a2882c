#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Reads of a served journal are answered while the store is away, however many
# writes wait for it: e2fsck and blkid look at each block device of the machine.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
WRITES=100
start_server "$T_DIR/srv" || exit 99
url=$SRV_URL/reads
check "a log is served" serve "$url" --raw --size=4
head -c 4M /dev/urandom >"$T_DIR/data"

# put FILE I: the I-th block of FILE, a write of its own
put() { exec dd if="$1" of="$LOOP" bs=4096 count=1 skip="$2" seek="$2" oflag=direct conv=notrunc status=none; }
# asleep PID...: all of them wait in the kernel
asleep() {
	local pid
	for pid in "$@"; do
		grep -q '^State:.*D' "/proc/$pid/status" || return 1
	done
}

for ((i = 0; i < 4; i++)); do (put "$T_DIR/data" "$i") || exit 99; done
kill_pid "$SRV_PID"
pids=()
for ((i = 0; i < WRITES; i++)); do
	put "$T_DIR/data" "$i" &
	pids+=($!)
done
check "without the server $WRITES writes wait" wait_for 60 asleep "${pids[@]}"
check "the device is read meanwhile" $LIMIT dd if="$LOOP" of="$T_DIR/seen" bs=4096 count=1024 iflag=direct status=none
check "also by 16 at once" sh -c "
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		$LIMIT dd if='$LOOP' of=/dev/null bs=64k count=16 iflag=direct status=none || touch '$T_DIR/bad' &
	done
	wait
	test ! -e '$T_DIR/bad'"
check "and blkid looks at it" sh -c "$LIMIT blkid -p '$LOOP'; test \$? != 124"
check "the server comes back" start_server "$T_DIR/srv" "$SRV_PORT"
bad=0
for pid in "${pids[@]}"; do wait "$pid" || bad=$((bad + 1)); done
is "and no write has failed" "$bad" 0
$LIMIT dd if="$LOOP" of="$T_DIR/seen" bs=4096 count=$WRITES iflag=direct status=none
check "each is there" cmp -n $((WRITES * 4096)) "$T_DIR/data" "$T_DIR/seen"
status 0 "rjctl stop" $LIMIT "$RJCTL" stop
status 0 "the log's image" $LIMIT "$RJRECOVER" -q --raw --output="$T_DIR/image" "$url"
check "has each, too" cmp -n $((WRITES * 4096)) "$T_DIR/data" "$T_DIR/image"
