#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjctl status and metrics: what they say against what the store holds, while
# it answers and while it does not; the page of --metrics, and who may ask it.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/rjournald/daemon.sh"
command -v jq >/dev/null || skip_all "needs jq"
export no_proxy='*'

img=$T_DIR/img mnt=$T_DIR/mnt sock=$T_DIR/metrics.sock
RJLOG=$RJ_BUILD/rjlog/rjlog
json() { $LIMIT "$RJCTL" status --json "$img" | jq -r "$1"; }
metric() { awk -v m="rjournald_$1" 'index($0, m "{") == 1 || index($0, m " ") == 1 {print $NF}' "$T_DIR/page"; }
page() { curl -sf -m 120 --unix-socket "$sock" http://localhost/metrics >"$T_DIR/page"; }

status 2 "--metrics of another machine" "$RJOURNALD" --metrics=0.0.0.0:9100 "$img"
like "is refused" "$OUT" '--metrics takes none, a path or 127.0.0.1:PORT, not 0.0.0.0:9100'
status 2 "--metrics without a port" "$RJOURNALD" --metrics=localhost "$img"

check "a server" start_server "$T_DIR/srv"
check "a volume" volume "$img" ext4 1024 "$SRV_URL/vol"
mkdir "$T_DIR/floors" && RJ_CREDENTIALS+=$'\n'"[*]"$'\n'"floor = file://$T_DIR/floors"
check "served, with metrics" serve "$img" --metrics="$sock"
FIRST=$(json .acknowledged)
FSTYPE=ext4 check "mounted" mount_served "$img" "$mnt" data=journal
write() { local i; for i in {1..15}; do put_file "$mnt/$1.$i" 5 || return 1; done; }
check "15 files, each fsynced" write a
UUID=$(dumpe2fs -h "$img" 2>/dev/null | awk '/^Journal UUID/ {print $3}')
puts() { $LIMIT "$RJCTL" flush -q "$img" && json .puts; }
# look: the log, status and the page, and nothing was put from before the first to
# after the last: the kernel commits on its own, too
look() {
	local before; before=$(puts)
	"$RJLOG" ls --json "$SRV_URL/vol/$UUID" >"$T_DIR/log" &&
		json . >"$T_DIR/status" && page && [ "$(puts)" = "$before" ]
}
check "log, status and page of one moment" wait_for 60 look

# ---- against the log ----
is "the mode" "$(jq -r .mode "$T_DIR/status")" online
is "the last segment is that of the log" "$(jq .acknowledged "$T_DIR/status")" "$(jq '.segments[-1].segment' "$T_DIR/log")"
is "the last transaction is that of the log" "$(jq .remote_tid "$T_DIR/status")" \
	"$(jq '[.segments[].last_tid // 0] | max' "$T_DIR/log")"
is "so is the epoch" "$(jq .epoch "$T_DIR/status")" "$(jq '.segments[-1].epoch' "$T_DIR/log")"
is "each segment since the start was a put" "$(jq .puts "$T_DIR/status")" \
	"$(jq "[.segments[] | select(.segment > $FIRST)] | length" "$T_DIR/log")"
is "of as many bytes" "$(jq .put_bytes "$T_DIR/status")" \
	"$(jq "[.segments[] | select(.segment > $FIRST) | .bytes] | add" "$T_DIR/log")"
check "acknowledged not long ago" test $(($(date +%s) - $(jq .remote_time "$T_DIR/status"))) -lt 120
check "a put takes time, and p99 no less than the median" \
	jq -e '.put_p50_us > 0 and .put_p99_us >= .put_p50_us' "$T_DIR/status"
is "nothing lags" "$(jq -r '[.lag_seconds, .put_failures] | @csv' "$T_DIR/status")" "0,0"
like "in words" "$($LIMIT "$RJCTL" status "$img")" "^  round trip    [0-9.]+ ms median, [0-9.]+ ms p99 \([0-9]+ segments, 0 failures\)$"

# ---- the page ----
is "every line is a comment or a sample" \
	"$(grep -vcE '^# (HELP|TYPE) rjournald_[a-z0-9_]+ |^rjournald_[a-z0-9_]+\{([a-z]+="[^"]*",?)+\} [0-9.]+$' "$T_DIR/page")" 0
named() { sed -n 's/^# TYPE \(rjournald_[a-z0-9_]*\) .*/\1/p' "$T_DIR/page" | sort; }
is "each has a help, once" "$(sed -n 's/^# HELP \(rjournald_[a-z0-9_]*\) .*/\1/p' "$T_DIR/page" | sort)" "$(named)"
is "no name twice" "$(named | uniq -d)" ""
is "each is in rjournald(8), and no other is" \
	"$(sed -n 's/^\.B \(rjournald_[a-z0-9_]*[a-z0-9]\)$/\1/p' "$RJ_SRC/man/rjournald.8" | sort)" "$(named)"
is "it says what status says" \
	"$(metric acknowledged_segment) $(metric remote_tid) $(metric put_bytes_total) $(metric put_seconds_count)" \
	"$(jq -r '"\(.acknowledged) \(.remote_tid) \(.put_bytes) \(.puts)"' "$T_DIR/status")"
is "one mode is 1" "$(grep -c '^rjournald_mode{.*} 1$' "$T_DIR/page")" 1
like "that one" "$(cat "$T_DIR/page")" '^rjournald_mode\{volume="[0-9a-f-]{36}",mode="online"\} 1$'
is "rjctl metrics has the same names" "$($LIMIT "$RJCTL" metrics "$img" | sed -n 's/^# TYPE \([a-z0-9_]*\) .*/\1/p' | sort)" "$(named)"
is "only root may ask the socket" "$(stat -c %a "$sock")" 600
# one that connects and says nothing does not hold up others for long
timeout 60 curl -s --unix-socket "$sock" -T - http://localhost/ < <(sleep 50) >/dev/null 2>&1 &
slow=$!
start=$SECONDS
check "a slow client meanwhile: status answers" json .mode
check "soon" test $((SECONDS - start)) -lt 30
kill "$slow" 2>/dev/null; wait "$slow" 2>/dev/null

# ---- a store that does not answer ----
frozen() { [ "$(json '.lag_seconds >= 2 and .lag_bytes > 0')" = true ]; }
kill -STOP "$SRV_PID"
put_file "$mnt/late" 5 &
late=$!
check "frozen: the lag is seen" wait_for 60 frozen
kill -CONT "$SRV_PID"
wait "$late"
is "back: what waited is written" "$?" 0
$LIMIT "$RJCTL" flush -q "$img"
is "back: no lag" "$(json '[.mode, .lag_seconds] | @csv')" '"online",0'
check "the time that it took is in p99" test "$(json .put_p99_us)" -ge 1500000
check "and not in the median" test "$(json .put_p50_us)" -lt 1500000
check "unmounted" umount "$mnt"
$LIMIT "$RJCTL" stop -q "$img" 2>/dev/null

# ---- the store is lost, and gets what the fallback file holds ----
img3=$T_DIR/img3
now_is() { [ "$($LIMIT "$RJCTL" status --json "$img3" | jq -r .mode)" = "$1" ]; }
printf '[%s]\nloss_timeout = 1\n' "$SRV_URL" >"$RJ_CONF"; chmod 600 "$RJ_CONF"
check "a volume with a fallback file" volume "$img3" ext4 1024 "$SRV_URL/vol3" "fallback=$T_DIR/fb,fallback_size=48"
check "served" serve "$img3"
# no commit but by fsync
FSTYPE=ext4 check "mounted" mount_served "$img3" "$mnt" commit=3000,noatime
check "a file" put_file "$mnt/a"
before=$($LIMIT "$RJCTL" status --json "$img3" | jq .remote_tid)
kill_pid "$SRV_PID"
check "the store is lost: a file" put_file "$mnt/b"
check "and another" put_file "$mnt/c"
check "are in the fallback file" now_is degraded
is "the transaction at the store is the one before" "$($LIMIT "$RJCTL" status --json "$img3" | jq .remote_tid)" "$before"
back=$(date +%s)
check "the server is back" start_server "$T_DIR/srv" "$SRV_PORT"
check "and gets them" wait_for 60 now_is online
$LIMIT "$RJCTL" status --json "$img3" >"$T_DIR/status"
is "the last transaction is that of the log, with no new commit" "$(jq .remote_tid "$T_DIR/status")" \
	"$("$RJLOG" ls --json "$SRV_URL/vol3/$(jq -r .journal_uuid "$T_DIR/status")" | jq '[.segments[].last_tid // 0] | max')"
check "it is another one" test "$(jq .remote_tid "$T_DIR/status")" -gt "$before"
check "its time is that of the resync" test "$(jq .remote_time "$T_DIR/status")" -ge "$back"
check "unmounted" umount "$mnt"
$LIMIT "$RJCTL" stop -q "$img3" 2>/dev/null

# ---- by TCP; and an address that is taken ----
at() { $LIMIT "$RJCTL" status --json "$img2" | jq -r .metrics; }
tcp_page() { curl -sf -m 120 "http://127.0.0.1:$1/metrics" | grep -q '^rjournald_info{'; }
img2=$T_DIR/img2
while port=$((20000 + RANDOM % 10000)); (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
check "another volume" volume "$img2" ext4 1024 "$SRV_URL/vol2"
check "served, at a port" serve "$img2" --metrics="127.0.0.1:$port"
check "the page, by TCP" wait_for 30 tcp_page "$port"
check "stopped" $LIMIT "$RJCTL" stop -q "$img2"
check "served, though the address is taken" serve "$img2" --metrics="127.0.0.1:$SRV_PORT"
is "status names no metrics then" "$(at)" null
check "stopped" $LIMIT "$RJCTL" stop -q "$img2"

# ---- without the option: in the runtime directory ----
check "served, with the default" serve "$img2"
like "status names the address" "$($LIMIT "$RJCTL" status "$img2")" "^  metrics       $RJ_RUN/[0-9a-f-]{36}/metrics\$"
sock=$(at)
is "only root may ask there" "$(stat -c %a "$sock")" 600
check "the page is there" page
kill_pid "$(daemon_pid "$img2")"
check "killed, served again" serve "$img2"
check "the page is there again" page
check "stopped" $LIMIT "$RJCTL" stop -q "$img2"
check "nothing is left" wait_for 60 nothing_left "$img2"
check "served, --metrics=none" serve "$img2" --metrics=none
is "status names no metrics" "$(at)" null
is "there is no socket" "$(find "$RJ_RUN" -name metrics)" ""
check "stopped" $LIMIT "$RJCTL" stop -q "$img2"
exit 0
