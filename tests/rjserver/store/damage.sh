#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Damage on the disk, seen through the protocol: 500 and RJ-Damaged, never
# wrong bytes, never "not found"; the neighbours are still served.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"

D=$T_DIR/store F=$T_DIR/store/store/00000001.rjd
fill_store() {
	local i
	rm -rf "$D"
	start "$D" || return 1
	for i in 1 2 3 4 5; do
		# words that can be found again in the file
		yes "object $i" | head -c 20000 >"$T_DIR/obj.$i"
		[ "$(code -T "$T_DIR/obj.$i" "$BASE/n/$UUID/log/$(seq20 $i)")" = 201 ] || return 1
	done
}
# at N: the offset of object N's text in the data file
at() { grep -abo -m 1 "object $1" "$F" | head -n 1 | cut -d: -f1; }
# served N: the object is there with its bytes
served() {
	[ "$(code "$BASE/n/$UUID/log/$(seq20 "$1")")" = 200 ] &&
		cmp "$T_DIR/obj.$1" "$T_DIR/body"
}
damaged() {
	is "object $1: GET says damaged" "$(code "$BASE/n/$UUID/log/$(seq20 "$1")")" 500
	check "in a header" head_has 'rj-damaged: 1'
	is "in one line of text" "$(wc -l <"$T_DIR/body")" 1
	is "object $1: HEAD says so too" \
		"$(code -I "$BASE/n/$UUID/log/$(seq20 "$1")")" 500
	is "object $1: PUT does not replace it" \
		"$(code -T "$T_DIR/obj.$1" "$BASE/n/$UUID/log/$(seq20 "$1")")" 412
	is "the list shows it" \
		"$(code "$BASE/n/$UUID/log/") $(grep -c "^$(seq20 "$1") 20000\$" "$T_DIR/body")" "200 1"
}

for n in 3 5; do
	fill_store || { not_ok "fill the store"; exit 1; }
	stop
	flip "$F" $(($(at $n) + 5000))
	start "$D"
	like "a flipped byte in object $n is said at start" "$(cat "$LOG")" \
		"DAMAGED: the object /n/$UUID/log/$(seq20 $n)"
	damaged $n
	for i in 1 2 3 4 5; do
		[ $i = $n ] || check "object $i is served" served $i
	done
	is "it can be deleted" "$(code -X DELETE "$BASE/n/$UUID/log/$(seq20 $n)")" 204
	is "and is gone" "$(code "$BASE/n/$UUID/log/$(seq20 $n)")" 404
	stop
	is "stopped in order" $? 0
done

# under the running server
fill_store || exit 1
flip "$F" $(($(at 2) + 100))
damaged 2
stop KILL

# in a header: the other copy is used
fill_store || exit 1
stop
flip "$F" $(($(at 4) - 100))
start "$D"
like "a flipped byte in a header is said" "$(cat "$LOG")" 'its other copy is used'
for i in 1 2 3 4 5; do check "object $i is served" served $i; done
stop

# a second without writes: a mark vouches for the last batch, even if killed
fill_store || exit 1
sleep 2.5
stop KILL
flip "$F" $(($(at 5) + 5000))
start "$D"
damaged 5
stop

# a file whose end is missing, of which nothing was used yet
fill_store || exit 1
stop
bytes=$(stat -c %s "$F")
truncate -s -4096 "$F"
start "$D"
like "an unused end that is missing is a warning" "$(cat "$LOG")" 'truncated .* was not used yet'
is "and no damage" "$(grep -c DAMAGED "$LOG")" 0
is "the file is whole again" "$(stat -c %s "$F")" "$bytes"
for i in 1 2 3 4 5; do check "object $i is served" served $i; done
is "and it is written to" "$(code -T "$T_DIR/obj.5" "$BASE/n/$UUID/log/$(seq20 6)")" 201
stop

# a truncated file
fill_store || exit 1
stop
truncate -s $(($(at 4) + 50)) "$F"
start "$D"
like "a truncated file is said" "$(cat "$LOG")" 'DAMAGED: truncated from'
damaged 4
for i in 1 2 3; do check "object $i is served" served $i; done
is "what was behind the cut is not just missing" \
	"$(code "$BASE/n/$UUID/log/$(seq20 5)")" 500
is "a new key is refused" "$(code -T "$T_DIR/obj.1" "$BASE/n/$UUID/log/$(seq20 9)")" 500
is "a list shows what is left" "$(code "$BASE/n/$UUID/log/?limit=2") $(wc -l <"$T_DIR/body")" "200 2"
check "and says that there may have been more" head_has 'rj-damaged: 1'
check "and that there is more" head_has 'rj-more: 1'
stop
is "stopped in order" $? 0
accept=$(grep -o "echo [0-9:]* >>[^ ]*" "$LOG")
eval "$accept"
start "$D"
is "the loss accepted: not found" "$(code "$BASE/n/$UUID/log/$(seq20 5)")" 404
is "a list is one of all" "$(code "$BASE/n/$UUID/log/") $(grep -ci rj-damaged "$T_DIR/head")" "200 0"
is "and writable" "$(code -T "$T_DIR/obj.5" "$BASE/n/$UUID/log/$(seq20 5)")" 201
stop
start "$D"
check "and there after a restart" served 5
stop

# nothing of ours, or not any more: refused at start, and left alone
refused() {
	local before
	before=$(md5sum "$F")
	start "$D" && { not_ok "$1: refused"; stop KILL; return; }
	wait $SERVER_PID
	is "$1: exit 2" $? 2
	is "$1: one line" "$(wc -l <"$LOG")" 1
	like "$1: which names the file" "$(cat "$LOG")" '^rjserver: .*\.rjd: '
	is "$1: the file is as it was" "$(md5sum "$F")" "$before"
}
fill_store || exit 1
stop
cp "$F" "$T_DIR/keep"
head -c 4096 /dev/urandom | dd of="$F" conv=notrunc status=none
refused "a head of garbage"
cp "$T_DIR/keep" "$F"
mv "$F" "${F%1.rjd}7.rjd"
F=${F%1.rjd}7.rjd
refused "a renamed file"
F=${F%7.rjd}1.rjd
cp "$T_DIR/keep" "$F"
rm "${F%1.rjd}7.rjd"
start "$D"
check "and all is well again" served 3
stop
