#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two power cuts of a virtual machine whose volumes have remote journals, one of
# them with its server away, or just back. The long form is tests/power/long.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
need_root
. "$RJ_SRC/tests/support/rj.sh" || exit 99
. "$RJ_SRC/tests/power/vm.sh" || exit 99
. "$RJ_SRC/tests/power/cut.sh" || exit 99
why=$(vm_missing)
[ -z "$why" ] || skip_all "$why"
sanitized "$RJOURNALD" &&
	skip_all "the machine runs the normal build"
vm_setup || exit 99

seed=${RJ_SEED:-$((RANDOM * 32768 + RANDOM))}
note "RJ_SEED=$seed"
vm_store "$([ $((seed / 2 % 2)) = 0 ] && echo rj || echo rjs)" || exit 99
features=(ext4-1k-async ext4-2k-journal+orphan_file ext4-1k-ordered+bigalloc+quota
	ext4-4k-writeback+inline_data+casefold)
kinds=(ext4-4k-ordered ext3-1k-journal "${features[seed % 4]}")
states=(plain "$([ $((seed % 2)) = 0 ] && echo degraded || echo resyncing)")
for ((i = 0; i < ${RJ_POWER_CUTS:-2}; i++)); do
	check "power cut $i" power_cut $((seed + i)) "${states[i % 2]}" $(((seed >> i) % 90 + 10)) \
		$((seed % 50)) "${kinds[@]}"
	note "$(<"$T_DIR/.check")"
	check "power cut $i: something had been acknowledged" test "$CUT_ACKED" -gt 0
done

# the disks forget what is not flushed, and the judge sees what is missing
damaged() {
	local acks
	acks=$(grep -c '^0 0 ' "$VM_DIR/acks")
	# one more than there were: its file cannot be as it should be
	for ((i = 0; i < 40; i++)); do echo "0 0 $((acks + i))"; done >>"$VM_DIR/acks"
	"$VM_JUDGE" "$VM_DIR/v0" $((seed + ${RJ_POWER_CUTS:-2} - 1)) "$VM_THREADS" "$VM_DIR/acks" 0
}
sed -i '$!b;/^[0-9]* [0-9]* [0-9]*$/!d' "$VM_DIR/acks"
status 1 "writes that never were are missed" damaged
exit 0
