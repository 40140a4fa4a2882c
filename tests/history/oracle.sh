#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The time-travel oracle: random operations, a base under load, markers (syncfs and a
# manifest of every file), and each marker restored and compared, by time and by segment.
# Four seeds of seven have crashes under load, each with orphans, rjrecover and a marker after it.
# Every other four seeds the volume is grown online, under load, before and after another mount.
# At the end each block in use is compared with the volume's own (blocks.h).
# RJ_LONG=N: N seeds, of all kinds of volume; else one seed of one kind.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
kinds=("ext4 4096" "ext3 4096" "ext4 1024" "ext3 1024")
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"

# load SEED: operations until there is no file "going"
load() {
	local n=$1
	while [ -e going ]; do "$WORK" ops mnt $((n++)) 500 || return; done
}
remounted() { rj_umount && rj_mount "$1"; }
# grown_in_use SEED: by 1 to 250 MiB
grown_in_use() {
	local rc load
	touch going
	load $(($1 * 1000)) >load.out 2>&1 &
	load=$!
	grown $(($1 % 5 ? 60 + $1 * 7919 % 190 : 1 + $1 % 40))
	rc=$?
	rm going
	wait "$load"
	((rc)) || resizes=$((resizes + 1))
	return $rc
}
# crashed SEED MODE: mount.rj recovers the volume
crashed() {
	deleted_open 2 && crash_under_load "$1" && rj_mount "$2"
}
# one SEED: a history and its judgement
one() {
	local seed=$1 kind=${kinds[$1 % 4]} i words= with= mode=journal more=() load crashes= grows=
	# it takes CAP_SYS_RESOURCE
	((seed / 4 % 2)) || ! may_grow || grows=grown
	JOURNAL_TIMES=${grows:+2}
	rm -f ./*.img ./*.manifest ./*.time ./*.segment
	case $((seed % 3)) in
	1) "$RJ_BUILD/rjtune/rjtune" --genkey "$T_DIR/key.$seed" >/dev/null
		words=,key=$T_DIR/key.$seed
		history_conf "keyfile = $T_DIR/key.$seed" ;;
	2) history_conf "compress = yes"; with=zstd ;;
	*) history_conf "" ;;
	esac
	case $((seed / 4 % 7)) in
	1) more=(-O bigalloc -C 16384) ;;
	2) more=(-O "^metadata_csum,^64bit") ;;
	3) more=(-O ^orphan_file) ;;
	4) mode=journal,discard ;;
	5) more=(-O "meta_bg,^resize_inode") ;;
	6) more=(-O ^resize_inode) ;;
	esac
	((seed / 4 % 7 > 4)) || [[ $kind == ext4* ]] || more=()
	kind="$kind ${more[*]} $grows"
	[ -z "$words" ] || with=key
	((seed % 7 > 3)) || crashes=yes
	note "seed $seed: $kind $mode $with"
	[ -z "$crashes" ] || note "with crashes"
	# shellcheck disable=SC2086
	check "$kind: a volume" history_volume ${kinds[seed % 4]} $mode "$words" "${more[@]}" || return
	check "... mounted as type rj" eval "history_umount && rj_mount $mode"
	check "... in use" "$WORK" ops mnt "$seed" 300
	touch going
	load $((seed * 100)) >load.out 2>&1 &
	load=$!
	sleep 0.3
	# slow enough for the journal to go round while it is read
	status 0 "... a base under load" timeout 120 "$RJBACKUP" base --rate=1 -o base.img mnt
	rm going
	check "... whose first moment is sound" timeout 120 "$RJBACKUP" restore --verify=full \
		--at="segment:$(sed 's/.*whole at segment \([0-9]*\),.*/\1/' <<<"$OUT")" --base=base.img -o r.img
	wait "$load"
	[ -z "$words" ] ||
		status 32 "... without the key nothing" env RJ_CONF=/dev/null "$RJBACKUP" ls base.img
	for ((i = 0; i < MARKS; i++)); do
		if [ -n "$grows" ] && ((i == 1 || i == 3)); then
			check "... grown before marker $i" grown_in_use $((seed + i))
			note "$(grep "blocks long" resize.out)"
		fi
		"$WORK" ops mnt $((seed + 2000 + i)) 250 >ops.out 2>&1 || { not_ok "work"; return; }
		mark "m$i" || { not_ok "a marker"; return; }
		# a freeze empties the journal, and the mount goes on
		((i % 3)) || { fsfreeze -f mnt && fsfreeze -u mnt; }
		# a worker dies, and its successor goes on in a new epoch
		if ((i == 2)); then
			kill_pid "$(worker_pid "$T_DIR/v.img")"
			wait_for 60 worker_pid "$T_DIR/v.img"
		fi
		if [ -n "$crashes" ] && ((i != 1 && i < MARKS - 1)); then
			check "... a crash after marker $i" crashed $((seed + 3000 + i)) $mode
			mark "c$i" || { not_ok "a marker"; return; }
		elif ((i == 1 || i == 2)); then
			check "... mounted again after marker $i" remounted $mode
		fi
	done
	check "... what can be restored" timeout 120 "$RJBACKUP" ls base.img
	for ((i = 0; i < MARKS; i++)); do
		if ((i < MARKS - 1)); then
			check "... marker $i by its time" restored "$(cat "m$i.time")" "m$i"
		fi
		check "... marker $i by its segment" restored "segment:$(cat "m$i.segment")" "m$i"
		[ ! -e "c$i.segment" ] ||
			check "... marker $i by a crash and its segment" restored "segment:$(cat "c$i.segment")" "c$i"
	done
	check "... unmounted" rj_umount
	check "... the latest" restored latest "m$((MARKS - 1))"
	status 0 "... and each block in use is the volume's" "$COMPARE" v.img r.img
	note "seed $seed: $kind: $OUT"
}
MARKS=4 resizes=0
seed=${RJ_SEED:-$((RANDOM * 32768 + RANDOM))}
note "RJ_SEED=$seed"
for ((n = 0; n < ${RJ_LONG:-1}; n++)); do one $((seed + n)); done
may_grow && note "grown online, under load: $resizes times" || note "no volume was grown: see may_grow"
exit 0
