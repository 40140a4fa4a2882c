#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The worker is killed with -9 while the store is away and commits go to the
# fallback file: the next one goes on there, the kernel sees no error, nothing
# that was fsynced is lost; and a writer that was overtaken meanwhile ends.
# RJ_KILLS=100: so many times in each state; RJ_SEED repeats a run.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
. "$RJ_SRC/tests/rjournald/steady.sh"
RJLOG=$RJ_BUILD/rjlog/rjlog
kills=${RJ_KILLS:-10}
RANDOM=${RJ_SEED:=$((RANDOM * 32768 + RANDOM))}
note "RJ_SEED=$RJ_SEED"
[ "$(printf '6.9\n%s\n' "$(uname -r | cut -d- -f1)" | sort -V | head -n 1)" = 6.9 ] ||
	skip_all "older than Linux 6.9"

img=$T_DIR/v.img mnt=$T_DIR/mnt
lose_server() { kill_pid "$SRV_PID"; }
restart_server() { start_server "$T_DIR/srv" "$SRV_PORT"; }
number() { $LIMIT "$RJCTL" status --json "$img" | sed "s/.*\"$1\":\([0-9]*\).*/\1/"; }
mode() { $LIMIT "$RJCTL" status --json "$img" | grep -q "\"mode\":\"$1\""; }
later() { [ "$(number restarts)" -gt "$1" ]; }
verified() { $LIMIT "$RJLOG" verify "$1" >"$T_DIR/verify" 2>&1 || { cat "$T_DIR/verify"; return 1; }; }
# kill_once: the worker, at some instant; then wait for the one after it
kill_once() { sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"; kill_now; }
kill_now() {
	local before worker
	before=$(number restarts) worker=$(worker_pid "$img")
	[ -n "$worker" ] && kill -KILL "$worker" && wait_for 30 later "$before"
}
# kill_many MORE: each time MORE files are acknowledged by the one after it
kill_many() {
	local i
	for ((i = 0; i < kills; i++)); do
		kill_once && more "$1" || return 1
	done
}
kernel_errors() {
	dmesg | awk -F'[][ ]+' -v t="$BEGUN" '$2 > t' | grep -E "(JBD2|EXT4-fs error|I/O error|Aborting journal).*${1#/dev/}\\>"
}

start_server "$T_DIR/srv" || exit 99
printf '[%s]\nloss_timeout = 2\n' "$SRV_URL" >"$RJ_CONF"
chmod 600 "$RJ_CONF"
mkdir "$T_DIR/fb" "$T_DIR/away"
volume "$img" ext4 4096 "$SRV_URL/one" "fallback=$T_DIR/fb,fallback_size=$((48 + 2 * kills))" || exit 99
FSTYPE=ext4
check "serve" serve "$img"
check "mount" mount_served "$img" "$mnt"
BEGUN=$(cut -d" " -f1 /proc/uptime)
volume_loop=$(awk -v m="$mnt" '$2 == m {print $1}' /proc/mounts)

# ---- online: it goes on as the same writer ----
begin_writing a 200
more 3 || exit 99
epoch=$(number epoch)
check "killed while online: the next one goes on" kill_once
check "and files are acknowledged" more 3
is "in the same epoch" "$(number epoch)" "$epoch"

# ---- with a segment on its way to a server that does not answer ----
# It is in the server's socket, and will be stored when that one wakes up; the
# next worker keeps it in the file meanwhile. Only if both are the same bytes is
# there one log.
kill -STOP "$SRV_PID"
check "frozen: a segment is under way" wait_for 30 eval '[ "$(number lag_seconds)" -ge 1 ]'
check "and its worker is killed" kill_now
check "the next one goes on in the file" more 2
check "which the status says" mode degraded
check "what the store has acknowledged is not forgotten" test "$(number remote_tid)" -gt 0
kill -CONT "$SRV_PID"
check "thawed: it gets the rest" wait_for 60 mode online
check "and it goes on" more 2

# ---- the store goes away, and at once the worker ----
lose_server
check "killed as the store goes away" kill_once
check "the next one goes on in the file" more 3
check "which the status says" mode degraded

# ---- under way in the file ----
check "killed $kills times while degraded, and on it goes" kill_many 2
check "still degraded" mode degraded
is "rjctl restart while degraded" "$($LIMIT "$RJCTL" restart "$mnt")" restarted
check "goes on, too" more 3
check "still degraded" mode degraded

# ---- the store comes back, and the worker dies while it catches up ----
restart_server
check "killed $kills times while the store gets it all" kill_many 1
check "then it is online" wait_for 60 mode online
check "and goes on" more 3
is "it was one writer all the time" "$(number epoch)" "$epoch"
check "no write failed" end_writing
check "the log at the server is whole" verified "$SRV_URL/one"
is "no error counted" "$(cat "/sys/fs/ext4/${volume_loop#/dev/}/errors_count")" 0
is "no error logged" "$(kernel_errors "$LOOP"; kernel_errors "$volume_loop")" ""

# ---- by choice: rjctl prefer outlives the worker ----
check "rjctl prefer local" $LIMIT "$RJCTL" prefer local "$img"
check "is obeyed" wait_for 30 mode local
put_file "$mnt/chosen"
check "killed" kill_once
check "the next one keeps to it" wait_for 30 mode local
check "and to the file" put_file "$mnt/chosen2"
$LIMIT "$RJCTL" prefer remote "$img" >/dev/null
check "and back" wait_for 30 mode online

# ---- degraded, killed, and then everything dies ----
begin_writing b 200
more 2 || exit 99
lose_server
check "killed while degraded" eval 'wait_for 30 mode degraded && more 2 && kill_once && more 3'
check "no write failed" end_writing
status 0 "the machine stops" crash "$img" "$mnt" "$T_DIR/c.img"
restart_server
img=$T_DIR/c.img
status 0 "recovered: the server gets the rest first" "$RJRECOVER" --verify=full "$img"
like "and it is said" "$OUT" 'segments that only'
check "serve" serve "$img"
check "mount" mount_served "$img" "$mnt"
check "all that was acknowledged is there" eval '(cd "$mnt" && tail -n 190 "$T_DIR/sums" | sha256sum --quiet -c)'
check "the log is whole" verified "$SRV_URL/one"

# ---- another host took over while there was no worker ----
begin_writing c 200
more 2 || exit 99
lose_server
check "degraded" eval 'wait_for 30 mode degraded && more 2'
check "no write failed" end_writing
supervisor=$(daemon_pid "$img") worker=$(worker_pid "$img")
kill -STOP "$supervisor"
kill -KILL "$worker"
wait_for 60 gone "$worker" || exit 99
cp --sparse=always "$img" "$T_DIR/copy.img"
mv "$T_DIR"/fb/*.rjfallback "$T_DIR/away/"
restart_server
check "a recovery elsewhere, --accept-loss" env RJ_RUN="$T_DIR/run2" "$RJRECOVER" --accept-loss "$T_DIR/copy.img"
mv "$T_DIR"/away/*.rjfallback "$T_DIR/fb/"
kill -CONT "$supervisor"
check "fences the next worker" wait_for 30 mode fenced
status 1 "which acknowledges nothing" $LIMIT dd if=/dev/zero of="$mnt/f" bs=1k count=1 conv=fsync
lose_server
before=$(number restarts)
kill -KILL "$(worker_pid "$img")"
wait_for 60 later "$before" || exit 99
check "nor does the one after it, the store being away" mode fenced
status 1 "not even in the file" $LIMIT dd if=/dev/zero of="$mnt/g" bs=1k count=1 conv=fsync
$LIMIT umount -l "$mnt"
restart_server
check "the other host's log is whole" verified "$SRV_URL/one"

# ---- the fallback file is put back as it was earlier, while there is no worker ----
img=$T_DIR/older.img
mkdir "$T_DIR/fb2"
volume "$img" ext4 4096 "$SRV_URL/two" "fallback=$T_DIR/fb2,fallback_size=48" || exit 99
check "serve" serve "$img"
check "mount" mount_served "$img" "$mnt"
put_file "$mnt/online"
file=$(echo "$T_DIR"/fb2/*.rjfallback)
cp --sparse=always "$file" "$T_DIR/earlier"
lose_server
check "acknowledged from the file" put_file "$mnt/degraded"
check "degraded" mode degraded
supervisor=$(daemon_pid "$img") worker=$(worker_pid "$img")
kill -STOP "$supervisor"
kill -KILL "$worker"
wait_for 60 gone "$worker" || exit 99
mv "$file" "$T_DIR/newest"
mv "$T_DIR/earlier" "$file"
kill -CONT "$supervisor"
check "the next worker does not go on in it" wait_for 30 mode waiting
like "and says why" "$($LIMIT "$RJCTL" status "$img")" 'segments up to .* not there any more'
mv "$T_DIR/newest" "$file"
wait_for 60 mode degraded || { not_ok "only in the newest one"; exit 1; }
ok "only in the newest one"
check "which takes more" put_file "$mnt/more"
restart_server
check "and all of it is shipped" wait_for 60 mode online
check "the log is whole" verified "$SRV_URL/two"
