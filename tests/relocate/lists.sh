#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What rjtune --all reads: a list, a table like fstab, the output of rjctl status --json; what
# stands for what in a URL; each status is named; -n changes nothing and says the same; a signal
# ends it after the moves that have begun.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
RJTUNE=$RJ_BUILD/rjtune/rjtune
cd "$T_DIR" || exit 99
start_server "$T_DIR/srv" || exit 99
vol() { rm -f "$1"; truncate -s 32M "$1" && mke2fs -q -F -t "${2:-ext4}" -b 4096 -N 64 "$1"; }
uuid_of() { dumpe2fs -h "$1" 2>/dev/null | awk '/^Filesystem UUID/ {print $3}'; }
all() { "$RJTUNE" "$@"; }
place() { "$RJTUNE" -l --json "$1" | jq -r '.journal.url // .journal.placement'; }

# ---- a volume of each status ----
for v in good journal mounted torn loss cut; do vol $v; done
e2fsck -fy cut >/dev/null 2>&1
"$RJTUNE" -q -J "remote=$SRV_URL/mounted,size=4" mounted && FSTYPE=ext4 &&
	serve "$T_DIR/mounted" && mount_served "$T_DIR/mounted" "$T_DIR/mnt" && fsynced "$T_DIR/mnt" 3 sums || exit 99
debugfs -w -R "feature needs_recovery" journal >/dev/null 2>&1
dd if=/dev/zero of=torn bs=1024 seek=1 count=1 conv=notrunc status=none
"$RJTUNE" -q -J "remote=file://$T_DIR/gone,size=4" loss 2>/dev/null || { mkdir gone &&
	"$RJTUNE" -q -J "remote=file://$T_DIR/gone,size=4" loss; } || exit 99
rm -r gone && mkdir gone
{ (ulimit -f 64; exec "$RJTUNE" -q -J "remote=file://$T_DIR/gone,size=4" cut); } >/dev/null 2>&1
like "a move was cut off" "$("$RJTUNE" -l cut)" '^Move under way: +yes'
printf '%s\n' "# a list" "" good journal mounted torn loss cut missing good >list
cat good journal torn loss cut | sha256sum >before
OUT=$(all -n -J "remote=$SRV_URL/%u,size=4" --all=list 2>err); said=$OUT
is "-n: nothing is changed" "$(cat good journal torn loss cut | sha256sum)" "$(cat before)"
like "-n: the summary" "$(tail -n 1 err)" '^1 would move, 6 would not: 1 refused, 1 busy, 1 needs-recovery, 1 journal-lost, 1 half-done, 1 not-found$'
for line in "good	would-move" "journal	needs-recovery	.*-y" "mounted	busy	" "torn	refused	" \
	"loss	journal-lost	" "cut	half-done	.*finished or taken back first" "missing	not-found	"; do
	like "-n: ${line%%	*}" "$said" "^$line"
done
is "-n: each once" "$(wc -l <<<"$said")" 7
OUT=$(all -J "remote=$SRV_URL/%u,size=4" --all=list --report=report 2>err); rc=$?
is "the run: status 1" $rc 1
like "the run: the summary" "$(tail -n 1 err)" '^2 moved, 5 did not: 1 refused, 1 busy, 1 needs-recovery, 1 journal-lost, 1 not-found$'
is "each has a name of its own" "$(place good)" "$SRV_URL/$(uuid_of good)"
is "the report has a line for each" "$(jq -r .result report | sort | uniq -c | tr -s ' ' | paste -sd,)" \
	" 1 busy, 1 journal-lost, 1 needs-recovery, 1 not-found, 2 ok, 1 refused"
status 0 "-y replays first" "$RJTUNE" -y -J "remote=$SRV_URL/%u,size=4" --all=- <<<journal
is "--json: a line for each" "$(all --json -J "remote=$SRV_URL/%h-%u,size=4" --all=- <<<good 2>/dev/null | jq -r '.to.url')" \
	"$SRV_URL/$(uname -n)-$(uuid_of good)"

# ---- how it is called ----
vol called && printf '%s\n' called >one
bash -c 'sleep 0.2 & exec "$0" -q -J "remote=$1/%u,size=4" --all=one' "$RJTUNE" "$SRV_URL" >out 2>&1
is "with a child that a shell left" "$?" 0
bash -c 'trap "" CHLD; exec "$0" -q -J size=4 --all=one' "$RJTUNE" >out 2>&1
is "with SIGCHLD ignored" "$?" 0
is "it has moved, and back" "$(place called)" internal
for i in $(seq 12); do vol many$i; echo "$T_DIR/many$i"; done >many
timeout 0.15 "$RJTUNE" -J "remote=$SRV_URL/%u,size=4" --all=many >out 2>err
is "a signal to all of its processes: no move is cut off" "$(grep -c half-done out)" 0
for i in $(seq 12); do "$RJTUNE" -l many$i; done >all
is "... none is half done" "$(grep -c '^Move under way: *yes' all)" 0
status 0 "... and again" "$RJTUNE" -J "remote=$SRV_URL/%u,size=4" --all=many

# ---- other forms of the list ----
vol "a name with blanks" && vol spaced
e2label spaced 'my tags'
printf '%s\r\n' "  $T_DIR/a name with blanks  " "	# a comment" "" "$T_DIR/good # and its reason" >odd
status 0 "a list with blanks, comments, and ends of lines of another system" \
	"$RJTUNE" -y -J size=4 --all=odd
is "... its volumes" "$(cut -f1 <<<"$OUT" | grep / | sort)" "$T_DIR/a name with blanks
$T_DIR/good"
printf '%s\n' "$T_DIR/a\\040name\\040with\\040blanks /x ext4 defaults 0 0" >escaped
status 0 "a name with blanks in a table" "$RJTUNE" -J none --all=escaped
is "... is that volume" "$(place "a name with blanks")" none
for list in '{"device":null}' '[{"device":7},{"device":null}]' '{'; do
	status 2 "JSON without a device: $list" "$RJTUNE" -J size=4 --all=- <<<"$list"
done
vol a ext3; vol b
printf '%s\n' "# fstab" "$T_DIR/a /a ext3 defaults 0 2" "$T_DIR/b	/b	ext4	defaults" \
	"/dev/none /n xfs defaults 0 0" "none /p tmpfs size=1G 0 0" >fstab
status 0 "a table like fstab" "$RJTUNE" -J "remote=$SRV_URL/%u,size=4" --all=fstab
is "its ext3 and ext4 volumes" "$(cut -f1 <<<"$OUT" | grep / | sort)" "$T_DIR/a
$T_DIR/b"
check "unmounted" $LIMIT umount "$T_DIR/mnt"
"$RJCTL" status --json >volumes.json
unserve
status 0 "what rjctl status --json prints" "$RJTUNE" -J size=4 --all=volumes.json
is "the volume that was served" "$(place mounted)" internal
status 16 "a device beside a list" "$RJTUNE" -J size=4 --all=list a
status 16 "a list without a change" "$RJTUNE" -l --all=list
status 16 "a loss is accepted for one volume alone" "$RJTUNE" --accept-loss -J size=4 --all=list
status 16 "a number of jobs that is none" "$RJTUNE" -J size=4 --all=list --jobs=0
status 9 "no list" "$RJTUNE" -J size=4 --all=nothing
like "it is named" "$OUT" 'nothing: '
: >empty
status 2 "an empty list" "$RJTUNE" -J size=4 --all=empty
like "it is said" "$OUT" 'names no volume'
status 1 "a letter that stands for nothing" "$RJTUNE" -J "remote=$SRV_URL/%q" --all=- <<<b
like "it is named" "$OUT" '%u stands for the volume'
is "nothing was changed" "$(place b)" "$SRV_URL/$(uuid_of b)"
