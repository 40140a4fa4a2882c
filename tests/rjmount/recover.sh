#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# mount.rj after a crash: rjrecover first; and where it finds its siblings.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
img=$T_DIR/v.img mnt=$T_DIR/mnt tools=$T_DIR/tools
mkdir "$mnt" "$tools" "$T_DIR/store"
at_exit umount -l "$mnt"
mountrj() { $LIMIT "$MOUNT_RJ" "$@"; }
kill_daemons() {
	local p
	for p in $(pgrep -f "rjournald .*$T_DIR/"); do kill_pid "$p"; done
}
at_exit kill_daemons

volume "$img" ext3 4096 "file://$T_DIR/store" && mountrj "$img" "$mnt" || exit 99
fsynced "$mnt" 20 "$T_DIR/sums"
status 0 "the machine stops" crash "$img" "$mnt" "$T_DIR/crashed.img"
img=$T_DIR/crashed.img
wait_for 60 not grep -qF "$T_DIR/mnt" /proc/mounts || exit 99
cp --sparse=always "$img" "$T_DIR/before.img"

# ---- a recovery that refuses: not mounted ----
cat >"$tools/rjrecover" <<'END'
#!/bin/sh
echo "rjrecover: $*" >"$T_DIR/called"
exit 4
END
chmod +x "$tools/rjrecover"
ln -s "$RJOURNALD" "$tools/rjournald"
export T_DIR
status 32 "a recovery that fails: not mounted" env RJ_SBINDIR="$tools" \
	$LIMIT "$MOUNT_RJ" "$img" "$mnt"
like "says so" "$OUT" "^mount.rj: $img: not mounted, since rjrecover -p ended with status 4\$"
is "it was called as at boot" "$(cat "$T_DIR/called")" "rjrecover: -p -- $img"
check "nothing was changed" cmp "$img" "$T_DIR/before.img"
rm "$tools/rjrecover"
status 32 "no rjrecover at all" env RJ_SBINDIR="$tools" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
like "names it" "$OUT" "$tools/rjrecover: no such program"

# ---- the real one, found beside mount.rj ----
check "mount.rj recovers and mounts" mountrj "$img" "$mnt"
check "every fsynced file is there" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
check "unmount" $LIMIT "$UMOUNT_RJ" "$mnt"
check "nothing is left" wait_for 30 nothing_left "$img"
check "the volume is in order" served_fsck "$img" -fn

# ---- clean, but for the error flag: checked first ----
debugfs -w -R "ssv state 3" "$img" >/dev/null 2>&1
status 0 "the error flag" mountrj "$img" "$mnt"
like "e2fsck -p checks all" "$OUT" "error flag is set: checking the whole volume"
check "unmount" $LIMIT "$UMOUNT_RJ" "$mnt"
status 0 "once" mountrj "$img" "$mnt"
is "and not again" "$OUT" ""
check "unmount" $LIMIT "$UMOUNT_RJ" "$mnt"

