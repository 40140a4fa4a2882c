#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine whose pages of memory are larger than the volume's blocks raises no mark, and says so;
# but the mark that another machine put is read there, so that an older copy of the volume is
# refused. A volume that both have served is never taken for an older copy of itself.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
RJTUNE=$RJ_BUILD/rjtune/rjtune SHIM=$RJ_BUILD/tests/recover/mark/.libs/pages-64k.so
mnt=$T_DIR/mnt
start_server "$T_DIR/srv" || exit 99
head -c 2M /dev/urandom >"$T_DIR/noise"
there_too() { ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 LD_PRELOAD=$SHIM "$@"; }
said() { $LIMIT "$RJCTL" status --json "$1"; }
oldest() { said "$1" | sed 's/.*"oldest":\([0-9]*\).*/\1/'; }
moved() { cp "$T_DIR/noise" "$mnt/noise" && sync "$mnt/noise" && [ "$(oldest "$1")" -gt "$2" ]; }
# copy_now IMAGE COPY: as of one moment
copy_now() { freeze_daemon "$DPID" && cp --sparse=always "$1" "$2" && thaw_daemon "$DPID"; }
whole() { (cd "$mnt" && sha256sum --quiet -c "$T_DIR/sums"); }
# refused NAME STATUS COMMAND...: there, with nothing changed
refused() {
	local name=$1 want=$2; shift 2
	cp --sparse=always "$T_DIR/early" "$T_DIR/was"
	status "$want" "$name: refused" there_too $LIMIT "$@"
	like "$name: says why" "$OUT" 'an older copy of the volume'
	check "$name: the copy is untouched" cmp "$T_DIR/was" "$T_DIR/early"
}
for FSTYPE in ext3 ext4; do
	img=$T_DIR/v.img
	rm -f "$img" && truncate -s 256M "$img" && "$MKRJFS" -q -F -t $FSTYPE -b 4096 \
		-J "remote=$SRV_URL/$FSTYPE,size=4" "$img" || exit 99
	is "$FSTYPE: rjtune -l here" "$("$RJTUNE" -l "$img" | grep -c 'Older copies are known')" 0
	like "$FSTYPE: rjtune -l there" "$(there_too "$RJTUNE" -l "$img")" 'Older copies are known: .*pages of memory'
	serve "$img" && mount_served "$img" "$mnt" data=journal || exit 99
	check "$FSTYPE: the log moves on" wait_for 60 moved "$img" 1
	fsynced "$mnt" 10 "$T_DIR/sums"
	check "$FSTYPE: a copy is made" copy_now "$img" "$T_DIR/early"
	at=$(oldest "$img")
	mkdir "$mnt/later" && fsynced "$mnt" 50 "$T_DIR/sums"
	check "$FSTYPE: the log moves on again" wait_for 60 moved "$img" "$at"
	is "$FSTYPE: the daemon here raises the mark" "$(said "$img" | grep -c no_mark)" 0
	status 0 "$FSTYPE: the machine stops" crash "$img" "$mnt" "$T_DIR/late"
	refused "$FSTYPE: rjrecover -p" 4 "$RJRECOVER" -p "$T_DIR/early"
	refused "$FSTYPE: rjrecover -n" 4 "$RJRECOVER" -n "$T_DIR/early"
	refused "$FSTYPE: rjournald" 1 "$RJOURNALD" "$T_DIR/early"
	refused "$FSTYPE: mount.rj" 32 "$MOUNT_RJ" "$T_DIR/early" "$mnt"
	# the volume goes on there, far beyond its mark, and crashes
	mv "$T_DIR/late" "$img"
	status 0 "$FSTYPE: recovered there" there_too $LIMIT "$RJRECOVER" -q -p "$img"
	there_too serve "$img" && mount_served "$img" "$mnt" data=journal || exit 99
	like "$FSTYPE: rjctl status there" "$($LIMIT "$RJCTL" status "$img")" 'no mark .*pages of memory'
	check "$FSTYPE: every file is there" whole
	at=$(oldest "$img")
	fsynced "$mnt" 20 "$T_DIR/sums"
	check "$FSTYPE: the log moves on there" wait_for 60 moved "$img" "$at"
	status 0 "$FSTYPE: that machine stops" crash "$img" "$mnt" "$T_DIR/late"
	mv "$T_DIR/late" "$img"
	status 0 "$FSTYPE: recovered here" $LIMIT "$RJRECOVER" -q -p "$img"
	serve "$img" && mount_served "$img" "$mnt" || exit 99
	check "$FSTYPE: every file is there, here" whole
	check "$FSTYPE: unmounted" $LIMIT umount "$mnt"
	unserve || exit 99
done
