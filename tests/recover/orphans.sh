#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What was deleted while open when the machine stopped: rjrecover -p frees it, of
# each kind of inode, in the list and in the orphan file; blocks of extended
# attributes that live on elsewhere stay, with the right count; and a mount then
# finds nothing wrong. e2fsck 1.47.0 leaves the orphan file as it was, and forgets
# the attributes of inodes without blocks.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
need_root
[ -c /dev/loop-control ] || skip_all "no loop devices"
ORPHANS=$RJ_BUILD/tests/recover/orphans
cd "$T_DIR" || exit 99
mkdir -p mnt

volume() { # OPTIONS...
	rm -f v.img c.img
	truncate -s 64M v.img && mke2fs -q -F -t ext4 -b 1024 -J size=8 "$@" v.img &&
		mount -o loop,errors=remount-ro v.img mnt && "$ORPHANS" mnt v.img c.img
	local rc=$?
	umount mnt
	return $rc
}
errors() { dumpe2fs -h "$1" 2>/dev/null | grep -E 'with errors|FS Error count'; }
# mounted IMAGE: the kernel finds nothing, and the files' attributes are there
mounted() {
	local rc
	mount -o loop "$1" mnt || return 1
	"$ORPHANS" mnt && touch mnt/written; rc=$?
	umount mnt
	[ -z "$(errors "$1")" ] && return $rc
}
released() { # IMAGE
	check "... e2fsck finds nothing" e2fsck -fn "$1"
	check "... nor does a mount" mounted "$1"
	check "... nor e2fsck behind it" e2fsck -fn "$1"
}

kind() {
	check "$*: crashed with orphans" volume "$@" || return
	cp --sparse=always c.img r.img
	status 0 "... rjrecover -p" "$RJRECOVER" -q -p r.img
	released r.img
	cp --sparse=always c.img u.img
	rm -f undo
	status 0 "... with an undo file" "$RJRECOVER" -q -p -z undo u.img
	check "... e2fsck finds nothing" e2fsck -fn u.img
	check "... and it is undone" e2undo undo u.img
	check "... to the byte" cmp u.img c.img
	# with the error flag e2fsck forgets the list, and finds their blocks in a whole check
	cp --sparse=always c.img u.img; debugfs -w -R "ssv state 3" u.img >/dev/null 2>&1
	status 4 "... with the error flag: a whole check, which a yes is for" "$RJRECOVER" -q -p u.img
	status 1 "... -y" "$RJRECOVER" -q -y u.img
	released u.img
}
kind -O ^orphan_file
cp --sparse=always r.img d.img
debugfs -w -R "sif <2> links_count 9" d.img >/dev/null 2>&1
check "a damaged list of orphans" debugfs -w -R "ssv last_orphan 4000000" d.img
status 4 "... fails a full check" "$RJRECOVER" -f --verify=full d.img

# An inode that stays, with a block of attributes: its truncate was cut off.
debug() { debugfs -w -R "$1" t.img 2>&1 | tail -n +2; }
truncated() {
	local ino
	cp --sparse=always r.img t.img &&
		ino=$(debugfs -R "stat large2" t.img 2>/dev/null | sed -n 's/^Inode: *\([0-9]*\).*/\1/p') &&
		debug "sif large2 size 3000" && debug "ssv last_orphan $ino"
}
check "truncate cut off: an orphan that stays" truncated
status 0 "... rjrecover -p" "$RJRECOVER" -p t.img
like "... leaves the orphans to the mount" "$OUT" "left to the next mount: .* would lose its extended attributes"
status 0 "... rjrecover --verify=full" "$RJRECOVER" -f --verify=full t.img
like "... does not have e2fsck look" "$OUT" "mount the volume once first"
check "... nor says that it did" not grep -q "no errors" <<<"$OUT"
status 0 "... rjrecover --json" "$RJRECOVER" -f --verify=full --json t.img
like "... has it" "$OUT" '"orphans_left":true'
released_by_mount() { mounted t.img && e2fsck -fn t.img; }
check "... which releases them, and the attributes are there" released_by_mount
is "... and it is truncated" "$(debugfs -R "stat large2" t.img 2>/dev/null | grep -o 'Blockcount: .*')" "Blockcount: 8"

# Where the volume is a copy that can be made again, the block is hidden from e2fsck.
attributes() {
	head -c 50000 /dev/zero | tr '\0' x >data
	head -c 300 /dev/zero | tr '\0' a >value
	truncate -s 32M s.img && "$MKRJFS" -q -F -t ext4 -b 1024 -I 128 -O ^orphan_file \
		-J "remote=file://$T_DIR/store/s,size=4" s.img && debugfs -w -f - s.img >/dev/null 2>&1 <<-END
		write data f
		ea_set -f value f user.x
		sif f size 3000
		ssv last_orphan 12
		END
	debugfs -R "stat <12>" s.img 2>/dev/null | grep -q 'File ACL: [1-9]'
}
mkdir -p store/s
check "a copy with such an inode" attributes
check "... settled, and checked" "$RJ_BUILD/tests/recover/settle" s.img 4096
like "... has the attributes" "$(debugfs -R "ea_list f" s.img 2>/dev/null)" "user.x .300."
is "... and is truncated" "$(debugfs -R "stat f" s.img 2>/dev/null | grep -o 'Blockcount: .*')" "Blockcount: 8"

if mke2fs -q -F -t ext4 -O orphan_file probe 8M >/dev/null 2>&1; then
	kind -O orphan_file,inline_data
	# cut off behind e2fsck: it releases them all, and the file still names them
	check "orphan_file, cut off: crashed with orphans" volume -O orphan_file
	cp --sparse=always c.img r.img
	"$RJRECOVER" -q -p r.img
	file=$(dumpe2fs -h c.img 2>/dev/null | sed -n 's/^Orphan file inode: *//p')
	block=$(debugfs -R "blocks <$file>" c.img 2>/dev/null | cut -d' ' -f1)
	# the file's first block as it was, and the flag
	dd if=c.img of=r.img bs=1024 skip="$block" seek="$block" count=1 conv=notrunc status=none
	check "... again" debugfs -w -R "feature orphan_present" r.img
	status 0 "... rjrecover -p" "$RJRECOVER" -q -p r.img
	released r.img
else
	skip "orphan_file" "mke2fs does not know it"
fi
