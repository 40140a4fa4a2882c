#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjbackup follow and fold: the log is applied to a base in place. Killed at any write, also
# under load, the base is restored to each marker from then on, and the next run goes on.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"
history_conf ""
seed=${RJ_SEED:-$((RANDOM * 32768 + RANDOM))}
note "RJ_SEED=$seed"
export RJ_STATE=$T_DIR/state
fold() { timeout 120 "$RJBACKUP" fold --base=base.img "$@"; }
follow() { timeout 120 "$RJBACKUP" follow --base=base.img "$@"; }
ops() { "$WORK" ops mnt $((seed + $1)) "$2" >/dev/null; }
whole() { "$RJBACKUP" ls base.img | sed -n 's/.*earliest: .*segment \([0-9]*\).*/\1/p'; }
sound_at() { rm -f r.img; timeout 120 "$RJBACKUP" restore --verify=full --at="$1" --base=base.img -o r.img; }
journal() { dumpe2fs -h v.img 2>/dev/null | awk '/^Journal UUID/ {print $3}'; }

# ---- fold ----
for kind in "ext4 4096" "ext3 1024"; do
	rm -f ./*.img
	check "$kind: a volume" history_volume $kind journal ""
	ops 1 300
	status 0 "$kind: a base" "$RJBACKUP" base -o base.img mnt
	for m in 1 2 3; do
		ops $((m + 1)) 300
		check "$kind: marker $m" mark $m
		((m != 2)) || check "$kind: ... with a name" "$RJ_BUILD/rjctl/rjctl" mark -q second mnt
	done
	cp --sparse=always base.img was.img
	status 0 "$kind: fold -n" fold -n
	like "$kind: ... says to what" "$OUT" "^base.img: would be whole as of 2.*, segment [0-9]+, [1-9]"
	check "$kind: ... and changes nothing" cmp base.img was.img
	status 1 "$kind: fold to before the base" fold --until=@1000000000
	like "$kind: ... is refused" "$OUT" "^rjbackup: base.img: is whole at segment [0-9]+, as of .*2[0-9:. -]+Z, which is later than --until"
	check "$kind: ... and the base is whole where it was" test "$(whole)" -lt "$(cat 1.segment)"
	status 0 "$kind: fold to marker 1" fold --until="$(cat 1.time)"
	like "... as of a time" "$OUT" "^base.img: whole as of 2[0-9-]+ [0-9:.]+Z, segment [0-9]+"
	place=$(whole)
	status 1 "$kind: to before that, with nothing to apply" fold --until=@1000000000
	like "$kind: ... is refused too" "$OUT" "is whole at segment $place, as of 2[0-9-]+ [0-9:.]+Z, which is later than --until"
	status 1 "$kind: to a segment before" fold --until="segment:$((place - 1))"
	status 1 "$kind: to a segment that is not there yet" fold --until=segment:99999999
	is "$kind: ... nothing is changed" "$(whole)" "$place"
	# up to the first segment that completes a later commit
	check "$kind: ... the base is whole there" test "$(whole)" -ge "$(cat 1.segment)"
	check "$kind: ... and not later" test "$(whole)" -lt "$(cat 2.segment)"
	for m in 1 2; do
		check "$kind: ... and marker $m is restored" restored "$(cat $m.time)" $m
	done
	status 0 "$kind: fold to a named mark" fold --until=mark:second
	check "$kind: ... the base is whole there" test "$(whole)" -ge "$(cat 2.segment)" -a "$(whole)" -lt "$(cat 3.segment)"
	check "$kind: ... and marker 2 is restored" restored "segment:$(whole)" 2
	status 8 "$kind: fold to a mark that is not there" fold --until=mark:none
	check "$kind: ... it is no volume" not "$RJ_BUILD/rjrecover/rjrecover" -p base.img
	status 0 "$kind: fold, to the end" fold --json
	like "$kind: ... as JSON" "$OUT" "\"segment\":[0-9]+,.*\"behind_segments\":0"
	check "$kind: ... the base is whole there" test "$(whole)" -ge "$(cat 3.segment)"
	check "$kind: ... and marker 3 is restored" restored latest 3
	rm -f r.img
	status 1 "$kind: marker 2 is too early now" "$RJBACKUP" restore --at="$(cat 2.time)" --base=base.img -o r.img
	ops 5 300
	check "$kind: marker 4" mark 4
	fsfreeze -f mnt && fsfreeze -u mnt
	status 0 "$kind: fold over a freeze" fold
	ops 6 300
	check "$kind: marker 5" mark 5
	check "$kind: ... is restored" restored "segment:$(cat 5.segment)" 5
	[ "$kind" = "ext3 1024" ] || history_umount || exit 99
done

# ---- killed at each write ----
# each_cut MARKER STEP: follow from was.img, cut at each STEPth of the calls in list, leaves a base
# from which MARKER is restored, and ends as in good.img when it is run again
each_cut() {
	local call n rc bad=0 at=0 cuts=0
	while read -r call n; do
		at=$((at + 1))
		((at % $2)) && continue
		cp --sparse=always was.img base.img
		cut_at "$call" "$n" "$RJBACKUP" follow --once --base=base.img
		rc=$?
		((rc)) || continue # other threads took a few of its requests: there is no such call
		cuts=$((cuts + 1))
		((rc == 137)) || { note "cut $at, $call: status $rc" "$(<out)"; bad=$((bad + 1)); continue; }
		# what it left is a base, from which the marker is restored, and its first moment
		((at % 7)) || { restored latest "$1" && sound_at "segment:$(whole)"; } >out 2>&1 ||
			{ note "cut $at, $call" "$(<out)"; bad=$((bad + 1)); }
		follow --once >out 2>&1 && cmp base.img good.img ||
			{ note "cut $at, $call" "$(<out)"; bad=$((bad + 1)); }
	done <list
	is "each of $cuts cuts ends in the same base" $bad 0
	check "... and there were enough of them" test $cuts -gt 10
}
no_wrapper
calls=pwrite64,pwritev,pwritev2,io_uring_enter,fsync,fdatasync,ftruncate
cuts() {
	ops 7 40
	check "a marker" mark 5
	check "no commit comes while it is cut" freeze_daemon "$DPID"
	cp --sparse=always base.img was.img
	status 0 "a run without a cut" follow --once
	cp --sparse=always base.img good.img
	check "... restored" restored latest 5
	cp --sparse=always was.img base.img
	check "its writes" list "$RJBACKUP" follow --once --base=base.img
	each_cut 5 1
	thaw_daemon "$DPID"
}
if ! strace -o trace -e trace=none true 2>/dev/null; then
	skip "cuts" "no strace, or no ptrace here"
else
	status 0 "fold" fold
	cuts
	if may_grow; then
		check "the volume is grown" grown 60
		cuts
		check "... the base is as large" test "$(stat -c %s base.img)" = "$(stat -c %s v.img)"
	else
		skip "cuts of a volume that is grown" "it takes CAP_SYS_RESOURCE"
	fi
fi

# ---- under load, killed at any time ----
killed=0
for i in 1 2 3 4 5 6; do
	ops $((10 + i)) 1500 &
	load=$!
	"$RJBACKUP" follow --base=base.img >follow.out 2>&1 &
	pid=$!
	sleep "$((RANDOM % 3)).$((RANDOM % 900 + 100))"
	kill -9 "$pid" && killed=$((killed + 1))
	wait "$pid" 2>/dev/null
	wait "$load"
	check "killed under load, $i: a marker" mark "load$i"
	((i % 2)) || check "killed under load, $i: is restored" restored "segment:$(cat "load$i.segment")" "load$i"
done
is "it was killed each time" $killed 6
"$RJBACKUP" follow --metrics=m.prom --json --base=base.img >follow.out 2>&1 &
pid=$!
kill_at_end $pid
reached() {
	local at; at=$(sed -n 's/.*"segment":\([0-9]*\),.*"behind_segments":0.*/\1/p' follow.out | tail -n 1)
	[ "${at:-0}" -ge "$(cat "$1.segment")" ]
}
check "it catches up" wait_for 60 reached load6
ops 20 300
check "a marker" mark later
check "it follows" wait_for 60 reached later
check "... and lets a reader have the base" restored latest later
check "its metrics" wait_for 60 grep -qx "rjbackup_follow_behind_segments{base=\"base.img\"} 0" m.prom
is "... have all of them" "$(grep -c "^rjbackup_follow_[a-z_]*{base=\"base.img\"} [0-9.]*$" m.prom)" 7
kill -TERM $pid; wait $pid
is "SIGTERM ends it with success" $? 0
check "... the base is whole there" test "$(whole)" -ge "$(cat later.segment)"
"$RJBACKUP" follow --base=base.img >follow.out 2>&1 &
pid=$!
kill_at_end $pid
check "where nothing is written it says that it waits" \
	wait_for 60 grep -qx "base.img: waiting for the log to go on" follow.out
kill -TERM $pid; wait $pid
like "... once" "$(grep -c waiting follow.out)" "^1$"
unit=$RJ_BUILD/contrib/systemd/rjbackup-follow@.service
like "the unit follows the base that is its instance" "$(grep ^ExecStart= "$unit")" "rjbackup follow .*--base=%f$"

# ---- a delay ----
ops 21 300; mark soon
status 0 "with a delay of an hour" follow --once --delay=1h
check "... nothing is applied" restored "$(cat later.time)" later
rm -f r.img
like "... and it is told" "$OUT" "; behind: [0-9.]+ s, [1-9][0-9]* segments, [1-9][0-9]* bytes"
sleep 2.2
ops 22 300; mark sooner
status 0 "with a delay of 2 seconds" follow --once --delay=2 --json
commit=$(sed -n 's/.*"commit_ns":\([0-9]*\),.*/\1/p' <<<"$OUT")
check "... no younger commit is in it" test "$commit" -le $(($(date +%s%N) - 2000000000))
check "... and the marker of before is" test "$(whole)" -ge "$(cat soon.segment)"
check "... the later one is restored" restored latest sooner

# ---- holds ----
AT=$(grep -ao "rj://127.0.0.1:$SRV_PORT/[a-zA-Z0-9-]*" v.img | head -n 1)
holds() { curl -sf "http${AT#rj}/$(journal)/hold/" | wc -l; }
rm base.img
status 0 "a base with a hold" "$RJBACKUP" base --hold=1d -o base.img mnt
ops 23 300; mark held
status 0 "follow with a hold" follow --once --hold=1h
like "... which it tells" "$OUT" "^  hold [0-9]+ keeps the log from segment [0-9]+ on until 2[0-9 Z:-]+$"
is "... there is another one" "$(holds)" 2
check "... for rjctl the one that lasts longer counts" jq -e '.hold_until - .hold_made == 86400' "$(note_of)"
line=$("$RJBACKUP" ls "$AT" | grep "of rjbackup-follow")
like "... of the place where the base is" "$line" "hold [0-9]+ of rjbackup-follow-[0-9a-f]{16}-[0-9a-f]{8} at .*from segment [0-9]+ on"
name=$(sed 's/.* of \(rjbackup-follow-[0-9a-f-]*\) at.*/\1/' <<<"$line")
drop_hold() {
	"$RJBACKUP" expire --hold="$("$RJBACKUP" ls "$AT" | sed -n 's/.*hold \([0-9]*\) of rjbackup-follow.*/\1/p')" "$AT" >/dev/null
}
status 0 "again, within a minute" follow --once --hold=1h
is "... no other hold is put" "$(holds)" 2
drop_hold
two_holds() { [ "$(holds)" = 2 ]; }
if strace -o trace -e trace=none true 2>/dev/null; then
	traced -e inject=flock:error=EAGAIN:when=2+ "$RJBACKUP" follow --once --hold=1h --base=base.img
	is "a reader has the base" $? 8
	check "... the base gets its hold" two_holds
	drop_hold
	for n in 27 28 29 30 31 32 33 34; do ops $n 20; sync -f mnt; done
	ASAN_OPTIONS=detect_leaks=0 strace -q -o trace -e inject=fsync:delay_enter=8000000 \
		"$RJBACKUP" follow --once --hold=1h --base=base.img >out 2>&1 &
	pid=$!
	check "in a long pass it gets a hold" wait_for 60 two_holds
	check "... before that ends" pkill -KILL -P $pid
	wait $pid
	drop_hold
else
	skip "a hold while the base is in use, and in a long pass" "no strace, or no ptrace here"
fi
printf 'rj-hold 1\nhold 5\njournal %s\nfirst 1\nhost h\nprogram %s\ntime 2026-01-31T23:59:59Z\nuntil 2036-01-31T23:59:59Z\n' \
	"$(journal)" "$name" >hold.text
check "an older hold of this base" curl -sf -T hold.text "http${AT#rj}/$(journal)/hold/00000000000000000005"
ops 24 300; mark held
status 0 "fold with a hold" fold --hold=1h
OUT=$("$RJBACKUP" ls "$AT")
is "... has removed it, and has one" "$(grep -c "of rjbackup-follow" <<<"$OUT")" 1
check "... a new one" not grep -q "hold 5 of" <<<"$OUT"
like "... the base's first hold stays" "$OUT" "of rjbackup at"
check "the marker is restored" restored latest held
# two standbys with one path, on hosts of one name
follow_at() { # DIR: its base, seen as at/base.img
	elsewhere bash -c 'mount --bind "$1" at && exec timeout 120 "${@:2}"' - "$1" \
		"$RJBACKUP" follow --once --hold=1h --base=at/base.img
}
mkdir -p at one two
for d in one two; do
	status 0 "standby $d" "$RJBACKUP" base -o $d/base.img mnt
done
status 0 "... one follows with a hold" follow_at one
line=$("$RJBACKUP" ls "$AT" | grep "of rjbackup-follow" | grep -v " $name at")
other=$(sed 's/.*hold \([0-9]*\) of.*/\1/' <<<"$line")
key=hold/$(printf %020d "$other")
curl -sf "http${AT#rj}/$(journal)/$key" | sed 's/^time .*/time 2026-01-31T23:59:59Z/' >hold.text
curl -sf -X DELETE "http${AT#rj}/$(journal)/$key"
check "... which is older by a minute" curl -sf -T hold.text "http${AT#rj}/$(journal)/$key"
ops 26 300; mark held
status 0 "... two follows with a hold" follow_at two
OUT=$("$RJBACKUP" ls "$AT")
like "... and that of one stays" "$OUT" "hold $other of rjbackup-follow"
is "... beside that of two and of the first base" "$(grep -c "of rjbackup-follow" <<<"$OUT")" 3

# ---- what is refused ----
flock -x base.img sleep 60 &
locker=$!
check "a base in use" wait_for 60 not flock -n -s base.img true
status 8 "it is not followed" follow --once
like "... why" "$OUT" "^rjbackup: base.img: another rjbackup uses this base: try again"
pkill -P "$locker"; kill_pid "$locker"
status 16 "a volume is no base" "$RJBACKUP" fold --base=v.img
cp base.img kept.img
check "unmounted, and the journal is served still" umount mnt
status 0 "it is followed to there" follow --once
check "mounted again" mount -i -t ext4 -o "loop,journal_path=$LOOP,data=journal" v.img mnt
ops 25 100; sync -f mnt
status 1 "a new run knows that it was unmounted" follow --once
like "... and says so" "$OUT" "unmounted|later transaction"
check "... and the base is whole before that" restored "segment:$(whole)" held
cp kept.img base.img
check "the host stops" crash "$T_DIR/v.img" mnt c.img
check "... and is recovered" "$RJ_BUILD/rjrecover/rjrecover" -q -p c.img
status 1 "the history ends" follow
like "... why" "$OUT" "rjbackup: .*the history of this base ends at segment [0-9]+: "
like "... where the base is" "$OUT" "base.img: whole as of 2.*, segment [0-9]+"
is "follow says so as often as it is asked" "$(follow --json --once 2>/dev/null | grep -c '"break_segment":')" 1
check "... the last marker is there" restored "segment:$(whole)" held

# ---- over unmounts ----
kill_daemons_at_end "$T_DIR/v.img"
rm -f ./*.img
check "a volume" history_volume ext4 4096 journal ""
check "... unmounted" history_umount
check "... mounted as type rj" rj_mount
status 0 "a base" "$RJBACKUP" base -o base.img mnt
cp --sparse=always base.img was.img
for i in 1 2 3; do
	ops $((30 + i)) 200
	((i != 2)) || { fsfreeze -f mnt && fsfreeze -u mnt; }
	check "unmounted, $i" rj_umount
	((i == 1)) || status 0 "it is followed to there, $i" follow --once
	check "mounted again, $i" rj_mount
	((i == 2)) || status 0 "it is followed to there again, $i" follow --once
	ops $((40 + i)) 200
	check "a marker" mark "over$i"
	status 0 "it is followed over that, $i" follow --once
	check "... and whole there" test "$(whole)" -ge "$(cat "over$i.segment")"
	check "... and the marker is restored" restored latest "over$i"
done
check "unmounted" rj_umount
if strace -o trace -e trace=none true 2>/dev/null; then
	cp --sparse=always was.img base.img
	status 0 "all of it in one run" follow --once
	cp --sparse=always base.img good.img
	cp --sparse=always was.img base.img
	check "its writes" list "$RJBACKUP" follow --once --base=base.img
	each_cut over3 $((${RJ_LONG:-0} ? 1 : 6))
else
	skip "cuts" "no strace, or no ptrace here"
fi

# ---- a mount that is under way: its note comes with the first write after it ----
# once less than the journal, and once more, so that its tail moves
for bytes in 1 8M; do
	rm -f ./*.img
	check "a volume" history_volume ext4 4096 journal ""
	check "... unmounted" history_umount
	check "... mounted as type rj" rj_mount
	status 0 "a base" "$RJBACKUP" base -o base.img mnt
	: >follow.err
	"$RJBACKUP" follow --json --base=base.img >follow.out 2>follow.err &
	pid=$!
	kill_at_end $pid
	cat >during <<-EOF
		head -c $bytes /dev/urandom >$T_DIR/mnt/early && sync -f $T_DIR/mnt
		for ((i = 0; i < 600; i++)); do
			grep -q "the log does not say yet" $T_DIR/follow.err && break
			sleep 0.1
		done
		true
	EOF
	check "mounted again, $bytes written at once" with_mount "" ". $T_DIR/during"
	check "... follow waits for that mount's note" \
		grep -q "was mounted again, and the log does not say yet that this was by mount.rj" follow.err
	rm mnt/early
	check "... a marker" mark early
	check "... and goes on" wait_for 120 reached early
	kill -TERM $pid; wait $pid
	is "... until it is ended" $? 0
	check "... the marker is restored" restored latest early
	check "unmounted" rj_umount
done

# ---- a mount by hand leaves the note of the unmount before it where it is ----
needs() { "$RJBACKUP" ls --json base.img | tr -d ' \n' | sed 's/.*"needs":\([0-9]*\).*/\1/'; }
check "mounted by hand" history_mount journal
rm -f base.img
status 0 "a base of that mount" "$RJBACKUP" base -o base.img mnt
before=$(needs)
ops 50 300
# twice the journal, so that its tail moves
head -c 8M /dev/urandom >mnt/tail
check "a marker" mark hand
status 0 "it is followed" follow --once
check "... and needs nothing of the log that is older" test "$(needs)" -gt "$before"
check "... and the marker is restored" restored latest hand
check "unmounted" history_umount
exit 0
