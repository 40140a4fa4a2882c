#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjournald was restarted under a mounted volume: the log begins with an epoch that
# the volume could not be marked with. rjrecover and rjtune, also with -f, find that
# this is the volume itself and no older copy, and every fsynced file is there.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
[ "$(printf '6.9\n%s\n' "$(uname -r | cut -d- -f1)" | sort -V | head -n 1)" = 6.9 ] ||
	skip_all "older than Linux 6.9"
RJTUNE=$RJ_BUILD/rjtune/rjtune
img=$T_DIR/v.img mnt=$T_DIR/mnt store=$T_DIR/store
export FSTYPE=ext4
(umask 077; printf '[*]\ntrim_interval = 1\n' >"$RJ_CONF")
restarted() { [ "$($LIMIT "$RJCTL" restart "$mnt")" = restarted ]; }
# the log of the first epoch has gone, but for its fence
trimmed() { ! ls "$store"/*/log/00000000000000000002 2>/dev/null; }
use() { # N: once round the ring
	local i
	for ((i = 0; i < $1; i++)); do
		head -c 700000 /dev/urandom >"$mnt/f.$((i % 4))" && sync "$mnt/f.$((i % 4))" || return 1
	done
}
# there IMAGE: every fsynced file
there() {
	mkdir -p "$T_DIR/look"
	$LIMIT mount -t ext4 -o loop,ro,noload "$1" "$T_DIR/look" || return 1
	(cd "$T_DIR/look" && sha256sum --quiet -c "$T_DIR/sums"); local rc=$?
	$LIMIT umount "$T_DIR/look"
	return $rc
}
# right NAME COMMAND...: on a copy of its own, with the log as the crash left it
right() {
	local name=$1; shift
	rm -rf "$store" && cp -a "$store.crash" "$store"
	cp --sparse=always "$T_DIR/crash.img" "$T_DIR/copy.img"
	status 0 "$name" env RJ_RUN="$T_DIR/run2" $LIMIT "$@" "$T_DIR/copy.img"
	check "$name: every fsynced file is there" there "$T_DIR/copy.img"
}

for kind in soon later; do
	rm -rf "$store" && mkdir "$store"
	check "$kind: a volume" volume "$img" ext4 1024 "file://$store"
	check "$kind: served" serve "$img"
	check "$kind: and mounted" mount_served "$img" "$mnt" data=journal
	check "$kind: files" fsynced "$mnt" 10 "$T_DIR/sums"
	check "$kind: restarted" restarted
	if [ $kind = later ]; then
		check "$kind: and again" restarted
		check "$kind: used" use 30
	fi
	put_file "$mnt/after" && (cd "$mnt" && sha256sum after >>"$T_DIR/sums")
	check "$kind: the first epoch's log has gone" wait_for 60 trimmed
	check "$kind: the machine stops" crash "$img" "$mnt" "$T_DIR/crash.img"
	rm -rf "$store.crash" && cp -a "$store" "$store.crash"
	right "$kind: rjrecover -f -p" "$RJRECOVER" -f -p --verify=full
	right "$kind: rjtune --accept-loss" "$RJTUNE" --accept-loss -z "$T_DIR/$kind.undo" -O ^has_journal
	[ $kind = soon ] || continue
	right "$kind: rjrecover -p" "$RJRECOVER" -p
	right "$kind: rjrecover -f -y" "$RJRECOVER" -f -y
done
