#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expire --keep: the newest base of each period stays, and the newest one in any case; dry it only
# says so; what is no base is refused before anything is removed.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
history_conf ""
export TZ=UTC

check "a volume with data=journal" history_volume ext4 4096 journal ""
check "a base" timeout 120 "$RJBACKUP" base -o base.img mnt
AT=$(grep -ao "rj://127.0.0.1:$SRV_PORT/[a-zA-Z0-9-]*" v.img | head -n 1) FAR=$SRV_URL/far
status 0 "another one, at another store" timeout 120 "$RJBACKUP" base --hold=1h -o "$FAR" mnt
far=$(sed -n 's/.*#\([0-9]*\): base of.*/\1/p' <<<"$OUT") far_hold=$(sed -n 's/^hold \([0-9]*\) keeps.*/\1/p' <<<"$OUT")
check "unmounted" history_umount
check "a volume of another UUID" history_volume ext4 4096 journal ""
check "... and its base" timeout 120 "$RJBACKUP" base -o other.img mnt
check "... another one, with a hold" timeout 120 "$RJBACKUP" base --hold=1h -o held.img mnt
# another store, of which nothing goes for an hour
printf '[volume *]\nkeep = 1h\n' >srv.conf
SRV_CONF=srv.conf start_server "$T_DIR/kept" || exit 99
KEPT=$SRV_URL/v
for n in 1 2 3; do
	status 0 "... with base $n" timeout 120 "$RJBACKUP" base -o "$KEPT" mnt
done
number=$(sed -n 's/.*#\([0-9]*\): base of.*/\1/p' <<<"$OUT")
check "unmounted" history_umount
# at TIME NAME [OF]: a base of that time
at() { cp --sparse=always "${3:-base.img}" "$2" && touch -d "$1" "$2"; }
make() {
	rm -f b-*
	at "2026-03-10 12:00" b-tue-noon && at "2026-03-10 06:00" b-tue-morning &&
		at "2026-03-09 23:59" b-mon && at "2026-03-08 00:01" b-sun &&
		at "2026-03-02 12:00" b-week && at "2026-02-27 12:00" b-feb &&
		at "2026-01-01 00:00" b-jan && at "2025-12-31 23:59" b-old &&
		at "2020-01-01 00:00" b-other other.img
}
# kept RULES NAMES: exactly those are left
kept() {
	make
	status 0 "--keep=$1" "$RJBACKUP" expire --keep="$1" b-*
	is "... leaves" "$(echo b-*)" "$2"
}

kept 1d "b-other b-tue-noon"
kept 3d "b-mon b-other b-sun b-tue-noon"
kept 2w "b-other b-sun b-tue-noon"
kept 3w "b-feb b-other b-sun b-tue-noon"
kept 2m "b-feb b-other b-tue-noon"
kept 2d,2m "b-feb b-mon b-other b-tue-noon"
kept 9y "b-old b-other b-tue-noon"
kept 2h "b-other b-tue-morning b-tue-noon"
kept 99d "b-feb b-jan b-mon b-old b-other b-sun b-tue-noon b-week"
make
all=$(echo b-*)
status 0 "-n" "$RJBACKUP" expire -n --keep=2d,1w b-*
like "... says what stays, and why" "$OUT" "^b-tue-noon: volume [0-9a-f-]*, 2026-03-10 12:00:00Z: kept: newest daily weekly$"
like "... and what would go" "$OUT" "^b-jan: .*: would be removed$"
is "... and removes nothing" "$(echo b-*)" "$all"
like "as JSON" "$("$RJBACKUP" expire -n --json --keep=2d b-jan b-mon | tr -d '\n ')" \
	'"bases":\[\{"base":"b-mon","volume":"[0-9a-f-]*","made":1773100740,"kept":true,"why":"newestdaily"\},\{"base":"b-jan",.*"kept":true,"why":"daily"\}'
echo none >b-zero
not "$RJBACKUP" expire --keep=1d b-* 2>/dev/null
rm b-zero
is "with a file that is no base nothing is removed" "$(echo b-*)" "$all"
ln b-mon b-zlink
status 16 "a file that is given twice" "$RJBACKUP" expire --keep=1d b-*
like "... is told" "$OUT" "b-zlink: is the same file as b-mon"
rm b-zlink
for rules in "" 0d 7 d 7x 1d,1d "1d," ,1d; do
	status 16 "no rules: \"$rules\"" "$RJBACKUP" expire --keep="$rules" b-jan
done
status 16 "a URL and a file" "$RJBACKUP" expire --keep=1d rj://127.0.0.1:1/x b-jan
status 16 "--keep and --hold" "$RJBACKUP" expire --keep=1d --hold=5 b-jan
is "all are there" "$(echo b-*)" "$all"

# ---- the hold that was put for a base ----
hold=$("$RJBACKUP" ls --json held.img | jq '.held_by[0]')
like "the base has a hold" "$hold" "^[0-9]+$"
of_no_use="^  its hold $hold is of use for copies of it only, if there are any: rjbackup expire --hold=$hold rj://"
rm -f b-*
at "2026-03-10 12:00" b-new other.img && at "2026-01-02 12:00" b-copy held.img &&
	at "2026-01-01 12:00" b-held held.img
status 0 "-n, none that has it stays" "$RJBACKUP" expire -n --keep=1d b-*
is "... its hold is named, for both" "$(grep -cE "$of_no_use" <<<"$OUT")" 2
like "... as JSON" "$("$RJBACKUP" expire -n --json --keep=1d b-* | tr -d '\n ')" "\"hold\":$hold,\"hold_of_use\":false"
status 0 "a copy stays" "$RJBACKUP" expire --keep=2d b-*
is "... the other one is removed" "$(echo b-*)" "b-copy b-new"
is "... and its hold is of use" "$(grep -c "its hold" <<<"$OUT")" 0
status 0 "that goes, too" "$RJBACKUP" expire --keep=1d b-*
like "... and its hold is named" "$OUT" "$of_no_use"

# ---- a base at another store than its log's ----
status 0 "-n" "$RJBACKUP" expire -n --base="$far" "$FAR"
like "... its hold is not there" "$OUT" "base $far: would be removed; its hold $far_hold is not at this store$"
status 0 "it is removed" "$RJBACKUP" expire --base="$far" "$FAR"
like "... without its hold" "$OUT" "base $far: removed; its hold $far_hold is not at this store$"
like "... which stays" "$("$RJBACKUP" ls "$AT")" "hold $far_hold of rjbackup"

# ---- a store that keeps them ----
status 1 "a base is not removed" "$RJBACKUP" expire --base="$number" "$KEPT"
like "... as it is too young" "$OUT" "the journal server refuses it: kept for 3600 seconds: too young to go"
status 0 "by rules" "$RJBACKUP" expire --keep=1y "$KEPT"
is "... neither of the two older ones" "$(grep -c "kept: too young for its store$" <<<"$OUT")" 2
is "... all are there" "$("$RJBACKUP" ls "$KEPT" | grep -c "whole at segment")" 3
exit 0
