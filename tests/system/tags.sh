#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# UUID= and LABEL= in place of a device, as in e2fsprogs: rjtune, rjrecover, mount.rj, rjctl, and a
# list of rjtune --all. If two devices have the tag nothing is done, and both are named.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
RJTUNE=$RJ_BUILD/rjtune/rjtune mnt=$T_DIR/mnt
start_server "$T_DIR/srv" && mkdir "$mnt" || exit 99
label=rjtags$((RANDOM % 10000))$$
truncate -s 64M "$T_DIR/v.img"
mke2fs -q -F -t ext4 -b 4096 -L ${label:0:15} "$T_DIR/v.img" || exit 99
label=${label:0:15}
dev=$(losetup -f --show "$T_DIR/v.img") || exit 99
at_exit losetup -d "$dev"
uuid=$(blkid -p -o value -s UUID "$dev")
status 0 "rjtune LABEL=" "$RJTUNE" -J "remote=$SRV_URL/v,size=4" "LABEL=$label"
like "rjtune: of that device" "$OUT" "^$dev: "
status 0 "rjtune -l UUID=" "$RJTUNE" -l "UUID=$uuid"
like "rjtune -l: of that device" "$OUT" "^Device: +$dev"
status 0 "rjrecover LABEL=" "$RJRECOVER" -p "LABEL=$label"
at_exit umount -l "$mnt"
status 0 "mount.rj UUID=" $LIMIT "$MOUNT_RJ" "UUID=$uuid" "$mnt"
check "mounted" fsynced "$mnt" 5 "$T_DIR/sums"
status 0 "rjctl status LABEL=" $LIMIT "$RJCTL" status "LABEL=$label"
like "rjctl: of that device" "$OUT" "^$dev: mounted"
check "unmounted" $LIMIT "$UMOUNT_RJ" "$mnt"
status 0 "rjtune --all" "$RJTUNE" -J size=4 --all=- <<<"UUID=$uuid"
like "rjtune --all: of that device" "$OUT" "^UUID=$uuid	moved"

status 9 "rjtune: a tag that no device has" "$RJTUNE" -l LABEL=none$label
like "it is named" "$OUT" "^rjtune: LABEL=none$label: no block device has it"
status 8 "rjrecover: a tag that no device has" "$RJRECOVER" -p LABEL=none$label
# a clone beside it
cp --sparse=always "$T_DIR/v.img" "$T_DIR/w.img"
other=$(losetup -f --show "$T_DIR/w.img") || exit 99
at_exit losetup -d "$other"
before=$(sha256sum <"$T_DIR/v.img") after=$(sha256sum <"$T_DIR/w.img")
status 2 "rjtune: a tag that two have" "$RJTUNE" -J none "UUID=$uuid"
like "both are named" "$OUT" "(${dev##*/}.*${other##*/}|${other##*/}.*${dev##*/})"
status 8 "rjrecover: a tag that two have" "$RJRECOVER" -y -f "UUID=$uuid"
status 32 "mount.rj: a tag that two have" $LIMIT "$MOUNT_RJ" "LABEL=$label" "$mnt"
is "neither is changed" "$(sha256sum <"$T_DIR/v.img")$(sha256sum <"$T_DIR/w.img")" "$before$after"
