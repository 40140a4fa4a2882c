#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjctl journal-data: what it refuses, what it changes, and its proof. tests/power/torn cuts the
# power of virtual machines.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh" || exit 99
need_fuse_loop
cd "$T_DIR" || exit 99
RJCTL=$RJ_BUILD/rjctl/rjctl
data() { "$RJCTL" journal-data "$@"; }
at_exit umount -l "$T_DIR/mnt"
mkdir store mnt
truncate -s 48M v.img
check "a volume" "$MKRJFS" -q -F -t ext4 -J "remote=file://$T_DIR/store,size=4" v.img
remount() {
	! mountpoint -q mnt || { umount mnt && unserve; }
	mount_served "$T_DIR/v.img" mnt "$1"
}

# ---- refused ----
status 2 "without a verb" data
status 2 "an unknown verb" data maybe mnt
status 2 "no directory" data on
status 2 "two directories" data on mnt mnt
status 1 "a directory that is not there" data on "$T_DIR/none"
like "... is named" "$OUT" "$T_DIR/none: No such file or directory"
status 1 "another file system" data on /proc
like "... is named" "$OUT" "/proc: not on an ext3 or ext4 volume"
check "mounted with delayed allocation" remount delalloc
mkdir mnt/d && echo text >mnt/d/f
status 1 "... on is refused" data on mnt/d
like "... with the way out" "$OUT" "nodelalloc"
status 1 "... and so is check" data check mnt/d
status 1 "a file is no directory" data on mnt/d/f
check "mounted with data=journal" remount data=journal
status 1 "... on is refused" data on mnt/d
like "... as it is not needed" "$OUT" "all data pass the journal"

# ---- done ----
check "mounted without delayed allocation" remount nodelalloc
status 1 "what is written there does not pass the journal" data check mnt/d
like "... and is told so" "$OUT" "does not pass the journal"
is "... no file is left of it" "$(ls -A mnt/d)" f
mkdir -p mnt/d/e/sub
head -c 9000 /dev/urandom >mnt/d/e/data
setfattr -n user.colour -v blue mnt/d/e/data
chmod 640 mnt/d/e/data
touch -d 2020-01-01 mnt/d/e/data
chattr +Ad mnt/d/e/data
flags_of() { lsattr "$1" | awk '{gsub("[^Adj]", "", $1); print $1}'; }
ln mnt/d/f mnt/d/g
before=$(stat -c '%a %u %g %s %y' mnt/d/e/data) sum=$(sha256sum <mnt/d/e/data) number=$(stat -c %i mnt/d/e/data)
if ! chattr +j mnt/d 2>/dev/null || ! chattr -j mnt/d; then
	status 1 "without the capability" data on mnt/d
	like "... it is named" "$OUT" "CAP_SYS_RESOURCE"
	is "... and nothing was changed" "$(stat -c %i mnt/d/e/data)" "$number"
	# where the directories have the flag, files can be rewritten without it
	check "unmounted" eval 'umount mnt && unserve'
	for dir in d/e d/e/sub; do
		check "the flag of $dir" debugfs -w -R "set_inode_field $dir flags 0x84000" v.img
	done
	check "mounted again" remount nodelalloc
	status 0 "on, for files" data on mnt/d/e
	is "... the copy has the flags of the file, and the new one" "$(flags_of mnt/d/e/data)" dAj
	skip "the flag" "CAP_SYS_RESOURCE is not there"
	exit 0
fi
exec 8>>mnt/d/e/open
status 1 "on, with a file in use and one with two names" data on mnt/d
like "... the one in use" "$OUT" "mnt/d/e/open: a process has it open for writing"
like "... the one with two names" "$OUT" "mnt/d/f: it has 2 names"
exec 8>&-
rm mnt/d/g
status 0 "on" data on mnt/d
is "... the copy has all that the file had" "$(stat -c '%a %u %g %s %y' mnt/d/e/data)" "$before"
is "... its content" "$(sha256sum <mnt/d/e/data)" "$sum"
like "... its attributes" "$(getfattr -n user.colour mnt/d/e/data)" 'user.colour="blue"'
is "... its flags" "$(flags_of mnt/d/e/data)" dAj
check "... and is another file" test "$(stat -c %i mnt/d/e/data)" != "$number"
is "... no file is left of it" "$(find mnt/d -name '.rjctl*')" ""
is "ls" "$(data ls mnt/d)" "mnt/d
mnt/d/e
mnt/d/e/sub
mnt/d: 3 of 3 directories and 3 of 3 files have the flag"
status 0 "check" data check mnt/d/e/sub
status 0 "off" data off mnt/d
like "... all of it" "$(data ls mnt/d)" "0 of 3 directories and 0 of 3 files"
status 1 "... check" data check mnt/d
