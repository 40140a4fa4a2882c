#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The power goes when mkrjfs has put a log into a directory: each object is there, with its
# name and its bytes. Only what was synced is left (tests/rjserver/store/powercut.c).
. "$RJ_SRC/tests/support/lib.sh" || exit 99
SHIM=$RJ_BUILD/tests/rjserver/store/.libs/powercut.so
M=$(mktemp -d /dev/shm/rjfile.XXXXXX) || skip_all "no /dev/shm"
at_exit rm -rf "$M"
[ "$(stat -f -c %T "$M")" = tmpfs ] || skip_all "/dev/shm is not a tmpfs"
mkdir "$M/d" "$M/disk"
truncate -s 16M "$T_DIR/v.img"
check "a log in a directory" env POWERCUT_DIR="$M/d" POWERCUT_DISK="$M/disk" LD_PRELOAD="$SHIM" \
	ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" \
	"$RJ_BUILD/mkrjfs/mkrjfs" -q -F -J "remote=file://$M/d,size=4" "$T_DIR/v.img"
check "there are objects" test "$(find "$M/d" -type f -size +1k | wc -l)" -gt 0
(cd "$M/d" && find . -type f) >"$T_DIR/names"
while read -r name; do
	check "after the cut: ${name##*/}" cmp "$M/d/$name" "$M/disk/tree/$name"
done <"$T_DIR/names"
exit 0
