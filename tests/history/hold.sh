#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Holds with a real server and the real kernel: without "retain" a base with a hold can be
# restored while rjournald and rjlog prune delete what no replay needs; without the hold,
# or when it has expired, it cannot. One that cannot be read stops them.
. "$RJ_SRC/tests/history/run.sh" || exit 99
RJLOG=$RJ_BUILD/rjlog/rjlog RJCTL=$RJ_BUILD/rjctl/rjctl
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"
history_conf ""
sed -i '/^retain/d' "$RJ_CONF"

journal() { dumpe2fs -h v.img 2>/dev/null | awk '/^Journal UUID/ {print $3}'; }
# first_data: the number of the first segment that holds blocks
first_data() {
	curl -sf "http${AT#rj}/$(journal)/log/" | awk '$2 > 320 {print $1 + 0; exit}'
}
trimmed_to() { [ "$(first_data)" -ge "$1" ]; }
holds() { curl -sf "http${AT#rj}/$(journal)/hold/" | wc -l; }
# text NUMBER FIRST UNTIL: of a hold, into hold.text
text() {
	printf 'rj-hold 1\nhold %s\njournal %s\nfirst %s\nhost h\nprogram test\ntime 2026-01-31T23:59:59Z\nuntil %s\n' \
		"$1" "$(journal)" "$2" "$3" >hold.text
}
# place NUMBER: hold.text as that object
place() { curl -sf -T hold.text "http${AT#rj}/$(journal)/hold/$(printf %020d "$1")"; }
ops() { "$WORK" ops mnt "$1" 300 >/dev/null; }

check "a volume with data=journal, whose log is not kept" history_volume ext4 4096 journal ""
AT=$(grep -ao "rj://127.0.0.1:$SRV_PORT/[a-zA-Z0-9-]*" v.img | head -n 1)
ops 1
sync -f mnt
status 1 "a base without a hold is refused" "$RJBACKUP" base -o base.img mnt
like "... and what to do" "$OUT" "give --hold=TIME, or set \"retain\""
not timeout 120 "$RJBACKUP" base --hold=1h -o none/base.img mnt 2>/dev/null
is "a base that cannot be made makes no hold" "$(holds)" 0
for time in 7 3600 59s 0d d 1w; do
	status 16 "--hold=$time" "$RJBACKUP" base --hold=$time -o base.img mnt
	like "... is told" "$OUT" "--hold wants a time with its unit, such as 30d .d, h, m or s., of at least a minute: $time"
done
# the flush of the base waits for the worker, and somebody removes the hold
one_hold() { [ "$(holds)" = 1 ]; }
kill -STOP "$(worker_pid "$T_DIR/v.img")"
(wait_for 60 one_hold
"$RJBACKUP" expire --hold="$("$RJBACKUP" ls --json "$AT" | jq '.logs[0].holds[0].hold')" "$AT"
kill -CONT "$(worker_pid "$T_DIR/v.img")") >/dev/null &
status 1 "a base that loses its hold" timeout 120 "$RJBACKUP" base --hold=1m -o base.img mnt
like "... says so" "$OUT" "hold [0-9]* expired or was removed while the base was made"
check "... and leaves no base" not test -e base.img
is "... and no hold" "$(holds)" 0
"$RJBACKUP" base --hold=1h --rate=1 -o base.img mnt >stop.out 2>&1 &
pid=$!
kill_at_end $pid
check "a base that takes long" wait_for 60 one_hold
kill -TERM $pid
wait $pid
is "... is stopped by SIGTERM" $? 8
like "... and says so" "$(cat stop.out)" "^rjbackup: .*stopped"
check "... and leaves no base" not test -e base.img
is "... and no hold" "$(holds)" 0
# killed at any time: what is left is told as that
kill -STOP "$(worker_pid "$T_DIR/v.img")"
"$RJBACKUP" base --hold=1h -o killed.img mnt >/dev/null 2>&1 &
pid=$!
check "a base waits for its first commit" wait_for 60 one_hold
kill -KILL $pid
kill -CONT "$(worker_pid "$T_DIR/v.img")"
wait $pid 2>/dev/null
status 16 "killed by then, it has left a file" "$RJBACKUP" ls killed.img
like "... which has to be removed" "$OUT" "killed.img: .*rjbackup was stopped while it made this file: remove it"
status 8 "no other base is made there" timeout 120 "$RJBACKUP" base --hold=1h -o killed.img mnt
like "... for that reason" "$OUT" "File exists; rjbackup was stopped while it made that: remove it"
"$RJBACKUP" expire --hold="$("$RJBACKUP" ls --json "$AT" | jq '.logs[0].holds[0].hold')" "$AT" >/dev/null
is "... and its hold, which expire --hold removes" "$(holds)" 0
status 0 "a base with a hold" timeout 120 "$RJBACKUP" base --hold=1h -o base.img mnt
like "... which it names" "$OUT" "hold [0-9]+ keeps the log from segment [0-9]+ on until"
hold=$(sed -n 's/^hold \([0-9]*\) keeps.*/\1/p' <<<"$OUT")
from=$(sed -n 's/.*from segment \([0-9]*\) on.*/\1/p' <<<"$OUT")
ops 2; mark first; ops 3; ops 4; sync -f mnt
check "rjournald deletes what is below the hold" wait_for 60 trimmed_to "$from"
held() { "$RJ_BUILD/rjctl/rjctl" status --json mnt | grep -q "\"hold\":{\"number\":$hold,\"first\":$from,\"segments\":[1-9]"; }
check "rjctl status knows the hold" wait_for 60 held
like "... and says so" "$("$RJ_BUILD/rjctl/rjctl" status mnt)" "  hold          $hold of rjbackup at [^ ]* keeps [1-9][0-9]* segments that no replay needs, until 2"
base_is() { # STATUS TEXT: what rjctl status and rjctl check say of the base
	like "rjctl status: $2" "$("$RJCTL" status mnt)" "^  base          $T_DIR/base.img of 2.*: $2$"
	status "$1" "... rjctl check" "$RJCTL" check mnt
}
note_is() { jq "$1" "$(note_of)" >note.new && cp note.new "$(note_of)"; }
base_is 0 "its log is kept until 2[0-9: -]+Z"
check "50 minutes later" note_is '.hold_until -= 3000 | .hold_made -= 3000'
base_is 1 "its log is kept until 2[0-9: -]+Z only: make a new base"
check "100 minutes later" note_is '.hold_until -= 3000 | .hold_made -= 3000'
base_is 1 "its log was kept until 2[0-9: -]+Z, and may be gone: make a new base"
echo "retain = 2d" >>"$RJ_CONF"
base_is 0 "its log is kept until 2[0-9: -]+Z"
sed -i '/^retain/d' "$RJ_CONF"
check "at the time of the base" note_is '.hold_until += 6000 | .hold_made += 6000'
like "... as a metric" "$("$RJCTL" metrics mnt)" "^rjbackup_base_kept_until_timestamp_seconds\{.*\} [0-9]{10}$"
status 0 "rjlog prune too" "$RJLOG" prune "$AT"
like "... and says what it keeps" "$OUT" "; hold $hold keeps what is from segment $from on"
is "... from there on" "$(first_data)" "$from"
check "a moment after the base" restored "$(cat first.time)" first
status 0 "rjbackup ls lists it" "$RJBACKUP" ls "$AT"
like "... with its bytes" "$OUT" "  hold $hold of rjbackup at .*, until 2.*: from segment $from on, [1-9][0-9]* bytes"
OUT=$("$RJBACKUP" ls --json "$AT")
like "... and as JSON" "$(tr -d '\n ' <<<"$OUT")" "\"holds\":\[\{\"hold\":$hold,\"first\":$from,\"bytes\":[1-9]"
like "rjlog ls shows it too" "$("$RJLOG" ls "$AT")" "  hold $hold of rjbackup"
like "what a replay needs is told" "$("$RJBACKUP" ls "$AT")" "  a replay needs it from segment [0-9]+ on, [0-9]+ bytes"
like "... and how it grew" "$("$RJBACKUP" ls "$AT")" "  it grew by [1-9][0-9.]* [KM]iB in [0-9]+ s"
like "... also as JSON" "$("$RJBACKUP" ls --json "$AT" | tr -d '\n ')" \
	'"replay":\{"first":[0-9]+,"bytes":[0-9]+\},"a_day":\{"seconds":[0-9]+,"bytes":[1-9]'
status 0 "ls of the base" "$RJBACKUP" ls base.img
like "... says what keeps it" "$OUT" "  kept by hold $hold of rjbackup at .*, until 2"
like "... and how it grew" "$OUT" "  it grew by [1-9][0-9.]* [KM]iB in"
like "... also as JSON" "$("$RJBACKUP" ls --json base.img | tr -d '\n ')" "\"needs\":$from,\"held_by\":\[$hold\]"
status 0 "base -n" "$RJBACKUP" base -n --hold=30d -o none.img mnt
like "... tells the cost before" "$OUT" "  what it would cost to keep it for 30.0 days is not known before the log is an hour old"
is "... and puts no hold" "$(holds)" 1
echo "retain = 2d" >>"$RJ_CONF"
like "retain is told" "$("$RJBACKUP" ls "$AT")" "  retain of this host's rj.conf, 2.0 days, keeps it from segment [0-9]+ on, [1-9][0-9]* bytes more"
like "... of the base too" "$("$RJBACKUP" ls base.img)" "  kept by retain of this host's rj.conf until 2"
sed -i '/^retain/d' "$RJ_CONF"
status 8 "a base that fails" timeout 120 "$RJBACKUP" base --hold=1h -o base.img mnt
is "... leaves no hold" "$(holds)" 1
status 0 "no hold has expired" "$RJBACKUP" expire "$AT"
like "... it says" "$OUT" "no hold has expired, and no mark is gone"
is "... and all stay" "$(holds)" 1

# ---- expired, and others ----
text 7 1 2026-02-01T00:00:00Z
check "a hold that has expired" place 7
status 0 "... is passed over" "$RJLOG" prune "$AT"
like "... for the other" "$OUT" "; hold $hold keeps"
status 16 "an empty --hold= names no hold" "$RJBACKUP" expire --hold= "$AT"
status 0 "expire -n" "$RJBACKUP" expire -n "$AT"
like "... says which" "$OUT" "hold 7 of test at h, until .*expired.*: would be removed"
is "... and removes none" "$(holds)" 2
status 0 "expire" "$RJBACKUP" expire "$AT"
is "... removes that one" "$(holds)" 1
stop_server
check "the server is started again" start_server "$T_DIR/srv" "$SRV_PORT"
is "the hold is still there" "$(holds)" 1
check "the marker is still there" restored "$(cat first.time)" first

# ---- without it ----
echo "of a later version" >hold.text
check "a hold that cannot be read" place 8
status 0 "the hold of the base is removed" "$RJBACKUP" expire --hold="$hold" "$AT"
like "... which is told for which base" "$OUT" \
	": removed; it was for the base $T_DIR/base.img, which only retain or an older hold keeps now$"
base_is 1 "neither a hold nor retain keeps its log: make a new base, with --hold"
like "the base is kept by nothing now" "$("$RJBACKUP" ls base.img)" "kept by no hold, nor by retain.*from segment $from on, may be deleted"
ops 5; sync -f mnt
status 4 "the other stops rjlog prune" "$RJLOG" prune "$AT"
like "... which says so" "$OUT" "hold 8 cannot be read.*rjbackup expire --hold=8 removes it"
is "... and nothing went" "$(first_data)" "$from"
like "rjbackup ls shows it" "$("$RJBACKUP" ls "$AT")" "hold 8: cannot be read"
status 0 "expire leaves it" "$RJBACKUP" expire "$AT"
is "... there" "$(holds)" 1
check "so the marker is still there" restored "$(cat first.time)" first
kill -STOP "$(worker_pid "$T_DIR/v.img")"
status 0 "expire --hold removes it" "$RJBACKUP" expire --hold=8 "$AT"
status 8 "once" "$RJBACKUP" expire --hold=8 "$AT"
like "... it says" "$OUT" "there is no hold 8"
# rjbackup ls stops before its request for the oldest segment with blocks, which is deleted then
no_wrapper
if traced -s 300 -e trace=sendmsg "$RJBACKUP" ls "$AT"; then
	n=$(grep -n "log/$(printf %020d "$(first_data)") " trace | sed -n '1s/:.*//p')
	traced -e trace=sendmsg -e "inject=sendmsg:signal=STOP:when=$((n - 1))" "$RJBACKUP" ls "$AT" &
	ls=$!
	check "rjbackup ls is stopped" wait_for 60 grep -q SIGSTOP trace
	status 0 "... the log is trimmed" "$RJLOG" prune "$AT"
	pkill -CONT -P "$(pgrep -P $ls strace)"
	wait $ls
	is "... rjbackup ls lists what is left" "$?" 0
else
	skip "rjbackup ls while the log is trimmed" "no ptrace here"
fi
kill -CONT "$(worker_pid "$T_DIR/v.img")"
check "rjournald deletes more" wait_for 60 trimmed_to $((from + 1))
rm -f r.img
status 4 "the base cannot be restored" "$RJBACKUP" restore --base=base.img -o r.img
like "... and why, and what to do" "$OUT" "this base cannot be used any more: make a new one with --hold=TIME"
status 16 "ls of a URL takes no key" "$RJBACKUP" ls --key none "$AT"
mkdir -p empty two/{00000000-0000-0000-0000-000000000001,00000000-0000-0000-0000-000000000002}/log
status 0 "a store without a log" "$RJBACKUP" ls "file://$T_DIR/empty"
like "... is told" "$OUT" "there is no log"
touch two/00000000-0000-0000-0000-000000000001/hold
mkdir two/00000000-0000-0000-0000-000000000002/hold
sed "s/^hold .*/hold 3/; s/^journal .*/journal 00000000-0000-0000-0000-000000000002/" hold.text >two/00000000-0000-0000-0000-000000000002/hold/00000000000000000003
not "$RJBACKUP" expire --hold=3 "file://$T_DIR/two" 2>/dev/null
check "a log that fails does not keep expire from the next" not test -e two/00000000-0000-0000-0000-000000000002/hold/00000000000000000003
check "unmounted" history_umount
exit 0
