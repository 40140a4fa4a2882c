#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A disk that cannot read: what could not be read is never "not found", never written over,
# and not damaged for good.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"

SHIM=$RJ_BUILD/tests/rjserver/store/.libs/failread.so
[ -e "$SHIM" ] || skip_all "no $SHIM"
D=$T_DIR/store F=$T_DIR/store/store/00000001.rjd
export FAILREAD=$T_DIR/rule
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 # SHIM comes first
# unreadable FROM TO [FILE]: until readable
unreadable() { echo "${3:-00000001.rjd} $1 $2" >"$FAILREAD"; }
readable() { rm -f "$FAILREAD"; }
begin() { LD_PRELOAD="$SHIM${LD_PRELOAD:+:$LD_PRELOAD}" start "$D" "$@"; }
url() { echo "$BASE/n/$UUID/log/$(seq20 "$1")"; }
# put N: an object of its own, of one page with its record
put() {
	head -c 3000 /dev/urandom >"$T_DIR/obj.$1"
	[ "$(code -T "$T_DIR/obj.$1" "$(url "$1")")" = 201 ]
}
served() { [ "$(code "$(url "$1")")" = 200 ] && cmp "$T_DIR/obj.$1" "$T_DIR/body"; }
# page N: where the record of the N-th batch begins
page() { grep -abo RJRH "$F" | sed -n "$1p" | cut -d: -f1; }
fill_store() { # COUNT: the first batch is the start's mark
	local i
	readable
	rm -rf "$D"
	begin || return 1
	for ((i = 1; i <= $1; i++)); do put $i || return 1; done
}
all_served() { local i; for ((i = 1; i <= $1; i++)); do served $i || return 1; done; }

# refused WHAT FROM TO PLACE: the start ends, and leaves the file as it is
refused() {
	local before
	before=$(md5sum "$F")
	unreadable "$2" "$3"
	begin && { not_ok "$1: it does not start"; stop KILL; return; }
	wait $SERVER_PID
	is "$1: exit 2" $? 2
	like "$1: it names the place" "$(cat "$LOG")" \
		"00000001.rjd: byte $4: cannot be read, and the log ends about there"
	is "$1: the file is as it was" "$(md5sum "$F")" "$before"
	unreadable "$2" "$3"
	LD_PRELOAD=$SHIM status 2 "$1: so says check" "$RJSERVER" check "$D"
	readable
	begin || { not_ok "$1: it starts when the disk reads again"; return; }
}

fill_store 3 || { not_ok "fill the store"; exit 1; }
stop KILL
at=$(page 4)
refused "the last object" "$at" $((at + 4096)) "$at"
check "all are served" all_served 3
stop

fill_store 5 || exit 1
stop
is "stopped in order" $? 0
at=$(page 4)
refused "from the third on" "$at" $((1 << 30)) "$at"
check "all are served" all_served 5
stop

# the middle of what nothing vouches for
fill_store 3 || exit 1
head -c 100000 /dev/urandom >"$T_DIR/obj.4"
is "a large one" "$(code -T "$T_DIR/obj.4" "$(url 4)")" 201
stop KILL
at=$(($(page 5) + 40960))
refused "a part of the last object" "$at" $((at + 4096)) "$at"
check "all are served" all_served 4
sleep 2 # the mark of an idle server
stop KILL
unreadable "$at" $((at + 4096))
begin || { not_ok "what is vouched for holds up no start"; exit 1; }
check "the others are served" all_served 3
is "it is not just missing" "$(code "$(url 4)")" 500
is "nor called damaged" "$(grep -ci rj-damaged "$T_DIR/head")" 0
is "and not written again" "$(code -T "$T_DIR/obj.1" "$(url 4)")" 412
readable
check "all are served when the disk reads again" all_served 4
stop
unreadable "$at" $((at + 4096))
LD_PRELOAD=$SHIM status 2 "check minds" "$RJSERVER" check "$D"
like "... and counts it as damaged" "$OUT" '4 objects, .*: 1 damaged'
begin || exit 1
readable
stop
begin || exit 1
check "no verdict of that start stays" all_served 4
stop

# given up: the loss is accepted
fill_store 3 || exit 1
stop KILL
at=$(page 4)
unreadable "$at" $((at + 4096))
begin && { not_ok "it does not start"; stop KILL; }
accept=$(grep -o "echo [0-9:]* >>[^ ]*" "$LOG")
eval "$accept"
begin || { not_ok "the loss accepted: it starts"; exit 1; }
readable
is "the loss accepted: not found" "$(code "$(url 3)")" 404
check "and writable" put 3
check "what is left is served" all_served 3
stop

# beyond the end of the log it is said, and does not matter
fill_store 3 || exit 1
stop
at=$(($(page 6) + 40960))
unreadable "$at" $((at + 4096))
begin || { not_ok "an unreadable page that was not used yet"; exit 1; }
like "is said" "$(cat "$LOG")" "byte $at: cannot be read"
readable
check "all are served" all_served 3
stop

# the cleaner cannot read what lives in the oldest file
readable
rm -rf "$D"
begin --file-size=64K || exit 1
head -c 10000 /dev/urandom >"$T_DIR/obj.1"
is "one that stays" "$(code -T "$T_DIR/obj.1" "$(url 1)")" 201
unreadable 4096 20480
goes() {
	[ "$(code -T "$T_DIR/obj.1" "$(url "$1")") $(code -X DELETE "$(url "$1")")" = "201 204" ]
}
bad=0
for n in {2..30}; do goes $n || bad=$((bad + 1)); done
is "others come and go" $bad 0
# with each of them, the cleaner goes on
tried() {
	goes 31 && grep -q "00000001.rjd: byte [0-9]*: the object .*$(seq20 1) cannot be read now" "$LOG"
}
check "the cleaner has tried" wait_for 60 tried
is "what was not read is no damage: a plain 500" "$(code "$(url 1)")" 500
is "... without RJ-Damaged" "$(grep -ci rj-damaged "$T_DIR/head")" 0
is "its file stays" "$(ls "$D/damaged") $(ls "$F")" " $F"
readable
check "the disk reads again: it is served" served 1
cleaned() { goes 32 && ! [ -e "$F" ]; }
check "it is copied, and its file goes" wait_for 60 cleaned
check "it is served from its new place" served 1
stop
begin --file-size=64K || exit 1
check "and after a restart" served 1
is "nothing was set aside" "$(ls "$D/damaged")" ""
stop
