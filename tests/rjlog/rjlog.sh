#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjlog on a real rjserver and on file://: a good log, and each way for one to
# be bad, with its exit status and the number of the segment at fault.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
export no_proxy='*'

RJLOG=$RJ_BUILD/rjlog/rjlog
need_fuse_loop
command -v jq >/dev/null || skip_all "needs jq"

journal_uuid() { dumpe2fs -h "$1" 2>/dev/null | awk '/^Journal UUID/ {print $3}'; }
# query FILTER ARGUMENTS...: of rjlog --json
query() {
	local filter=$1; shift
	"$RJLOG" --json "$@" 2>/dev/null | jq -r "$filter"
}
# in_plan FILE: the parts of a plan that rjrecover and rjlog both give
in_plan() { jq -cS '.plan | del(.list)' "$1"; }

# ---- a log that a kernel wrote, at a server ----
make_crash() {
	"$MKRJFS" -q -F -t ext4 -b 1024 \
		-J "remote=$SRV_URL/vol,size=4" "$1" 32M &&
		mount_served "$1" "$T_DIR/mnt" data=journal &&
		fsynced "$T_DIR/mnt" 12 "$T_DIR/sums" &&
		crash "$1" "$T_DIR/mnt" "$1.crash" && mv "$1.crash" "$1"
}
IMG=$T_DIR/img
check "a server" start_server "$T_DIR/srv"
status 0 "an empty store: ls" "$RJLOG" ls "$SRV_URL/vol"
like "an empty store: says so" "$OUT" 'vol: no logs$'
is "an empty store: as JSON" "$(query '.logs | length' ls "$SRV_URL/vol")" 0
status 8 "an empty store: there is nothing to verify" "$RJLOG" verify "$SRV_URL/vol"
like "an empty store: one line" "$OUT" '^rjlog: .*there is no log$'
status 8 "an empty store: nor to show" "$RJLOG" show "$SRV_URL/vol"
check "a crashed volume" make_crash "$IMG"
UUID=$(journal_uuid "$IMG") URL=$SRV_URL/vol
LOG=$URL/$UUID

status 0 "good: ls" "$RJLOG" ls "$URL"
like "good: ls names the journal" "$OUT" "^$UUID  segments 1 to [0-9]+, [0-9]+ bytes, epoch [0-9]+$"
status 0 "good: ls of the server" "$RJLOG" ls "$SRV_URL"
is "good: its names" "$OUT" vol
is "good: as JSON, with a slash after it" "$(query '.names | join(",")' ls "$SRV_URL/")" vol
status 0 "good: ls of the log" "$RJLOG" ls "$LOG"
LAST=$(query '.segments[-1].segment' ls "$LOG")
is "good: one line for each segment, and a head" "$(wc -l <<<"$OUT")" $((LAST + 1))
is "good: the numbers are those of the server" \
	"$(query '.segments[].segment' ls "$LOG")" \
	"$(curl -sf "http://127.0.0.1:$SRV_PORT/vol/$UUID/log/" | awk '{print $1 + 0}')"
is "good: so are the sizes" \
	"$(query '.segments[].bytes' ls "$LOG")" \
	"$(curl -sf "http://127.0.0.1:$SRV_PORT/vol/$UUID/log/" | awk '{print $2}')"
is "good: it begins with a fence and a base" \
	"$(query '.segments[0:2][].kind' ls "$LOG" | xargs)" "fence base"
check "good: tids are shown" test "$(query '[.segments[].last_tid // 0] | max' ls "$LOG")" -gt 0
for url in "$URL" "$LOG"; do
	status 0 "good: show ${url#"$SRV_URL"}" "$RJLOG" show "$url"
	like "good: it tells transactions" "$OUT" 'transactions to replay: [1-9]'
	status 0 "good: verify ${url#"$SRV_URL"}" "$RJLOG" verify "$url"
	like "good: and says so in one line" "$OUT" ": segments 1 to $LAST, $LAST read, .*: good$"
done
"$RJRECOVER" -n --json "$IMG" >"$T_DIR/recover.json" 2>/dev/null
"$RJLOG" show -v --json "$URL" >"$T_DIR/show.json"
is "good: show has the plan of rjrecover -n" \
	"$(in_plan "$T_DIR/show.json")" "$(in_plan "$T_DIR/recover.json")"
is "good: has each transaction" "$(jq '.plan.list | length' "$T_DIR/show.json")" \
	"$(jq .plan.transactions "$T_DIR/show.json")"
is "good: in text too" "$("$RJLOG" show "$URL" | grep -c '^  tid ')" \
	"$(jq .plan.transactions "$T_DIR/show.json")"
is "good: their blocks add up" "$(jq '[.plan.list[].tags] | add' "$T_DIR/show.json")" \
	"$(jq .plan.tags "$T_DIR/show.json")"
is "good: and what a replay writes of them" \
	"$(jq -c '[([.plan.list[].blocks] | add), ([.plan.list[].bytes] | add), ([.plan.list[].revoked] | add)]' "$T_DIR/show.json")" \
	"$(jq -c '[.plan.blocks, .plan.bytes, .plan.revoked]' "$T_DIR/show.json")"
is "good: rjrecover -n has the same list" \
	"$(jq -cS .plan.list "$T_DIR/recover.json")" "$(jq -cS .plan.list "$T_DIR/show.json")"
is "good: in the same words" "$("$RJRECOVER" -n "$IMG" | grep '^  tid ')" \
	"$("$RJLOG" show "$URL" | grep '^  tid ')"
like "good: -v has the superblock" "$("$RJLOG" show -v "$URL")" 'journal: version 2, [0-9]+ blocks of 1024 bytes'
is "good: verify as JSON" "$(query '[.good, .replay_good, .status, .segments] | @csv' verify "$URL")" \
	"true,true,0,$LAST"
for c in ls show verify; do
	status 0 "good: $c -q" "$RJLOG" $c -q "$LOG"
	is "good: $c -q says nothing" "$OUT" ""
done

# ---- the same log as files, to be spoiled ----
FILES=$T_DIR/files F=file://$T_DIR/files
copy_to_files() { # UUID
	local kind n
	for kind in log epoch; do
		mkdir -p "$FILES/$1/$kind" || return 1
		for n in $(curl -sf "http://127.0.0.1:$SRV_PORT/vol/$1/$kind/" | cut -d' ' -f1); do
			curl -sf -o "$FILES/$1/$kind/$n" \
				"http://127.0.0.1:$SRV_PORT/vol/$1/$kind/$n" || return 1
		done
	done
}
seg() { printf '%s/%s/log/%020d' "$FILES" "$UUID" "$1"; }
again() { rm -rf "$FILES" && cp -a "$FILES.good" "$FILES"; }
# bad STATUS WHAT TEXT REPLAY: verify and ls say so, and REPLAY (true, false)
bad() {
	local want=$1 what=$2 text=$3
	status "$want" "$what: verify" "$RJLOG" verify "$F"
	like "$what: names the place" "$OUT" "^rjlog: .*$text"
	is "$what: JSON has it, and whether a replay needs it" \
		"$(query '[.good, .replay_good, .status] | @csv' verify "$F")" "false,$4,$want"
}
check "the log as files" copy_to_files "$UUID"
mv "$FILES" "$FILES.good" && again
status 0 "files: ls" "$RJLOG" ls "$F"
status 0 "files: verify" "$RJLOG" verify "$F"
is "files: show is the same" "$(query '.plan | del(.list)' show "$F")" \
	"$(query '.plan | del(.list)' show "$URL")"
MIDDLE=$((LAST - 2))

flip "$(seg $MIDDLE)" 700
bad 4 "flipped byte" "segment $MIDDLE is damaged" false
is "flipped byte: and nothing else" "$(query '.problems | length' verify "$F")" 1
status 4 "flipped byte: show" "$RJLOG" show "$F"
like "flipped byte: show names it" "$OUT" "segment $MIDDLE is damaged"
status 4 "flipped byte: ls goes on" "$RJLOG" ls "$F/$UUID"
like "flipped byte: ls names it" "$OUT" "segment $MIDDLE is damaged"
is "flipped byte: ls shows all others" "$(query '[.segments[] | select(.kind)] | length' ls "$F/$UUID")" $((LAST - 1))
flip "$(seg $((MIDDLE - 2)))" 100
is "two flipped bytes: both are named" \
	"$(query '[.problems[].segment] | @csv' verify "$F")" "$((MIDDLE - 2)),$MIDDLE"

again; flip "$(seg "$LAST")" 75
bad 4 "flipped byte in the last header" "segment $LAST is damaged" false
again; flip "$(seg 1)" 200
bad 4 "flipped byte in the first" "segment 1 is damaged" true
status 0 "flipped byte in the first: show needs it not" "$RJLOG" show -q "$F"

again; rm "$(seg $MIDDLE)"
bad 4 "missing segment" "segment $MIDDLE is missing" false
status 4 "missing segment: show" "$RJLOG" show "$F"
status 4 "missing segment: ls" "$RJLOG" ls -q "$F/$UUID"
like "missing segment: ls names it" "$OUT" "segment $MIDDLE is missing"
rm "$(seg $((MIDDLE - 1)))"
bad 4 "missing segments" "segments $((MIDDLE - 1)) to $MIDDLE are missing" false
again; mv "$(seg $MIDDLE)" "$(seg $MIDDLE).x"; cp "$(seg $((MIDDLE + 1)))" "$(seg $MIDDLE)"
bad 4 "a segment in a wrong place" "segment $MIDDLE is damaged.*wrong place" false
again; rm "$FILES/$UUID/log/"*
status 4 "no segment, but epochs: verify" "$RJLOG" verify "$F"
like "no segment, but epochs: says so" "$OUT" "no segment"

# ---- sound segments, with a journal in them that is not ----
again
check "a block changed before it was sealed" "$RJ_BUILD/tests/rjlog/reseal" "$(seg "$LAST")" 2
bad 4 "bad journal block" "the journal is damaged: log block [0-9]+, transaction [0-9]+: " false
status 4 "bad journal block: show" "$RJLOG" show "$F"
like "bad journal block: show names block and tid" "$OUT" "the journal is damaged: log block [0-9]+, transaction [0-9]+: "
like "bad journal block: and shows what comes before" "$OUT" "transactions to replay: [0-9]+"

# ---- a base whose bytes are sound segments, of a journal that is not ----
again
OTHER=11111111-2222-4333-8444-555555555555
mv "$FILES/$UUID" "$FILES/$OTHER"
status 4 "foreign: verify" "$RJLOG" verify "$F"
like "foreign: whose it is" "$OUT" "segment 1 belongs to another journal: its UUID there is $UUID"
status 4 "foreign: show" "$RJLOG" show "$F"

# ---- two journals at one URL ----
again; cp -a "$FILES/$UUID" "$FILES/$OTHER"
status 0 "two journals: ls" "$RJLOG" ls "$F"
is "two journals: both are listed" "$(cut -d' ' -f1 <<<"$OUT" | xargs)" \
	"$(printf '%s\n' "$UUID" "$OTHER" | sort | xargs)"
for c in show verify; do
	status 16 "two journals: $c wants to know which" "$RJLOG" $c "$F"
	like "two journals: $c says what to do" "$OUT" "^rjlog: .*there are 2 logs; name one as"
	is "two journals: in one line" "$(wc -l <<<"$OUT")" 1
	status 0 "two journals: $c of the named one" "$RJLOG" $c -q "$F/$UUID"
done
status 8 "a UUID that is not there" "$RJLOG" verify "$F/22222222-2222-4333-8444-555555555555"
like "a UUID that is not there: says so" "$OUT" "there is no log"

# ---- wrong use ----
status 16 "no command" "$RJLOG"
status 16 "an unknown command" "$RJLOG" list "$F"
status 16 "no URL" "$RJLOG" ls
status 16 "two URLs" "$RJLOG" ls "$F" "$F"
status 16 "not a URL" "$RJLOG" ls /tmp
mkdir "$T_DIR/probed"
status 0 "probe of a directory" "$RJLOG" probe "file://$T_DIR/probed"
like "probe: says how writers are fenced" "$OUT" "fencing: +mode A"
like "probe: one winner in every round" "$OUT" "one winner in 20, several in 0"
is "probe: as JSON" "$("$RJLOG" probe --json "file://$T_DIR/probed" |
	jq -r '[.mode, .one_winner, .partial, .stale, .left_behind] | @csv')" '"A",20,0,0,false'
is "probe: leaves nothing behind" "$(ls -A "$T_DIR/probed")" ""
status 8 "no such directory" "$RJLOG" ls "$F.none"
status 8 "a full standard output" bash -c "'$RJLOG' ls '$F' >/dev/full"

# ---- the server is away ----
stop_server
for c in ls show verify; do # each tries for ten seconds: together
	{ "$RJLOG" $c "$LOG" >"$T_DIR/away.$c" 2>&1; echo "status $?" >>"$T_DIR/away.$c"; } &
done
wait
for c in ls show verify; do
	is "server away: $c" "$(tail -n 1 "$T_DIR/away.$c")" "status 8"
	like "server away: $c says so" "$(cat "$T_DIR/away.$c")" "^rjlog: .*127.0.0.1:$SRV_PORT"
done

# ---- a journal that was moved away and back: one of the two logs is in use ----
RJTUNE=$RJ_BUILD/rjtune/rjtune V=$T_DIR/moved.img
mkdir "$T_DIR/moved" && truncate -s 32M "$V"
check "moved: a volume" "$MKRJFS" -q -F -J "remote=file://$T_DIR/moved,size=4" "$V"
check "moved: its journal goes inside" "$RJTUNE" -q -J size=4 "$V"
check "moved: and back" "$RJTUNE" -q -J "remote=file://$T_DIR/moved" "$V"
is "moved: two logs" "$("$RJLOG" ls "file://$T_DIR/moved" | wc -l)" 2
for c in show verify; do
	status 0 "moved: $c takes the one in use" "$RJLOG" $c "file://$T_DIR/moved"
	like "moved: $c says which" "$OUT" "$("$RJTUNE" -l --json "$V" | sed -n 's/.*"uuid":"\(.*\)",/\1/p' | tail -n 1)"
done
exit 0
