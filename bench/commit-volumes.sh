# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Of bench/commit: disks, volumes, and journals of every kind. Sourced.
# Uses: build other top dir parent delay configs; sets vol[], jdev[], flush_us[], put_us.

image_mb=256 journal_mb=32 fs_options=()
pids=() loops=() mounts=()
declare -A vol=() jdev=() flush_us=()
# what a commit of create1 takes to the server, and what that costs by itself
put_bytes=33000 put_us=
proxy_us=

# stop PID: end it, wait, and make sure after ten seconds. Or a path: a mount
# that a server used which has just been stopped.
stop() {
	local n=200
	case $1 in /*) umount "$1" || umount -l "$1"; return ;; esac
	kill "$1" 2>/dev/null
	while kill -0 "$1" 2>/dev/null && ((n-- > 0)); do sleep 0.05; done
	kill -KILL "$1" 2>/dev/null && echo "bench/commit: process $1 did not end" >&2
	wait "$1" 2>/dev/null
}

unmount_all() {
	local i
	for ((i = ${#mounts[@]} - 1; i >= 0; i--)); do
		umount "${mounts[i]}" || umount -l "${mounts[i]}"
	done
	mounts=()
}

# In the order: volumes, their daemons, the daemons' servers and the disks.
tear_down() {
	local i
	unmount_all
	for i in ${loops[@]+"${loops[@]}"}; do losetup -d "$i"; done
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do stop "${pids[i]}"; done
	pids=() loops=() vol=() jdev=()
	[ -n "$dir" ] || return 0
	# what a program that had to be killed left mounted
	awk -v d="$dir/" -v r="$RJ_RUN/" \
		'index($2, d) == 1 || index($2, r) == 1 {print $2}' /proc/mounts |
		while read -r i; do umount "$i" || umount -l "$i"; done
	rm -rf --one-file-system "$dir" "$top/memory/"*
}

# wait_line FILE REGEX: until a line of FILE matches; print the last match
wait_line() {
	local n=200
	while ((n-- > 0)); do
		grep -Eo "$2" "$1" | tail -n 1 | grep . && return 0
		sleep 0.05
	done
	cat "$1" >&2
	return 1
}

wait_file() { # PATH WHOSE
	local n=200
	until [ -f "$1" ]; do
		((n-- > 0)) || die "$2 did not start"
		sleep 0.05
	done
}

attach() { # FILE: sets DEV
	DEV=$(losetup --find --show --direct-io=on "$1") ||
		die "cannot attach a loop device"
	loops+=("$DEV")
}

slow_disk() { # NAME IMAGE ARGUMENT...: sets DEV
	local at=$dir/$1.slow image=$2
	shift 2
	mkdir "$at"
	"$build/bench/slow-disk" "$at" "$image" "$@" &
	pids+=($!)
	wait_file "$at/disk" slow-disk
	attach "$at/disk"
}

# device NAME [MB]: a disk of the kind that is measured, fully written (a
# rotating one is in memory, and only its times are a disk's); sets DEV
device() {
	local file=$dir/$1.img
	[ "$disk" != rotating ] || file=$top/memory/$1.img
	dd if=/dev/zero of="$file" bs=1M count="${2:-$image_mb}" conv=fsync \
		status=none || die "cannot write an image"
	case $disk in
	plain) attach "$file" ;;
	rotating) slow_disk "$1" "$file" rotating ;;
	flush*) slow_disk "$1" "$file" "${disk#flush}" ;;
	*) die "$disk: no such disk" ;;
	esac
}

make_fs() { # DEVICE OPTION...
	local dev=$1
	shift
	mke2fs -q -F -t ext3 -b 4096 -E lazy_itable_init=0 \
		${fs_options[@]+"${fs_options[@]}"} "$@" "$dev" || die "mke2fs failed"
}

mount_one() { # NAME DEVICE TYPE OPTIONS
	mkdir -p "$dir/$1"
	mount -t "$3" -o "noatime$4" "$2" "$dir/$1" || die "cannot mount $1"
	mounts+=("$dir/$1")
}

mount_all() { # MODE NAME...
	local name mode=$1
	shift
	for name; do
		case $name in
		internal) mount_one $name "${vol[$name]}" ext3 ",data=$mode" ;;
		none) # the driver's ext3 name wants a journal
			mount_one $name "${vol[$name]}" ext4 "" ;;
		*) mount_one "$name" "${vol[$name]}" ext3 \
			",data=$mode,journal_path=${jdev[$name]}" ;;
		esac
	done
}

server() { # STOREDIR: sets PORT
	local log=$dir/server.${#pids[@]}
	"$build/rjserver/rjserver" -d "$1" -l 127.0.0.1:0 --insecure \
		>"$log" 2>&1 &
	pids+=($!)
	PORT=$(wait_line "$log" '127\.0\.0\.1:[0-9]+$') ||
		die "rjserver did not start"
	PORT=${PORT##*:}
}

# What a request to the server at PORT takes, on a new connection: microseconds
request_us() { # PORT
	local i
	for i in {1..60}; do
		curl -s -o /dev/null -w '%{time_total}\n' "http://127.0.0.1:$1/"
	done | sort -n | awk '{v[NR] = $1} END {printf "%.0f", v[int(NR / 2)] * 1e6}'
}

# What one put to the server at PORT, the last that was started, takes of all
# processors, here and there: microseconds
put_cpu_us() {
	"$build/bench/put-latency" -p "${pids[-1]}" "rj://127.0.0.1:$PORT/put" \
		$put_bytes 3000 | sed -n 's/.*; CPU \(.*\) us; .* CPU \(.*\) us$/\1 \2/p' |
		awk '{print $1 + $2}'
}

# A longer wire to the server at PORT: sets PORT to its near end
longer_wire() {
	local log=$dir/proxy direct=$PORT
	"$build/bench/delay-proxy" "$PORT" "$delay" >"$log" &
	pids+=($!)
	PORT=$(wait_line "$log" '^[0-9]+$') || die "delay-proxy did not start"
	# the connection itself ends at the proxy, so this is one round trip
	proxy_us=$(($(request_us "$PORT") - $(request_us "$direct")))
}

remote() { # NAME [MORE-J]: at the server at PORT
	local log=$dir/$1.log
	device "$1"
	vol[$1]=$DEV
	"$build/mkrjfs/mkrjfs" -q -F -t ext3 -b 4096 -E lazy_itable_init=0 \
		${fs_options[@]+"${fs_options[@]}"} -J "remote=rj://127.0.0.1:$PORT/bench,size=$journal_mb${2:+,$2}" "$DEV" ||
		die "mkrjfs failed"
	"$build/rjournald/rjournald" -f -q "$DEV" >"$log" 2>&1 &
	pids+=($!)
	jdev[$1]=$(wait_line "$log" '^/dev/loop[0-9]+$') ||
		die "rjournald did not start"
}

# The same as remote-tmpfs, with the programs of another build
remote_other() {
	local build=$other
	server "$top/memory/other-store"
	remote remote-other
}

external() { # NAME: with its journal at DEV
	jdev[$1]=$DEV
	mke2fs -q -F -O journal_dev -b 4096 "$DEV" || die "mke2fs failed"
	device "$1"
	vol[$1]=$DEV
	make_fs "$DEV" -J "device=${jdev[$1]}"
}

# JBD2 runs, and what it writes is dropped: what is read, at a mount, is the empty journal
null_journal() { # NAME
	truncate -s "${journal_mb}M" "$dir/$1-journal.img"
	attach "$dir/$1-journal.img"
	external "$1"
	sync "${jdev[$1]}"
	slow_disk "$1-journal" "$dir/$1-journal.img" null
	jdev[$1]=$DEV
}

# A journal as block device of another machine, as it can be had without us
nbd() {
	local at=$dir/nbdfuse
	nbdkit -f -i 127.0.0.1 -p 10809 memory "${journal_mb}M" &
	pids+=($!)
	mkdir "$at"
	local n=200
	until (: </dev/tcp/127.0.0.1/10809) 2>/dev/null; do
		((n-- > 0)) || die "nbdkit did not start"
		sleep 0.05
	done
	nbdfuse "$at/disk" nbd://127.0.0.1:10809 &
	pids+=($!)
	wait_file "$at/disk" nbdfuse
	attach "$at/disk"
	external nbd
}

# One volume of each kind, not mounted
set_up() { # DISK
	local name
	disk=$1 dir=$top/$1
	mkdir -p "$dir"
	for name in "${configs[@]}"; do
		case $name in
		internal) device internal
			vol[$name]=$DEV
			# what a write and a flush of this disk take: of 100
			flush_us[$disk]=$("$build/bench/fsync-create" "$DEV" \
				100 4096 | cut -d ' ' -f 2)
			make_fs "$DEV" -J size=$journal_mb ;;
		none) device none
			vol[$name]=$DEV
			make_fs "$DEV" -O ^has_journal ;;
		external) device external-journal $journal_mb
			external external ;;
		remote-tmpfs) server "$top/memory/store"
			[ -n "$put_us" ] || put_us=$(put_cpu_us)
			remote $name ;;
		remote-other) remote_other ;;
		remote-key) server "$top/memory/sealed-store"
			[ -e "$top/key" ] || "$build/rjtune/rjtune" --genkey "$top/key" ||
				die "cannot make a key"
			(umask 77; printf '[rj://127.0.0.1:%s/bench]\nkeyfile = %s\n' \
				"$PORT" "$top/key" >>"$RJ_CONF") || die "cannot write $RJ_CONF"
			remote $name "key=$top/key" ;;
		remote-200) server "$top/memory/far-store"
			longer_wire
			remote $name ;;
		remote-disk)
			# this machine's own, or one more of the other kind
			mkdir "$dir/store"
			if [ "$disk" != plain ]; then
				# dbench fills half of that in a second
				device store-disk "$([ "$disk" = rotating ] && echo 512 || echo 3072)"
				mke2fs -q -F -t ext4 -E lazy_itable_init=0 "$DEV" ||
					die "mke2fs failed"
				mount "$DEV" "$dir/store" || die "cannot mount the store"
				pids+=("$dir/store")
			fi
			server "$dir/store/objects"
			remote $name ;;
		nbd) nbd ;;
		null) null_journal null ;;
		*) die "$name: no such journal" ;;
		esac
	done
}
