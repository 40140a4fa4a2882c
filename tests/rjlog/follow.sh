#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjlog copy --follow: an archive that keeps up with a volume in use, over a server that goes away
# and a copy that is killed; it goes on from its end, and a moment is restored from it. A part
# that was deleted too early is told.
. "$RJ_SRC/tests/history/run.sh" || exit 99
command -v jq >/dev/null || skip_all "needs jq"
RJLOG=$RJ_BUILD/rjlog/rjlog RJCTL=$RJ_BUILD/rjctl/rjctl
start_server "$T_DIR/archive" || exit 99
ARCHIVE=$SRV_URL/a AR_PID=$SRV_PID AR_PORT=$SRV_PORT
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"
history_conf ""

ops() { "$WORK" ops mnt "$1" 200 >/dev/null && sync -f mnt; }
acknowledged() { "$RJCTL" status --json mnt | jq .acknowledged; }
has() { [ "$("$RJLOG" --json ls "$ARCHIVE/$UUID" 2>/dev/null | jq '.segments[-1].segment')" -ge "$1" ]; }
follow() {
	"$RJLOG" copy --follow --interval=1 "$AT" "$ARCHIVE" >>follow.out 2>>follow.err & pid=$!
	kill_at_end $pid
}
# caught_up WHAT: the archive gets what was acknowledged up to now
caught_up() { check "$1" wait_for 120 has "$(acknowledged)"; }
from_archive() { # MOMENT NAME
	rm -f r.img
	timeout 120 "$RJBACKUP" restore --at="$1" --base=base.img -o r.img "$ARCHIVE" && same_as r.img "$2"
}

check "a volume with data=journal" history_volume ext4 4096 journal ""
UUID=$(dumpe2fs -h v.img 2>/dev/null | awk '/^Journal UUID/ {print $3}')
AT=$(grep -ao "rj://127.0.0.1:$SRV_PORT/[a-zA-Z0-9-]*" v.img | head -n 1)
ops 1
check "a base" timeout 120 "$RJBACKUP" base -o base.img mnt
status 16 "-n with --follow" "$RJLOG" copy -n --follow "$AT" "$ARCHIVE"
status 16 "--follow of something else" "$RJLOG" verify --follow "$AT"
status 16 "an interval that is none" "$RJLOG" copy --follow --interval=0 "$AT" "$ARCHIVE"
follow
caught_up "the archive is begun"
ops 2
mark first
check "a named mark" "$RJCTL" mark -q named mnt
ops 3
caught_up "... and keeps up"
check "a moment is restored from it" from_archive "segment:$(cat first.segment)" first
cp --sparse=always base.img was.img
status 16 "the base is not promoted with it" "$RJBACKUP" promote base.img "$ARCHIVE"
like "... which is told" "$OUT" "^rjbackup: promote takes no URL .$ARCHIVE.: .*what writes there is stopped there"
check "... and nothing is changed" cmp base.img was.img
marked() { "$RJBACKUP" ls "$ARCHIVE" | grep -q "mark named: "; }
check "the mark comes, too" wait_for 60 marked
check "... and is restored" from_archive mark:named first
# the name is used again, and as many marks are there as before
curl -sf -X DELETE "http${AT#rj}/$UUID/mark/$(curl -sf "http${AT#rj}/$UUID/mark/" | awk '{print $1}')"
mark second
check "another mark of that name" "$RJCTL" mark -q named mnt
mark_at() { curl -sf "http${1#rj}/$UUID/mark/$(curl -sf "http${1#rj}/$UUID/mark/" | awk '{print $1}')"; }
again() { [ "$(mark_at "$AT")" = "$(mark_at "$ARCHIVE")" ]; }
check "... comes to the archive, too" wait_for 20 again
check "... and is restored" from_archive mark:named second

# ---- away, killed, stopped ----
kill_pid "$AR_PID"
ops 4
check "a server that is away is told" wait_for 60 grep -q "it is tried again until it works" follow.err
check "it is back" start_server "$T_DIR/archive" "$AR_PORT"
caught_up "... and gets what came since"
check "... which is told" grep -q "it goes on" follow.err
kill -KILL $pid; wait $pid 2>/dev/null
ops 5
follow
caught_up "a copy that was killed goes on"
kill -TERM $pid
wait $pid; is "SIGTERM ends it well" $? 0
like "... with what it did" "$(cat follow.out)" "^$ARCHIVE/$UUID: [1-9][0-9]* segments copied, [1-9][0-9]* bytes; it ends with segment [0-9]+$"
copied=$(sed -n 's/.*: \([0-9]*\) segments copied.*/\1/p' follow.out)
check "... and not all of it again" test "$copied" -lt "$(acknowledged)"
end=$("$RJLOG" --json ls "$ARCHIVE/$UUID" | jq '.segments[-1].segment')
ops 10
# it has got the signal before it reads anything
stopped() { env --block-signal=TERM bash -c 'kill -TERM $$; exec "$@"' - "$RJLOG" copy --follow "$AT" "$1"; }
status 0 "SIGTERM ends a turn that has more to copy" stopped "$ARCHIVE"
is "... before the next segment" "$("$RJLOG" --json ls "$ARCHIVE/$UUID" | jq '.segments[-1].segment')" "$end"
mkdir none
status 0 "... and a copy that is begun" stopped "file://$T_DIR/none"
check "... of which nothing is there yet" not grep -q . <<<"$(find none -path '*/log/*' -type f)"
status 0 "the archive is sound" "$RJLOG" verify "$ARCHIVE"
status 0 "a copy of it all" "$RJLOG" copy "$AT" "$ARCHIVE"
check "the first moment is still restored" from_archive "segment:$(cat first.segment)" first

# ---- too late, and another one ----
sed -i '/^retain/d' "$RJ_CONF"
end=$("$RJLOG" --json ls "$ARCHIVE/$UUID" | jq '.segments[-1].segment')
"$RJCTL" restart -q mnt
for n in 6 7 8 9; do ops $n; done
# the next number is the fence of the restart, which stays
deleted() { "$RJLOG" prune -q "$AT"; [ -z "$(curl -sf "http${AT#rj}/$UUID/log/" | awk -v n=$((end + 2)) '$1 + 0 == n')" ]; }
check "the log is deleted beyond the archive's end" wait_for 120 deleted
status 4 "... which is told" timeout 120 "$RJLOG" copy --follow "$AT" "$ARCHIVE"
like "... with the segment" "$OUT" "segments? [0-9]+ .*missing.*: deleted before they were copied|segment $end, which is not at .* any more: what followed was deleted before"
check "unmounted" history_umount

# ---- the source is put back to an earlier state ----
ARCHIVE=$ARCHIVE-2
follow
end=$("$RJLOG" --json ls "$AT/$UUID" | jq '.segments[-1].segment')
check "another archive" wait_for 120 has "$end"
for n in $((end - 1)) $end; do curl -sf -X DELETE "http${AT#rj}/$UUID/log/$(printf %020d "$n")"; done
wait_for 60 gone $pid || kill_pid $pid
wait $pid; is "the source ends earlier" $? 4
like "... which is told" "$(tail -n 1 follow.err)" "^rjlog: $AT/$UUID: ends before segment $end, with which $ARCHIVE/$UUID ends: .*begin another one"
check "... and the copy is as it was" has "$end"
exit 0
