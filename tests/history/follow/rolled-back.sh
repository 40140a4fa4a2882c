#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The journal server's store is put back to an earlier state, and a floor store (floor=) knows
# that more was acknowledged: whatever takes the end of that log for the end of the volume is
# refused as rjrecover is, and changes nothing. With the right store all of it is there.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"
kill_daemons_at_end "$T_DIR/v.img" "$T_DIR/b.img"
RJLOG=$RJ_BUILD/rjlog/rjlog
mkdir look floor copy
history_conf "floor = file://$T_DIR/floor"
other_host() { RJ_RUN=$T_DIR/run2 "$@"; }
# the floor store alone is asked on another host
local_conf "$T_DIR"
noted() { find floor -path '*/log/*' -newer "$1" | grep -q .; }
there() {
	mount -i -t ext4 -o ro,noload,loop "$1" look || return 1
	(cd look && sha256sum --quiet -c "$T_DIR/all")
	local rc=$?
	umount look
	return $rc
}

check "a volume" history_volume ext4 4096 journal ""
check "files" fsynced mnt 5 early
status 0 "a base" "$RJBACKUP" base -o base.img mnt
kill -STOP "$SRV_PID" && cp -a srv srv.then && kill -CONT "$SRV_PID"
for i in {1..15}; do head -c 20000 /dev/urandom >"mnt/new$i"; sync "mnt/new$i"; done
(cd mnt && sha256sum fsynced.* new*) >all
touch mark; sleep 1; sync -f mnt
check "the floor store has a note" wait_for 60 noted mark
kill -STOP "$SRV_PID" && cp -a srv srv.right
check "the host is lost" crash "$T_DIR/v.img" "$T_DIR/mnt" "$T_DIR/crash.img"
kill_pid "$SRV_PID"
rm -rf srv floor_of_host && cp -a srv.then srv
check "the store is back as it was before" start_server "$T_DIR/srv" "$SRV_PORT"
FLOOR_DIR=$T_DIR/floor2
local_conf "$T_DIR"
url=$("$RJ_BUILD/rjtune/rjtune" -l --json crash.img 2>/dev/null |
	sed -n 's/^ *"url":"\(.*\)",$/\1/p' | head -n 1)
state() {
	{ cat base.img; find srv -type f -path '*store*' -exec sha256sum {} + | sort; ls; } | sha256sum
}

LOST="(the log ends|segment [0-9]+ is not the one).* the floor at file://.* (saw|acknowledged)"
# refused NAME STATUS COMMAND...
refused() {
	local name=$1 want=$2 before; shift 2
	before=$(state)
	status "$want" "$name: refused" other_host timeout 120 "$@"
	like "$name: by the floor" "$OUT" "$LOST"
	is "$name: nothing was changed" "$(state)" "$before"
}
cp --sparse=always crash.img c.img
refused "rjrecover -p" 4 "$RJRECOVER" -p c.img
rm c.img
refused "restore" 1 "$RJBACKUP" restore --base=base.img -o r.img
refused "drill" 1 "$RJBACKUP" drill --base=base.img --scratch="$T_DIR"
refused "mount" 1 "$RJBACKUP" mount --base=base.img look
refused "promote -n" 1 "$RJBACKUP" promote -n base.img
refused "promote" 1 "$RJBACKUP" promote base.img
like "promote: the way on is named" "$OUT" "put the store's end back, or rjbackup promote --accept-loss goes on without"
refused "rjlog verify" 4 "$RJLOG" verify "$url"
refused "rjlog copy" 4 "$RJLOG" copy "$url" "file://$T_DIR/copy"

kill_pid "$SRV_PID"
rm -rf srv && cp -a srv.right srv
check "the right store is back" start_server "$T_DIR/srv" "$SRV_PORT"
status 0 "restored" other_host "$RJBACKUP" restore --base=base.img -o r.img
check "everything that was acknowledged is in it" there r.img
status 0 "promoted" other_host "$RJBACKUP" promote base.img
check "everything that was acknowledged is in that" there base.img
exit 0
