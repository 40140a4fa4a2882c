#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# XFS with a remote log: made, mounted, crashed, recovered by rjrecover and by the mount;
# and what is refused: another volume's log, an older one, a lost one, one that is taken over.
# In a mount namespace of its own: one that another test makes keeps no mount of this one.
. "$RJ_SRC/tests/support/own-mounts.sh" || exit 99
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/xfs/common.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
url=$SRV_URL/x mnt=$T_DIR/mnt img=$T_DIR/x.img floor=$T_DIR/floor
mkdir -p "$mnt"
at_exit umount -l "$mnt"
truncate -s 400M "$img" && loop_over "$img" || exit 99
dev=$DEV
xfs_kill_at_end "$dev"

# ---- making one ----
status 1 "no -J" $LIMIT "$MKRJFS" -t xfs "$dev"
like "says what to give" "$OUT" '-J remote=URL'
status 1 "a log inside" $LIMIT "$MKRJFS" -t xfs -J size=64 "$dev"
status 1 "-l logdev=" $LIMIT "$MKRJFS" -t xfs -l su=4k,logdev=/dev/x -J "remote=$url" "$dev"
like "is named" "$OUT" 'leave out: logdev'
status 1 "-m crc=0" $LIMIT "$MKRJFS" -t xfs -m crc=0 -J "remote=$url" "$dev"
status 1 "a file" $LIMIT "$MKRJFS" -t xfs -J "remote=$url" "$img"
like "is refused with what to do" "$OUT" 'losetup -f --show FILE.*nothing was changed'
status 1 "what mkfs.xfs refuses" $LIMIT "$MKRJFS" -t xfs -b size=100 -J "remote=$url" "$dev"
like "is refused before" "$OUT" 'mkfs.xfs refuses: .*nothing was changed'
status 1 "a store that is away" $LIMIT "$MKRJFS" -t xfs -J "remote=rj://127.0.0.1:1/x" "$dev"
status 0 "-N" $LIMIT "$MKRJFS" -t xfs -N -J "remote=$url,size=80" "$dev"
like "shows the log" "$OUT" "Remote log: 80 MiB at $url"
like "nothing was begun by any of these" "$($RJLOG ls "$url" 2>&1)" 'no log'
is "and nothing is on the volume" "$(head -c 4 "$dev" | tr -d '\0')" ""
status 0 "mkrjfs -t xfs" $LIMIT "$MKRJFS" -t xfs -J "remote=$url" "$dev"
like "says how it is mounted" "$OUT" "mount -t rj -o logdev=$url $dev"
status 1 "a second one asks for -F" $LIMIT "$MKRJFS" -t xfs -J "remote=$url" "$dev"
check "no daemon is left" no_daemon "$dev"

# ---- mounting it ----
status 32 "mount.rj without logdev=" $LIMIT "$MOUNT_RJ" "$dev" "$mnt"
like "asks for it" "$OUT" '-o logdev=URL says it'
status 32 "a log that is elsewhere" xfs_mount "$dev" "$mnt" "$SRV_URL/y"
like "says which volume's log is not there" "$OUT" 'no log of this volume .* at .*/y: is that the URL'
status 32 "an option that XFS does not know" xfs_mount "$dev" "$mnt" "$url" data=journal
like "is named" "$OUT" 'mount option data=journal'
check "mount.rj" xfs_mount "$dev" "$mnt" "$url" noatime
like "XFS, with its log on rjournald's device" "$(grep " $mnt " /proc/mounts)" 'xfs rw,noatime.*logdev=/dev/(loop|ublkb)'
check "files are fsynced" fsynced "$mnt" 40 "$T_DIR/sums"
like "rjctl status DIR" "$($LIMIT "$RJCTL" status "$mnt")" "mounted.*$dev|$dev.*mounted"
status 1 "rjctl stop is refused" $LIMIT "$RJCTL" stop "$mnt"
status 1 "mkrjfs is refused" $LIMIT "$MKRJFS" -F -t xfs -J "remote=$url" "$dev"
status 8 "rjrecover is refused" $LIMIT "$RJRECOVER" -J "remote=$url" "$dev"
like "as it is mounted" "$OUT" 'is mounted'
status 32 "a second mount is refused" xfs_mount "$dev" "$mnt" "$url"
check "remounted" $LIMIT "$MOUNT_RJ" "$dev" "$mnt" -o remount,relatime
check "umount" xfs_unmount "$mnt"
check "no daemon is left after it" wait_for 60 no_daemon "$dev"
status 0 "rjrecover -n" $LIMIT "$RJRECOVER" -n -J "remote=$url" "$dev"
like "finds it clean" "$OUT" '; clean$'

# ---- crashes ----
check "mounted again" xfs_mount "$dev" "$mnt" "$url"
check "all is there" same_files "$mnt" "$T_DIR/sums"
check "more files" fsynced "$mnt" 60 "$T_DIR/sums"
cp --sparse=always "$img" "$T_DIR/before.img"
check "the machine stops" xfs_crash "$dev" "$mnt"
status 0 "rjrecover -n after it" $LIMIT "$RJRECOVER" -n -J "remote=$url" "$dev"
like "would have the kernel replay" "$OUT" 'the kernel will replay it'
status 8 "rjrecover without a URL" $LIMIT "$RJRECOVER" "$dev"
like "asks for it" "$OUT" '-J remote=URL says it'
interrupted=()
! strace -o "$T_DIR/trace" -e trace=none true 2>/dev/null ||
	interrupted=(env ASAN_OPTIONS=detect_leaks=0 strace -q -o "$T_DIR/trace"
		-e inject=wait4:error=EINTR:when=1+2)
status 0 "rjrecover, with signals in between" $LIMIT "${interrupted[@]}" "$RJRECOVER" -p --verify=full -J "remote=$url" "$dev"
like "replays" "$OUT" 'replayed by the kernel'
status 0 "once more" $LIMIT "$RJRECOVER" -p -J "remote=$url" "$dev"
like "is nothing to do" "$OUT" 'clean, nothing to recover'
check "mounted after the recovery" xfs_mount "$dev" "$mnt" "$url"
check "every fsynced file is there" same_files "$mnt" "$T_DIR/sums"
check "more files" fsynced "$mnt" 80 "$T_DIR/sums"
kill -KILL "$(pgrep -P "$(xfs_daemon "$dev")")"
check "a worker is killed, another one goes on" put_file "$mnt/after"
(cd "$mnt" && sha256sum after) >>"$T_DIR/sums"
check "the machine stops again" xfs_crash "$dev" "$mnt"
check "the mount recovers, too" xfs_mount "$dev" "$mnt" "$url"
check "every fsynced file is there after that" same_files "$mnt" "$T_DIR/sums"
check "umount again" xfs_unmount "$mnt"

# ---- an older log ----
stop_server
cp -a "$T_DIR/srv" "$T_DIR/old"
start_server "$T_DIR/srv" "$SRV_PORT" || exit 99
check "mounted for more" xfs_mount "$dev" "$mnt" "$url"
check "some more files" fsynced "$mnt" 90 "$T_DIR/sums"
sync -f "$mnt"
check "umounted" xfs_unmount "$mnt"
stop_server
mv "$T_DIR/srv" "$T_DIR/new" && cp -a "$T_DIR/old" "$T_DIR/srv"
start_server "$T_DIR/srv" "$SRV_PORT" || exit 99
segments() { $RJLOG ls "$url" 2>&1; }
was=$(segments)
status 32 "a store with an older log: the floor of this host" xfs_mount "$dev" "$mnt" "$url"
like "is told" "$OUT" 'this host'
mv "$floor" "$floor.away"
status 32 "another host: the volume's own metadata" xfs_mount "$dev" "$mnt" "$url"
like "are told" "$OUT" 'ends at [0-9]+:[0-9]+, and the volume has metadata of [0-9]+:[0-9]+: the log lost its end'
status 8 "rjrecover, too" $LIMIT "$RJRECOVER" -p -J "remote=$url" "$dev"
is "nothing was written to the log" "$(segments)" "$was"
rm -rf "$floor"; mv "$floor.away" "$floor"

# ---- a lost one ----
stop_server
rm -rf "$T_DIR/srv"
start_server "$T_DIR/srv" "$SRV_PORT" || exit 99
status 32 "a store that lost the log" xfs_mount "$dev" "$mnt" "$url"
like "is told by the floor" "$OUT" 'this host saw [0-9]+ acknowledged: .*see LOST LOGS'
status 1 "no new one is begun for it by mistake" $LIMIT "$RJOURNALD" --raw --size=64 --xfs="$dev" "$url"
# as rjrecover(8) says it
give_up() {
	local log uuid
	uuid=$(blkid -p -s UUID -o value "$dev")
	rm "$floor/$uuid" && log=$($LIMIT "$RJOURNALD" -q --raw --size=64 --xfs="$dev" "$url") &&
		$LIMIT xfs_repair -L -l "$log" "$dev" && $LIMIT "$RJCTL" stop "$dev"
}
check "LOST LOGS of rjrecover(8)" give_up
check "then it is mounted" wait_for 60 xfs_mount "$dev" "$mnt" "$url"
check "and whole, as it had been unmounted" same_files "$mnt" "$T_DIR/sums"
check "unmounted" xfs_unmount "$mnt"

# ---- another writer; another volume ----
check "mounted once more" xfs_mount "$dev" "$mnt" "$url"
check "files for the one who is fenced" fsynced "$mnt" 20 "$T_DIR/sums"
cp --sparse=always "$img" "$T_DIR/copy.img" && loop_over "$T_DIR/copy.img" || exit 99
other=$DEV
second() { RJ_RUN="$T_DIR/run2" $LIMIT "$@"; }
check "another host takes over" second "$RJOURNALD" -q --raw --xfs="$other" "$url"
xfs_kill_at_end "$other"
# the fenced host's log takes nothing more
late() { put_file "$mnt/late.$RANDOM"; }
fails() { ! "$@"; }
check "the first one can fsync no more" wait_for 60 fails late
umount -l "$mnt"
xfs_kill "$dev"
check "the second one stops" second "$RJCTL" stop
wait_for 60 fails xfs_daemon_runs "$other"
mkdir -p "$T_DIR/mnt2"
at_exit umount -l "$T_DIR/mnt2"
check "the second one mounts it" xfs_mount "$other" "$T_DIR/mnt2" "$url" nouuid
check "with every fsynced file" same_files "$T_DIR/mnt2" "$T_DIR/sums"
log=$url/$(blkid -p -s UUID -o value "$other")
status 1 "rjlog rm is refused" $LIMIT "$RJLOG" rm "$log"
like "as it is in use" "$OUT" 'rjournald of this machine serves'
like "rjlog verify" "$($LIMIT "$RJLOG" verify "$log")" ': good$'
status 8 "rjlog show" $LIMIT "$RJLOG" show "$log"
like "is not for it" "$OUT" 'reads only its segments'
check "umount of the second" xfs_unmount "$T_DIR/mnt2"
status 1 "rjlog rm is refused after it" $LIMIT "$RJLOG" rm --volume="$other" "$log"
like "as the volume is there" "$OUT" 'is the log of the XFS volume on'

check "and the log is still there" $LIMIT "$RJRECOVER" -n -J "remote=$url" "$other"

# ---- damage ----
flip "$other" 200
status 32 "a damaged superblock" xfs_mount "$other" "$mnt" "$url"
like "is told" "$OUT" 'checksum of its XFS superblock is wrong'
flip "$other" 200
truncate -s 400M "$T_DIR/in.img" && loop_over "$T_DIR/in.img" && mkfs.xfs -q "$DEV" || exit 99
status 32 "a log inside" xfs_mount "$DEV" "$mnt" "$url"
like "is mounted without us" "$OUT" 'mount it without -t rj'
status 8 "rjrecover says it, too" $LIMIT "$RJRECOVER" "$DEV"
status 2 "--xfs without --raw" $LIMIT "$RJOURNALD" --xfs=/dev/x "$url"
status 2 "a relative path" $LIMIT "$RJOURNALD" --raw --xfs=x "$url"
exit 0
