#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Moves that an earlier version left half done: its redo record (version 1) lies in one run, and in
# a volume without extents its own images may have overwritten it. And one with a large record.
. "$RJ_SRC/tests/support/lib.sh"
PATH=$PATH:/sbin:/usr/sbin
rjtune=$RJ_BUILD/rjtune/rjtune
img=$T_DIR/v.img

sums() { # of all files
	rm -rf "$T_DIR/files" && mkdir "$T_DIR/files" &&
		debugfs -R "rdump / $T_DIR/files" "$img" >/dev/null 2>&1 &&
		(cd "$T_DIR/files" && find . -type f -exec sha256sum {} + | sort)
}
journal() { dumpe2fs -h "$img" 2>/dev/null | sed -n 's/^Journal inode: *//p'; }
# record keep|head|placed|lost: the record as version 1 has it; without its head; without its
# images, which are in place already; without them, and they are not
record() {
	python3 - "$img" "$T_DIR/base" "$1" <<'P'
import struct, sys

path, base, what = sys.argv[1:]
BS, SBX = 1024, 1024 + 0x2FC

def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc

with open(path, "r+b") as f:
    def at(offset, size):
        f.seek(offset)
        return f.read(size)

    sbx = bytearray(at(SBX, 256))
    (map_block,) = struct.unpack_from("<Q", sbx, 0xE8)
    raw = at(map_block * BS, BS)
    magic, version, count = *struct.unpack_from("<4sI", raw), *struct.unpack_from("<I", raw, 28)
    assert (magic, version) == (b"RJRL", 2), (magic, version)
    places = struct.unpack_from("<%dQ" % count, raw, 64)
    record = b"".join(at(p * BS, BS) for p in places)
    (images,) = struct.unpack_from("<I", record, 28)
    entries = [struct.unpack_from("<Q", record, 1088 + 16 * i)[0] for i in range(images)]
    first = places[0]
    assert places == tuple(range(first, first + count)), places
    struct.pack_into("<Q", sbx, 0xE8, first)
    struct.pack_into("<I", sbx, 252, crc32c(sbx[:252]))
    f.seek(SBX)
    f.write(sbx)
    for i in range(images if what in ("placed", "lost") else 0):
        block = first + count - images + i
        if what == "lost":  # nor has the write in place reached the disk
            with open(base, "rb") as old:
                old.seek(entries[i] * BS)
                f.seek(entries[i] * BS)
                f.write(old.read(BS))
        f.seek(block * BS)
        f.write(bytes(BS))
    if what == "head":
        f.seek(first * BS)
        f.write(bytes(BS))
P
}
# half_done: killed at the first write behind byte 8 MiB, that of a backup superblock
half_done() {
	cp "$T_DIR/base" "$img"
	(ulimit -f 8192; exec "$rjtune" -q -J size=1,location=3000 "$img") >/dev/null 2>&1
	"$rjtune" -l "$img" | grep -q '^Move under way: *yes'
}
mke2fs -q -F -t ext3 -b 1024 -O ^has_journal -d "$RJ_SRC/tests/support" "$T_DIR/base" 40M >/dev/null 2>&1
cp "$T_DIR/base" "$img" && files=$(sums)
check "there are files" test "$(wc -l <<<"$files")" -gt 10

for what in keep placed; do
	check "half done ($what)" half_done
	check "... by an earlier version" record "$what"
	status 0 "... is resumed" "$rjtune" --resume "$img"
	is "... has its journal" "$(journal)" 8
	check "... is sound" e2fsck -fn "$img"
	is "... its files are the same" "$(sums)" "$files"
done
for what in head lost; do
	check "half done ($what)" half_done
	check "... by an earlier version" record "$what"
	cp "$img" "$T_DIR/found"
	status 6 "... cannot be resumed" "$rjtune" --resume "$img"
	like "... which names the way on" "$OUT" "it holds nothing of the files, .*rjtune --accept-loss -J size=MB"
	check "... and changes nothing" cmp "$img" "$T_DIR/found"
	status 6 "... no other move goes on" "$rjtune" -J size=2 "$img"
	check "... that way" "$rjtune" -q --accept-loss -z "$T_DIR/undo.$what" -J size=1 "$img"
	is "... has its journal" "$(journal)" 8
	check "... is sound" e2fsck -fn "$img"
	is "... its files are the same" "$(sums)" "$files"
done
check "half done, with its record" half_done
check "--accept-loss finishes it first" "$rjtune" -q --accept-loss -z "$T_DIR/undo.none" -J none "$img"
check "... gives up nothing" test ! -e "$T_DIR/undo.none"
is "... has no journal" "$(journal)" ""
check "... is sound" e2fsck -fn "$img"

# ---- a record whose map has more than one block: a journal over many small groups ----
mke2fs -q -F -t ext3 -b 1024 -g 256 -N 4096 -O ^has_journal,^resize_inode \
	-d "$RJ_SRC/tests/support" "$T_DIR/base" 40M >/dev/null 2>&1
cp "$T_DIR/base" "$img" && files=$(sums)
# behind the journal is the backup superblock of group 125
{ (ulimit -f 31744; exec "$rjtune" -q -J size=16,location=300 "$img"); } >/dev/null 2>&1
like "half done" "$("$rjtune" -l "$img")" '^Move under way: *yes'
like "more blocks than one of the map lists" "$("$rjtune" -n --resume "$img")" 'would write the (1[2-9]|[2-9][0-9])[0-9] blocks'
status 0 "is resumed" "$rjtune" --resume "$img"
is "has its journal" "$(journal)" 8
check "is sound" e2fsck -fn "$img"
is "its files are the same" "$(sums)" "$files"
