#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjbackup diff against an oracle: random operations of every kind, a manifest of all files at each
# mark, and the diff of each pair of marks has to be what the two manifests say (world.py).
# ext3 and ext4, blocks of 1 and 4 KiB, aged volumes.
# RJ_LONG=N: N seeds, 16 marks each; else one seed with few.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
kinds=("ext4 4096" "ext3 1024" "ext4 1024" "ext3 4096")
ages=("" used "" grown garbage)

# volume TYPE BLOCKSIZE AGE [OPTIONS...]: mounted at mnt
volume() {
	local type=$1 bs=$2 age=$3 url=$SRV_URL/$1-$2-$RANDOM; shift 3
	rm -f v.img base.img && truncate -s "${SIZE}M" v.img && mkdir -p mnt &&
		mke2fs -q -F -t "$type" -b "$bs" -N 8192 -O ^has_journal "$@" v.img || return 1
	[ -z "$age" ] || "$RJ_SRC/tests/support/aged-volume" "$age" v.img || return 1
	"$RJ_BUILD/rjtune/rjtune" -J "remote=$url,size=$((bs / 1024))" v.img && history_mount journal
}
# one SEED MARKS OPS; every other three seeds it is mounted as type rj, and again in between
one() {
	local seed=$1 kind=${kinds[$1 % 4]} age=${ages[$1 % 5]} more=() again=()
	[[ $kind != ext4* ]] || case $((seed / 4 % 4)) in
	1) more=(-O bigalloc -C 16384) ;;
	2) more=(-O "^metadata_csum,^64bit" -I 128) ;;
	3) more=(-G 4 -g 8192) ;;
	esac
	[[ $kind != ext3* ]] || ((seed / 4 % 2)) || more=(-I 128)
	history_conf ""
	# shellcheck disable=SC2086
	check "seed $seed: $kind ${age:-new} ${more[*]}: a volume" volume $kind "$age" "${more[@]}" || return
	if ((seed / 3 % 2)); then
		again=("$UMOUNT_RJ" "$MOUNT_RJ" "$VOL")
		check "... mounted as type rj" eval "history_umount && rj_mount journal"
	fi
	status 0 "... each diff is what the manifests say" timeout 900 python3 \
		"$RJ_SRC/tests/history/diff/world.py" mnt "$seed" "$2" "$3" base.img "$RJBACKUP" \
		"$RJ_BUILD/rjctl/rjctl" "$WORK" "${again[@]}"
	note "$(tail -n 1 <<<"$OUT")"
	if ((seed / 3 % 2)); then
		check "... unmounted" rj_umount
	else
		check "... unmounted" history_umount
	fi
}
SIZE=128
seed=${RJ_SEED:-$((RANDOM * 32768 + RANDOM))}
note "RJ_SEED=$seed"
if [ -n "${RJ_LONG:-}" ]; then
	for ((n = 0; n < RJ_LONG; n++)); do one $((seed + n)) 16 300; done
else
	SIZE=48 # years of use of a small volume take seconds
	one "$seed" 5 120
fi
exit 0
