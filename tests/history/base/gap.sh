#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One segment of a kept log is missing, or damaged: every moment before it is restored, by its
# time and by its segment, and ls says why there is none after it. What would need the segment
# is refused.
. "$RJ_SRC/tests/history/run.sh" || exit 99
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"
kill_daemons_at_end "$T_DIR/v.img"
mkdir look store
SRV_URL=file://$T_DIR/store
history_conf ""
segments() { find store -path '*/log/*' -type f | sort; }
last() { segments | tail -n 1 | sed 's|.*/0*||'; }
# there N: r.img has the files 1 to N, and no other
there() {
	mount -i -t ext4 -o ro,noload,loop r.img look || return 1
	(cd look && sha256sum --quiet -c "$T_DIR/sums.$1") && [ "$(find look -name 'f*' | wc -l)" = "$1" ]
	local rc=$?
	umount look
	rm r.img
	return $rc
}
restore() { timeout 120 "$RJBACKUP" restore --base=base.img -o r.img "$@"; }

check "a volume" history_volume ext4 4096 journal ""
status 0 "a base" "$RJBACKUP" base -o base.img mnt
for n in 1 2 3 4 5 6; do
	head -c 30000 /dev/urandom >"mnt/f$n" && sync "mnt/f$n" && sync -f mnt
	(cd mnt && sha256sum f*) >"sums.$n"
	segment[n]=$(last)
	sleep 1.1
	moment[n]=$(date +%s)
	sleep 0.1
done
check "... unmounted" history_umount
cp -a store whole
victim=$(segments | grep "/0*$((segment[4] + 1))$")
[ -n "$victim" ] || exit 99
for how in missing damaged; do
	rm -rf store && cp -a whole store
	if [ $how = missing ]; then rm "$victim"; else flip "$victim" 700; fi
	for n in 2 3 4; do
		if [ $n -lt 4 ]; then
			status 0 "$how: a moment before it, by its time, $n" restore --at=@${moment[n]}
			check "$how: it has what was there then, $n" there $n
		fi
		status 0 "$how: a moment before it, by its segment, $n" restore --at=segment:${segment[n]}
		check "$how: it has what was there then, by its segment, $n" there $n
	done
	status 0 "$how: ls" "$RJBACKUP" ls base.img
	like "$how: ls says why no farther" "$OUT" "segment $((segment[4] + 1)) is $how"
	# nothing says what was committed between the last commit before it and the fourth moment
	for at in latest "@${moment[4]}" "@${moment[6]}"; do
		status 4 "$how: not past it, $at" restore --at="$at"
		like "$how: not past it, $at: says why, and what can be had" "$OUT" \
			"ends with segment ${segment[4]}, .*: segment $((segment[4] + 1)) is $how \\(--at=segment:${segment[4]} restores that\\)"
		check "$how: not past it, $at: nothing was made" test ! -e r.img
	done
done
rm -rf store && cp -a whole store
status 0 "the whole log: the last moment" restore --at=latest
check "the whole log: it has everything" there 6
exit 0
