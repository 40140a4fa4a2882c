#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# No space left: at the store, for the hold of a base and for the log while a base is made, under
# follow and fold; and where base and restore write. Nothing half is left, and it works again with
# space.
. "$RJ_SRC/tests/history/run.sh" || exit 99
mkdir srv small || exit 99
mount -t tmpfs -o size=24m none srv || skip_all "cannot mount a tmpfs"
at_exit umount -l "$T_DIR/srv"
mount -t tmpfs -o size=200k none small || exit 99
at_exit umount -l "$T_DIR/small"
start_server "$T_DIR/srv/d" || exit 99
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"
history_conf ""
# what is trimmed would make space while the store has to be full
sed -i '/^retain/d; s/^trim_interval.*/trim_interval = 3600/' "$RJ_CONF"
# fill: put objects of another log, smaller and smaller ones, until none is taken
filler=0 uuid=00000000-0000-0000-0000-000000000001
fill() {
	local size
	for size in 1000000 100000 10000 1000 10; do
		head -c $size /dev/urandom >filler
		while curl -sf -T filler "http${AT#rj}x/$uuid/log/$(printf %020d $((filler + 1)))"; do
			filler=$((filler + 1))
		done
	done
	note "$filler objects"
	((filler))
}
holds() { "$RJBACKUP" ls "$AT" | grep -c "  hold [0-9]* of"; }

check "a volume" history_volume ext4 4096 journal ""
AT=$(grep -ao "rj://127.0.0.1:$SRV_PORT/[a-zA-Z0-9-]*" v.img | head -n 1)
check "in use" "$WORK" ops mnt 1 200
sync -f mnt

# ---- where they write ----
status 8 "no space for the base" "$RJBACKUP" base --hold=1h -o small/base.img mnt
like "... is told" "$OUT" "^rjbackup: small/base.img.*No space left on device$"
is "... in one line" "$(wc -l <<<"$OUT")" 1
is "... nothing is left of it" "$(ls small)" ""
is "... and no hold" "$(holds)" 0
status 0 "a base" "$RJBACKUP" base --hold=1h -o base.img mnt
is "... with a hold" "$(holds)" 1
check "work" "$WORK" ops mnt 2 200
check "a marker" mark m
status 8 "no space for the restored volume" "$RJBACKUP" restore --base=base.img -o small/r.img
like "... is told" "$OUT" "^rjbackup: small/r.img.*No space left on device$"
is "... nothing is left of it" "$(ls small)" ""
check "the marker, with space" restored latest m

# ---- at the store ----
check "the store is full" fill
status 8 "no space for a hold" timeout 120 "$RJBACKUP" base --hold=1h -o second.img mnt
like "... is told" "$OUT" "^rjbackup: .*(full|space)"
check "... and no base is left" test ! -e second.img
mount -o remount,size=48m srv
is "... and no hold" "$(holds)" 1
check "the marker is still there" restored latest m

# the base has begun, and the log cannot go on
"$RJBACKUP" base --hold=1h --rate=1 -o third.img mnt >third.out 2>&1 &
pid=$!
for ((n = 0; n < 1000000; n++)); do [ ! -e third.img ] || break; done
kill -STOP "$pid"
check "the store is full while a base is made" fill
"$WORK" ops mnt 3 200 >/dev/null &
work=$!
kill -CONT "$pid"
sleep 2
if [ "$(holds)" = 1 ]; then # it was too early for its hold
	wait "$pid"
	check "... no hold, no base" test ! -e third.img
	mount -o remount,size=96m srv
	wait "$work"
else
	check "... the base waits" kill -0 "$pid"
	mount -o remount,size=96m srv
	wait "$pid"
	is "... until there is space" $? 0
	wait "$work"
	check "a marker after that" mark n
	ln -f third.img base.img
	check "... is restored" restored latest n
fi

# ---- a base at the store ----
mount -o remount,size=200m srv
head -c $((20 << 20)) /dev/urandom >mnt/large && sync -f mnt
pieces() { curl -sf "http${AT#rj}/$(dumpe2fs -h v.img 2>/dev/null | awk '/^Journal UUID/ {print $3}')/base/" | wc -l; }
some() { [ "$(pieces)" -gt 1 ]; }
"$RJBACKUP" base --hold=1h --rate=4 -o "$AT" mnt >fourth.out 2>&1 &
pid=$!
check "a base at the store is begun" wait_for 60 some
kill -STOP "$pid"
check "... which is full then" fill
kill -CONT "$pid"
wait "$pid"
is "... and the base fails" $? 8
like "... says so, and what to do" "$(cat fourth.out)" "(full|space).*; the same command goes on with base [0-9]+"
mount -o remount,size=300m srv
status 0 "... with space it goes on" timeout 170 "$RJBACKUP" base --hold=1h -o "$AT" mnt
is "... and there is one base" "$("$RJBACKUP" ls "$AT" | grep -c "  base .*, whole at")" 1
check "a marker" mark o
rm -f r.img
status 0 "... is restored from it" timeout 120 "$RJBACKUP" restore --base="$AT" -o r.img
check "... as it was" same_as r.img o

# ---- follow and fold, which only read, but for their hold ----
mount -o remount,size=400m srv
rm -f base.img
status 0 "a base that follows" timeout 120 "$RJBACKUP" base --hold=1h -o base.img mnt
check "work" "$WORK" ops mnt 5 200
check "a marker" mark p
before=$(holds)
check "the store is full" fill
"$WORK" ops mnt 6 200 >/dev/null &
work=$!
for how in follow\ --once fold; do
	cp --sparse=always base.img was.img
	# shellcheck disable=SC2086
	status 8 "$how with a hold, which finds no space" timeout 120 "$RJBACKUP" $how --hold=1h --base=base.img
	like "... is told" "$OUT" "^rjbackup: .*(full|space)"
	is "... and the holds are as before" "$(holds)" "$before"
	check "... the base is whole, and has the marker's place" eval '"$RJBACKUP" ls base.img >ls.out'
	mv was.img base.img
	# shellcheck disable=SC2086
	status 0 "$how without one" timeout 120 "$RJBACKUP" $how --base=base.img
	check "... the marker is in it" test "$(sed -n 's/.*earliest: .*segment \([0-9]*\).*/\1/p' <("$RJBACKUP" ls base.img))" -ge "$(cat p.segment)"
done
mount -o remount,size=500m srv
wait "$work"
check "a marker, with space" mark q
status 0 "follow with a hold" timeout 120 "$RJBACKUP" follow --once --hold=1h --base=base.img
is "... which is there" "$(holds)" $((before + 1))
check "... the marker is restored" restored latest q
check "unmounted" history_umount
exit 0
