# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Of bench/backup and bench/follow: a volume whose log is at an rjserver on this machine. Sourced.
# Uses: src me tools parent gib; sets build, top, and a variable with the path of each of TOOLS.
# The script has end(), which ends what it has started itself.

build=${RJ_BUILD:-$src/build}
die() { echo "bench/$me: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || die "needs root: it mounts"
for each in $tools; do
	[ -x "$build/$each/$each" ] || die "$build/$each/$each: not built; run make first"
	# not libtool's wrapper, a shell script
	[ ! -x "$build/$each/.libs/$each" ] || declare "$each=$build/$each/.libs/$each"
	[ -x "$build/$each/.libs/$each" ] || declare "$each=$build/$each/$each"
done
export LD_LIBRARY_PATH=$build/lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
: "${parent:=$build}"
case $(stat -f -c %T "$parent") in
tmpfs | ramfs) die "$parent: in memory; name a directory on a disk with -d" ;;
esac
top=$(mktemp -d "$parent/bench-$me.XXXXXX") || die "no work directory"
export RJ_RUN=$top/run RJ_CONF=$top/rj.conf BLKID_FILE=$top/blkid.tab
export RJ_CREDENTIALS="[local]
floor_dir = $top/floor"
mkdir "$top/run" "$top/mnt"
server='' daemon='' device=''

stop() { # PID: end it, and wait
	[ -n "$1" ] || return 0
	kill -TERM "$1" 2>/dev/null
	while kill -0 "$1" 2>/dev/null; do sleep 0.05; done
}
finish() {
	trap - EXIT INT TERM
	end
	mountpoint -q "$top/mnt" && { umount "$top/mnt" || umount -l "$top/mnt"; }
	[ -z "$device" ] || losetup -d "$device"
	stop "$daemon"
	stop "$server"
	rm -rf --one-file-system "$top"
}
trap finish EXIT
trap 'exit 130' INT TERM

make_volume() { # CONF-LINE...: with that rj.conf; sets url
	local n port
	"$rjserver" -d "$top/store" -l 127.0.0.1:0 --insecure >"$top/server.log" 2>&1 &
	server=$!
	for ((n = 0; n < 200; n++)); do
		port=$(sed -n 's/.*listening on .*:\([0-9]*\)$/\1/p' "$top/server.log" 2>/dev/null)
		[ -z "$port" ] || break
		sleep 0.05
	done
	[ -n "$port" ] || die "rjserver did not start"
	url=rj://127.0.0.1:$port/bench
	(umask 077; printf '%s\n' "$@" >"$RJ_CONF")
	truncate -s "${gib}G" "$top/v.img"
	"$mkrjfs" -q -F -t ext4 -b 4096 -J "remote=$url,size=256" \
		-E lazy_itable_init=0 "$top/v.img" || die "mkrjfs failed"
}
mount_volume() { # MODE
	local journal
	device=$(losetup -f --show --direct-io=on "$top/v.img") || die "no loop device"
	journal=$("$rjournald" -q "$device") || die "rjournald did not start"
	daemon=$(pgrep -o -f "rjournald -q $device\$")
	mount -i -t ext4 -o "journal_path=$journal,data=$1" "$device" "$top/mnt" ||
		die "cannot mount"
	[ "$1" != journal ] || echo 0 >"/sys/fs/ext4/${device#/dev/}/extent_max_zeroout_kb"
}

load_before=$(cut -d ' ' -f 1 /proc/loadavg)
awk -v l="$load_before" 'BEGIN {exit l < 0.7}' &&
	echo "bench/$me: the machine is busy (load $load_before): so will be the numbers" >&2
