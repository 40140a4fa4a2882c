# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced after lib.sh and rj.sh: virtual machines whose power is cut. A machine
# has one disk for each volume, served by tests/power/disk with a volatile
# write cache, and reaches rjserver on the host's loopback at the same address
# and port as the host does, so that a volume's URL is right on both sides.
VM_KERNEL=${RJ_VM_KERNEL:-/var/cache/rjprogs/vm-kernel}
VM_RELEASE= # of vm_kernel
VM_DISK=$RJ_BUILD/tests/power/disk
VM_JUDGE=$RJ_BUILD/tests/crash/judge
VM_THREADS=${VM_THREADS:-2}
VM_MEMORY=${VM_MEMORY:-384}
VM_SQUEEZE= # see init
VM_STATE=   # trimming and takeover: see init
VM_SLOW=    # bytes a second that each disk takes

# vm_missing: what is not here, in words; nothing if all is
vm_missing() {
	local p
	for p in qemu-system-x86_64 busybox cpio; do
		command -v $p >/dev/null || { echo "no $p (scripts/deps --vm)"; return; }
	done
	ls "$VM_KERNEL"/boot/vmlinuz-* >/dev/null 2>&1 ||
		echo "no kernel in $VM_KERNEL (scripts/deps --vm)"
}

# the programs themselves, not libtool's wrappers
vm_program() {
	local dir=${1%/*} name=${1##*/}
	if [ -x "$dir/.libs/$name" ]; then echo "$dir/.libs/$name"; else echo "$1"; fi
}

# vm_setup: a directory in memory, the machine's root
vm_setup() {
	VM_DIR=$(mktemp -d /dev/shm/rjvm.XXXXXX) || return 1
	SRV_CONF=$VM_DIR/server.conf
	: >"$SRV_CONF"
	local_conf "$T_DIR" "$VM_DIR"
	at_exit rm -rf "$VM_DIR"
	vm_kernel "$VM_KERNEL"
}

# vm_kernel DIR: the next machines have that kernel
vm_kernel() {
	local programs=() p
	VM_KERNEL=$1 VM_RELEASE=$(basename "$1"/boot/vmlinuz-*)
	VM_RELEASE=${VM_RELEASE#vmlinuz-}
	[ ! -e "$VM_DIR/initrd.$VM_RELEASE" ] || return 0
	for p in rjournald/rjournald rjrecover/rjrecover rjmount/mount.rj rjctl/rjctl \
		tests/power/writer tests/power/overwrite tests/power/relay; do
		programs+=("$(vm_program "$RJ_BUILD/$p")")
	done
	VM_MODULES="${VM_MODULES:-} quota_tree quota_v2" LD_LIBRARY_PATH=$RJ_BUILD/lib/.libs \
		"$RJ_SRC/tests/power/mkinitrd" "$VM_DIR/initrd.$VM_RELEASE" "$VM_KERNEL" \
		"$RJ_SRC/tests/power/init" "${programs[@]}" "$(command -v mount)" \
		"$(command -v chattr)"
}

# vm_store rj|rjs|file: an empty one for the next volumes' logs; sets VM_URL. rjs: with TLS, an
# account and a key; file: on one more disk of the machine, which is cut like the others
vm_store() {
	local pki=$VM_DIR/pki token
	VM_STORE=$1 VM_EXTRA=
	if [ "$1" = file ]; then
		VM_EXTRA=$VM_DIR/store.img VM_URL=file://$VM_DIR/files
		mkdir -p "$VM_DIR/files" && truncate -s 128M "$VM_EXTRA" &&
			mke2fs -q -F -t ext4 -J size=4 "$VM_EXTRA"
		return
	elif [ "$1" = rj ]; then
		start_server "$VM_DIR/store" && VM_URL=$SRV_URL
		return
	fi
	. "$RJ_SRC/tests/rjserver/http/certs.sh"
	mkdir -p "$pki/etc/rjvm" "$VM_DIR/store" && new_ca ca && new_cert server s ca || return
	[ -e "$pki/etc/rjvm/key" ] || "$RJ_BUILD/rjtune/rjtune" --genkey "$pki/etc/rjvm/key" || return
	token=$(adduser "$VM_DIR/store" vm --volumes '*') || return
	cp "$PKI/ca.pem" "$pki/etc/rjvm/"
	printf '[rjs://127.0.0.1]\ntoken = %s\nca = /etc/rjvm/ca.pem\nkeyfile = /etc/rjvm/key\n' \
		"$token" >"$pki/etc/rjvm/conf"
	(umask 077; sed "s, = /, = $pki/," "$pki/etc/rjvm/conf" >"$RJ_CONF")
	VM_EXTRA=$VM_DIR/files.tar
	tar -cf "$VM_EXTRA" -C "$pki" etc || return
	SRV_OPTIONS="--cert $PKI/server.pem --key $PKI/server.key"
	start_server "$VM_DIR/store" && VM_URL=rjs://127.0.0.1:$SRV_PORT
}
# vm_store_here, vm_store_gone: a file store is, or is not, this machine's
vm_store_here() { [ "$VM_STORE" != file ] || mount -o loop "$VM_EXTRA" "$VM_DIR/files"; }
vm_store_gone() { [ "$VM_STORE" != file ] || umount "$VM_DIR/files"; }
# vm_store_end: of what vm_store made
vm_store_end() {
	[ "$VM_STORE" = file ] || stop_server
	rm -rf "$VM_DIR/store" "$VM_DIR/store.img" "$RJ_CONF"
	SRV_OPTIONS= VM_EXTRA=
}

# vm_volume N KIND URL [fallback]: its image, by a word such as ext4-4k-ordered, and with
# features of ext4 behind it: ext4-4k-ordered+verity+^64bit; sets VM_OPTS[N], the options
# it is mounted with, and VM_FALLBACK[N]: a disk whose path in the machine is the same as here
declare -A VM_OPTS VM_FALLBACK
vm_volume() {
	local n=$1 kind=$2 url=$3 type bs mode features=^orphan_file args= fallback=
	IFS=- read -r type bs mode <<<"${kind%%+*}"
	bs=$((${bs%k} * 1024))
	[[ $kind != *+* ]] || features+=,$(tr + , <<<"${kind#*+}")
	[[ $kind != *+bigalloc* ]] || args="-C $((bs * 4))"
	case $mode in
	async) VM_OPTS[$n]=data=writeback,journal_async_commit ;;
	journal-async) VM_OPTS[$n]=data=journal,journal_async_commit ;;
	# nothing of rjprogs: what the kernel is worth alone
	internal) VM_OPTS[$n]=internal,data=ordered ;;
	internal-fast) VM_OPTS[$n]=internal,data=ordered features+=,fast_commit ;;
	# of tests/power/overwrite
	flag-ordered) VM_OPTS[$n]=flag,data=ordered ;;
	on-ordered) VM_OPTS[$n]=$([ "$type" = ext3 ] || echo nodelalloc,)data=ordered ;;
	*) VM_OPTS[$n]=data=$mode ;;
	esac
	rm -f "$VM_DIR/v$n" "$VM_DIR/f$n"
	if [ "$type" = xfs ]; then
		VM_OPTS[$n]=logdev=$url VM_FALLBACK[$n]=
		vm_on_loop "$n" "$MKRJFS" -q -t xfs -b "size=$bs" -J "remote=$url"
		return
	fi
	VM_FALLBACK[$n]=${4:+$VM_DIR/f$n}
	fallback=${4:+,fallback=$VM_DIR/f$n,fallback_size=40}
	truncate -s "$((48 + ${VM_SQUEEZE:-0}))M" "$VM_DIR/v$n" || return 1
	if [[ $mode == internal* ]]; then
		# shellcheck disable=SC2086
		mke2fs -q -F -t "$type" -b "$bs" -O "$features" $args -J size=8 "$VM_DIR/v$n"
		return
	fi
	local journal="remote=$url,size=$((bs / 1024))$fallback" # 1024 blocks: it wraps
	if [[ $features == *,orphan_file* ]]; then # mke2fs makes that file beside a journal only
		# shellcheck disable=SC2086
		mke2fs -q -F -t "$type" -b "$bs" -O "$features" $args "$VM_DIR/v$n" &&
			"$RJ_BUILD/rjtune/rjtune" -q -J "$journal" "$VM_DIR/v$n"
		return
	fi
	# shellcheck disable=SC2086
	"$MKRJFS" -q -F -t "$type" -b "$bs" -O "$features" $args -J "$journal" "$VM_DIR/v$n"
}

# vm_on_loop N COMMAND...: with a loop device of volume N's image as its last word
vm_on_loop() {
	local n=$1 dev rc; shift
	[ -e "$VM_DIR/v$n" ] || truncate -s 320M "$VM_DIR/v$n" || return 1
	dev=$(losetup -f --show "$VM_DIR/v$n") || return 1
	"$@" "$dev"
	rc=$?
	sync "$dev" && losetup -d "$dev"
	return $rc
}

# vm_start SEED VOLUMES: sets VM_PID, VM_DISK_PID; acknowledgements in $VM_DIR/acks
vm_start() {
	local seed=$1 volumes=$2 n args=() words="${VM_REPLAY:+rj.replay=1 }${VM_OVERWRITE:+rj.overwrite=1 }rj.seed=$1 rj.threads=$VM_THREADS rj.port=${SRV_PORT:-1}${VM_SQUEEZE:+ rj.squeeze=$VM_SQUEEZE}${VM_STATE:+ rj.state=$VM_STATE}" images=()
	for ((n = 0; n < volumes; n++)); do images+=("$VM_DIR/v$n"); done
	for ((n = 0; n < volumes; n++)); do # behind all volumes
		[ -z "${VM_FALLBACK[$n]}" ] && continue
		images+=("${VM_FALLBACK[$n]}")
		words+=" rj.fallback=${VM_FALLBACK[$n]}"
	done
	if [ -n "${VM_EXTRA:-}" ]; then
		n=abcdefghijkl
		words+=" rj.$VM_STORE=/dev/vd${n:${#images[@]}:1},$VM_DIR/files"
		images+=("$VM_EXTRA")
	fi
	for ((n = 0; n < volumes; n++)); do words+=" rj.mount=${VM_OPTS[$n]}"; done
	for ((n = 0; n < ${#images[@]}; n++)); do
		args+=(-blockdev "driver=nbd,node-name=d$n,server.type=unix,server.path=$VM_DIR/nbd,export=$n")
		[ -z "$VM_SLOW" ] || args+=(-object "throttle-group,id=t$n,x-bps-write=$VM_SLOW"
			-blockdev "driver=throttle,node-name=s$n,throttle-group=t$n,file=d$n")
		args+=(-device "virtio-blk-pci,drive=$([ -n "$VM_SLOW" ] && echo s || echo d)$n")
	done
	rm -f "$VM_DIR/nbd" "$VM_DIR/acks" "$VM_DIR/console"
	: >"$VM_DIR/acks"
	"$VM_DISK" "$seed" "$VM_DIR/nbd" "${images[@]}" >"$VM_DIR/cut" 2>&1 &
	VM_DISK_PID=$!
	at_exit kill -KILL "$VM_DISK_PID"
	wait_for 20 test -S "$VM_DIR/nbd" || return 1
	qemu-system-x86_64 -accel tcg -cpu max,cx16=off -smp 1 -m "$VM_MEMORY" -nographic -no-reboot \
		-nodefaults -serial "file:$VM_DIR/console" -monitor none \
		-kernel "$VM_KERNEL"/boot/vmlinuz-* -initrd "$VM_DIR/initrd.$VM_RELEASE" \
		-append "console=ttyS0 panic=-1 quiet no_timer_check $words" \
		-chardev "file,id=acks,path=$VM_DIR/acks" \
		-device isa-debugcon,iobase=0xe9,chardev=acks \
		-netdev user,id=n -device virtio-net-pci,netdev=n,romfile= \
		"${args[@]}" </dev/null >"$VM_DIR/qemu" 2>&1 &
	VM_PID=$!
	at_exit kill -KILL "$VM_PID"
}

# it is over, or will never begin
vm_ended() { grep -qs RJ-FAILED "$VM_DIR/console" || gone "$VM_PID"; }
# vm_wait SECONDS WRITES: until so many operations were acknowledged
vm_wait() {
	local n=$(($1 * 20))
	while (($(wc -l <"$VM_DIR/acks") < $2)); do
		((n-- > 0)) && ! vm_ended || return 1
		sleep 0.05
	done
}

# vm_said REGEX: the machine's log has a line like that
vm_said() { grep -aqE "$1" "$VM_DIR/console"; }
# vm_spool N: the state in the header of volume N's fallback disk: 0 idle, 1 local
vm_spool() {
	local at generation state best=-1 out=
	for at in 0 4096; do
		[ "$(head -c $((at + 8)) "${VM_FALLBACK[$1]}" | tail -c 8)" = RJFALLBK ] || continue
		read -r state generation < <(od -An -v -tu4 -w12 -j $((at + 12)) -N 12 \
			"${VM_FALLBACK[$1]}" | awk '{print $1, $2}')
		((generation > best)) && best=$generation out=$state
	done
	echo "$out"
}
# vm_state N: after the cut, the state that volume N's rjournald was in
vm_state() {
	local last
	[ -n "${VM_FALLBACK[$1]}" ] || { echo online; return; }
	case $(vm_spool "$1") in
	0) echo online; return ;;
	1) ;;
	*) echo unknown; return ;;
	esac
	last=$(grep -aE "(going on in|it gets what) ${VM_FALLBACK[$1]} " "$VM_DIR/console" | tail -n 1)
	case $last in
	*"it gets what"*) echo resyncing ;;
	*) echo degraded ;;
	esac
}

# vm_cut: the power goes, and with it what was not flushed
vm_cut() {
	kill -KILL "$VM_PID" 2>/dev/null # after a replay it is gone
	wait "$VM_PID" 2>/dev/null
	wait "$VM_DISK_PID"
}

# vm_replay SEED VOLUMES: the machine's own kernel brings internal journals back
vm_replay() {
	mv "$VM_DIR/acks" "$VM_DIR/acks.was"
	VM_REPLAY=1 vm_start "$1" "$2" && wait_for 120 gone "$VM_PID"
	vm_cut
	mv "$VM_DIR/acks.was" "$VM_DIR/acks"
	vm_said RJ-REPLAYED
}

# vm_recover N: as an administrator would; 0 or 1 are good
vm_recover() {
	if [[ ${VM_OPTS[$1]} == internal* ]]; then
		echo "the kernel refuses it" >"$VM_DIR/recover.$1"
		! vm_said "RJ-REFUSED $1" && e2fsck -fn "$VM_DIR/v$1" >"$VM_DIR/recover.$1" 2>&1 &&
			tune2fs -O ^has_journal "$VM_DIR/v$1" >/dev/null
		return
	fi
	if [[ ${VM_OPTS[$1]} == logdev=* ]]; then
		vm_on_loop "$1" "$RJRECOVER" -p --verify=full -J "remote=${VM_OPTS[$1]#*=}" \
			>"$VM_DIR/recover.$1" 2>&1
		return
	fi
	"$RJRECOVER" -p "$VM_DIR/v$1" >"$VM_DIR/recover.$1" 2>&1
	local rc=$?
	((rc <= 1)) || return
	# e2fsck wants a journal beside that file
	! dumpe2fs -h "$VM_DIR/v$1" 2>/dev/null | grep -q '^Filesystem features:.* orphan_file' ||
		"$RJ_BUILD/rjtune/rjtune" -q -J size=4 "$VM_DIR/v$1" >>"$VM_DIR/recover.$1" 2>&1
}

# vm_judge N SEED: the number of acknowledged operations, or what is BAD
vm_judge() {
	local args=("$2" "$VM_THREADS" "$VM_DIR/acks" "$1")
	if [[ ${VM_OPTS[$1]} == logdev=* ]]; then
		mkdir -p "$VM_DIR/m"
		vm_on_loop "$1" vm_judge_xfs "${VM_OPTS[$1]}" "${args[@]}"
		return
	fi
	# shellcheck disable=SC2046 # a word or none
	"$VM_JUDGE" $([[ ${VM_OPTS[$1]} != data=writeback* ]] || echo -w) "$VM_DIR/v$1" "${args[@]}"
}
# vm_judge_xfs OPTIONS ARGUMENTS... DEV
vm_judge_xfs() {
	local options=$1 dev=${!#} rc
	"$MOUNT_RJ" "$dev" "$VM_DIR/m" -o "$options" || { echo "BAD it cannot be mounted"; return 1; }
	"$VM_JUDGE" "$VM_DIR/m" "${@:2:$#-2}"
	rc=$?
	"$UMOUNT_RJ" "$VM_DIR/m" || { echo "BAD it cannot be unmounted"; return 1; }
	return $rc
}
