#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A store that is away, or does not let us in, for a minute: no command gives the good log up,
# whatever a boot script or an administrator adds to it (systemd's fsck.repair=yes is
# "fsck.rj -y"). When the store is back, everything that was fsynced is there.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
need_fuse_loop
RJTUNE=$RJ_BUILD/rjtune/rjtune FSCK=$T_DIR/fsck.rj
IMG=$T_DIR/crash.img V=$T_DIR/v MNT=$T_DIR/mnt
ln -s "$(realpath "$RJRECOVER")" "$FSCK"
mkdir -m 700 "$T_DIR/srv"
TOKEN=$("$RJSERVER" adduser -q -d "$T_DIR/srv" vol)
# token TEXT: what rj.conf gives the server
token() { (umask 077; printf '[rj://127.0.0.1]\ntoken = %s\n' "$1" >"$RJ_CONF"); }

# refused NAME STATUS COMMAND...: refused with STATUS, and the volume is as it was
refused() {
	local name=$1 want=$2; shift 2
	status "$want" "$name" timeout 120 "$@"
	check "$name: the volume is as it was" cmp "$IMG" "$V"
}
# each WHY WORDS...: all that is typed while the store is away; each set of WORDS for rjrecover
each() {
	local why=$1 words; shift
	for words; do
		# shellcheck disable=SC2086
		refused "$why: fsck.rj $words" 12 "$FSCK" $words "$V"
		like "$why: the way without loss comes first" "$OUT" \
			"; try again when it is there; if it is lost for good, rjrecover -y --accept-loss gives up"
	done
	refused "$why: rjtune -f -J" 4 "$RJTUNE" -f -J size=4 "$V"
	refused "$why: rjtune -f -y -O ^has_journal" 5 "$RJTUNE" -f -y -O ^has_journal "$V"
	refused "$why: mount.rj" 32 "$MOUNT_RJ" "$V" "$MNT"
}
there() { (cd "$MNT" && sha256sum --quiet -c "$T_DIR/sums"); }

SRV_OPTIONS="--durability=fsync"
check "a server with accounts" start_server "$T_DIR/srv"
token "$TOKEN"
check "a volume" "$MKRJFS" -q -F -t ext4 -J "remote=$SRV_URL/vol,size=4" "$V" 64M
check "mounted" mount_served "$V" "$MNT" data=journal
check "files that only the log has" fsynced "$MNT" 30 "$T_DIR/sums"
check "the host loses its power" crash "$V" "$MNT" "$IMG"
cp --sparse=always "$IMG" "$V"

stop_server
each "away" -y # each command asks for ten seconds
check "the server is back" start_server "$T_DIR/srv" "$SRV_PORT"
token "$(rev <<<"$TOKEN")"
each "a wrong token" -y "-y -f" -p -a "-f -a"
for words in -y "-y -f" "-f --accept-loss"; do
	# shellcheck disable=SC2086
	refused "a wrong token: rjrecover $words" 12 "$RJRECOVER" $words "$V"
done
token "$TOKEN"
check "the right token: mount.rj recovers" "$MOUNT_RJ" "$V" "$MNT"
check "every file that was fsynced is there" there
check "unmounted" "$UMOUNT_RJ" "$MNT"

# ---- given up by the word: the old log stays, and is never replayed or trimmed ----
journals() { curl -sf -H "Authorization: Bearer $TOKEN" "http://127.0.0.1:$SRV_PORT/vol/" | cut -d' ' -f1; }
log_of() { curl -sf -H "Authorization: Bearer $TOKEN" "http://127.0.0.1:$SRV_PORT/vol/$1/log/" | cut -d' ' -f1; }
old=$(dumpe2fs -h "$IMG" 2>/dev/null | awk '/^Journal UUID/ {print $3}')
cp --sparse=always "$IMG" "$V"
before=$(log_of "$old")
stop_server
status 1 "--accept-loss gives it up" "$RJRECOVER" -y --accept-loss "$V"
like "what goes is said" "$OUT" "given up \(--accept-loss\): what was fsynced and is only in the log of journal $old at rj://.* \(it reached segment [0-9]+ of epoch 2 at least\)"
status 12 "without its store the volume has no journal" "$RJRECOVER" -p "$V"
check "the server is back" start_server "$T_DIR/srv" "$SRV_PORT"
check "mount.rj makes a new log" "$MOUNT_RJ" "$V" "$MNT"
check "which works" fsynced "$MNT" 5 "$T_DIR/sums"
check "unmounted" "$UMOUNT_RJ" "$MNT"
is "the old log is whole" "$(comm -23 <(echo "$before") <(log_of "$old"))" ""
is "two logs are there" "$(journals | wc -l)" 2
exit 0
