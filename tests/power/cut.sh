# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced after vm.sh: one power cut of one machine with several volumes.

# cut_bring_about STATE SEED: the machine writes; bring it there. For degraded, full and
# resyncing its server is taken away (killed, frozen or full, by the seed) until it has
# acknowledged some more, and for resyncing given back. CUT_SERVER: there, frozen, dead or
# full; not asked of its process id, which may be another's by then.
cut_bring_about() {
	local state=$1 seed=$2 more
	case $state in
	online) return 0 ;;
	takeover) # workers are killed by init; this moment
		more=$(cut_kills)
		wait_for 60 cut_killed "$((more + seed % 3))"
		return
		;;
	trimming) wait_for 120 cut_trimmed "$VM_URL/cut$seed.0"; return ;;
	full) cut_server_full ;;
	*)
		if [ "$state" != waiting ] && ((seed / 7 % 3 == 0)); then
			CUT_SERVER=frozen
			kill -STOP "$SRV_PID"
		elif ((seed / 7 % 3 == 1)); then
			CUT_SERVER=dead
			kill_pid "$SRV_PID"
		else
			cut_server_full
		fi
		;;
	esac
	[ "$state" != waiting ] || { wait_for 60 vm_said "; waiting for it"; return; }
	wait_for 60 vm_said "going on in $VM_DIR/f" || return 1
	more=$(wc -l <"$VM_DIR/acks")
	vm_wait 60 $((more + seed / 3 % 60 * 3 + 40))
	[ "$state" != resyncing ] && return 0
	cut_server_back && wait_for 60 vm_said "it gets what $VM_DIR/f"
}
# cut_trimmed URL: its log's second segment, the first that can go, is gone
cut_trimmed() {
	local uuid log
	uuid=$("$RJ_BUILD/rjlog/rjlog" ls "$1" | cut -d' ' -f1) &&
		log=$("$RJ_BUILD/rjlog/rjlog" ls "$1/$uuid") && ! grep -q '^ *2 ' <<<"$log"
}
cut_killed() { (($(cut_kills) > $1)); }
cut_kills() { grep -ac RJ-KILLED "$VM_DIR/console"; }
# the server refuses each write
cut_server_full() {
	CUT_SERVER=full
	printf '[server]\nmin-free = 1000T\n' >"$SRV_CONF"
	kill -HUP "$SRV_PID"
}
# the server is there again, for the machine or for the recovery
cut_server_back() {
	: >"$SRV_CONF"
	case $CUT_SERVER in
	frozen) kill -CONT "$SRV_PID" ;;
	dead) start_server "$VM_DIR/store" "$SRV_PORT" || return 1 ;;
	full) kill -HUP "$SRV_PID" ;;
	esac
	CUT_SERVER=there
}

# power_cut SEED STATE WRITES MILLISECONDS KIND...: format, run, bring STATE about
# after so many acknowledged writes, cut so many milliseconds later, recover and
# judge each volume. STATE: online, degraded, resyncing, full (degraded by a full server);
# without a fallback disk: plain, waiting (the server is away, or full), trimming (each
# second), takeover (workers are killed; of odd seeds with that disk). A volume may be a step
# further, or not yet there, at the cut.
# Sets CUT_ACKED (all volumes') and CUT_BAD; a line for each volume on stdout.
power_cut() {
	local seed=$1 state=$2 writes=$3 ms=$4 n line was pieces fallback=fallback; shift 4
	local kinds=("$@")
	CUT_ACKED=0 CUT_BAD=0 CUT_SERVER=there
	case $state in
	plain) fallback= state=online ;;
	waiting | trimming) fallback= ;;
	takeover) ((seed % 2)) || fallback= ;;
	esac
	VM_STATE=$state
	vm_store_here
	for ((n = 0; n < ${#kinds[@]}; n++)); do
		[ "$VM_STORE" != file ] || mkdir "$VM_DIR/files/cut$seed.$n"
		vm_volume $n "${kinds[n]}" "$VM_URL/cut$seed.$n" "$fallback" ||
			{ echo "BAD seed $seed: ${kinds[n]}: mkrjfs"; CUT_BAD=1; return 1; }
	done
	vm_store_gone
	vm_start "$seed" ${#kinds[@]}
	if ! vm_wait 240 1; then
		echo "BAD seed $seed: nothing was written:"
		tail -n 20 "$VM_DIR/console" "$VM_DIR/qemu"
		vm_cut
		CUT_BAD=1
		return 1
	fi
	vm_wait 60 "$writes" # it may be a slow day
	if ! cut_bring_about "$state" "$seed"; then
		echo "BAD seed $seed: it never was $state:"
		tail -n 20 "$VM_DIR/console"
		CUT_BAD=1
	fi
	sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
	vm_cut
	cut_server_back || CUT_BAD=1
	if grep -aq FAILED "$VM_DIR/acks" "$VM_DIR/console"; then
		echo "BAD seed $seed: the guest saw an error:"
		tail -n 20 "$VM_DIR/console"
		CUT_BAD=1
	fi
	cp "$VM_DIR/cut" "$VM_DIR/cut.was"
	if [[ ${VM_OPTS[*]} == *internal* ]]; then
		vm_replay "$seed" ${#kinds[@]} || { echo "BAD seed $seed: no replay: $(tail -n 20 "$VM_DIR/console")"; CUT_BAD=1; }
	fi
	vm_store_here
	for ((n = 0; n < ${#kinds[@]}; n++)); do
		was=$(vm_state $n)
		[[ $state != @(waiting|trimming|takeover|full) ]] || was=$state
		pieces=$(log_pieces "$VM_URL/cut$seed.$n")
		if vm_recover $n; then
			line=$(vm_judge $n "$seed")
		else
			line="BAD $(<"$VM_DIR/recover.$n")"
		fi
		line=$(tr -s '\n:;,(' ' ' <<<"$line") # without what long's table divides fields by
		line=${line% }
		[[ $line =~ ^[0-9]+$ ]] && CUT_ACKED=$((CUT_ACKED + line)) || CUT_BAD=1
		echo "seed $seed, ${kinds[n]}, ${VM_RELEASE%-cloud*}, $VM_STORE: ${line:-BAD no verdict}; $(sed -n $((n + 1))p "$VM_DIR/cut.was"); $was${fallback:+; its fallback: $(sed -n $((${#kinds[@]} + n + 1))p "$VM_DIR/cut.was"); $(grep -o 'store got [0-9]* segments' "$VM_DIR/recover.$n")}; $pieces"
	done
	vm_store_gone
	return $CUT_BAD
}
