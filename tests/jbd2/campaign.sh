#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Random logs in journals of all kinds: rjrecover, e2fsck and the kernel (where
# it can mount them) give the volume that the model predicts, or the difference
# is one that is known, and then exactly that one.
# RJ_JBD2_CASES (40) and RJ_SEED choose how many and which; RJ_JBD2_FIRST the
# number of the first (the last digits of its seed). A campaign:
#   RJ_JBD2_CASES=4000 RJ_SRC=. RJ_BUILD=build bash tests/jbd2/campaign.sh
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
need_root
[ -c /dev/loop-control ] || skip_all "no loop devices"

bin=$RJ_BUILD/tests/jbd2
cases=${RJ_JBD2_CASES:-40}
seed=${RJ_SEED:-$RANDOM$RANDOM}
note "RJ_SEED=$seed"
cd "$T_DIR" || exit 99
mkdir -p mnt

# A volume of 6000 blocks whose blocks 5900..5959 are free, and its journal: a
# device of 1500 blocks (KIND e), or 2048 blocks of its own (KIND i; 1024 of 64 KiB).
# It was made between LM_STALE_TIME and LM_BASE_TIME (logmaker.h), and mounted since.
template() {
	local -x E2FSPROGS_FAKE_TIME=1650000000
	local bs=$1 t=t$1$2 dev blocks=2048
	[ "$bs" -le 4096 ] || blocks=1024
	truncate -s $((6000 * bs)) "$t.img" || return 1
	if [ "$2" = e ]; then
		truncate -s $((1500 * bs)) "$t.j" &&
			mke2fs -q -F -b "$bs" -O journal_dev "$t.j" && loop_over "$t.j" || return 1
		dev=$DEV
		mke2fs -q -F -t ext4 -b "$bs" -O ^resize_inode -J device="$dev" "$t.img" &&
			sync "$dev" && losetup -d "$dev" && sync "$t.j" || return 1
	else
		mke2fs -q -F -t ext4 -b "$bs" -O ^resize_inode \
			-J size=$((blocks * bs / 1048576)) "$t.img" &&
			debugfs -R "dump <8> $t.j" "$t.img" || return 1
		# lines of: first block in the journal, in the volume, how many
		debugfs -R "stat <8>" "$t.img" 2>/dev/null | sed '1,/^EXTENTS:/d' | tr -d ' ' | tr , '\n' |
			sed -n 's/^(\([0-9]*\)-\([0-9]*\)):\([0-9]*\)-.*/\1 \3 \2/p' |
			awk '{print $1, $2, $3 - $1 + 1}' >"$t.map"
		[ "$(awk '{n += $3} END {print n}' "$t.map")" = $blocks ] || return 1
	fi
	# lines of: first block, how many, that no replay here may touch
	{ [ "$2" = e ] || sort -nk2 "$t.map"; echo 0 5900 100; } |
		awk 'BEGIN {at = '"$((bs == 1024 ? 2 : 1))"'}
			{if ($2 > at) print at, $2 - at; at = $2 + $3}' >"$t.rest"
	printf '%s\n' "feature needs_recovery" "set_super_value mtime @1660000000" |
		debugfs -w -f - "$t.img" && region "$t.img" "$bs" >"$t.before" &&
		cmp -n $((60 * bs)) "$t.before" /dev/zero
}
region() { dd if="$1" bs="$2" skip=5900 count=60 status=none; }
kinds=(1024e 1024i 2048e 4096e 4096i 2048i 65536i)
for k in "${kinds[@]}"; do check "a template: $k" template "${k%?}" "${k: -1}"; done

# put_journal IMAGE: the log into an internal journal
put_journal() {
	local log at n
	[ "$kind" = i ] || return 0
	while read -r log at n; do
		dd if=case.j of="$1" bs="$bs" skip="$log" seek="$at" count="$n" \
			conv=notrunc status=none || return 1
	done <"$t.map"
}
# rest IMAGE: what lies outside of region, journal and superblock is unchanged
rest() {
	local at n
	while read -r at n; do
		cmp -i $((at * bs)) -n $((n * bs)) "$1" "$t.img" || return 1
	done <"$t.rest"
}
ours() {
	local j=()
	[ "$kind" = i ] || { cp case.j r.j; j=(-J device=r.j); }
	cp --sparse=always "$t.img" r.img && put_journal r.img &&
		"$RJRECOVER" -q --verify=none "${j[@]}" r.img &&
		region r.img "$bs" | cmp -s - expect &&
		{ [ "$bs" -gt 4096 ] || rest r.img || { echo "written elsewhere"; false; }; }
}
# e2fsck gives the model's volume, or (known) less of it
e2fsck_too() {
	local j=() status
	[ "$kind" = i ] || { cp case.j e.j; j=(-j e.j); }
	cp --sparse=always "$t.img" e.img && put_journal e.img || return 1
	e2fsck -p -E journal_only "${j[@]}" e.img; status=$?
	if region e.img "$bs" | cmp -s - expect; then
		((status <= 1)) && return 0
		[[ $what == *"partial commits"* ]]; return
	fi
	# it takes the end of the log, tid 0, for none, and replays that one
	[[ $what == *"unfinished tid 0"* ]] && return
	[[ $what == *"more than e2fsck takes"* ]] &&
		region e.img "$bs" | cmp -s - less && known=$((known + 1))
}
kernel_too() {
	local opts=loop,noinit_itable
	cp --sparse=always "$t.img" k.img && put_journal k.img || return 1
	if [ "$kind" = e ]; then
		cp case.j k.j
		loop_over k.j || return 1
		opts+=,journal_path=$DEV
	fi
	if mount -t ext4 -o "$opts" k.img mnt; then
		umount mnt
	# older kernels refuse the first; a journal superblock of version 1 has
	# no room for the features that a mount behind the replay wants to set
	elif [[ $what != *"partial commits"* && $what != *"version 1"* ]]; then
		return 1
	fi
	[ "$kind" = i ] || losetup -d "$DEV"
	region k.img "$bs" | cmp -s - expect && return
	[[ $what == *"partial commits"* || $what == *"unfinished tid 0"* ]]
}

# A crash in the first commit since a mount, where an earlier journal of the same
# UUID stood: its blocks seem to commit transactions behind the end. They are older
# than the volume; where its age is not known, a log that lost its head looks
# the same, and nothing is touched.
undecided() {
	kind=e bs=4096 t=t4096e
	cp "$t.j" case.j && what=$("$bin/make-log" 246422986000015 case.j 5900 60 "$t.before" expect less) &&
		[[ $what == *"stale ahead; 0 transactions"* ]] && ours || return 1
	cp "$t.img" u.img && debugfs -w -R "set_super_value mtime $1" u.img || return 1
	cp case.j r.j
	cp u.img u2.img
	"$RJRECOVER" -q --verify=none -J device=r.j u.img >u.out 2>&1
	[ $? = 4 ] && grep -q "seems to end here.*nothing was changed" u.out && cmp u.img u2.img && cmp r.j case.j
}
check "an earlier journal behind an empty log: younger volume" undecided 0
check "... and of a volume made by a clock that was ahead" undecided @1640000000

bad=(0 0 0) kernels=0 known=0
first=${RJ_JBD2_FIRST:-0}
for ((i = first; i < first + cases; i++)); do
	k=${kinds[i % 6]}
	((i % 50 == 49)) && k=65536i
	bs=${k%?} kind=${k: -1} t=t$k
	cp "$t.j" case.j || exit 99
	what="$k, $("$bin/make-log" $((seed * 100000 + i)) case.j 5900 60 "$t.before" expect less)" || {
		not_ok "make-log $((seed * 100000 + i))"; continue; }
	echo "$what" >>all
	ours >out 2>&1 || { bad[0]=$((bad[0] + 1)); note "rjrecover: $what" "$(tail -n 5 out)"; }
	e2fsck_too >out 2>&1 || { bad[1]=$((bad[1] + 1)); note "e2fsck: $what" "$(tail -n 5 out)"; }
	((bs <= 4096 && i % 4 == seed % 4)) || continue
	kernels=$((kernels + 1))
	kernel_too >out 2>&1 || {
		bad[2]=$((bad[2] + 1)); note "kernel: $what" "$(tail -n 5 out; dmesg | tail -n 3)"; }
done
is "rjrecover gives the model's volume, $cases logs" "${bad[0]}" 0
is "e2fsck gives the model's volume, or less as known ($known)" "${bad[1]}" 0
is "the kernel gives the model's volume, $kernels logs" "${bad[2]}" 0
for word in "csum 0" "csum 1" "csum 2" "csum 3" 64bit async "version 1" fast_commit \
	wrapped "spoilt revoked" "own uuids" "partial commits" "stale ahead" "more than e2fsck takes" "unfinished tid 0"; do
	note "$(grep -c -- "$word" all) of $cases with: $word"
done
awk '{for (i = 1; i < NF; i++) {
	if ($(i + 1) ~ /^transactions/) t += $i
	if ($(i + 1) ~ /^tags/) g += $i
	if ($(i + 1) ~ /^revokes/) r += $i}}
	END {print "# in all: " t " transactions, " g " tags, " r " revokes"}' all
exit 0
