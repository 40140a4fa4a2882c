# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced after lib.sh and rj.sh: a recorded run of the running kernel.
CRASH_BIN=$RJ_BUILD/tests/crash
CRASH_DIR=
CRASH_WEAK= # -w: data=writeback, see verify.h
CRASH_THREADS=3

# tell the recorder; it answers with one line
recorder() {
	local answer
	echo "$*" >&"${RECORDER[1]}" && read -r -t 120 answer <&"${RECORDER[0]}" &&
		[ "$answer" = ok ]
}

crash_setup() {
	CRASH_DIR=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo "$T_DIR")/rjcrash.XXXXXX") &&
		at_exit rm -rf --one-file-system "$CRASH_DIR"
	local_conf "$CRASH_DIR/fb" "$CRASH_DIR" # the first is a link
}

# crash_record KIND OPERATIONS SEED: events, base. KIND: type-blocksize-mode; with
# $RJOURNALD as the daemon. KIND+fallback: with a fallback file, and without the
# server for a third of the time; its states are for one worker.
crash_record() {
	local kind=$1 count=$2 seed=$3 type bs mode opts d=$CRASH_DIR port daemon loop rc=0
	local words= files= away=
	IFS=- read -r type bs mode <<<"${kind%+*}"
	bs=$((${bs%k} * 1024))
	case $mode in
	async) opts=data=writeback,journal_async_commit ;;
	journal-async) opts=data=journal,journal_async_commit ;;
	*) opts=data=$mode ;;
	esac
	CRASH_WEAK=$([[ $opts != data=writeback* ]] || echo -w)
	rm -rf "${d:?}"/*
	mkdir -p "$d/fuse" "$d/mnt" || return 1
	start_server "$d/server" || return 1
	coproc RECORDER { exec "$CRASH_BIN/record" "$d/events" "$SRV_PORT" 2>"$d/record.err"; }
	local recorder_pid=$RECORDER_PID
	at_exit kill -KILL "$recorder_pid"
	at_exit umount -l "$d/fuse"
	read -r -t 60 port <&"${RECORDER[0]}" || return 1
	truncate -s 14M "$d/volume"
	if [[ $kind == *+fallback ]]; then
		words=,fallback=$d/fb,fallback_size=40
		files=$d/fallback
		away="$((count * CRASH_THREADS / 3)) $((count * CRASH_THREADS * 2 / 3))"
	fi
	# shellcheck disable=SC2046 # two words or none
	"$MKRJFS" -q -F -t "$type" -b "$bs" -O ^orphan_file -N 512 -E lazy_itable_init=0 \
		$([ "$bs" = 4096 ] && echo -g 2048) \
		-J "remote=rj://127.0.0.1:$port/crash,size=$((bs / 1024))$words" "$d/volume" || return 1
	cp "$d/volume" "$d/base"
	if [ -n "$files" ]; then
		mv "$d/fb" "$files" && cp "$files" "$d/base.fallback" &&
			ln -s "$d/fuse/fallback" "$d/fb" || return 1
	fi
	recorder "volume $d/fuse $d/volume $files" || return 1
	loop=$(losetup -f --show --direct-io=on "$d/fuse/volume") || return 1
	at_exit loop_detach "$loop" "$d/fuse/volume"
	at_exit umount -l "$d/mnt"
	# a commit is shipped in pieces, however small and however far the server is;
	# at every fourth seed as it comes
	(umask 077; printf '[*]\ntrim_interval = 1\nship_early = %s\n%s\n' $((seed % 4 ? 65536 : 0)) \
		"${files:+loss_timeout = 1}" >"$RJ_CONF") &&
		JLOOP=$("$RJOURNALD" -q "$loop") || return 1
	daemon=$(daemon_pid "$loop")
	at_exit kill_pid "$daemon"
	mount -i -t ext4 -o "journal_path=$JLOOP,$opts" "$loop" "$d/mnt" || return 1
	# within a second, which is late for what is so short
	[[ $opts != data=journal* ]] ||
		wait_for 60 grep -qx 0 "/sys/fs/ext4/${loop#/dev/}/extent_max_zeroout_kb" || rc=1
	recorder "work $d/mnt $seed $CRASH_THREADS $count $away" || rc=1
	umount "$d/mnt" || rc=1
	kill -TERM "$daemon"
	wait_for 60 gone "$daemon" || rc=1
	losetup -d "$loop"
	eval "exec ${RECORDER[1]}>&-"
	wait "$recorder_pid" || rc=1
	stop_server
	[ ! -s "$d/record.err" ] || cat "$d/record.err"
	return $rc
}

# crash_states SEED WANTED [WORKERS]: all of them judged; their lines of counts.
crash_states() {
	local seed=$1 wanted=$2 workers=${3:-1} i rc=0 pids=()
	rm -rf "$CRASH_DIR"/objects.* "$CRASH_DIR"/store.*
	for ((i = 0; i < workers; i++)); do
		"$CRASH_BIN/states" $CRASH_WEAK "$CRASH_DIR/events" "$CRASH_DIR/base" "$CRASH_DIR" \
			"$seed" "$CRASH_THREADS" "$wanted" $i "$workers" >"$CRASH_DIR/out.$i" 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || rc=1; done
	cat "$CRASH_DIR"/out.*
	return $rc
}
