#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A base at a store: made, listed, restored with nothing else, cut off and resumed; damaged
# and missing chunks are found, and a wrong key is.
. "$RJ_SRC/tests/history/run.sh" || exit 99
RJLOG=$RJ_BUILD/rjlog/rjlog
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"
"$RJ_BUILD/rjtune/rjtune" --genkey key >/dev/null
"$RJ_BUILD/rjtune/rjtune" --genkey other.key >/dev/null

base_number() { sed -n 's/.*#\([0-9]*\): base of.*/\1/p' <<<"$OUT"; }
hold_number() { sed -n 's/^hold \([0-9]*\) keeps.*/\1/p' <<<"$OUT"; }
# objects KIND: how many there are
objects() { curl -sf "http${AT#rj}/$JOURNAL/$1/" | wc -l; }
# chunk_names BASE: its chunks, neither the manifest nor the note that it was begun
chunk_names() { curl -sf "http${AT#rj}/$JOURNAL/base/" | awk '{print $1}' | grep "^$(printf %013d "$1")" | grep -v '0000000$\|9999999$'; }
mkdir scratch then
at_exit umount -l "$T_DIR/then"
as_then() { "$WORK" manifest then >then.manifest && cmp "$1.manifest" then.manifest; }
no_mount() { [ -z "$(ls -A scratch)" ] && ! pgrep -f "rjbackup mount .*--base=$AT"; }
back() { rm -f r.img; timeout 120 "$RJBACKUP" restore --verify=none "$@" -o r.img; }

for kind in plain key; do
	words='' conf=''
	[ $kind = plain ] || words=,key=$T_DIR/key conf="keyfile = $T_DIR/key"
	history_conf "$conf"
	sed -i '/^retain/d' "$RJ_CONF"
	check "$kind: a volume" history_volume ext4 4096 journal "$words"
	AT=$(grep -ao "rj://127.0.0.1:$SRV_PORT/[a-zA-Z0-9-]*" v.img | head -n 1)
	JOURNAL=$(dumpe2fs -h v.img 2>/dev/null | awk '/^Journal UUID/ {print $3}')
	RJ_SEED=1 "$WORK" ops mnt 1 200 >/dev/null
	head -c $((20 << 20)) /dev/urandom >mnt/large
	echo "readable-text-of-$kind" >mnt/text
	sync -f mnt
	status 0 "a base at the store of its log" timeout 120 "$RJBACKUP" base --hold=1h -o "$AT" mnt
	like "... has a number" "$OUT" "^$AT#[0-9]+: base of mnt, whole at segment"
	number=$(base_number) hold=$(hold_number)
	RJ_SEED=2 "$WORK" ops mnt 2 200 >/dev/null
	mark after
	check "it is restored, with nothing but the URL" back --base="$AT"
	check "... as that moment" same_as r.img after
	check "by its number too" back --base="$AT#$number"
	check "... as that moment" same_as r.img after
	status 8 "another number is none" "$RJBACKUP" restore --base="$AT#1" -o r2.img
	status 0 "ls of the URL shows it" "$RJBACKUP" ls "$AT"
	like "... with its hold" "$OUT" "  base $number: [0-9]+ bytes of a volume of 50331648, made .*, whole at segment [0-9]+, hold $hold"
	status 0 "ls of the base says what can be restored" "$RJBACKUP" ls "$AT#$number"
	like "... up to now" "$OUT" "latest: "
	status 0 "it is mounted" timeout 120 "$RJBACKUP" mount --scratch=scratch --base="$AT" then
	check "... as that moment" as_then after
	check "... unmounted" umount then
	check "... and nothing is left of it" wait_for 60 no_mount
	"$RJLOG" verify "$AT" >out 2>&1
	is "rjlog finds the log as sound as before" $? 0
	if [ $kind = key ]; then
		not grep -qra "readable-text-of-$kind" srv
		check "nothing of it can be read at the store" test $? = 0
		status 32 "another key is found" "$RJBACKUP" restore --key "$T_DIR/other.key" --base="$AT" -o r2.img
		history_conf ""
		status 32 "no key is found" "$RJBACKUP" restore --base="$AT" -o r2.img
		like "... and ls says so" "$("$RJBACKUP" ls "$AT")" "base $number: [0-9]+ bytes, cannot be read"
		history_conf "$conf"
	fi
	check "the device is a target too" truncate -s 48M d.img
	DEV=$(losetup -f --show d.img) && at_exit losetup -d "$DEV"
	status 0 "... of a restore from the store" timeout 120 "$RJBACKUP" restore --base="$AT" -o "$DEV"
	sync "$DEV"
	check "... as that moment" same_as d.img after

	# ---- cut off, and resumed ----
	(timeout 120 "$RJBACKUP" base --hold=2h --rate=4 -o "$AT" mnt >cut.out 2>&1 & echo $! >pid; wait)&
	cutter=$!
	was=$(objects base)
	check "some of the next one is there" wait_for 60 eval '[ "$(objects base)" -gt $((was + 1)) ]'
	pkill -KILL -P "$(cat pid)"
	wait "$cutter"
	some=$(objects base)
	like "an unfinished one is shown" "$("$RJBACKUP" ls "$AT")" "base [0-9]+: .*begun .*, not finished, hold"
	check "... and not restored" back --base="$AT"
	check "... the one before is" same_as r.img after
	RJ_SEED=3 "$WORK" ops mnt 3 200 >/dev/null
	status 0 "the same command goes on" timeout 120 "$RJBACKUP" base --hold=2h -o "$AT" mnt
	second=$(base_number)
	is "... with its hold, of two" "$(objects hold)" 2
	check "... and what was there is not put again" test "$some" -lt "$(objects base)"
	is "... into that base" "$("$RJBACKUP" ls "$AT" | grep -c "  base ")" 2
	RJ_SEED=4 "$WORK" ops mnt 4 200 >/dev/null
	mark later
	check "it is the one that is restored" back --base="$AT"
	check "... as the moment now" same_as r.img later

	# ---- damage ----
	chunk=$(chunk_names "$second" | tail -n 1)
	curl -sf "http${AT#rj}/$JOURNAL/base/$chunk" >chunk
	flip chunk 5000
	curl -sf -X DELETE "http${AT#rj}/$JOURNAL/base/$chunk"
	status 4 "a chunk that is missing is found" back --base="$AT"
	check "... and nothing is left" not test -e r.img
	curl -sf -T chunk "http${AT#rj}/$JOURNAL/base/$chunk"
	status 4 "a flipped bit in it is found" back --base="$AT"
	status 4 "... by mount, too" timeout 120 "$RJBACKUP" mount --scratch=scratch --base="$AT" then
	check "... and nothing is left of it" no_mount
	check "the first one is whole" back --base="$AT#$number"
	check "... and reaches that moment" same_as r.img later

	# ---- by rules: both are of today, and of this hour, or of two ----
	status 0 "expire --keep -n" "$RJBACKUP" expire -n --keep=1d "$AT"
	like "... keeps the newest" "$OUT" "  base $second, 20.*: kept: newest daily"
	like "... and would remove the other" "$OUT" "  base $number, 20.*: would be removed"
	is "... which is there" "$("$RJBACKUP" ls "$AT" | grep -c "  base ")" 2
	status 0 "... and in JSON" "$RJBACKUP" expire -n --json --keep=9d,9h "$AT"
	is "... the same" "$(jq -r '.bases[0] | .base, .kept' <<<"$OUT" | tr '\n' ' ')" "$second true "

	# ---- removed ----
	if [ $kind = key ]; then
		history_conf ""
		status 0 "--keep without the key" "$RJBACKUP" expire --keep=1h "$AT"
		is "... keeps what it cannot read" "$(grep -c 'kept: cannot be read$' <<<"$OUT")" 2
		history_conf "$conf"
		status 0 "expire --keep" env TZ=UTC "$RJBACKUP" expire --keep=1y "$AT"
		like "... removes the older one" "$OUT" "  base $number, .*: removed"
	else
		status 0 "expire --base" "$RJBACKUP" expire --base="$number" "$AT"
	fi
	is "... removes its hold" "$(objects hold)" 1
	is "... and all of it" "$("$RJBACKUP" ls "$AT" | grep -c "  base ")" 1
	status 8 "once" "$RJBACKUP" expire --base="$number" "$AT"
	status 0 "the other too" "$RJBACKUP" expire --base="$second" "$AT"
	is "... and no object is left" "$(objects base)" 0
	status 8 "then there is none" "$RJBACKUP" restore --base="$AT" -o r2.img

	# ---- two at a time: the second takes the first one for what a cut has left ----
	if [ $kind = plain ]; then
		history_conf ""
		(timeout 120 "$RJBACKUP" base --rate=2 -o "$AT" mnt >slow.out 2>&1; echo $? >slow.status) &
		slow=$!
		check "some of a base that takes its time is there" wait_for 60 eval '[ "$(objects base)" -ge 2 ]'
		status 0 "another one, with a hold" timeout 120 "$RJBACKUP" base --hold=1h -o "$AT" mnt
		wait "$slow"
		is "... the first one is none" "$(cat slow.status)" 1
		like "... and says why" "$(cat slow.out)" "^rjbackup: .*: another rjbackup removed base [0-9]+ while it was made"
		RJ_SEED=5 "$WORK" ops mnt 5 200 >/dev/null
		mark last
		check "... the other one is restored" back --base="$AT"
		check "... as the moment now" same_as r.img last

		# ---- two that go on with one base: the slower one is refused, and leaves it ----
		was=$(objects base)
		(timeout 300 "$RJBACKUP" base --hold=1h --rate=2 -o "$AT" mnt >slow.out 2>&1 &
			echo $! >pid; wait $!; echo $? >slow.status) &
		slow=$!
		check "some of a base is there" wait_for 60 eval '[ "$(objects base)" -gt $((was + 1)) ]'
		pkill -STOP -P "$(cat pid)"
		status 0 "another one goes on with it" timeout 120 "$RJBACKUP" base --hold=1h -o "$AT" mnt
		number=$(base_number)
		is "... into one more base" "$("$RJBACKUP" ls "$AT" | grep -c "  base ")" 2
		holds=$(objects hold)
		curl -sf -X DELETE "http${AT#rj}/$JOURNAL/base/$(printf %013d9999999 "$number")"
		pkill -CONT -P "$(cat pid)"
		wait "$slow"
		is "... the first one is refused" "$(cat slow.status)" 1
		like "... and says what stays" "$(cat slow.out)" "; base $number, which another rjbackup has finished, stays$"
		is "... and so does its hold" "$(objects hold)" "$holds"
		check "... it is restored" back --base="$AT#$number"
		check "... as the moment now" same_as r.img last
	fi
	check "unmounted" history_umount
	rm -f ./*.img
done
exit 0
