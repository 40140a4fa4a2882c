# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced after lib.sh: the tools of the build tree, a server, crash images.

MKRJFS=$RJ_BUILD/mkrjfs/mkrjfs
RJRECOVER=$RJ_BUILD/rjrecover/rjrecover
RJOURNALD=$RJ_BUILD/rjournald/rjournald
RJSERVER=$RJ_BUILD/rjserver/rjserver
MOUNT_RJ=$RJ_BUILD/rjmount/mount.rj
UMOUNT_RJ=$RJ_BUILD/rjmount/umount.rj

# gone PID: all threads of the process have ended, and have closed its files and ports; its
# parent may be slow to reap it. The first thread is a zombie while others still end.
gone() {
	local stat tasks
	stat=$(ps -o stat= -p "$1") || return 0
	tasks=("/proc/$1/task"/*)
	[[ $stat == Z* ]] && ((${#tasks[@]} < 2))
}
# kill_pid PID: end it for sure, and wait until it is gone
kill_pid() {
	kill -KILL "$1" 2>/dev/null
	wait_for 60 gone "$1"
}

# started PID: when it began (ticks since the boot); nothing if it is not there
started() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
# kill_at_end PID: at the test's end, unless the number is another process's by then
kill_at_end() { at_exit kill_still "$1" "$(started "$1")"; }
kill_still() { [ -n "$2" ] && [ "$(started "$1")" = "$2" ] && kill_pid "$1"; }

# start_server DIR [PORT]: sets SRV_PID, SRV_PORT, SRV_URL. SRV_CONF: its settings;
# SRV_OPTIONS: in place of --insecure
start_server() {
	local dir=$1 port=${2:-$(free_port)} log
	log=$T_DIR/rjserver.$RANDOM.log
	"$RJSERVER" -d "$dir" -l "127.0.0.1:$port" ${SRV_OPTIONS:---insecure} ${SRV_CONF:+--config "$SRV_CONF"} \
		>"$log" 2>&1 &
	SRV_PID=$!
	kill_at_end "$SRV_PID"
	wait_for 60 grep -q 'listening on' "$log" || { note "$(cat "$log")"; return 1; }
	SRV_PORT=$(sed -n 's/.*listening on .*:\([0-9]*\)$/\1/p' "$log")
	SRV_URL=rj://127.0.0.1:$SRV_PORT
}
stop_server() { kill -TERM "$SRV_PID"; wait "$SRV_PID" 2>/dev/null; }

# daemon_pid IMAGE: the rjournald that serves it: the supervisor, whose end is that
# of its worker. worker_pid IMAGE: the one that does the work.
daemon_pid() {
	local all pid
	all=$(pgrep -f "rjournald .*$1\$")
	for pid in $all; do
		grep -qxF "$(ps -o ppid= -p "$pid" | tr -d ' ')" <<<"$all" ||
			{ echo "$pid"; return; }
	done
}
worker_pid() { pgrep -P "$(daemon_pid "$1")" -f "rjournald .*$1\$"; }
# freeze_daemon, thaw_daemon PID: the supervisor and its worker. When kill returns the
# signal is only on its way: on a busy machine a thread may still serve commits
# for a while, and a copy made meanwhile is of no one moment.
freeze_daemon() {
	local pids; pids="$1 $(pgrep -P "$1")"
	kill -STOP $pids && wait_for 60 frozen $pids
}
# frozen PID...: all threads of all of them have stopped, or have ended
frozen() {
	local pid state
	for pid in "$@"; do
		state=$(sed 's/.*) //' /proc/"$pid"/task/*/stat 2>/dev/null | grep -v '^[TtZX]')
		[ -z "$state" ] || return 1
	done
}
thaw_daemon() { kill -CONT "$1" $(pgrep -P "$1"); }

# crash IMAGE DIR COPY [RECORD]: the machine stops. The daemon is frozen first, so that
# the journal's tail can not move while the image is being copied; then it is
# killed, and the old mount is thrown away: DIR is a folder of this machine then, so who
# still writes must have the old mount as its working directory. RECORD, of what was
# acknowledged, is copied to RECORD.then in between: of a journal that fails the kernel
# sometimes acknowledges what is lost (doc/results/live-faults.md).
crash() {
	local image=$1 dir=$2 copy=$3 record=${4:-} pid
	pid=$(daemon_pid "$image")
	[ -n "$pid" ] || return 1
	freeze_daemon "$pid" && cp --sparse=always "$image" "$copy" || return 1
	[ -z "$record" ] || cp "$record" "$record.then" || return 1
	kill_pid "$pid" || return 1
	umount -l "$dir" 2>/dev/null
	return 0
}

# fsynced DIR N: N files with content, each fsynced, their sums in FILE
fsynced() {
	local dir=$1 n=$2 sums=$3 i
	for ((i = 0; i < n; i++)); do
		head -c $((RANDOM % 9000 + 1)) /dev/urandom >"$dir/fsynced.$i" &&
			sync "$dir/fsynced.$i" || return 1
	done
	(cd "$dir" && sha256sum fsynced.*) >"$sums"
}

# kill_daemons_at_end IMAGE...: also those that were not to start
kill_daemons_at_end() {
	local image
	for image; do at_exit kill_daemon "$image"; done
}
kill_daemon() { local pid; pid=$(daemon_pid "$1") && [ -n "$pid" ] && kill_pid "$pid"; }
# serve IMAGE: start its rjournald; sets LOOP and DPID
serve() {
	LOOP=$("$RJOURNALD" -q "$1") || return 1
	DPID=$(daemon_pid "$1")
	kill_at_end "$DPID"
}
# unserve: end it cleanly
unserve() {
	kill -TERM "$DPID" && wait_for 60 gone "$DPID"
}
# mount_served IMAGE DIR OPTIONS
mount_served() {
	mkdir -p "$2" && serve "$1" &&
		mount -i -t ext4 -o "loop,journal_path=$LOOP${3:+,$3}" "$1" "$2"
}
# fsck_with JOURNAL-DEVICE IMAGE E2FSCK-OPTIONS...
# e2fsck looks for the journal's UUID on every block device of the machine, and
# hangs when one of them does, as that of a rjournald without its server. A
# blkid cache that names the journal's device spares it the search.
fsck_with() {
	local loop=$1 image=$2 uuid; shift 2
	uuid=$(dumpe2fs -h "$image" 2>/dev/null | awk '/^Journal UUID:/ {print $3}')
	printf '<device DEVNO="0x%x" TIME="%s.0" UUID="%s" TYPE="jbd">%s</device>\n' \
		"0x$(stat -L -c '%t%02T' "$loop")" "$(date +%s)" "$uuid" "$loop" \
		>"$T_DIR/blkid.tab"
	BLKID_FILE=$T_DIR/blkid.tab e2fsck "$@" -j "$loop" "$image"
}
# served_fsck IMAGE E2FSCK-OPTIONS...: e2fsck, with the real journal
served_fsck() {
	local image=$1 rc; shift
	serve "$image" || return 99
	fsck_with "$LOOP" "$image" "$@"
	rc=$?
	unserve || return 98
	return $rc
}
not() { ! "$@"; }

# same_blocks A B: equal but for the primary superblock's 1024 bytes
same_blocks() {
	cmp -n 1024 "$1" "$2" && cmp -i 2048 "$1" "$2"
}

# log_pieces URL [COMMAND...]: "log P pieces Q open": how many segments were shipped
# before the commit block of their transaction, and how many of these have none at
# URL; of what was not trimmed. COMMAND: runs rjlog.
log_pieces() {
	local at=$1 show url last; shift
	show=$("$@" "$RJ_BUILD/rjlog/rjlog" show --json "$at" 2>/dev/null)
	url=$(sed -n 's/^ *"url":"\(.*\)",$/\1/p' <<<"$show" | head -n 1)
	last=$(sed -n 's/^ *"last_tid":\([0-9]*\),$/\1/p' <<<"$show" | head -n 1)
	[ -n "$url" ] && [ -n "$last" ] || { echo "no log"; return; }
	"$@" "$RJ_BUILD/rjlog/rjlog" ls "$url" 2>/dev/null | awk -v last="$last" '
		$3 == "data" && $NF ~ /^[0-9]+-[0-9]+$/ {
			split($NF, t, "-")
			n[t[1]]++
			if (t[1] != t[2]) n[t[2]]++
			if (t[2] > top) top = t[2] + 0
		}
		END {
			for (tid in n) pieces += tid + 0 > last + 0 ? n[tid] : n[tid] - 1
			printf "log %d pieces %d open\n", pieces, (top > last + 0 ? n[top] : 0)
		}'
}
