#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A journal is given up with an undo file, since its server is away: by rjtune --accept-loss -z to
# each kind of place, and by rjrecover -y --accept-loss -z. e2undo puts the volume back byte for
# byte, and when the server is there again the log is replayed: every file is there.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
RJTUNE=$RJ_BUILD/rjtune/rjtune MNT=$T_DIR/mnt V=$T_DIR/v.img C=$T_DIR/c.img
(umask 077; printf '[*]\nrequest_timeout = 2\nconnect_timeout = 2\n' >"$RJ_CONF")
mkdir "$MNT" "$T_DIR/new"
cp -a /usr/share/doc/bash "$T_DIR/old files" 2>/dev/null || mkdir "$T_DIR/old files"

# used STATE BLOCKSIZE FEATURES: $C, crashed or clean, and its server is away
used() {
	rm -rf "$T_DIR/srv" "$T_DIR/undo" "$V" "$C"
	truncate -s 160M "$V" && start_server "$T_DIR/srv" &&
		"$MKRJFS" -q -F -t ext4 -b "$2" -O "$3" -J "remote=$SRV_URL/v,size=8" "$V" &&
		$LIMIT "$MOUNT_RJ" "$V" "$MNT" && cp -a "$T_DIR/old files" "$MNT" &&
		fsynced "$MNT" 50 "$T_DIR/sums" || return 1
	case $1 in
	crashed) crash "$V" "$MNT" "$C" ;;
	clean) $LIMIT "$UMOUNT_RJ" "$MNT" && cp --sparse=always "$V" "$C" ;;
	esac || return 1
	cp --sparse=always "$C" "$T_DIR/was.img" && kill_pid "$SRV_PID"
}
# undone NAME: e2undo, then the server is there again
undone() {
	check "$1: something was changed" not cmp -s "$C" "$T_DIR/was.img"
	check "$1: e2undo takes the undo file" e2undo "$T_DIR/undo" "$C"
	check "$1: the volume is as it was" cmp "$C" "$T_DIR/was.img"
	check "$1: the server is back" start_server "$T_DIR/srv" "$SRV_PORT"
	status 0 "$1: rjrecover -p" $LIMIT "$RJRECOVER" -p "$C"
	check "$1: mounted" mount -o loop,ro,noload "$C" "$MNT"
	check "$1: every file is there" eval '(cd "$MNT" && sha256sum --quiet -c "$T_DIR/sums")'
	umount "$MNT"
	stop_server
}
journal_device() { # BLOCKSIZE
	truncate -s 16M "$T_DIR/j.img" && mke2fs -q -F -O journal_dev -b "$1" "$T_DIR/j.img" &&
		J=$(losetup -f --show "$T_DIR/j.img") && at_exit losetup -d "$J"
}
while read -r state to fs; do
	what="$state, $to, $fs" target=$to
	# shellcheck disable=SC2086
	check "$what: a used volume" used $state $fs
	if [ "$to" = device ]; then
		check "$what: a journal device" journal_device "${fs% *}"
		target=device=$J
	fi
	status 0 "$what: rjtune" $LIMIT "$RJTUNE" --accept-loss -z "$T_DIR/undo" -J "$target" "$C"
	undone "$what"
	[ "$to" != device ] || losetup -d "$J"
done <<END
crashed none 4096 metadata_csum
crashed size=8 1024 ^metadata_csum
crashed device 4096 metadata_csum
crashed remote=file://$T_DIR/new 1024 metadata_csum
clean size=8 4096 metadata_csum
END
check "rjrecover: a used volume" used crashed 4096 metadata_csum
status 1 "rjrecover -y --accept-loss -z" $LIMIT "$RJRECOVER" -y --accept-loss -z "$T_DIR/undo" "$C"
undone "rjrecover"
exit 0
