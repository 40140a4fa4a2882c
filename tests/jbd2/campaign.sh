#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Random logs in journals of all kinds: rjrecover, e2fsck and the kernel (where
# it can mount them) give the volume that the model predicts, or the difference
# is one that is known, and then exactly that one. The second half are logs that hold
# the block bitmaps and descriptors of a volume as its blocks are freed and
# allocated: there rjrecover drops copies (implied revokes) that the kernel replays.
# RJ_JBD2_CASES (40, of each half) and RJ_SEED choose how many and which; RJ_JBD2_FIRST the
# number of the first (the last digits of its seed); RJ_JBD2_ONLY=plain or freed one half.
# A campaign:
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
# SUMS: of a volume whose bitmaps change (m metadata_csum, u uninit_bg, n none): its
# second group ends, and its third begins, within those blocks.
template() {
	local -x E2FSPROGS_FAKE_TIME=1650000000
	local bs=$1 t=t$1$2$3 dev blocks=2048 groups=()
	case $3 in
	m) groups=(-O "metadata_csum,64bit") ;;
	u) groups=(-O "^metadata_csum,^64bit,uninit_bg") ;;
	n) groups=(-O "^metadata_csum,^64bit,^uninit_bg") ;;
	esac
	[ -z "$3" ] || groups+=(-g 2960 -N 96)
	[ "$bs" -le 4096 ] || blocks=1024
	truncate -s $((6000 * bs)) "$t.img" || return 1
	if [ "$2" = e ]; then
		truncate -s $((1500 * bs)) "$t.j" &&
			mke2fs -q -F -b "$bs" -O journal_dev "$t.j" && loop_over "$t.j" || return 1
		dev=$DEV
		mke2fs -q -F -t ext4 -b "$bs" -O ^resize_inode "${groups[@]}" -J device="$dev" \
			"$t.img" && sync "$dev" && losetup -d "$dev" && sync "$t.j" || return 1
	else
		mke2fs -q -F -t ext4 -b "$bs" -O ^resize_inode "${groups[@]}" \
			-J size=$((blocks * bs / 1048576)) "$t.img" &&
			debugfs -R "dump <8> $t.j" "$t.img" || return 1
		# lines of: first block in the journal, in the volume, how many
		debugfs -R "stat <8>" "$t.img" 2>/dev/null | sed '1,/^EXTENTS:/d' | tr -d ' ' | tr , '\n' |
			sed -n 's/^(\([0-9]*\)-\([0-9]*\)):\([0-9]*\)-.*/\1 \3 \2/p' |
			awk '{print $1, $2, $3 - $1 + 1}' >"$t.map"
		[ "$(awk '{n += $3} END {print n}' "$t.map")" = $blocks ] || return 1
	fi
	# lines of: first block, how many: what the log writes; then what no replay may touch
	echo 5900 60 >"$t.parts"
	[ -z "$3" ] || {
		echo $((bs == 1024 ? 2 : 1)) 1
		dumpe2fs "$t.img" | sed -n 's/^  Block bitmap at \([0-9]*\).*/\1 1/p' | tail -n 2
	} >>"$t.parts"
	{ [ "$2" = e ] || sort -nk2 "$t.map"; sed 's/^/0 /' "$t.parts"; echo 0 5960 40; } | sort -nk2 |
		awk 'BEGIN {at = '"$((bs == 1024 ? 2 : 1))"'}
			{if ($2 > at) print at, $2 - at; at = $2 + $3}' >"$t.rest"
	printf '%s\n' "feature needs_recovery" "set_super_value mtime @1660000000" |
		debugfs -w -f - "$t.img" && region "$t.img" "$bs" >"$t.before" &&
		cmp -n $((60 * bs)) "$t.before" /dev/zero
}
region() {
	local at n
	while read -r at n; do
		dd if="$1" bs="$2" skip="$at" count="$n" status=none
	done <"$t.parts"
}
kinds=(1024e 1024i 2048e 4096e 4096i 2048i 65536i)
freed_kinds=(1024em 1024iu 4096en 4096im 2048eu 2048in)
split() { bs=${1%%[ei]*} sums=${1##*[ei]} kind=${1%"$sums"} kind=${kind: -1} t=t$1; }
for k in "${kinds[@]}" "${freed_kinds[@]}"; do
	split "$k"
	check "a template: $k" template "$bs" "$kind" "$sums"
done

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
		cmp -i $((at * bs)) -n $((n * bs)) "$1" "$t.img" || {
			echo "written elsewhere"; return 1; }
	done <"$t.rest"
}
# as many copies as the model drops
dropped() {
	[[ ! $what =~ ,\ ([0-9]+)\ freed, ]] || grep -Eq "\"freed\": *${BASH_REMATCH[1]}\>" out
}
ours() {
	local j=()
	[ "$kind" = i ] || { cp case.j r.j; j=(-J device=r.j); }
	cp --sparse=always case.img r.img && put_journal r.img &&
		"$RJRECOVER" --json --verify=none "${j[@]}" r.img &&
		region r.img "$bs" | cmp -s - expect && dropped &&
		{ [ "$bs" -gt 4096 ] || rest r.img; }
}
# e2fsck gives the model's volume, or (known) less of it
e2fsck_too() {
	local j=() status
	[ "$kind" = i ] || { cp case.j e.j; j=(-j e.j); }
	cp --sparse=always case.img e.img && put_journal e.img || return 1
	e2fsck -p -E journal_only "${j[@]}" e.img; status=$?
	if region e.img "$bs" | cmp -s - kernel; then
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
	# a new file: mount takes the loop device that still holds the old one, if another
	# process has that open, and with it the old blocks in its cache
	rm -f k.img
	cp --sparse=always case.img k.img && put_journal k.img || return 1
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
	region k.img "$bs" | cmp -s - kernel && { [ -z "$sums" ] || rest k.img; } && return
	[[ $what == *"partial commits"* || $what == *"unfinished tid 0"* ]]
}

# A crash in the first commit since a mount, where an earlier journal of the same
# UUID stood: its blocks seem to commit transactions behind the end. They are older
# than the volume; where its age is not known, a log that lost its head looks
# the same, and nothing is touched.
undecided() {
	split 4096e
	cp "$t.j" case.j && ln -sf "$t.img" case.img &&
		what=$("$bin/make-log" 246422986000015 case.j 5900 60 "$t.before" expect less) &&
		[[ $what == *"stale ahead; 0 transactions"* ]] && ours || return 1
	cp "$t.img" u.img && debugfs -w -R "set_super_value mtime $1" u.img || return 1
	cp case.j r.j
	cp u.img u2.img
	"$RJRECOVER" -q --verify=none -J device=r.j u.img >u.out 2>&1
	[ $? = 4 ] && grep -q "seems to end here.*nothing was changed" u.out && cmp u.img u2.img && cmp r.j case.j
}
check "an earlier journal behind an empty log: younger volume" undecided 0
check "... and of a volume made by a clock that was ahead" undecided @1640000000

# make_case NUMBER: its log and its volume; what each of them makes of it
make_case() {
	local volume=()
	rm -f case.img
	ln -sf expect kernel
	cp "$t.j" case.j || exit 99
	if [ -z "$sums" ]; then
		ln -s "$t.img" case.img
	else
		rm kernel
		cp --sparse=always "$t.img" case.img || exit 99
		volume=(case.img kernel)
	fi
	what="$k, $("$bin/make-log" "$1" case.j 5900 60 "$t.before" expect less "${volume[@]}")"
}
judge() {
	local k=$1 i=$2
	split "$k"
	make_case $((seed * 100000 + i)) || { not_ok "make-log $((seed * 100000 + i))"; return; }
	echo "$what" >>all
	ours >out 2>&1 || { bad[0]=$((bad[0] + 1)); note "rjrecover: $what" "$(tail -n 5 out)"; }
	e2fsck_too >out 2>&1 || { bad[1]=$((bad[1] + 1)); note "e2fsck: $what" "$(tail -n 5 out)"; }
	[ -n "$sums" ] || ((bs <= 4096 && i % 4 == seed % 4)) || return
	kernels=$((kernels + 1))
	kernel_too >out 2>&1 || {
		bad[2]=$((bad[2] + 1)); note "kernel: $what" "$(tail -n 5 out; dmesg | tail -n 3)"; }
}
# half KIND...: cases of these; a volume of 64 KiB blocks is seldom one of them
half() {
	local k i
	bad=(0 0 0) kernels=0 known=0
	for ((i = first; i < first + cases; i++)); do
		k=${*:i % 6 + 1:1}
		((i % 50 == 49 && $# > 6)) && k=$7
		judge "$k" "$i"
	done
	is "rjrecover gives the model's volume, $cases logs" "${bad[0]}" 0
	is "e2fsck gives the model's volume, or less as known ($known)" "${bad[1]}" 0
	is "the kernel gives the model's volume, $kernels logs" "${bad[2]}" 0
}
first=${RJ_JBD2_FIRST:-0}
[ "${RJ_JBD2_ONLY:-plain}" != plain ] || half "${kinds[@]}"
if [ "${RJ_JBD2_ONLY:-freed}" = freed ]; then
	half "${freed_kinds[@]}"
	enough=$((cases >= 20)) # a case alone may be one without
	some=$(grep -c ' [1-9][0-9]* blocks differ' all)
	check "in $some of them implied revokes drop what the kernel replays" test "$some" -ge $enough
	some=$(grep -c ' [1-9][0-9]* direct$' all)
	check "in $some of them over what was written to the device since" test "$some" -ge $enough
fi
for word in "csum 0" "csum 1" "csum 2" "csum 3" 64bit async "version 1" fast_commit \
	wrapped "spoilt revoked" "own uuids" "partial commits" "stale ahead" "more than e2fsck takes" "unfinished tid 0"; do
	note "$(grep -c -- "$word" all) of $(wc -l <all) with: $word"
done
awk '{for (i = 1; i < NF; i++) {
	if ($(i + 1) ~ /^transactions/) t += $i
	if ($(i + 1) ~ /^tags,/) g += $i
	if ($(i + 1) ~ /^revokes/) r += $i
	if ($(i + 1) ~ /^freed/) f += $i
	if ($(i + 1) ~ /^blocks$/) d += $i
	if ($(i + 1) ~ /^direct/) w += $i}}
	END {print "# in all: " t " transactions, " g " tags, " r " revokes; implied ones dropped " \
		f " copies; " d " blocks differ, " w " of those written directly"}' all
exit 0
