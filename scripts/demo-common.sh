# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by scripts/demo, demo-backup and demo-history after common.sh: their options, the build,
# the scene, what the steps are told with, and cleaning up.

# options ARGUMENT...: sets keep, deps and built; usage is the caller's
options() {
	local arg
	keep=no deps=yes built=
	for arg; do
		case $arg in
		--keep) keep=yes ;;
		--no-deps) deps=no ;;
		--build=?*) built=$(realpath -e "${arg#*=}") || exit 2 ;;
		-h | --help) usage; exit 0 ;;
		*) complain "unknown option $arg (try --help)"; exit 2 ;;
		esac
	done
	if [ "$(id -u)" != 0 ]; then
		complain "mounting needs root; run: sudo $0 $*"
		exit 77
	fi
}

# ---- what the steps are told with ----

tell() { printf '\n%s%s%s\n' "$BOLD" "$1" "$PLAIN"; shift; [ $# = 0 ] || printf '  %s\n' "$@"; }
note() { printf '  %s\n' "$@"; }
# shown COMMAND...: as an administrator would type it
shown() { printf '%s# %s%s\n' "$GREEN" "$*" "$PLAIN"; }
indented() { sed "s/^/$DIM  | $PLAIN/"; }
# run COMMAND...: shown, its output too; it has to succeed
run() {
	shown "$@"
	"$@" 2>&1 </dev/null | indented
	local status=${PIPESTATUS[0]}
	[ "$status" = 0 ] || fail "status $status from: $*"
}
# refused COMMAND...: shown; it has to fail
refused() {
	shown "$@"
	"$@" 2>&1 </dev/null | indented
	local status=${PIPESTATUS[0]}
	[ "$status" != 0 ] || fail "this was to be refused: $*"
	note "refused, exit status $status"
}
fail() {
	printf '\n%s%s: FAILED after %d s: %s%s\n' "$RED" "${0##*/}" "$((SECONDS - began))" "$1" "$PLAIN"
	exit 1
}

# ---- cleaning up: only what this run has made, by process id and by path ----

work='' server='' writer=''
daemons() { # process ids of the rjournalds of this run
	local f
	for f in "$work"/run-*/*/lock; do
		[ -s "$f" ] && tr -dc '0-9\n' <"$f" | head -n 1
	done 2>/dev/null
}
clean_up() {
	local p m d
	trap - EXIT INT TERM
	[ -n "$work" ] || exit 1
	# a daemon that was stopped has to run again to let go
	for p in $(daemons); do kill -CONT "$p" 2>/dev/null; done
	[ -z "$writer" ] || kill "$writer" 2>/dev/null
	for m in "$work/here" "$work/there"; do
		! mountpoint -q "$m" || timeout 20 umount -i "$m" 2>/dev/null || umount -l "$m"
	done
	for p in $(daemons); do kill "$p" 2>/dev/null; done
	for p in $(daemons); do
		for ((d = 0; d < 50; d++)); do
			kill -0 "$p" 2>/dev/null || continue 2
			sleep 0.1
		done
		kill -9 "$p" 2>/dev/null
	done
	[ -z "$server" ] || kill "$server" 2>/dev/null
	release
	rm -rf --one-file-system "$work"
}
# release: whatever is still mounted or looped below $work
release() {
	awk -v d="$work/" 'index($2, d) == 1 {print $2}' /proc/mounts | sort -r |
		while read -r m; do umount -l "$m"; done 2>/dev/null
	losetup -n -l -O NAME,BACK-FILE | awk -v d="$work/" 'index($2, d) == 1 {print $1}' |
		while read -r d; do losetup -d "$d"; done 2>/dev/null
}

# ---- the build ----

# build_prefix: into build-demo/prefix, and onto PATH
build_prefix() {
	local prefix=$SRC/build-demo/prefix
	mkdir -p "$SRC/build-demo" || exit 1
	exec 9>"$SRC/build-demo/lock"
	flock -n 9 || { complain "another scripts/demo is building in this clone: waiting"; flock 9; }
	say "build in ${prefix#"$SRC"/}"
	if [ ! -f "$SRC/build-demo/Makefile" ]; then
		build "$SRC/build-demo" --prefix="$prefix" CFLAGS="-g -O2" 9>&- || exit 1
	fi
	cd "$SRC/build-demo" || exit 1
	logged "make" make.out make -j"$JOBS" 9>&- || exit 1
	logged "make install" install.out make install 9>&- || exit 1
	exec 9>&-
	PATH=$prefix/sbin:$prefix/bin:$PATH
}
# build_demo: that, or what is built in $built onto PATH; the kernel has what is needed
build_demo() {
	local need tool
	say "packages"
	if [ $deps = yes ]; then
		"$SRC/scripts/deps" || { complain "packages are missing"; exit 1; }
	fi
	if [ -n "$built" ]; then
		for tool in mkrjfs rjtune rj{ournald,mount,ctl,log,backup,recover,server}; do
			PATH=$built/$tool:$PATH
		done
	else
		build_prefix
	fi
	modprobe -qa loop fuse 2>/dev/null || true
	for need in /dev/fuse /dev/loop-control; do
		[ -c $need ] && continue
		complain "$need is missing: this needs FUSE and loop devices"
		exit 77
	done
}

# ---- the scene: a journal server, and a machine with a disk ----

# set_scene FOLDER...: a scratch folder with these in it
set_scene() {
	began=$SECONDS
	work=$(mktemp -d "${RJ_DEMO_DIR:-/var/tmp}/rjdemo.XXXXXX") || exit 1
	trap clean_up EXIT
	trap 'exit 130' INT TERM
	cd "$work" || exit 1
	mkdir "$@" log
	# Two machines share this kernel; each has its own runtime directory, and its
	# own memory of which devices it has seen.
	mkdir -m 700 run-a run-b
	export RJ_RUN=$work/run-a BLKID_FILE=$work/run-a/blkid.tab RJ_CONF=$work/rj.conf
	export RJ_CREDENTIALS="[local]
floor_dir = $work/floor
drill_dir = $work/drill"
}

free_port() {
	local p i
	for ((i = 0; i < 50; i++)); do
		p=$((20000 + RANDOM % 12000))
		(: <>/dev/tcp/127.0.0.1/$p) 2>/dev/null || { echo $p; return; }
	done
	return 1
}
# start_server NAME: sets server, and url: where a volume of that NAME has its log
start_server() {
	local port try i
	for try in 1 2 3; do
		port=$(free_port) || fail "no free port"
		shown "rjserver -d $work/log -l 127.0.0.1:$port --insecure &"
		rjserver -d "$work/log" -l "127.0.0.1:$port" --insecure >"$work/rjserver.out" 2>&1 </dev/null &
		server=$!
		for ((i = 0; i < 100; i++)); do
			(: <>/dev/tcp/127.0.0.1/"$port") 2>/dev/null && break 2
			kill -0 $server 2>/dev/null || break
			sleep 0.05
		done
		kill $server 2>/dev/null
		indented <"$work/rjserver.out"
		server=
	done
	[ -n "$server" ] || fail "rjserver does not start"
	note "answers on port $port"
	url=rj://127.0.0.1:$port/$1
}
# kept_volume: an ext4 volume whose log the server keeps, mounted at $work/here; sets disk
kept_volume() {
	local daemon
	(umask 077; printf '[*]\nretain = 30d\n' >rj.conf)
	shown "cat /etc/rjprogs/rj.conf"
	indented <rj.conf
	run truncate -s 256M disk.img
	shown losetup --find --show disk.img
	disk=$(losetup --find --show disk.img) || fail "no loop device"
	run mkrjfs -q -t ext4 -J "remote=$url,size=16" "$disk"
	run mount.rj "$disk" "$work/here" -o data=journal
	daemon=$(daemons | head -n 1)
	[ -n "$daemon" ] && kill -0 "$daemon" || fail "mount.rj left no running rjournald"
}
