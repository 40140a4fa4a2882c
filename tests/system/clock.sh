#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The host's clock is a year ahead for one boot. Neither retain= nor a hold lets go of anything
# then: with rjserver, whose clock is right, however often the volume is mounted; with a
# store that has no clock of its own in the first mount. A base can be restored afterwards.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
RJBACKUP=$RJ_BUILD/rjbackup/rjbackup RJLOG=$RJ_BUILD/rjlog/rjlog
SHIM=$RJ_BUILD/tests/system/.libs/clock-ahead.so
V=$T_DIR/v.img MNT=$T_DIR/mnt
mkdir "$MNT" "$T_DIR/store"
(umask 077; printf '[*]\nretain = 30d\ntrim_interval = 1\n' >"$RJ_CONF")
left_behind() { [ -z "$(pgrep -f "rjournald .*$V\$")" ]; }
unmounted() { $LIMIT "$UMOUNT_RJ" "$MNT" && wait_for 60 left_behind; }
ahead() { ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 LD_PRELOAD=$SHIM "$@"; }
segments() { # URL: the numbers of those with data
	"$RJLOG" ls "$1/$(dumpe2fs -h "$V" 2>/dev/null | awk '/^Journal UUID:/ {print $3}')" |
		awk '$3 == "data" {print $1}'
}
first() { segments "$1" | head -n 1; }
# writes N: several times round the journal
writes() {
	local i
	for ((i = 0; i < $1; i++)); do
		head -c 700000 /dev/urandom >"$MNT/f.$((i % 4))" &&
			sync "$MNT/f.$((i % 4))" || return 1
	done
}
# goes_on URL MOUNTS: what retain= and the hold keep is there after MOUNTS mounts ahead
goes_on() {
	local url=$1 mounts=$2 i kept last
	truncate -s 160M "$V"
	check "$url: a volume" "$MKRJFS" -q -F -t ext4 -b 4096 -J "remote=$url,size=8" "$V"
	check "$url: mounted" $LIMIT "$MOUNT_RJ" -o data=journal "$V" "$MNT"
	rm -f "$T_DIR"/base* "$T_DIR/r.img"
	check "$url: a base, held for 30 days" "$RJBACKUP" base --hold=30d -o "$T_DIR/base" "$MNT"
	check "$url: written to" writes 30
	sha256sum "$MNT"/f.? >"$T_DIR/sums"
	check "$url: unmounted" unmounted
	kept=$(first "$url") last=$(segments "$url" | tail -n 1)
	like "$url: the log from $kept to $last" "$kept" '^[0-9]+$'
	for ((i = 1; i <= mounts; i++)); do
		check "$url: mounted a year ahead ($i)" ahead $LIMIT "$MOUNT_RJ" -o data=journal "$V" "$MNT"
		check "$url: written to" writes 20
		sleep 3 # three looks at what is old
		check "$url: unmounted" unmounted
		is "$url: nothing is deleted ($i)" "$(first "$url")" "$kept"
	done
	if ((mounts > 1)); then
		check "$url: rjlog prune, a year ahead" ahead "$RJLOG" prune "$url"
		is "$url: deletes nothing" "$(first "$url")" "$kept"
	fi
	status 0 "$url: the base is restored" "$RJBACKUP" restore --at="segment:$last" --base="$T_DIR/base" -o "$T_DIR/r.img"
	check "$url: its filesystem is mounted" mount -o loop,ro,noload "$T_DIR/r.img" "$MNT"
	check "$url: with every file" sha256sum --quiet -c "$T_DIR/sums"
	umount "$MNT"
}
goes_on "file://$T_DIR/store" 1
check "a server" start_server "$T_DIR/srv"
goes_on "$SRV_URL/v" 2
exit 0
