#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# on_loss=local: the server dies, freezes and comes back under a writing ext4;
# the machine stops in the middle; another host does not have the file.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
. "$RJ_SRC/tests/rjournald/steady.sh"
RJLOG=$RJ_BUILD/rjlog/rjlog
mnt=$T_DIR/mnt
lose_server() { kill_pid "$SRV_PID"; }
restart_server() { start_server "$T_DIR/srv" "$SRV_PORT"; }
mode() { $LIMIT "$RJCTL" status --json "$img" | grep -q "\"mode\":\"$1\""; }
# field NAME: of the status's fallback
field() { $LIMIT "$RJCTL" status --json "$img" | sed -n "s/.*\"fallback\":{[^}]*\"$1\":\([^,}]*\).*/\1/p"; }
sums_hold() { (cd "$mnt" && sha256sum --quiet -c "$T_DIR/sums"); }
verified() { $LIMIT "$RJLOG" verify "$1" >"$T_DIR/verify" 2>&1 || { cat "$T_DIR/verify"; return 1; }; }
unmount_and_stop() {
	$LIMIT umount "$mnt" && kill -TERM "$DPID" && wait_for 60 gone "$DPID"
}

start_server "$T_DIR/srv" || exit 99
printf '[%s]\nloss_timeout = 1\nfloor = file://%s/floors\n' "$SRV_URL" "$T_DIR" >"$RJ_CONF"
chmod 600 "$RJ_CONF"
mkdir "$T_DIR/fb" "$T_DIR/away" "$T_DIR/floors"
# the floors: at a second store, of this host; and what was acknowledged
far() { $LIMIT "$RJCTL" status --json "$img" | tr -d '\n' | sed -n 's/.*"floor":{[^}]*"'"$1"'": *"\{0,1\}\([^",}]*\).*/\1/p'; }
far_waits() { [ "$(far why)" = "the store does not have all yet that the fallback file has" ]; }
near() { od -v -An -w512 -tu8 -j 40 "$T_DIR"/floor/* | awk '$1 > n {n = $1} END {print n + 0}'; }
acked() { $LIMIT "$RJCTL" status --json "$img" | sed -n 's/.*"acknowledged":\([0-9]*\).*/\1/p'; }
stored() { "$RJLOG" ls --json "$1/$(basename "$T_DIR"/floor/*)" | grep -o '"segment": *[0-9]*' | tr -dc '0-9\n' | sort -n | tail -n 1; }
floors_have() { [ "$(far segment)" -ge "$1" ] && [ "$(near)" -ge "$1" ]; }

# ---- refused in one line ----
img=$T_DIR/v.img
truncate -s 32M "$img"
refused() { # NAME WORDS REGEX
	status 1 "$1" "$MKRJFS" -q -F -t ext4 -J "remote=$SRV_URL/no,size=8,$2" "$img"
	like "$1: why" "$OUT" "$3"
	is "$1: one line" "$(wc -l <<<"$OUT")" 1
}
refused "local without a file" on_loss=local 'needs a fallback=PATH'
refused "a file with block" "fallback=$T_DIR/fb,on_loss=block" 'on_loss=block'
refused "no whole path" fallback=fb 'whole path'
refused "too small" "fallback=$T_DIR/fb/x,fallback_size=10" 'too few'
echo something >"$T_DIR/something"
refused "something else" "fallback=$T_DIR/something" 'holds something else'
is "and it still does" "$(cat "$T_DIR/something")" something
# a block device is taken only if nothing is on it, wherever that begins
for at in 64 1000 $((44 * 1024 - 100)); do
	rm -f "$T_DIR/disk"
	truncate -s 44M "$T_DIR/disk"
	printf 'a file system' | dd of="$T_DIR/disk" bs=1k seek="$at" conv=notrunc status=none
	loop_over "$T_DIR/disk" || exit 99
	local_conf "$T_DIR" "$DEV"
	refused "a device with something at $at KiB" "fallback=$DEV" 'holds something else'
	check "and it still is there" grep -q 'a file system' "$DEV"
	loop_detach "$DEV" "$T_DIR/disk"
done
# what is in use is not taken, though its ends look like nothing
rm -f "$T_DIR/disk"
truncate -s 44M "$T_DIR/disk"
mke2fs -q -F -t ext2 "$T_DIR/disk"
loop_over "$T_DIR/disk" || exit 99
mkdir "$T_DIR/used" && mount -o ro "$DEV" "$T_DIR/used" || exit 99
at_exit umount "$T_DIR/used"
for at in 0 43; do
	dd if=/dev/zero of="$DEV" bs=1M seek=$at count=1 conv=notrunc,fsync status=none || exit 99
done
local_conf "$T_DIR" "$DEV"
refused "a device that is mounted" "fallback=$DEV" "$DEV: is in use .*nothing was changed\$"
umount "$T_DIR/used"
loop_detach "$DEV" "$T_DIR/disk"
refused "no such folder" "fallback=$T_DIR/none/x" 'No such file'
refused "no room" "fallback=$T_DIR/fb/x,fallback_size=99999999" 'no space .*; nothing was changed$'
check "no file system was made" cmp -n $((32 << 20)) "$img" /dev/zero

# ---- the server is killed, and comes back ----
volume "$img" ext4 4096 "$SRV_URL/one" "fallback=$T_DIR/fb,fallback_size=48" || exit 99
file=$(echo "$T_DIR"/fb/*.rjfallback)
is "the fallback file is private" "$(stat -c %a "$file")" 600
is "it has its size, all of it written" "$(stat -c '%s' "$file") $(($(stat -c %b "$file") >= 48 * 2048))" "$((48 << 20)) 1"
like "rjtune -l shows it" "$("$RJ_BUILD/rjtune/rjtune" -l "$img")" "allback.*$T_DIR/fb"
FSTYPE=ext4
check "serve" serve "$img"
status 8 "rjrecover -p while a daemon has the file" "$RJRECOVER" -p "$img"
like "says whose it is, and what to do" "$OUT" \
	"^rjrecover: $file: another process uses this fallback file, .* 'rjctl stop' ends it\$"
check "mount" mount_served "$img" "$mnt"
begin_writing w
more 5 || exit 99
lose_server
check "the server is gone: on in the file" wait_for 30 mode degraded
like "the metrics say how much waits" "$($LIMIT "$RJCTL" metrics "$img")" '^rjournald_fallback_backlog_bytes\{.*\} [1-9]'
like "the status says why" "$($LIMIT "$RJCTL" status "$img")" "^  because       $SRV_URL/one: "
like "and how much waits" "$($LIMIT "$RJCTL" status "$img")" '^  fallback      .* [1-9][0-9]* segments .* not at the store'
check "and files are acknowledged" more 20
check "more than one segment is kept" test "$(field backlog_segments)" -gt 5
restart_server
check "the server is back, and gets it all" wait_for 60 mode online
check "and it goes on" more 5
is "nothing is left in the file" "$(field backlog_segments)" 0
check "no write failed" end_writing
check "the log at the server is whole" verified "$SRV_URL/one"

# ---- frozen: it accepts, and never answers ----
begin_writing w
more 3 || exit 99
kill -STOP "$SRV_PID"
check "frozen: on in the file" wait_for 30 mode degraded
check "frozen: files are acknowledged" more 10
kill -CONT "$SRV_PID"
check "thawed: it gets all" wait_for 60 mode online
more 3 || exit 99
check "no write failed" end_writing
check "the log is whole" verified "$SRV_URL/one"

# ---- the machine stops while degraded ----
begin_writing w
more 2 || exit 99
check "the floors come to what the server has" wait_for 60 floors_have "$(acked)"
lose_server
wait_for 60 mode degraded || exit 99
more 10 || exit 99
check "the floors wait" wait_for 60 far_waits
more 2 || exit 99
check "no write failed" end_writing
ACKED=$(acked)
status 0 "the machine stops" crash "$img" "$mnt" "$T_DIR/c.img"
img=$T_DIR/c.img
cp --sparse=always "$img" "$T_DIR/away.img"
restart_server
STORED=$(stored "$SRV_URL/one")
check "$ACKED were acknowledged, the server has $STORED" test "$ACKED" -gt "$STORED"
check "the host's floor claims no more than that: $(near)" test "$(near)" -gt 0 -a "$(near)" -le "$STORED"
FAR=$("$RJRECOVER" -n --json "$img" 2>/dev/null | tr -d ' \n' | sed -n 's/.*"noted":true,[^}]*"segment":\([0-9]*\).*/\1/p')
check "nor does the one at the second store: $FAR" test "${FAR:-0}" -gt 0 -a "${FAR:-0}" -le "$STORED"
cp --sparse=always "$img" "$T_DIR/n.img"
status 0 "-n says what would be done" "$RJRECOVER" -n "$img"
like "and what the server would get" "$OUT" 'would be put into the store first'
check "and does nothing" cmp "$img" "$T_DIR/n.img"
status 0 "recovered: the server gets the rest first" "$RJRECOVER" "$img"
like "and it is said" "$OUT" 'segments that only'
check "the log is whole" verified "$SRV_URL/one"
check "serve" serve "$img"
check "mount" mount_served "$img" "$mnt"
check "all that was acknowledged is there" sums_hold
begin_writing w
more 2 || exit 99
check "the floors go on" wait_for 60 floors_have "$ACKED"
is "and all is well" "$(far why)" ""
lose_server
wait_for 60 mode degraded || exit 99
more 5 || exit 99
check "no write failed" end_writing
check "unmounted and stopped while degraded" unmount_and_stop
# as at a boot while the store is still away
cp "$file" "$T_DIR/file"
status 0 "left clean: there is nothing to recover" "$RJRECOVER" -p "$img"
check "and the file keeps what the store lacks" cmp "$file" "$T_DIR/file"
# the other host: the volume, but not the file
cp --sparse=always "$img" "$T_DIR/away.img"
mv "$file" "$T_DIR/away/"
restart_server
status 1 "another host: not served" "$RJOURNALD" "$img"
like "and why" "$OUT" 'fallback file .* is not there.*--accept-loss'
OUT=$("$RJRECOVER" "$T_DIR/away.img" 2>&1); rc=$?
is "nor recovered" "$((rc & 4))" 4
like "and why" "$OUT" 'fallback file .* is not there.*--accept-loss'
mv "$T_DIR/away/"* "$T_DIR/fb/"
check "with the file: served" serve "$img"
check "mount" mount_served "$img" "$mnt"
check "all that was acknowledged is there" sums_hold
check "unmount" unmount_and_stop
check "the log is whole" verified "$SRV_URL/one"

# ---- the file alone is enough: the kernel's tail has passed the store's end ----
serve "$img" && mount_served "$img" "$mnt" || not_ok "served again"
begin_writing w
more 2 || exit 99
lose_server
wait_for 60 mode degraded || exit 99
more 3 || exit 99
check "no write failed" end_writing
like "not yet self-sufficient" "$(field self_sufficient)" false
check "the journal is emptied" $LIMIT mount -o remount,ro "$mnt"
check "and written to again" $LIMIT mount -o remount,rw "$mnt"
put_file "$mnt/later" && (cd "$mnt" && sha256sum later >>"$T_DIR/sums")
like "now it is self-sufficient" "$(field self_sufficient)" true
status 0 "the machine stops" crash "$img" "$mnt" "$T_DIR/d.img"
img=$T_DIR/d.img
status 0 "recovered from the file alone" "$RJRECOVER" "$img"
like "and what is to be done" "$OUT" 'run rjrecover again when the store is back'
status 1 "it is not served before that" "$RJOURNALD" "$img"
restart_server
check "the store is back: the log begins anew" "$RJRECOVER" "$img"
check "serve" serve "$img"
check "mount" mount_served "$img" "$mnt"
check "all that was acknowledged is there" sums_hold
check "the log is whole" verified "$SRV_URL/one"

# ---- another host goes on without the file, as it is told to ----
begin_writing w
more 2 || exit 99
lose_server
wait_for 60 mode degraded || exit 99
more 2 || exit 99
check "no write failed" end_writing
check "unmounted and stopped while degraded" unmount_and_stop
cp --sparse=always "$img" "$T_DIR/away.img"
mv "$T_DIR"/fb/*.rjfallback "$T_DIR/away/mine"
restart_server
first=$img img=$T_DIR/away.img
check "--accept-loss" "$RJRECOVER" --accept-loss "$img"
check "served there, with a new file" serve "$img"
check "mount" mount_served "$img" "$mnt"
check "the volume was left clean, so all is there" sums_hold
check "unmount" unmount_and_stop
mv "$T_DIR/away/mine" "$T_DIR"/fb/*.rjfallback
img=$first
status 1 "the first host does not go on" "$RJOURNALD" "$img"
like "and says what is in its file" "$OUT" 'went on without segments'
status 4 "nor does rjrecover" "$RJRECOVER" "$img"
like "why" "$OUT" 'without segments .*--accept-loss'
status 8 "told to, while the file is in use" flock "$(echo "$T_DIR"/fb/*.rjfallback)" "$RJRECOVER" --accept-loss "$img"
like "why" "$OUT" 'another process uses this fallback file'
status 4 "the file's segments are one loss" "$RJRECOVER" --accept-loss "$img"
like "what the other host wrote since is another one" "$OUT" "an older copy of the volume: .*rjrecover -f --accept-loss"
check "told to, it gives both up" "$RJRECOVER" -f --accept-loss "$img"
check "and is a volume with a log of its own" "$RJRECOVER" -p "$img"
check "and keeps them" test -n "$(echo "$T_DIR"/fb/*.kept-*)"
