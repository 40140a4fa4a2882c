#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Another mount namespace holds a copy of what is mounted, as a container does. A copy of
# the journal's FUSE mount does not keep rjournald from its end; where the volume itself is
# held, umount.rj, rjctl status and rjctl stop name the process that holds it.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
command -v jq >/dev/null || skip_all "needs jq"
img=$T_DIR/v.img mnt=$T_DIR/mnt
mkdir "$mnt" "$T_DIR/store"
kill_daemons_at_end "$img"
at_exit umount -l "$mnt"
check "a volume" volume "$img" ext4 4096 "file://$T_DIR/store"
# hold [DIR [OPTION...]]: a process with a namespace of its own, its mounts private; sets
# HOLDER. DIR: it works there. OPTION: of unshare
hold() {
	unshare -m --propagation private "${@:2}" \
		sh -c 'cd "${1:-/}" && exec sleep 1000' - "${1:-}" &
	HOLDER=$!
	kill_at_end "$HOLDER"
	wait_for 60 grep -qx sleep "/proc/$HOLDER/comm"
}
inside() { $LIMIT nsenter -m -t "$HOLDER" "$@"; }
umountrj() { $LIMIT "$UMOUNT_RJ" "$@"; }


# ---- a copy of the journal's mount ----
check "mounted" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
check "with files" fsynced "$mnt" 3 "$T_DIR/sums"
check "a namespace has copies of its mounts" hold
check "of the volume" inside grep -q " $mnt " /proc/self/mounts
check "and of the journal" inside grep -q "^rjournald:$img " /proc/self/mounts
mkdir "$T_DIR/again"
check "and one more of the journal" inside mount --bind "$(echo "$RJ_RUN"/*/mnt)" "$T_DIR/again"
check "the volume is unmounted there" inside umount "$mnt"
check "and here" umountrj "$mnt"
check "the daemon ends, and no loop device is left" wait_for 60 nothing_left "$img"
note "$(left "$img")"
kill_pid "$HOLDER"

# ---- a copy of the volume's ----
check "mounted again" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
check "the files are there" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
check "another namespace" hold "$mnt"
is "while it is mounted here, none is named" "$($LIMIT "$RJCTL" status "$img" | grep held)" ""
status 0 "unmounted here alone" umountrj "$mnt"
who="mounted on $mnt in the mount namespace of process $HOLDER \(sleep\); this unmounts it there: nsenter -m -t $HOLDER umount '$mnt'"
like "umount.rj names the process" "$OUT" \
	"^umount.rj: $mnt is unmounted, but rjournald serves the volume on: it is $who\$"
is "in one line" "$(wc -l <<<"$OUT")" 1
like "rjctl status, too" "$($LIMIT "$RJCTL" status)" "^  held          $who\$"
like "as JSON" "$($LIMIT "$RJCTL" status --json | jq -r .held)" "^$who\$"
status 1 "rjctl stop is refused" $LIMIT "$RJCTL" stop "$img"
like "and names it" "$OUT" "^rjctl: $img: $who\$"
status 0 "rjctl check: it is well" $LIMIT "$RJCTL" check "$img"
check "the holder still writes" inside dd if=/dev/zero of="$mnt/more" bs=1k count=1 conv=fsync status=none
kill_pid "$HOLDER"
check "with the namespace the daemon ends" wait_for 60 nothing_left "$img"
note "$(left "$img")"
check "and the volume is in order" served_fsck "$img" -fn

# ---- the command, with a directory that a shell takes apart ----
odd="$T_DIR/a '\$(touch ran)' b"
mkdir "$odd"
at_exit umount -l "$odd"
check "mounted on an odd directory" $LIMIT "$MOUNT_RJ" "$img" "$odd"
check "held" hold
status 0 "unmounted here alone" umountrj "$odd"
like "umount.rj has a command" "$OUT" ': nsenter -m -t [0-9]+ umount '
check "it runs" $LIMIT sh -c "cd '$T_DIR' && ${OUT##*unmounts it there: }"
check "with it the daemon ends" wait_for 60 nothing_left "$img"
note "$(left "$img")"
check "and nothing else was run" test ! -e "$T_DIR/ran"
kill_pid "$HOLDER"

# ---- a namespace with users of its own ----
if ! unshare -Urm true 2>"$T_DIR/why"; then
	skip "another user namespace" "$(cat "$T_DIR/why")"
	exit 0
fi
check "mounted for another user namespace" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
check "held there" hold / -Ur
status 0 "unmounted here alone" umountrj "$mnt"
like "umount.rj has no command, which would fail" "$OUT" \
	"process $HOLDER \(sleep\); it is unmounted there when the last process of that namespace ends\$"
status 32 "it would" inside umount "$mnt"
kill_pid "$HOLDER"
check "with the process the daemon ends" wait_for 60 nothing_left "$img"
note "$(left "$img")"
exit 0
