#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The short form of the cut harness (long form: doc/results/move-cuts.md): states that
# a power cut leaves of moves, each resumed and judged.
. "$RJ_SRC/tests/support/lib.sh"
PATH=$PATH:/sbin:/usr/sbin
cuts=$RJ_BUILD/tests/move/cuts
export RJ_RECORDER=$RJ_BUILD/tests/move/.libs/recorder.so
dir=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo "$T_DIR")/rjmove.XXXXXX")
at_exit rm -rf "$dir"

# It can fail: tune2fs on a volume without backup superblocks
out=$(timeout 60 "$cuts" --dir "$dir" --tool tune2fs --features one-group \
	--from internal --to none --states 60)
is "tune2fs: the harness finds states that are neither old nor new" "$?" 1
bad=$(sed -n 's/.* moves, \([0-9]*\) bad;.*/\1/p' <<<"$out")
note "$(tail -n 1 <<<"$out")"
check "many of them (${bad:-none})" test "${bad:-0}" -ge 20

# Ours: some states of each move; now and then the resume is cut too
seed=${RJ_SEED:-$(date +%s)}
out=$(timeout 240 "$cuts" --dir "$dir" --features csum-1k \
	--states 7 --again 9 --seed "$seed" 2>&1)
is "rjtune: no state that is neither old nor new (RJ_SEED=$seed)" "$?" 0
note "$(grep '^#' <<<"$out" | tail -n 20)" "$(tail -n 1 <<<"$out")"
states=$(sed -n 's/^\([0-9]*\) states of .*/\1/p' <<<"$out")
check "it tried as many as it should (${states:-none})" test "${states:-0}" -ge 200

# Volumes that were in use for years: a record in pieces, a journal where garbage was
aged() { # NAME KIND OPTION...
	local name=$1 kind=$2; shift 2
	out=$(timeout 240 unshare -m "$cuts" --dir "$dir" --aged "$kind" --seed "$seed" "$@" 2>&1)
	is "$name: no state that is neither old nor new (RJ_SEED=$seed)" "$?" 0
	note "$(grep '^#' <<<"$out" | tail -n 20)" "$(tail -n 1 <<<"$out")"
}
need_root
aged "free blocks that are not zero" garbage --features ext3-1k,ext3-4k,ext4-map \
	--from none --to internal --states 40 --again 30
aged "every second block free" holes --features ext3-1k --from none --to internal --states 40
aged "every second block free, another UUID" holes --features uninit_bg \
	--from device --to device --again 30
