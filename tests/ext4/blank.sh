#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A block device that is the fallback of a volume, which libblkid does not know: rjtune and mkrjfs
# do not make something else of it. tests/history/base.sh asks rjbackup.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh" || exit 99
need_root
[ -c /dev/loop-control ] || skip_all "no loop devices"
PATH=$PATH:/sbin:/usr/sbin
cd "$T_DIR" || exit 99
export BLKID_FILE=$T_DIR/blkid.tab
rjtune=$RJ_BUILD/rjtune/rjtune
mkdir store
url=file://$T_DIR/store
truncate -s 64M v.img w.img
truncate -s 48M disk
loop_over disk || exit 99
local_conf "$T_DIR" "$DEV"
check "a volume with the device as its fallback" \
	"$MKRJFS" -q -F -t ext4 -J "remote=$url,size=4,fallback=$DEV" v.img
uuid=$(dumpe2fs -h v.img 2>/dev/null | sed -n 's/^Filesystem UUID: *//p')
mke2fs -q -F -t ext4 -O ^has_journal w.img || exit 99
begins() { sync "$DEV"; dd if="$DEV" bs=4096 count=2 status=none | sha256sum; }
refused() { # STATUS NAME WHOSE COMMAND...
	local before
	before=$(begins)
	status "$1" "$2" "${@:4}"
	like "... which volume's it is" "$OUT" "$DEV: is the fallback of a volume \($3\)"
	is "... and left" "$(begins)" "$before"
}
refused 2 "rjtune" "$uuid" "$rjtune" -J "device=$DEV" w.img
refused 1 "mkrjfs" "$uuid" "$MKRJFS" -q -t ext4 -J "remote=$url,size=4" "$DEV"
refused 1 "mkrjfs -n" "$uuid" "$MKRJFS" -n -t ext4 -J "remote=$url,size=4" "$DEV"
refused 1 "mkrjfs without a remote journal" "$uuid" "$MKRJFS" -q -t ext4 "$DEV"
refused 1 "mkrjfs -t xfs" "$uuid" "$MKRJFS" -q -t xfs -J "remote=$url" "$DEV"
dd if="$DEV" of=header bs=4096 count=1 status=none
# slot N: the header is in that slot alone
slot() {
	dd if=/dev/zero of="$DEV" bs=4096 count=2 status=none &&
		dd if=header of="$DEV" bs=4096 seek="$1" conv=fsync status=none
}
grep -q RJFALLBK header || dd if="$DEV" of=header bs=4096 skip=1 count=1 status=none
check "the second slot alone" slot 1
refused 2 "... rjtune" "$uuid" "$rjtune" -J "device=$DEV" w.img
flip header 100
check "a damaged header" slot 0
refused 2 "... rjtune" unknown "$rjtune" -J "device=$DEV" w.img
how=$(sed -n 's/.*may go, \(dd .*\) removes it.*/\1/p' <<<"$OUT")
like "... tells what removes it" "$how" "^dd if=/dev/zero of=$DEV"
refused 1 "... mkrjfs" unknown "$MKRJFS" -q -t ext4 "$DEV"
status 0 "... mkrjfs -F" "$MKRJFS" -q -F -t ext4 "$DEV"
wipefs -qa "$DEV"
check "and again" slot 0
check "it is removed so" eval "$how"
status 0 "... then rjtune takes the device, with what else is there" "$rjtune" -J "device=$DEV" w.img
exit 0
