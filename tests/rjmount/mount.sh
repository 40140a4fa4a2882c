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
# the highest epoch that was claimed, by all who did
claimed() { "$RJ_BUILD/rjlog/rjlog" ls --json "$SRV_URL/v$n"; }
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
wait_for 60 nothing_left "$img" || exit 99

# the smallest journal that mkrjfs makes, not too short for the kernel
for size in 1024 2048 4096; do
	truncate -s 0 "$T_DIR/small.img"
	check "$size: smallest journal" "$MKRJFS" -q -F -b $size \
		-J "size=$((size / 1024)),remote=$SRV_URL/small$size" "$T_DIR/small.img" 16M
	check "$size: is mounted" mountrj "$T_DIR/small.img" "$mnt"
	check "$size: holds files" fsynced "$mnt" 3 "$T_DIR/sums"
	check "$size: and is unmounted" umountrj "$mnt"
done

# ---- names that begin with a dash ----
MOUNT_RJ=$(realpath "$MOUNT_RJ") UMOUNT_RJ=$(realpath "$UMOUNT_RJ")
dash() { (cd "$T_DIR" && "$@"); }
cp --sparse=always "$img" "$T_DIR/-v.img"
check "-v.img: mount" dash mountrj -- -v.img "$mnt"
check "-v.img: fsynced files" fsynced "$mnt" 3 "$T_DIR/sums"
pid=$(daemon_pid "-- -v.img") # as it was told, not the whole path
check "-v.img: the machine stops" freeze_daemon "$pid"
cp --sparse=always "$T_DIR/-v.img" "$T_DIR/-c.img"
kill_pid "$pid"
umount -l "$mnt"
check "-c.img: mounted, recovered" dash mountrj -- -c.img "$mnt"
check "-c.img: the files are there" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
mkdir "$T_DIR/-dir"
check "-dir: moved there" mount --move "$mnt" "$T_DIR/-dir"
check "-dir: unmount" dash umountrj -- -dir
check "-c.img: nothing is left" wait_for 30 nothing_left "$T_DIR/-c.img"
rm "$T_DIR/-v.img" && mv "$T_DIR/-c.img" "$img" # the volume itself is older than this copy now

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
status 1 "x-rj.stop-timeout= needs seconds" mountrj "$img" "$mnt" -o x-rj.stop-timeout=soon
check "read-only" mountrj "$img" "$mnt" -o ro
# systemd makes After= and Before= of the mount's unit from this file
utab() { grep -F "TARGET=$mnt " /run/mount/utab; }
like "the mounted file system is a network one" "$(utab)" '[=,]_netdev'
# "uhelper=" is for ordinary users alone: root's umount would not wait
like "umount is told to run umount.rj, whoever calls it" \
	"$(utab)" '[=,]helper=rj'
like "it is" "$(shown)" ' ro,'
check "remount with another option" mountrj "$img" "$mnt" -o remount,ro,noatime
like "it is a network file system still" "$(utab)" '[=,]_netdev'
like "and its unmount runs umount.rj" "$(utab)" '[=,]helper=rj'
umountrj "$mnt"
check "nothing is left after that" wait_for 30 nothing_left "$img"
check "ro,noload" mountrj "$img" "$mnt" -o ro,noload
is "needs no daemon" "$(pgrep -f "rjournald .*$img")" ""
umountrj "$mnt"
status 0 "-f only looks" mountrj -f "$img" "$mnt"
check "and starts nothing" wait_for 30 nothing_left "$img"

# ---- what goes wrong ----
# any e2fsck or blkid opens each block device of the machine for a moment: mount(8)
# then says that it is busy. This one says so twice, and for ever.
mkdir "$T_DIR/busy"
cat >"$T_DIR/busy/mount" <<-EOF
	#!/bin/sh
	echo x >>"$T_DIR/busy/tries"
	[ \$(wc -l <"$T_DIR/busy/tries") -gt \${FREE_AFTER:-2} ] && exec "$(command -v mount)" "\$@"
	echo "mount: $mnt: /dev/loop0 already mounted or mount point busy." >&2
	exit 32
EOF
chmod +x "$T_DIR/busy/mount"
check "a device that is busy for a moment" env PATH="$T_DIR/busy:$PATH" "$MOUNT_RJ" "$img" "$mnt"
is "is tried again" "$(wc -l <"$T_DIR/busy/tries")" 3
umountrj "$mnt"
wait_for 60 nothing_left "$img" || exit 99
status 32 "one that stays busy" env PATH="$T_DIR/busy:$PATH" FREE_AFTER=9999 "$MOUNT_RJ" "$img" "$mnt"
is "is said once" "$(grep -c 'mount point busy' <<<"$OUT")" 1
check "and its daemon is stopped" wait_for 30 nothing_left "$img"
# since 5.17 ext4 tells of one option by itself; before, and for two that do not go
# together, mount(8) tells
before=$(claimed)
if [ "$(printf '%s\n' 5.17 "$(uname -r)" | sort -V | head -n 1)" = 5.17 ]; then
	status 32 "an option that ext4 does not know" mountrj "$img" "$mnt" -o noatime,frobnicate,ro
	like "is named, with the device" "$OUT" "^mount.rj: $img: mount option frobnicate: ext4: Unknown parameter"
	status 32 "a value that ext4 does not know" mountrj "$img" "$mnt" -o data=bogus
	like "is named, too" "$OUT" "^mount.rj: $img: mount option data=bogus: ext4: Bad value for 'data'"
	status 32 "-f refuses it as well" mountrj -f "$img" "$mnt" -o data=bogus
	is "and no epoch was claimed" "$(claimed)" "$before"
fi
status 32 "an option that takes another one" mountrj "$img" "$mnt" \
	-o data=writeback,journal_async_commit,data_err=abort,journal_checksum,usrjquota=x
like "the device's name, and mount's own words" "$OUT" "^mount.rj: $img: not mounted: $mnt: .*[^.]; the kernel's log may say more\$"
one_line() { is "$1: in one line" "$(wc -l <<<"$OUT")" 1; }
one_line "mount(8) fails"
check "the daemon is stopped" wait_for 30 nothing_left "$img"
words=defaults,rw,exec,suid,dev,async,atime,diratime,norelatime,nolazytime,symfollow,silent
check "every word of mount(8) passes" mountrj "$img" "$mnt" -o "$words,commit=7"
umountrj "$mnt"
wait_for 60 nothing_left "$img" || exit 99
before=$(claimed)
status 32 "no such directory" mountrj "$img" "$T_DIR/nowhere"
like "names it" "$OUT" "^mount.rj: $T_DIR/nowhere: mount point: No such file"
echo >"$T_DIR/file"
status 32 "not a directory" mountrj "$img" "$T_DIR/file"
like "says so" "$OUT" "^mount.rj: $T_DIR/file: this mount point is not a directory"
# a device number that no driver has
mknod "$T_DIR/none" c 10 250
for dev in fuse loop-control; do
	status 32 "no /dev/$dev" unshare -m sh -c 'mount --bind "$0" "$1" && exec timeout 60 "$2" "$3" "$4"' \
		"$T_DIR/none" "/dev/$dev" "$MOUNT_RJ" "$img" "$mnt"
	like "names it" "$OUT" "^mount.rj: $img: not mounted: /dev/$dev .is the module loaded"
	one_line "no /dev/$dev"
done
is "and no epoch was claimed for any" "$(claimed)" "$before"
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
is "one line names the volume and the store" "$OUT" \
	"mount.rj: $img: not mounted: $SRV_URL/v$n: cannot reach the journal server: connection refused"
check "nothing is left then" wait_for 30 nothing_left "$img"
