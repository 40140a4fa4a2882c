#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# mount.rj and umount.rj: types, block sizes, data modes; what is left after.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
img=$T_DIR/v.img mnt=$T_DIR/mnt
mkdir "$mnt"
at_exit umount -l "$mnt"
start_server "$T_DIR/srv" || exit 99
mountrj() { $LIMIT "$MOUNT_RJ" "$@"; }
umountrj() { $LIMIT "$UMOUNT_RJ" "$@"; }
shown() { grep -F " $mnt " /proc/mounts; }
# a daemon of a failed test must not outlive it
kill_daemons() {
	local p
	for p in $(pgrep -f "rjournald .*$T_DIR/"); do kill_pid "$p"; done
}
at_exit kill_daemons

# round TYPE BLOCKSIZE MODE UNMOUNT...: format, mount, use, unmount, mount again
n=0
round() {
	local type=$1 size=$2 mode=$3 name="$1 $2 $3"; shift 3
	n=$((n + 1))
	check "$name: format" volume "$img" "$type" "$size" "$SRV_URL/v$n"
	check "$name: mount" mountrj "$img" "$mnt" -o "data=$mode"
	like "$name: as it should be" "$(shown)" " $type .*data=$mode|$type rw,relatime"
	check "$name: fsynced files" fsynced "$mnt" 5 "$T_DIR/sums"
	check "$name: unmount with ${1##*/}" "$@" "$mnt"
	check "$name: nothing is left" wait_for 30 nothing_left "$img"
	check "$name: mount again" mountrj "$img" "$mnt"
	check "$name: the files are there" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
	umountrj "$mnt"
	check "$name: nothing is left after umount.rj" wait_for 30 nothing_left "$img"
}
round ext3 1024 ordered $LIMIT "$UMOUNT_RJ"
round ext3 2048 journal $LIMIT umount
round ext3 4096 ordered $LIMIT umount
round ext4 1024 journal $LIMIT umount
round ext4 2048 ordered $LIMIT "$UMOUNT_RJ"
round ext4 4096 journal $LIMIT "$UMOUNT_RJ"
check "e2fsck finds nothing" served_fsck "$img" -fn
wait_for 30 nothing_left "$img"

# the smallest journal that mkrjfs makes, not too short for the kernel
for size in 1024 2048 4096; do
	truncate -s 0 "$T_DIR/small.img"
	check "$size: smallest journal" "$MKRJFS" -q -F -b $size \
		-J "size=$((size / 1024)),remote=$SRV_URL/small$size" "$T_DIR/small.img" 16M
	check "$size: is mounted" mountrj "$T_DIR/small.img" "$mnt"
	check "$size: holds files" fsynced "$mnt" 3 "$T_DIR/sums"
	check "$size: and is unmounted" umountrj "$mnt"
done

# ---- as mount(8) and fstab(5) call it ----
check "helpers' words are dropped, the kernel's go through" \
	env -u PATH "$MOUNT_RJ" "$img" "$mnt" -sn -o rw,_netdev,x-systemd.automount,nofail -o commit=7,noatime -t rj
like "they do" "$(shown)" 'noatime.*commit=7'
status 32 "mounted already: refused" mountrj "$img" "$mnt"
like "mounted already: says where" "$OUT" "^mount.rj: $img: mounted on $mnt; unmount it first\$"
check "remount" mountrj "$img" "$mnt" -o remount,ro
like "it is read-only" "$(shown)" ' ro,'
check "verbose unmount" umountrj "$mnt" -v
check "nothing is left" wait_for 30 nothing_left "$img"
check "read-only" mountrj "$img" "$mnt" -o ro
# "uhelper=" is for ordinary users alone: root's umount would not wait
like "umount is told to run umount.rj, whoever calls it" \
	"$(grep -F "TARGET=$mnt " /run/mount/utab)" '[=,]helper=rj'
like "it is" "$(shown)" ' ro,'
umountrj "$mnt"
check "nothing is left after that" wait_for 30 nothing_left "$img"
check "ro,noload" mountrj "$img" "$mnt" -o ro,noload
is "needs no daemon" "$(pgrep -f "rjournald .*$img")" ""
umountrj "$mnt"
status 0 "-f only looks" mountrj -f "$img" "$mnt"
check "and starts nothing" wait_for 30 nothing_left "$img"

# ---- what goes wrong ----
status 32 "an option that ext4 does not know" mountrj "$img" "$mnt" -o frobnicate
like "mount's own message" "$OUT" '^mount: '
check "the daemon is stopped" wait_for 30 nothing_left "$img"
status 32 "no such directory" mountrj "$img" "$T_DIR/nowhere"
check "the daemon is stopped again" wait_for 30 nothing_left "$img"
truncate -s 8M "$T_DIR/plain.img" && mke2fs -q -F -j "$T_DIR/plain.img"
status 32 "a volume with its own journal" mountrj "$T_DIR/plain.img" "$mnt"
like "says how to mount it" "$OUT" 'plain.img: this volume has no remote journal; mount it without -t rj$'
status 1 "too few words" mountrj "$img"
status 1 "an unknown option" mountrj --frobnicate "$img" "$mnt"
status 1 "umount.rj: an unknown option" umountrj --frobnicate "$mnt"
status 32 "umount.rj: not mounted" umountrj "$mnt"
serve "$img"
status 32 "served already" mountrj "$img" "$mnt"
like "says by whom" "$OUT" 'a running rjournald serves this volume'
$LIMIT "$RJCTL" -q stop "$img"
lose=$SRV_PID
kill_pid "$lose"
status 32 "the server is away" mountrj "$img" "$mnt"
like "one line of rjournald names the store" "$OUT" "rjournald: .*127.0.0.1:$SRV_PORT"
check "nothing is left then" wait_for 30 nothing_left "$img"
