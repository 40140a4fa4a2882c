#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A volume with inline_data, of which the kernel loses what fdatasync acknowledged:
# whoever makes, moves or mounts one is warned, in each data mode.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
cd "$T_DIR" || exit 99
mkdir mnt
at_exit umount -l "$T_DIR/mnt"
start_server "$T_DIR/srv" || exit 99
warning='warning: .*/v.img has inline_data: what fdatasync'

status 0 "mkrjfs" "$MKRJFS" -q -F -t ext4 -O inline_data -I 256 \
	-J "size=8,remote=$SRV_URL/v" "$T_DIR/v.img" 32M
like "... warns" "$OUT" "mkrjfs: $warning"
for mode in ordered journal; do
	status 0 "mount.rj, data=$mode" "$MOUNT_RJ" "$T_DIR/v.img" mnt -o data=$mode
	like "... warns" "$OUT" "$warning"
	check "... unmounted" "$UMOUNT_RJ" mnt
	check "... and nothing is left" wait_for 60 nothing_left "$T_DIR/v.img"
done
rm v.img
check "a volume with its own journal" mke2fs -q -F -t ext4 -O inline_data -I 256 -J size=4 v.img 32M
status 0 "rjtune" "$RJ_BUILD/rjtune/rjtune" -J "remote=$SRV_URL/w" "$T_DIR/v.img"
like "... warns" "$OUT" "rjtune: $warning"
check "a volume without it" volume "$T_DIR/v.img" ext4 1024 "$SRV_URL/x"
status 0 "... is mounted" "$MOUNT_RJ" "$T_DIR/v.img" mnt
is "... with no such warning" "$(grep inline_data <<<"$OUT")" ""
"$UMOUNT_RJ" mnt
