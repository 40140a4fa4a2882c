#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The x-rj.* words of a volume's line in fstab, which mount(8) keeps from its
# helpers. In a mount namespace with an fstab of its own.
. "$RJ_SRC/tests/support/own-mounts.sh" || exit 99
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
command -v jq >/dev/null || skip_all "needs jq"
img=$T_DIR/v.img mnt=$T_DIR/mnt fstab=$T_DIR/fstab
mkdir "$mnt" "$T_DIR/store"
: >"$fstab"
mount --bind "$fstab" /etc/fstab || exit 99
kill_daemons_at_end "$img"
at_exit umount -l "$mnt"
at() { $LIMIT "$RJCTL" status --json "$mnt" | jq -r .metrics; }
run_dir() { echo "$RJ_RUN/$($LIMIT "$RJCTL" status --json "$mnt" | jq -r .volume_uuid)"; }
unmounted() { $LIMIT "$UMOUNT_RJ" "$mnt" && wait_for 60 nothing_left "$img"; }
check "a volume" volume "$img" ext4 4096 "file://$T_DIR/store"

# ---- x-rj.metrics= ----
check "mounted" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
is "the metrics are in the runtime directory" "$(at)" "$(run_dir)/metrics"
check "a page is there" curl -sf -m 120 --unix-socket "$(at)" http://localhost/metrics
check "unmounted, and nothing is left" unmounted
echo "$img $mnt rj _netdev,x-rj.metrics=$T_DIR/here,noauto 0 0" >"$fstab"
check "mounted, fstab has an address" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
is "the metrics are there" "$(at)" "$T_DIR/here"
check "unmounted" unmounted
check "mounted, and none is given by hand" $LIMIT "$MOUNT_RJ" "$img" "$mnt" -o x-rj.metrics=none,noatime
is "there are no metrics" "$(at)" null
check "unmounted once more" unmounted

# ---- a bad word ----
echo "$img $mnt rj _netdev,x-rj.stop-timeout=soon,x-rj.metrics=$T_DIR/here,noauto 0 0" >"$fstab"
status 1 "x-rj.stop-timeout= in fstab is not a number" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
like "is said" "$OUT" "^mount.rj: x-rj.stop-timeout= in fstab needs seconds"
check "mounted: it is not needed where one is given by hand" \
	$LIMIT "$MOUNT_RJ" "$img" "$mnt" -o x-rj.stop-timeout=5
is "the line's other word counts" "$(at)" "$T_DIR/here"
check "unmounted after that" unmounted

# ---- two volumes of one mount point ----
cat >"$fstab" <<END
$T_DIR/other.img $mnt rj _netdev,x-rj.metrics=none,noauto 0 0
UUID=$(dumpe2fs -h "$img" 2>/dev/null | sed -n 's/^Filesystem UUID: *//p') $mnt/no rj x-rj.metrics=none,noauto 0 0
$T_DIR/link $mnt rj _netdev,x-rj.metrics=$T_DIR/here,noauto 0 0
END
ln -s "$img" "$T_DIR/link"
check "mounted, fstab has two lines for the mount point" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
is "the line of this device counts" "$(at)" "$T_DIR/here"
check "unmounted for the last time" unmounted
exit 0
