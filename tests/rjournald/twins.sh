# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the tests of two stores, after daemon.sh: two servers, and what the
# logs in them say. loss_timeout is short.
printf '[*]\nloss_timeout = 1\n' >"$RJ_CONF" && chmod 600 "$RJ_CONF" || exit 99
export FSTYPE=ext4
img=$T_DIR/v.img mnt=$T_DIR/mnt RJLOG=$RJ_BUILD/rjlog/rjlog

A_PORT=0 B_PORT=0
# two servers: what start_server sets, for A and for B
start_a() { start_server "$T_DIR/a" "$A_PORT" && A_PID=$SRV_PID A_PORT=$SRV_PORT A=$SRV_URL/twin; }
start_b() { start_server "$T_DIR/b" "$B_PORT" && B_PID=$SRV_PID B_PORT=$SRV_PORT B=$SRV_URL/twin; }
# rows URL: what rjlog says of each segment
rows() { "$RJLOG" ls "$1/$UUID" >"$T_DIR/rows.$2" && test -s "$T_DIR/rows.$2"; }
# same_now: both hold the same log; sameness of bytes: by their own hash chains
same_now() { rows "$A" a && rows "$B" b && cmp "$T_DIR/rows.a" "$T_DIR/rows.b"; }
# same: the kernel commits on its own, also between two looks; and on a busy machine
# a store may take longer than loss_timeout
same() { wait_for 30 same_now || same_now; }
# last URL: the number of its last segment
last() { "$RJLOG" ls --json "$1" | tr -d ' \n' | sed 's/.*"last":\([0-9]*\).*/\1/'; }
# together: a new segment makes it into both
together() {
	put_file "$mnt/again.$RANDOM" && [ "$(last "$A")" = "$(last "$B")" ] && same_now && ! tail -n 1 "$T_DIR/rows.a" | grep -q alone
}
files() { (cd "$mnt" && sha256sum -- * 2>/dev/null | grep -v lost+found) >"$T_DIR/sums"; }
intact() { (cd "$mnt" && sha256sum --quiet -c "$T_DIR/sums"); }
served() { serve "$img" -q && mount_served "$img" "$mnt"; }
# fsync of a new file: a hung one must not hang the test
one() { timeout 30 dd if=/dev/urandom of="$mnt/$1" bs=9000 count=1 conv=fsync status=none; }
# alone N: the last segment of store N says that it is the only one
alone() { rows "$1" x && tail -n 1 "$T_DIR/rows.x" | grep -q "store $2 alone"; }
# stores FILTER: jq over what rjctl says of the two
stores() { [ "$($LIMIT "$RJCTL" status --json "$img" | jq -c "[.stores[] | $1]")" = "$2" ]; }
both_needed() { stores .needed '[true,true]'; }
