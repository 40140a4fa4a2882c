#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A volume to which nothing is written asks its store, too: a server that is away, has another
# directory, or gave the log to another host is told before the next write would wait or fail.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
img=$T_DIR/v.img mnt=$T_DIR/mnt
export FSTYPE=ext4
# as often as it trims; at least once a minute
(umask 077; printf '[*]\ntrim_interval = 1\n' >"$RJ_CONF")
start_server "$T_DIR/srv" || exit 99
checked() { local out; out=$($LIMIT "$RJCTL" check "$mnt"); grep -Eq "^RJPROGS $1" <<<"$out"; }
told() { status "$1" "$2: rjctl check" $LIMIT "$RJCTL" check "$mnt"; like "$2: says why" "$OUT" "$3"; }
seen() { $LIMIT "$RJCTL" metrics "$mnt" | sed -n 's/^rjournald_store_seen_timestamp_seconds{.*} \([0-9]*\).*/\1/p'; }
seen_later() { [ "$(seen)" -gt "$1" ]; }
mode() { $LIMIT "$RJCTL" status --json "$mnt" | grep -q "\"mode\":\"$1\""; }

check "a volume" volume "$img" ext4 4096 "$SRV_URL/v"
check "served" serve "$img"
# nothing was put since its start
kill_pid "$SRV_PID"
lost() { $LIMIT "$RJCTL" check "$img" | grep -q "^RJPROGS CRITICAL: $img: store: .*127.0.0.1"; }
check "not mounted, and the server is away: critical" wait_for 30 lost
check "it is back" start_server "$T_DIR/srv" "$SRV_PORT"
well() { $LIMIT "$RJCTL" check "$img" | grep -q '^RJPROGS OK'; }
check "well" wait_for 30 well
check "mounted" mount_served "$img" "$mnt"
check "written to" put_file "$mnt/a"
check "all well" wait_for 30 checked OK
check "and the store is asked again and again" wait_for 30 seen_later "$(seen)"
like "rjctl status says when" "$($LIMIT "$RJCTL" status "$mnt")" '  store seen    20[0-9-]+ [0-9:]+'

kill_pid "$SRV_PID"
check "the server is away: critical" wait_for 30 checked CRITICAL
check "nothing waits for it yet" mode online
told 2 "away" "^RJPROGS CRITICAL: $mnt: store: .*127.0.0.1"
like "away: rjctl status says so" "$($LIMIT "$RJCTL" status "$mnt")" \
	'  store lost    a write would not be acknowledged: .*127.0.0.1'

check "it is back with an empty directory" start_server "$T_DIR/empty" "$SRV_PORT"
missed() { $LIMIT "$RJCTL" check "$mnt" | grep -q " missing"; }
check "emptied: said" wait_for 30 missed
told 2 "emptied" "^RJPROGS CRITICAL: $mnt: store: "
note "$OUT"
kill_pid "$SRV_PID"
check "it has its own again" start_server "$T_DIR/srv" "$SRV_PORT"
check "well" wait_for 30 checked OK
check "an fsync goes on" put_file "$mnt/b"

cp --sparse=always "$img" "$T_DIR/copy.img"
status 0 "another host takes the log over" env RJ_RUN="$T_DIR/other" "$RJRECOVER" -f "$T_DIR/copy.img"
check "taken over: critical" wait_for 30 checked CRITICAL
told 2 "taken over" "^RJPROGS CRITICAL: $mnt: store: .*another host has taken the log over, with segment [0-9]+ of epoch"
check "taken over: the next fsync fails" not put_file "$mnt/c"
told 2 "fenced" "^RJPROGS CRITICAL: $mnt: fenced"
check "unmounted" $LIMIT umount "$mnt"
$LIMIT "$RJCTL" -q stop "$img"
check "the daemon has ended" wait_for 60 nothing_left "$img"

# with a fallback file the next write would be acknowledged
mkdir "$T_DIR/fb"
printf '[local]\nfallback_dirs = %s\n' "$T_DIR/fb" >>"$RJ_CONF"
check "a volume with a fallback file" volume "$img" ext4 4096 "$SRV_URL/f" "fallback=$T_DIR/fb/f"
check "fallback: served" serve "$img"
check "fallback: mounted" mount_served "$img" "$mnt"
check "fallback: written to" put_file "$mnt/a"
check "fallback: all well" wait_for 30 checked OK
kill_pid "$SRV_PID"
check "fallback: the server is away: a warning" wait_for 30 checked WARNING
told 1 "fallback" "^RJPROGS WARNING: $mnt: store: .*127.0.0.1"
check "fallback: a write is acknowledged" put_file "$mnt/b"
check "fallback: unmounted" $LIMIT umount "$mnt"
exit 0
