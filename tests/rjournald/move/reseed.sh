#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjctl reseed: the server of a mounted volume is lost (its disk new and empty, put back from a
# copy, or gone for another server) while files are written. A new log begins with the journal in
# memory. After a power cut every acknowledged file is there, on each kind of volume.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/move/frame.sh"
RJTUNE=$RJ_BUILD/rjtune/rjtune
check "a key" "$RJTUNE" --genkey "$T_DIR/key"

# lose HOW: what becomes of the server, while the writer writes; sets TO
lose() {
	local how=$1
	TO=
	[ "$how" != copy ] || { cp -a "$store" "$store.copy" && writes_more || return 1; }
	stop_server
	case $how in
	empty) rm -rf "$store" && start_server "$store" "$SRV_PORT" ;;
	copy) rm -rf "$store" && mv "$store.copy" "$store" && start_server "$store" "$SRV_PORT" ;;
	other) store=$T_DIR/other && rm -rf "$store" && start_server "$store" && TO=--to=$SRV_URL/new ;;
	esac
}
# scene NAME HOW MKRJFS-OPTION...
scene() {
	local name=$1 how=$2; shift 2
	store=$T_DIR/store
	rm -rf "$store"
	check "$name: a server" start_server "$store"
	check "$name: a volume in use" used_volume "$SRV_URL/v" "$@"
	check "$name: a writer" write_on
	check "$name: writes" writes_more
	[ -z "${LABEL:-}" ] || check "$name: a label" tune2fs -L "$LABEL" "$(findmnt -n -o SOURCE "$mnt")"
	check "$name: the server is lost" lose "$how"
	check "$name: reseeded" $LIMIT "$RJCTL" reseed $TO "$mnt"
	check "$name: writes go on" writes_more
	if [ "$how" = other ]; then url_is "$name: to the new place" "$SRV_URL/new"; fi
	check "$name: the machine stops" power_cut
	check "$name: recovered, with all files" recovered
	check "$name: a writer again" write_on
	check "$name: reseeded needlessly" $LIMIT "$RJCTL" reseed "$mnt"
	check "$name: writes go on" writes_more
	check "$name: the writer ends" stop_writing
	check "$name: unmounted" unmounted
	check "$name: mounted again" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
	check "$name: all files are there" all_there_now
	check "$name: unmounted at the end" unmounted
	stop_server
}
all_there_now() { rm -f "$acked.then"; all_there; }

scene "ext4, empty" empty -t ext4
scene "ext4, put back" copy -t ext4
# the kernel keeps what it changes of the backup superblock until the journal goes on
LABEL=new scene "ext4, a label in the journal, empty" empty -t ext4
AGED=used scene "ext4, used, another server" other -t ext4
OPTIONS=data=journal scene "ext4, data=journal, another" other -t ext4
AGED=used scene "ext3, used, empty" empty -t ext3
scene "ext3 of 1 KiB blocks, put back" copy -t ext3 -b 1024
(umask 077; printf '[*]\nkeyfile = %s\n' "$T_DIR/key" >"$RJ_CONF")
MORE_J=key=$T_DIR/key scene "with a key, another" other -t ext4
MORE_J=key=$T_DIR/key scene "with a key, empty" empty -t ext4
rm "$RJ_CONF"
MORE_J=fallback=$T_DIR/fb,fallback_size=64,on_loss=local scene "with a fallback file, empty" empty -t ext4
MORE_J=fallback=$T_DIR/fb2,fallback_size=64,on_loss=local scene "with a fallback file, another" other -t ext4
exit 0
