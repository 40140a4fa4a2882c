#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One log in two stores is what an earlier version had: its volumes and its
# segments are refused in one line that says what to do, and nothing is changed.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
need_fuse_loop

RJLOG=$RJ_BUILD/rjlog/rjlog RJTUNE=$RJ_BUILD/rjtune/rjtune LIMIT="timeout 60"
V=$T_DIR/v MNT=$T_DIR/mnt
mkdir -p "$MNT"
check "a server" start_server "$T_DIR/srv"
check "a volume" "$MKRJFS" -q -F -t ext3 -b 1024 -J "remote=$SRV_URL/vol,size=4" "$V" 16M
UUID=$(dumpe2fs -h "$V" 2>/dev/null | awk '/^Journal UUID/ {print $3}')
log() { "$RJLOG" ls --json "$SRV_URL/vol/$UUID"; }
loop_over "$V"
check "marked as one with two stores" "$RJ_BUILD/tests/rjournald/mark" "$V" two-stores
sync "$DEV"
cp "$V" "$T_DIR/was"
before=$(log)

# refused STATUS WHAT COMMAND...
refused() {
	local want=$1 what=$2; shift 2
	status "$want" "$what: refused" $LIMIT "$@"
	is "$what: in one line" "$(wc -l <<<"$OUT")" 1
	like "$what: says why" "$OUT" 'two stores for one log, which this version does not serve'
	like "$what: says what to do" "$OUT" 'rjtune -J remote=URL'
	sync "$DEV"
	check "$what: the volume is untouched" cmp "$T_DIR/was" "$V"
	is "$what: the log too" "$(log)" "$before"
}
refused 8 "rjrecover -n" "$RJRECOVER" -n "$DEV"
refused 8 "rjrecover -p" "$RJRECOVER" -p "$DEV"
refused 8 "rjrecover -y" "$RJRECOVER" -y "$DEV"
refused 8 "rjrecover --accept-loss" "$RJRECOVER" -f --accept-loss "$DEV"
refused 2 "rjtune -J" "$RJTUNE" -J "remote=$SRV_URL/other" "$DEV"
refused 2 "rjtune -O ^has_journal" "$RJTUNE" -O ^has_journal "$DEV"
refused 32 "mount.rj" "$MOUNT_RJ" "$DEV" "$MNT"
refused 1 "rjournald" "$RJOURNALD" "$DEV"

# ---- no such volume is made ----
J="remote=$SRV_URL/a,remote=$SRV_URL/b,size=4"
status 1 "mkrjfs: remote= twice" "$MKRJFS" -q -F -t ext3 -J "$J" "$DEV"
is "mkrjfs: in one line" "$OUT" 'mkrjfs: journal option "remote=": given twice'
status 16 "rjtune: remote= twice" "$RJTUNE" -J "$J" "$DEV"
check "the volume is untouched" cmp "$T_DIR/was" "$V"

# ---- its segments ----
# segment SEQUENCE KIND FLAGS: of no blocks
le() { local v=$1 i; for ((i = 0; i < $2; i++)); do printf "\\x$(printf %02x $((v >> (8 * i) & 255)))"; done; }
zero() { head -c "$1" /dev/zero; }
segment() {
	printf RJSEGMNT && le 1 4 && le "$2" 4 && le "$3" 4 && zero 4 && le "$1" 8 && le 1 8 &&
		le "$1" 8 && zero 8 && le 32 8 && le 32 8 && zero 96 && zero 32 && zero 56 && zero 32
}
sealed() {
	segment "$@" >"$T_DIR/seg"
	local sum; sum=$(sha256sum "$T_DIR/seg")
	printf "$(sed 's/../\\x&/g' <<<"${sum%% *}")" |
		dd of="$T_DIR/seg" bs=1 seek=168 conv=notrunc status=none
}
next=$(grep -c '"segment"' <<<"$before")
next=$((next + 1))
foreign() { # WHAT
	status 0 "$1: put" curl -sf -T "$T_DIR/seg" \
		"http://127.0.0.1:$SRV_PORT/vol/$UUID/log/$(printf %020d $next)"
	status 8 "$1: rjlog verify refuses it" $LIMIT "$RJLOG" verify "$SRV_URL/vol/$UUID"
	like "$1: and says why" "$OUT" "segment $next: it is of two stores for one log"
	curl -sf -X DELETE "http://127.0.0.1:$SRV_PORT/vol/$UUID/log/$(printf %020d $next)"
}
sealed $next 2 $((0x20)); foreign "a segment that one store has alone"
sealed $next 2 $((0x40)); foreign "and the other"
segment $next 3 0 >"$T_DIR/seg"; foreign "an object over a gap"
exit 0
