#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The room that rjserver(8) asks for, measured: a volume with data=journal that is
# written to many times round its journal gets through with the page's limit, twice
# the journal, and the server's directory never needs more than the page's formula.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
JOURNAL=$((16 << 20)) MB=420 # written; without trimming that would be the room
export FSTYPE=ext4
img=$T_DIR/v.img mnt=$T_DIR/mnt D=$T_DIR/d

# the page's own numbers: a change there has to come here
page=$(tr '\n' ' ' <"$RJ_SRC/man/rjserver.8")
like "the page: a volume" "$page" 'give it at least twice the size of its journal'
like "the page: the disk" "$page" 'the sum of that, a quarter more for segments .* and four data files'
volume=$((2 * JOURNAL))
disk=$((volume + volume / 4 + 4 * (64 << 20)))

mkdir "$D"
printf '[server]\ndir = %s\nlisten = 127.0.0.1:0\ninsecure = yes\n[volume *]\nmax-bytes = %s\n' \
	"$D" "$volume" >"$T_DIR/conf"
"$RJSERVER" --config "$T_DIR/conf" >"$T_DIR/out" 2>"$T_DIR/log" &
kill_at_end $!
check "a server with that limit" wait_for 60 grep -q 'listening on' "$T_DIR/out"
truncate -s 128M "$img"
check "a volume" "$MKRJFS" -q -F -t ext4 -b 4096 \
	-J "remote=rj://$(sed -n 's/.*listening on //p' "$T_DIR/out")/v,size=$((JOURNAL >> 20))" "$img"
check "served" serve "$img"
check "mounted" mount_served "$img" "$mnt" data=journal
PEAK=0
write() {
	local i now
	for ((i = 0; i < MB; i++)); do
		head -c 1000000 /dev/urandom >"$mnt/f.$((i % 64))" &&
			timeout -k 1 110 sync "$mnt/f.$((i % 64))" || return 1
		now=$(du -s -B1 "$D" | cut -f1)
		((now <= PEAK)) || PEAK=$now
	done
}
check "$MB files are written and synced" write
note "the server's directory had at most $PEAK bytes, the formula says $disk"
note "$(grep -c . "$T_DIR/log") lines of the server"
check "never more room than that" test "$PEAK" -gt 0 -a "$PEAK" -le "$disk"
check "unmounted" umount "$mnt"
check "stopped" unserve
exit 0
