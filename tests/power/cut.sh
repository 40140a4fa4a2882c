# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced after vm.sh: one power cut of one machine with several volumes.

# power_cut SEED WRITES MILLISECONDS KIND...: format, run, cut so many
# milliseconds after so many acknowledged writes, recover and judge each volume.
# Sets CUT_ACKED (all volumes') and CUT_BAD; a line for each volume on stdout.
power_cut() {
	local seed=$1 writes=$2 ms=$3 n line; shift 3
	local kinds=("$@")
	CUT_ACKED=0 CUT_BAD=0
	for ((n = 0; n < ${#kinds[@]}; n++)); do
		vm_volume $n "${kinds[n]}" "$SRV_URL/cut$seed.$n" ||
			{ echo "BAD seed $seed: ${kinds[n]}: mkrjfs"; CUT_BAD=1; return 1; }
	done
	vm_start "$seed" ${#kinds[@]}
	if ! vm_wait 240 1; then
		echo "BAD seed $seed: nothing was written:"
		tail -n 20 "$VM_DIR/console" "$VM_DIR/qemu"
		vm_cut
		CUT_BAD=1
		return 1
	fi
	vm_wait 60 "$writes" # it may be a slow day
	sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
	vm_cut
	if grep -q FAILED "$VM_DIR/acks" "$VM_DIR/console"; then
		echo "BAD seed $seed: the guest saw an error:"
		tail -n 20 "$VM_DIR/console"
		CUT_BAD=1
	fi
	for ((n = 0; n < ${#kinds[@]}; n++)); do
		if ! vm_recover $n; then
			line="BAD $(<"$VM_DIR/recover.$n")"
		else
			line=$("$VM_JUDGE" "$VM_DIR/v$n" "$seed" "$VM_THREADS" "$VM_DIR/acks" $n)
		fi
		[[ $line =~ ^[0-9]+$ ]] && CUT_ACKED=$((CUT_ACKED + line)) || CUT_BAD=1
		echo "seed $seed, ${kinds[n]}: ${line:-BAD no verdict}; $(sed -n $((n + 1))p "$VM_DIR/cut")"
	done
	return $CUT_BAD
}
