#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --verify: what quick sees (superblock, group descriptors, bitmaps, against
# checksums and counts), what only full does, and that none does not look.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
cd "$T_DIR" || exit 99

# volume NAME MKE2FS-OPTIONS...: 4 groups of 1 KiB blocks, some files
volume() {
	local n=$1 i; shift
	truncate -s 32M "$n" && mke2fs -q -F -b 1024 "$@" "$n" || return 1
	for ((i = 0; i < 20; i++)); do echo "write $RJ_SRC/COPYING f$i"; done >cmds
	debugfs -w -f cmds "$n" && e2fsck -fn "$n"
}
flip() { # FILE OFFSET BIT
	local b
	b=$(od -An -tu1 -j "$2" -N 1 "$1")
	printf "\\x$(printf %02x $((b ^ $3)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
at() { # VOLUME GROUP block_bitmap|inode_bitmap|inode_table: its byte offset
	debugfs -R "stats" "$1" 2>/dev/null | tr -d ',' | awk -v g="$2" -v what="${3/_/ }" '
		/^ *Group/ {on = $2 == g ":"}
		on && (i = index($0, what)) {split(substr($0, i), w, " "); print w[4] * 1024; exit}'
}
state() { dumpe2fs -h "$1" 2>/dev/null | sed -n 's/^Filesystem state: *//p'; }
# seen NAME VOLUME TEXT: quick says so, status 4, and changes nothing but the error flag
seen() {
	cp "$2" was
	status 4 "$1: quick sees it" "$RJRECOVER" -f "$2"
	like "$1: and says what" "$OUT" "$3"
	check "$1: and changes nothing else" same_blocks was "$2"
	is "$1: but the error flag" "$(state "$2")" "clean with errors"
	status 0 "$1: none does not look" "$RJRECOVER" -f --verify=none "$2"
}

check "an ext4 volume" volume c -t ext4
check "an ext3 volume" volume n -t ext3
for v in c n; do
	status 0 "good: quick ($v)" "$RJRECOVER" -f "$v"
	status 0 "good: full ($v)" "$RJRECOVER" -f --verify=full "$v"
done
for what in block_bitmap inode_bitmap; do
	cp c v; flip v $(($(at v 0 $what) + 3)) 4
	seen "$what, checksums" v "bitmap.*checksum"
done
for g in 1 2; do
	cp n v; flip v $(($(at v $g block_bitmap) + 500)) 4
	seen "block bitmap of group $g" v "group $g: the bitmap has [0-9]+ free blocks, the descriptor says"
	cp n v; flip v $(($(at v $g inode_bitmap) + 100)) 4
	seen "inode bitmap of group $g" v "group $g: the bitmap has [0-9]+ free inodes, the descriptor says"
done
# group 0's descriptor stands in block 2; 12: free blocks
cp c v; flip v $((2048 + 12)) 1
seen "a descriptor, its checksum wrong" v "group 0: the descriptor's checksum"
cp n v; debugfs -w -R "set_bg 3 free_inodes_count 77" v >/dev/null 2>&1
seen "a descriptor's count" v "group 3: .*the descriptor says 77"
cp n v; debugfs -w -R "set_bg 2 inode_table 999999999" v >/dev/null 2>&1
seen "a descriptor that points outside" v "group descriptor"
cp c v; flip v $((1024 + 0x20)) 1
status 8 "the superblock, its checksum wrong: not even none" "$RJRECOVER" -f --verify=none v
like "the superblock: says so" "$OUT" "superblock"

# after a replay quick looks at the groups of which a bitmap or the descriptor was written: a block
# of 1 KiB has 32 descriptors
check "a volume of 64 groups" eval 'truncate -s 512M large && mke2fs -q -F -b 1024 -t ext3 large'
mkdir mnt && mount -o loop,data=journal large mnt || exit 99
at_exit umount -l mnt
check "... crashed" eval 'for i in 1 2 3; do echo $i >mnt/new$i && sync mnt/new$i || exit; done; cp --sparse=always large crashed'
umount mnt
cp --sparse=always crashed v
status 0 "a replay: quick" "$RJRECOVER" -p v
check "... is whole" e2fsck -fn v
cp --sparse=always crashed v; flip v $(($(at v 1 inode_bitmap) + 20)) 4
status 4 "... damage that the log does not replace, near what it wrote: seen" "$RJRECOVER" -p v
like "... and named" "$OUT" "group 1: the bitmap has [0-9]+ free inodes, the descriptor says"
cp --sparse=always crashed v; flip v $(($(at v 60 inode_bitmap) + 20)) 4
status 0 "... in a group far from that: not looked at" "$RJRECOVER" -p v
status 4 "... but by -f" "$RJRECOVER" -f v

# an inode that is in no directory: only a whole check finds that
cp n v; debugfs -w -R "unlink f3" v >/dev/null 2>&1
status 0 "a lost inode: quick does not see it" "$RJRECOVER" -f v
status 4 "a lost inode: full does" "$RJRECOVER" -f --verify=full v
like "... and names what mends it" "$OUT" "\(rjrecover -y repairs\): v: e2fsck -fn finds errors"

# ---- the error flag: its volume is checked in whole, as by fsck ----
status 4 "the next run knows: e2fsck -p" "$RJRECOVER" -p v
like "... which may not mend it" "$OUT" "\(rjrecover -y repairs\): v: e2fsck -p finds errors"
status 4 "without -p the same" "$RJRECOVER" v
status 0 "-n says what is due" "$RJRECOVER" -n v
like "... the check" "$OUT" "error flag is set: e2fsck is to check the whole volume"
status 0 "with --verify=none it stays due" "$RJRECOVER" --verify=none v
status 1 "-y mends it" "$RJRECOVER" -q -y v
is "... and the flag is clear" "$(state v)" clean
check "... rightly" e2fsck -fn v
for v in c n; do
	cp $v v; debugfs -w -R "ssv state 3" v >/dev/null 2>&1
	status 0 "the flag alone ($v)" "$RJRECOVER" -p v
	is "... is cleared" "$(state v)" clean
done
flip v $(($(at v 1 block_bitmap) + 500)) 4; debugfs -w -R "ssv state 3" v >/dev/null 2>&1
status 1 "what fsck -p mends" "$RJRECOVER" -p v
is "... is mended" "$(state v)" clean

# ---- what e2fsck's exit status means: 4 is damage, the others say that it could not look ----
mkdir stub
while read -r e2fsck want text; do
	printf '#!/bin/sh\nexit %s\n' "$e2fsck" >stub/e2fsck && chmod +x stub/e2fsck
	cp c was
	PATH=$T_DIR/stub:$PATH status "$want" "e2fsck -fn ends with $e2fsck" "$RJRECOVER" -f --verify=full was
	like "... is told" "$OUT" "the check afterwards failed$text \\(status $e2fsck\\)$"
done <<'END'
4 4 .\(rjrecover -y repairs\): was: e2fsck -fn finds errors
12 4 .\(rjrecover -y repairs\): was: e2fsck -fn finds errors
8 8 : was: e2fsck -fn could not check it: an operational error
16 8 : was: e2fsck -fn could not check it: it does not know one of its options
32 8 : was: e2fsck -fn could not check it: it was cancelled
END
exit 0
