#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A name at a store where another volume's log is: mkrjfs and rjtune say whose that is, and refuse
# the name if the log was written within ten minutes, unless -F (rjtune: -f) is given. A
# volume's own log, one from which the journal was moved, and one that was removed are no obstacle.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
RJTUNE=$RJ_BUILD/rjtune/rjtune RJLOG=$RJ_BUILD/rjlog/rjlog
FSTYPE=ext4 AHEAD=$RJ_BUILD/tests/system/.libs/clock-ahead.so
mnt=$T_DIR/mnt
start_server "$T_DIR/srv" || exit 99
mkdir "$T_DIR/d" "$T_DIR/third"
at_exit umount -l "$T_DIR/third"
a=$T_DIR/a.img b=$T_DIR/b.img
truncate -s 64M "$a" "$b"
a_year_on() { ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 LD_PRELOAD=$AHEAD "$@"; }
uuid_of() { dumpe2fs -h "$1" 2>/dev/null | awk -v f="$2" -F': *' '$1 == f {print $2}'; }
logs() { "$RJLOG" ls --json "$1" | grep -c '"journal"'; }
for url in "$SRV_URL/name" "file://$T_DIR/d"; do
	kind=${url%%:*}
	status 0 "$kind: the first volume" "$MKRJFS" -q -t ext4 -J "remote=$url,size=4" "$a"
	serve "$a" && mount_served "$a" "$mnt" && fsynced "$mnt" 5 "$T_DIR/sums" || exit 99
	owner=$(uuid_of "$a" 'Filesystem UUID') journal=$(uuid_of "$a" 'Journal UUID')

	# mkrjfs of another device
	status 1 "$kind: mkrjfs takes no name in use" "$MKRJFS" -q -t ext4 -J "remote=$url,size=4" "$b"
	like "$kind: and says whose it is" "$OUT" \
		"log of journal $journal of another volume, $owner, last written by $(uname -n) .*-F.*nothing was changed"
	status 1 "$kind: mkrjfs -n says the same" "$MKRJFS" -n -q -t ext4 -J "remote=$url,size=4" "$b"
	is "$kind: no log was begun" "$(logs "$url")" 1
	# rjtune of another volume
	mke2fs -q -F -t ext4 "$b" || exit 99
	status 2 "$kind: rjtune takes no name in use" "$RJTUNE" -J "remote=$url,size=4" "$b"
	like "$kind: rjtune says whose it is" "$OUT" "of another volume, $owner, .*say -f"
	like "$kind: the volume has its journal" "$("$RJTUNE" -l "$b")" 'Journal: +internal'
	status 2 "$kind: rjtune -n says the same" "$RJTUNE" -n -J "remote=$url,size=4" "$b"
	# a year later it is told, and taken
	status 0 "$kind: an old log is told" a_year_on "$RJTUNE" -n -J "remote=$url,size=4" "$b"
	like "$kind: whose it is" "$OUT" "of another volume, $owner, .*stays as it is"
	status 0 "$kind: rjtune -f takes the name" "$RJTUNE" -f -J "remote=$url,size=4" "$b"
	like "$kind: and says whose log is there" "$OUT" "of another volume, $owner, .*stays as it is"
	is "$kind: two logs" "$(logs "$url")" 2

	if [ $kind = rj ]; then # and a mounted volume goes to no such name
		"$MKRJFS" -q -F -t ext4 -b 4096 -g 4096 -N 1024 -J "remote=$SRV_URL/third,size=4" \
			"$T_DIR/c.img" 64M || exit 99
		"$MOUNT_RJ" "$T_DIR/c.img" "$T_DIR/third" || exit 99
		fsynced "$T_DIR/third" 3 "$T_DIR/s3"
		status 1 "$kind: rjctl move takes no name in use" $LIMIT "$RJCTL" move --to="$url" "$T_DIR/third"
		like "$kind: and says whose it is" "$OUT" 'of another volume.*a name of its own'
		status 0 "$kind: but a name of its own" $LIMIT "$RJCTL" move --to="$SRV_URL/fourth" "$T_DIR/third"
		journal=$(uuid_of "$T_DIR/c.img" 'Journal UUID')
		status 1 "$kind: the log that it has now is not removed" $LIMIT "$RJLOG" rm --force "$journal" \
			"$SRV_URL/fourth/$journal"
		status 0 "$kind: the log that was left is" $LIMIT "$RJLOG" rm --force "$journal" \
			"$SRV_URL/third/$journal"
		check "$kind: its volume goes on" fsynced "$T_DIR/third" 3 "$T_DIR/s3"
		$LIMIT "$UMOUNT_RJ" "$T_DIR/third" || exit 99
	fi
	# the first volume goes on, and moves away and back among its own logs
	check "$kind: the first volume goes on" fsynced "$mnt" 5 "$T_DIR/sums"
	check "$kind: unmounted" $LIMIT umount "$mnt"
	unserve || exit 99
	status 0 "$kind: the second moves away" "$RJTUNE" -J size=4 "$b"
	status 0 "$kind: the first gets another size, with the same name" "$RJTUNE" -J "remote=$url,size=8" "$a"
	status 0 "$kind: and another UUID" "$RJTUNE" -q -U random "$a"
	status 0 "$kind: and again the first size" "$RJTUNE" -J "remote=$url,size=4" "$a"
	status 0 "$kind: the first moves away" "$RJTUNE" -J size=4 "$a"
	status 0 "$kind: moved away: the name is free" "$RJTUNE" -J "remote=$url,size=4" "$b"
	is "$kind: without a word" "$(grep -c 'another volume' <<<"$OUT")" 0
	status 0 "$kind: the second is removed" "$RJTUNE" -J none "$b"
	# a reformat of a device leaves a log that nobody closed
	status 0 "$kind: a volume" "$MKRJFS" -q -t ext4 -J "remote=$url,size=4" "$a"
	serve "$a" && mount_served "$a" "$mnt" && fsynced "$mnt" 5 "$T_DIR/sums" &&
		$LIMIT umount "$mnt" && unserve || exit 99
	status 1 "$kind: its device is formatted again" "$MKRJFS" -q -t ext4 -J "remote=$url,size=4" "$a"
	status 0 "$kind: with -F" "$MKRJFS" -q -F -t ext4 -J "remote=$url,size=4" "$a"
	wipefs -qa "$a" "$b"
done

# ---- a volume's own log of before a change of its UUID; a log that cannot be read; many logs ----
url=file://$T_DIR/d2
mkdir "$T_DIR/d2"
truncate -s 64M "$a" "$b" && "$MKRJFS" -q -F -t ext4 -J "remote=$url,size=4" "$a" &&
	serve "$a" && mount_served "$a" "$mnt" && fsynced "$mnt" 5 "$T_DIR/sums" &&
	$LIMIT umount "$mnt" && unserve || exit 99
status 0 "-U a year later" a_year_on "$RJTUNE" -q -U random "$a"
status 0 "then the same name: the log was last written a year ago" a_year_on \
	"$RJTUNE" -q -J "remote=$url,size=8" "$a"
mke2fs -q -F -t ext4 "$b"
old=$(find "$T_DIR/d2" -mindepth 1 -maxdepth 1 -type d | head -n 1)
last=$(find "$old/log" -type f | sort | tail -n 1)
rm "$last" && mkdir "$last"
status 2 "a log that cannot be read" "$RJTUNE" -J "remote=$url,size=4" "$b"
status 0 "with -f its volume is not known" "$RJTUNE" -f -J "remote=$url,size=4" "$b"
like "... and said" "$OUT" 'whose log that is is not known'
status 0 "a log of the future is not of the last ten minutes" "$RJTUNE" -q -J size=4 "$b"
