#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# No volume that crashed is taken for an older copy of itself, whenever it crashed:
# the log's oldest segment moves all the time here, and old ones are deleted.
# 8 crashes; RJ_LONG=1: 200.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
(umask 077; printf '[*]\ntrim_interval = 1\n' >"$RJ_CONF")
RANDOM=${RJ_SEED:=$RANDOM}
note "RJ_SEED=$RJ_SEED"
rounds=8
[ -z "${RJ_LONG:-}" ] || rounds=200
start_server "$T_DIR/srv" || exit 99
mnt=$T_DIR/mnt img=$T_DIR/v.img
head -c 300k /dev/urandom >"$T_DIR/noise"

# work: write, and note each file whose fsync has returned, until the volume fails
work() {
	local i
	cd "$mnt" || return
	for ((i = 0; ; i++)); do
		dd if="$T_DIR/noise" of="w$((i % 20))" bs=50k conv=fsync,notrunc status=none 2>/dev/null &&
			dd if=/dev/urandom of="f$1.$i" bs=1k count=2 conv=fsync \
				status=none 2>/dev/null || return
		sha256sum "f$1.$i" >>"$T_DIR/sums" 2>/dev/null || return
	done
}
lines() { [ "$(wc -l <"$T_DIR/sums")" -ge "$1" ]; }
oldest() { $LIMIT "$RJCTL" status --json "$img" | sed 's/.*"oldest":\([0-9]*\).*/\1/'; }
moved() { [ "$(oldest)" -gt "$first" ]; }

for ((n = 0; n < rounds; n++)); do
	if ((n % 4 == 0)); then # a new one, the other type
		FSTYPE=ext$((3 + n / 4 % 2))
		rm -f "$img" && truncate -s 256M "$img" && "$MKRJFS" -q -F -t $FSTYPE -b 4096 \
			-J "remote=$SRV_URL/v$n,size=4" "$img" || exit 99
		: >"$T_DIR/sums"
	fi
	serve "$img" && mount_served "$img" "$mnt" data=journal || exit 99
	first=$(oldest) have=$(wc -l <"$T_DIR/sums")
	[ "$first" -gt 0 ] || exit 99
	work $n &
	writer=$!
	wait_for 120 lines $((have + 6 + RANDOM % 12)) || exit 99
	((n % 4 == 3)) || check "crash $n: the oldest segment moves" wait_for 120 moved
	sleep 0.$((RANDOM % 200 + 100))
	crash "$img" "$mnt" "$T_DIR/c.img" "$T_DIR/sums" || exit 99
	wait "$writer"
	mv "$T_DIR/c.img" "$img" && mv "$T_DIR/sums.then" "$T_DIR/sums" || exit 99
	status 0 "crash $n: recovered" $LIMIT "$RJRECOVER" -q -p "$img"
	serve "$img" && mount_served "$img" "$mnt" || exit 99
	check "crash $n: $(wc -l <"$T_DIR/sums") files are there" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
	check "crash $n: and unmounted" $LIMIT umount "$mnt"
	unserve || exit 99
done
