# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced first: a volume with a history, its markers, and the judgement, in the scratch directory.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh" || exit 99
need_fuse_loop
cd "$T_DIR" || exit 99
RJBACKUP=$RJ_BUILD/rjbackup/rjbackup WORK=$RJ_BUILD/tests/history/work
COMPARE=$RJ_BUILD/tests/history/blocks/compare

# history_conf: a log that is kept, and comes in pieces
history_conf() {
	(umask 077; printf '[*]\nretain = 1d\ntrim_interval = 1\nship_early = 64k\n%s\n' "$1" >"$RJ_CONF")
}
# kinds SEED KIND...: the kinds of volumes to be tried, in $KINDS: each. Under a sanitizer, where
# they take three times as long and run the same code, one, by SEED.
kinds() {
	local seed=$1; shift
	KINDS=("$@")
	! sanitized "$RJBACKUP" || KINDS=("${KINDS[seed % $#]}")
}
# history_volume TYPE BLOCKSIZE MODE JOURNAL-WORDS [MKE2FS-OPTIONS...]: mounted at mnt. The
# smallest journal that there is: its tail moves, and it goes round, all the time. JOURNAL_TIMES:
# so much larger; for a resize, which needs a transaction with all blocks reserved for descriptors.
history_volume() {
	local type=$1 bs=$2 mode=$3 words=$4 url=$SRV_URL/$1-$2-$RANDOM; shift 4
	[[ $url != file:* ]] || mkdir "${url#file://}"
	truncate -s 48M v.img && mkdir -p mnt
	"$MKRJFS" -q -F -t "$type" -b "$bs" -N 1024 \
		-J "remote=$url,size=$((bs / 1024 * ${JOURNAL_TIMES:-1}))$words" "$@" v.img &&
		history_mount "$mode"
}
history_mount() {
	mount_served "$T_DIR/v.img" mnt "data=$1"
}
zeroout_file() { echo "/sys/fs/ext4/$(basename "$(findmnt -no SOURCE mnt)")/extent_max_zeroout_kb"; }
history_umount() { umount mnt && unserve; }
VOL=$T_DIR/v.img
# rj_mount [MODE]: $VOL as type rj. blkid and e2fsck of another process have each block
# device for a moment exclusively.
rj_mount() {
	local i
	for ((i = 0; i < 50; i++)); do
		timeout 120 "$MOUNT_RJ" "$VOL" mnt -o "data=${1:-journal}" 2>said && break
		grep -q "in use by the system" said || { cat said; return 1; }
		sleep 0.1
	done
}
# with_mount BEFORE AFTER: unmounted and mounted, with a program that runs between mount.rj's look
# and the mount, and one that uses the mount before mount.rj says that it is there
with_mount() {
	mkdir -p bin
	printf '#!/bin/bash\ncase $* in *journal_path*) ;; *) exec %s "$@" ;; esac\n%s\n%s "$@" || exit\n%s\n' \
		"$REAL_MOUNT" "$1" "$REAL_MOUNT" "$2" >bin/mount && chmod +x bin/mount &&
		rj_umount && PATH=$T_DIR/bin:$PATH rj_mount
}
REAL_MOUNT=$(command -v mount)
# until its rjournald has ended, too, whoever has a copy of the mount in a namespace
rj_umount() {
	local pid; pid=$(daemon_pid "$VOL")
	timeout 120 "$UMOUNT_RJ" "$T_DIR/mnt" && { [ -z "$pid" ] || wait_for 120 gone "$pid"; }
}

# elsewhere COMMAND...: in a mount namespace of its own. A copy of a mount keeps its volume in use:
# those of tests are dropped there.
elsewhere() {
	# shellcheck disable=SC2016
	unshare -m bash -c 'awk "\$2 ~ /\/(rjtest|rjt)[.][A-Za-z0-9]+\// {print \$2}" /proc/self/mounts | tac |
		while read -r copy; do umount -l "$copy"; done; exec "$@"' - "$@"
}
# note_of: what this host has noted of the base, and of drills
note_of() { echo "drill/$(dumpe2fs -h "$VOL" 2>/dev/null | awk '/^Filesystem UUID/ {print $3}').json"; }

# rj_crash: the machine stops, and $VOL is its disk as it was then. Who still writes has the mount
# as its working directory; of what is open, the descriptors in $OPEN are closed.
rj_crash() {
	local pid fd; pid=$(daemon_pid "$VOL")
	# an image: it has what its loop device has written
	freeze_daemon "$pid" && cp --sparse=always v.img next.img && kill_pid "$pid" || return 1
	for fd in $OPEN; do exec {fd}>&-; done
	OPEN=
	umount -l mnt
	if [[ $VOL == /dev/* ]]; then
		wait_for 60 losetup -d "$VOL"
		VOL=$(losetup -f --show next.img) || return 1
	fi
	mv next.img v.img
}
OPEN=
# crash_under_load SEED: operations go on while the machine stops
crash_under_load() {
	local pid rc
	(cd mnt && exec "$WORK" ops . "$1" 100000) >load.out 2>&1 &
	pid=$!
	sleep 0.4
	rj_crash; rc=$?
	wait_for 60 gone $pid
	return $rc
}
# deleted_open N: N files, and a folder, are deleted while they are open
deleted_open() {
	local i fd
	for ((i = 0; i < $1; i++)); do
		exec {fd}>mnt/held && head -c $((i * 100000 + 1)) /dev/urandom >&$fd &&
			rm mnt/held || return 1
		OPEN+=" $fd"
	done
	mkdir mnt/held && exec {fd}<mnt/held && rmdir mnt/held || return 1
	OPEN+=" $fd"
	sync -f mnt
}

# enlarged FILE DEVICE MIB: the file, and the loop device over it, by MIB; what is new begins with
# what another file has left there
enlarged() {
	local size; size=$(($(stat -c %s "$1") + $3 * 1048576))
	head -c $((($3 < 16 ? $3 : 16) * 1048576)) /dev/urandom >>"$1" && truncate -s $size "$1" &&
		losetup -c "$2"
}
# grown MIB: the volume at mnt, while it is used
grown() {
	local dev; dev=$(findmnt -no SOURCE mnt)
	enlarged v.img "$dev" "$1" && resize2fs "$dev" >resize.out 2>&1 ||
		{ cat resize.out; return 1; }
}
# may_grow: may this process? It takes CAP_SYS_RESOURCE
may_grow() { ((0x$(awk '/^CapEff/ {print $2}' /proc/self/status) >> 24 & 1)); }

# mark NAME: all is committed, and written down: manifest, time, segment. The clock of
# commits is a few milliseconds behind.
mark() {
	sync -f mnt && sleep 0.03 && date +@%s.%N >"$1.time" && sleep 0.03 &&
		"$WORK" manifest mnt >"$1.manifest" &&
		"$RJ_BUILD/rjctl/rjctl" status --json mnt | sed 's/.*"acknowledged": *\([0-9]*\).*/\1/' >"$1.segment" &&
		grep -qx '[0-9]*' "$1.segment"
}
# restored MOMENT NAME: a new volume that is sound and has what NAME says
restored() {
	local rc=0
	rm -f r.img
	timeout 120 "$RJBACKUP" restore --at="$1" --verify=none --base=base.img -o r.img &&
		same_as r.img "$2" || rc=1
	return $rc
}
same_as() {
	local rc=0
	e2fsck -fn "$1" >fsck.out 2>&1 || { cat fsck.out; return 1; }
	mkdir -p look && mount -i -t ext4 -o ro,loop "$1" look || return 1
	"$WORK" manifest look >found.manifest && diff "$2.manifest" found.manifest | head -n 5 &&
		cmp "$2.manifest" found.manifest || rc=1
	umount look
	return $rc
}

# ---- killed at a write ----
# traced STRACE-OPTIONS... COMMAND...: LeakSanitizer does not work under strace
traced() { ASAN_OPTIONS=detect_leaks=0 strace -q -o trace "$@" >out 2>&1; }
# no_wrapper: run what is built, as the writes of libtool's script do not count
no_wrapper() {
	[ -x "$RJ_BUILD/rjbackup/.libs/rjbackup" ] || return 0
	RJBACKUP=$RJ_BUILD/rjbackup/.libs/rjbackup
	export LD_LIBRARY_PATH=$RJ_BUILD/lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}
# cut_at CALL N COMMAND...: killed when it enters its Nth CALL. Other threads than the
# first only read the log.
cut_at() {
	local call=$1 n=$2; shift 2
	# in a subshell of its own, whose shell says "Killed" to nobody
	(traced -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" "$@"; exit $?) 2>/dev/null
}
# list COMMAND...: those of $calls that it makes in the file list, in turn, each with its number
# among those of that name (strace counts each name by itself)
list() {
	traced -e "trace=$calls" "$@" || return 1
	sed -n 's/^\([a-z0-9_]*\)(.*/\1/p' trace | awk '{print $1, ++n[$1]}' >list
}
