#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The host is gone, and the store lost, rolled back or hides what was written since the
# mount: the floor at a second store (floor= of rj.conf) and the one in the fallback
# file's header say so. A floor store that is away stops neither serving nor recovery.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
. "$RJ_SRC/tests/recover/floor-common.sh"
need_fuse_loop
img=$T_DIR/img mnt=$T_DIR/mnt V=$T_DIR/v store=$T_DIR/store far=$T_DIR/far
RJCTL=$RJ_BUILD/rjctl/rjctl
kill_daemons_at_end "$img" "$V"
conf() { # [FLOOR]: it is kept there; this host has no floor of its own
	FLOOR_DIR=$T_DIR/floor.$RANDOM$RANDOM local_conf "$T_DIR"
	[ $# = 0 ] || RJ_CREDENTIALS+=$'\n[*]\nconnect_timeout = 2\nrequest_timeout = 2\n'"floor = $1"
}
restart_with() { # [DIR]: the server has that store by now
	stop_server
	[ $# = 0 ] || { rm -rf "$store" && cp -a "$1" "$store"; }
	start_server "$store" "$SRV_PORT"
}
copy_store() { stop_server && cp -a "$store" "$1" && start_server "$store" "$SRV_PORT"; }
status_json() { "$RJCTL" status --json "$img" | tr -d ' \n'; }
acked() { status_json | sed -n 's/.*"acknowledged":\([0-9]*\).*/\1/p'; }
floor_says() { status_json | sed -n 's/.*"floor":{[^}]*"'"$1"'":"\{0,1\}\([^",}]*\).*/\1/p'; }
far_has() { [ "$(floor_says segment)" -ge "$1" ]; }
floor_fails() { [ -n "$(floor_says why)" ]; }
older_than() { [ "$(floor_says age_seconds)" -ge "$1" ]; }
goes_on() { # NAME REGEX: a dry run, with a warning
	status 0 "$1: the recovery goes on" "$RJRECOVER" -n -q "$img.crash"
	like "$1: and says so, also with -q" "$OUT" "the floor store cannot be asked.*$2"
	OUT=$("$RJRECOVER" -n --json "$img.crash" 2>/dev/null | tr -d ' \n')
	like "$1: and in --json" "$OUT" '"floor":\{"url":"[^"]*","asked":false,"error":"'
}
set_floor() { rm -rf "$far"; cp -a "$1" "$far"; }
lost='the store has lost the end of the log, or hides it, or the log went on at another place; rjrecover --accept-loss'

check "a server" start_server "$store"
mkdir "$far" && conf "file://$far"
check "a volume" "$MKRJFS" -q -F -t ext4 -J "remote=$SRV_URL/v,size=4" "$img" 32M
check "mounted" mount_served "$img" "$mnt"
check "the floor is kept at $far" wait_for 60 far_has 1
mkdir "$mnt/d" && sync "$mnt/d"
check "a copy of the store" copy_store "$T_DIR/early"
cp -a "$far" "$T_DIR/far.early"
check "30 files are written and fsynced" fsynced "$mnt" 30 "$T_DIR/sums"
check "it comes to the last of them" wait_for 60 far_has "$(acked)"
is "and says when it last had all" "$([ "$(floor_says age_seconds)" -lt 600 ] && echo yes)" yes
like "so do the metrics" "$("$RJCTL" metrics "$img")" '^rjournald_floor_age_seconds\{volume="[^"]*"\} [0-9]+$'
like "and the status for people" "$("$RJCTL" status "$img")" "floor +file://$far: segment [0-9]+, whole [0-9]+ s ago"
is "what is old goes" "$([ "$(ls "$far"/*/log | wc -l)" -lt 80 ] && echo yes)" yes

# ---- it is away: nobody is disturbed ----
cp -a "$far" "$far.away" && rm -rf "$far"
check "fsyncs go on without it" fsynced "$mnt" 31 "$T_DIR/sums"
check "the status says why" wait_for 60 floor_fails
check "and how old it is" wait_for 60 older_than 2
rm -rf "$far" && mv "$far.away" "$far"
check "it is back" wait_for 60 far_has "$(acked)"
is "and all is well" "$(floor_says why)" ""
check "the machine stops" crash "$img" "$mnt" "$img.crash"
copy_store "$T_DIR/whole"
cp -a "$far" "$T_DIR/far.whole"

# ---- the host is gone, the store is not what it was ----
conf "file://$far"
restart_with "$T_DIR/early"
refused "rolled back" "the log ends at segment [0-9]+, but the floor at file://$far saw [0-9]+ acknowledged: $lost"
status 4 "rolled back: a yes gives nothing up" "$RJRECOVER" -y "$V"
check "rolled back: nothing is changed by it" cmp "$img.crash" "$V"
mkdir "$T_DIR/empty"
restart_with "$T_DIR/empty"
refused "lost" 'the log is empty'
restart_with "$T_DIR/early"
status 0 "--accept-loss goes on" "$RJRECOVER" -p --accept-loss "$V"
like "says what is lost" "$OUT" "the floor at file://$far saw segment [0-9]+ .*giving that up"
status 0 "after which nothing is missed any more" "$RJRECOVER" -p -f "$V"
restart_with "$T_DIR/early"
conf
cp --sparse=always "$img.crash" "$V"
status 0 "without floor= nobody knows" "$RJRECOVER" -n "$V"

# ---- the log is whole ----
restart_with "$T_DIR/whole"
conf "file://$far"
status 0 "a floor that the log reaches" "$RJRECOVER" -n "$img.crash"
OUT=$("$RJRECOVER" -n --json "$img.crash" | tr -d ' \n')
like "is in --json" "$OUT" '"floor":\{"url":"file://[^"]*","asked":true,"noted":true,"epoch":[0-9]+,"segment":[0-9]+\}'
set_floor "$T_DIR/far.early"
status 0 "an older one is no obstacle" "$RJRECOVER" -n -q "$img.crash"
is "and nothing is said" "$OUT" ""
rm -rf "$far" && mkdir "$far"
status 0 "nor is one that knows nothing" "$RJRECOVER" -n -q "$img.crash"
like "but that is said, also with -q" "$OUT" "the floor store file://$far has no note of the last mount"
OUT=$("$RJRECOVER" -n --json "$img.crash" 2>/dev/null | tr -d ' \n')
like "and in --json" "$OUT" '"floor":\{"url":"[^"]*","asked":true,"noted":false\}'
rm -rf "$far"
goes_on "its directory is away" "$far"
conf rj://127.0.0.1:1/floors
goes_on "its server is away" '127.0.0.1:1'
conf "$SRV_URL/v"
goes_on "the log's own store is no second one" "the log's own store"
set_floor "$T_DIR/far.whole" && conf "file://$far"
at=$(ls "$far"/*/log/* | tail -n 1)
flip "$at" 600
goes_on "it is damaged" "file://$far"

# ---- another volume's, at the place of ours ----
mkdir "$T_DIR/other" && conf "file://$T_DIR/other"
check "another volume" "$MKRJFS" -q -F -t ext4 -J "remote=$SRV_URL/w,size=4" "$T_DIR/w" 32M
mv "$img" "$img.1" && mv "$T_DIR/w" "$img"
conf "$SRV_URL/w"
check "served, with a floor in the log's own store" serve "$img"
check "the status says so" wait_for 60 floor_fails
like "why" "$(status_json)" "thelog'sownstore"
like "and for people" "$("$RJCTL" status "$img")" "floor +$SRV_URL/w: never whole"
check "ended" unserve
conf "file://$T_DIR/other"
check "served" serve "$img"
check "its floor" wait_for 60 far_has 1
check "ended" unserve
mv "$img" "$T_DIR/w" && mv "$img.1" "$img"
set_floor "$T_DIR/far.whole" && conf "file://$far"
rm "$far"/*/log/* && cp "$T_DIR"/other/*/log/* "$far"/*/log/
goes_on "it is another volume's" "file://$far"

# ---- a floor store that keeps the old notes ----
TOKEN=$("$RJSERVER" adduser -q -d "$T_DIR/kept" f --rights append,read)
"$RJSERVER" -d "$T_DIR/kept" -l 127.0.0.1:0 >"$T_DIR/kept.log" 2>&1 &
kill_at_end $!
check "a server that lets nothing be deleted" wait_for 60 grep -q 'listening on' "$T_DIR/kept.log"
kept=rj://$(sed -n 's/^rjserver: listening on //p' "$T_DIR/kept.log")/f
conf "$kept" && RJ_CREDENTIALS+=$'\n'"[$kept]"$'\n'"token = $TOKEN"
mv "$img" "$img.1" && mv "$T_DIR/w" "$img"
for n in 1 2; do # the second writer finds notes of the first one
	check "served, $n" serve "$img"
	check "noted, $n" wait_for 60 far_has 1
	WHY=$(floor_says why) LINES=$("$RJCTL" status "$img")
	check "ended, $n" unserve
done
like "the status says that the old ones stay" "$WHY" "$kept.*not *allowed"
like "and for people, beside what it has" "$(tr '\n' ' ' <<<"$LINES")" "floor +$kept: segment [0-9]+, whole [0-9]+ s ago +.*not allowed"
mv "$img" "$T_DIR/w" && mv "$img.1" "$img"
set_floor "$T_DIR/far.whole" && conf "file://$far"

# ---- a journal that was made again ----
set_floor "$T_DIR/far.whole"
check "recovered" "$RJRECOVER" -p "$img.crash"
check "the journal is taken away" "$RJ_BUILD/rjtune/rjtune" -O ^has_journal "$img.crash"
check "and made again" "$RJ_BUILD/rjtune/rjtune" -J "remote=$SRV_URL/v,size=4" "$img.crash"
rm "$img" && mv "$img.crash" "$img"
check "mounted" mount_served "$img" "$mnt"
check "files" fsynced "$mnt" 3 "$T_DIR/sums"
check "the machine stops" crash "$img" "$mnt" "$img.crash"
status 0 "what was noted of the old one is no obstacle" "$RJRECOVER" -p -q "$img.crash"
rm "$img"

# ---- with a key, at a server that hangs; and the fallback file's header ----
check "a key" "$RJ_BUILD/rjtune/rjtune" --genkey "$T_DIR/key"
main=$SRV_PID main_port=$SRV_PORT
check "a server for floors" start_server "$T_DIR/floors"
other=$SRV_PID floors=$SRV_URL/f floors_port=$SRV_PORT
SRV_PID=$main SRV_PORT=$main_port SRV_URL=rj://127.0.0.1:$main_port
conf "$floors" && RJ_CREDENTIALS+=$'\n'"keyfile = $T_DIR/key"
check "a volume with a fallback file" "$MKRJFS" -q -F -t ext4 \
	-J "remote=$SRV_URL/k,size=4,key=$T_DIR/key,fallback=$T_DIR/fb" "$img" 32M
check "mounted" mount_served "$img" "$mnt"
check "a copy of the store" copy_store "$T_DIR/early.k"
check "files" fsynced "$mnt" 10 "$T_DIR/sums"
LAST=$(acked)
header_has() { # SEQUENCE: one of the two headers has come to it
	{ od -An -tu8 -j 168 -N 8 "$T_DIR/fb"; od -An -tu8 -j 4264 -N 8 "$T_DIR/fb"; } |
		awk -v n="$1" '$1 >= n {ok = 1} END {exit !ok}'
}
check "noted at the server" wait_for 60 far_has "$LAST"
check "and in the idle fallback file" wait_for 60 header_has "$LAST"
check "what the server has is sealed" not grep -qr RJFLOOR1 "$T_DIR/floors"
# ---- the server loses what it had ----
main=$SRV_PID main_port=$SRV_PORT main_url=$SRV_URL
kill -TERM "$other" && wait "$other" 2>/dev/null
rm -rf "$T_DIR/floors" && start_server "$T_DIR/floors" "${floors_port:?}" || not_ok "an empty server for floors"
other=$SRV_PID SRV_PID=$main SRV_PORT=$main_port SRV_URL=$main_url
check "files" fsynced "$mnt" 10 "$T_DIR/sums"
check "it is used again" wait_for 60 far_has "$(acked)"
is "and all is well" "$(floor_says why)" ""
check "the server hangs" kill -STOP "$other"
check "fsyncs go on" fsynced "$mnt" 10 "$T_DIR/sums"
check "the machine stops" crash "$img" "$mnt" "$img.crash"
kill -CONT "$other"
rm -rf "$T_DIR"/floor.*
restart_with "$T_DIR/early.k"
saved=$RJ_CREDENTIALS
RJ_CREDENTIALS=$saved$'\nfloor = rj://127.0.0.1:1/floors'
refused "by the fallback file's header" "but the fallback file $T_DIR/fb saw [0-9]+ acknowledged: $lost"
RJ_CREDENTIALS=$saved
OUT=$("$RJRECOVER" -n --json "$img.crash" 2>/dev/null | tr -d ' \n')
like "the sealed floor is read" "$OUT" '"floor":\{"url":"[^"]*","asked":true,"noted":true,"epoch":[0-9]+,"segment":[0-9]+\}'
cp --sparse=always "$img.crash" "$V"
status 0 "--accept-loss goes on" "$RJRECOVER" -p --accept-loss "$V"
check "the server hangs again" kill -STOP "$other"
mv "$V" "$img"
check "served" mount_served "$img" "$mnt"
check "files" fsynced "$mnt" 3 "$T_DIR/sums"
umount "$mnt"
check "and ended: nobody waits for the floor" unserve
kill -CONT "$other"
exit 0
