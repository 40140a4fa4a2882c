#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The superblock extension in the primary and in every backup, on every layout
# of backups that mke2fs makes; and that all tools live with it.
. "$RJ_SRC/tests/support/lib.sh"
PATH=$PATH:/sbin:/usr/sbin
tool=$RJ_BUILD/tests/ext4/volume-tool
img=$T_DIR/v.img

# Byte offsets of all copies, as dumpe2fs sees them (not as we do).
copies() {
	dumpe2fs "$1" 2>/dev/null | awk -v bs="$2" '
		/superblock at/ { match($0, /superblock at [0-9]+/)
			b = substr($0, RSTART + 14, RLENGTH - 14)
			print (n++ ? b * bs : 1024) }'
}
# The 256 bytes of the copy at byte $2.
sbx_at() { dd if="$1" bs=1 skip=$(($2 + 0x2FC)) count=256 status=none | sha256sum; }

# Groups of 2048 blocks: many groups in a small image.
mkfs_layout() { # TYPE BS OPTIONS...
	local type=$1 bs=$2; shift 2
	rm -f "$img"
	mke2fs -q -F -t "$type" -b "$bs" -g 2048 -N 1024 -E lazy_itable_init=0 \
		-O ^has_journal "$@" "$img" 36864 2>&1
}

every_copy() { # BS: all copies are there, equal, and acceptable to e2fsck
	local bs=$1 want off n=0
	want=$(sbx_at "$img" 1024)
	for off in $(copies "$img" "$bs"); do
		[ "$(sbx_at "$img" "$off")" = "$want" ] ||
			{ echo "copy at byte $off differs"; return 1; }
		n=$((n + 1))
		((off > 1024)) || continue
		dumpe2fs -h -o superblock=$((off / bs)) -o blocksize="$bs" "$img" \
			2>&1 | grep -q "Journal UUID: *5a5a5a5a" ||
			{ echo "dumpe2fs does not read the copy at $off"; return 1; }
	done
	[ "$n" = "$((1 + $("$tool" facts "$img" | sed -n 's/^backups=//p')))" ] ||
		{ echo "dumpe2fs sees $n copies"; return 1; }
	((n > 1)) || { echo "only one copy"; return 1; }
}

layout() { # TYPE BS NAME OPTIONS...
	local type=$1 bs=$2 name=$3 out; shift 3
	out=$(mkfs_layout "$type" "$bs" "$@") &&
		out=$("$tool" patch "$img" remote 2>&1) && [ -z "$out" ] &&
		out=$(every_copy "$bs") &&
		out=$("$tool" facts "$img") && grep -q '^has_sbx=1$' <<<"$out" &&
		# without the journal that is not there it must be clean
		out=$("$tool" patch "$img" plain 2>&1) &&
		out=$(e2fsck -fn "$img" 2>&1) &&
		out=$("$tool" facts "$img") && grep -q '^generation=2$' <<<"$out" &&
		out=$(last=$(copies "$img" "$bs" | tail -n 1)
			e2fsck -fy -b $((last / bs)) -B "$bs" "$img" 2>&1
			[ $? -le 1 ] && e2fsck -fn "$img" 2>&1) &&
		out=$("$tool" facts "$img") && grep -q '^generation=2$' <<<"$out" &&
		{ ok "$type, $bs-byte blocks, $name"; return; }
	note "$out"; not_ok "$type, $bs-byte blocks, $name"
}

for bs in 1024 2048 4096; do
	for type in ext3 ext4; do
		layout $type $bs default
		layout $type $bs sparse_super2 -O sparse_super2,^resize_inode
		layout $type $bs "no sparse_super" -O ^sparse_super,^resize_inode,^sparse_super2
		layout $type $bs meta_bg -O meta_bg,^resize_inode
	done
	layout ext4 $bs metadata_csum,64bit -O metadata_csum,64bit
	layout ext4 $bs bigalloc -O bigalloc,^resize_inode -C $((bs * 4)) -g 512
	layout ext4 $bs ^metadata_csum -O ^metadata_csum,uninit_bg
	layout ext4 $bs ^metadata_csum,64bit -O ^metadata_csum,^uninit_bg,64bit
done

# ---- fields ----
mkfs_layout ext4 4096 -L lable -U 01234567-89ab-cdef-0123-456789abcdef >/dev/null
"$tool" patch "$img" remote recover=1 error
facts=$("$tool" facts "$img")
for want in uuid=01234567-89ab-cdef-0123-456789abcdef block_size=4096 blocks=36864 \
	groups=18 label=lable has_journal=1 needs_recovery=1 clean=0 has_errors=1 \
	metadata_csum=1 ext4_features=1 journal_inode=0 journal_device=255 \
	journal_uuid=5a5a5a5a-5a5a-5a5a-5a5a-5a5a5a5a5a5a default_journal_blocks=4096 \
	has_sbx=1 generation=1 placement=remote url=rj://127.0.0.1:1/test; do
	grep -qx -- "$want" <<<"$facts" || { not_ok "facts: $want"; note "$facts"; continue; }
done
ok "facts of an ext4 volume"
"$tool" patch "$img" recover=0
like "needs_recovery goes away again" "$("$tool" facts "$img")" '^needs_recovery=0$'
mkfs_layout ext3 1024 >/dev/null
facts=$("$tool" facts "$img")
like "a fresh ext3 has nothing of ext4" "$facts" '^ext4_features=0$'
like "and no extension" "$facts" '^sbx_error=not-rj$'
like "and is clean" "$facts" '^clean=1$'
# times MKFS MOUNT WANT: the volume's age, in seconds since 1970
times() {
	debugfs -w -R "set_super_value mkfs_time @$1" "$img" 2>/dev/null
	debugfs -w -R "set_super_value mtime @$2" "$img" 2>/dev/null
	like "made at $1, mounted at $2: born at $3" "$("$tool" facts "$img")" "^born=$3\$"
}
times 1700000000 1700000001 1700000000
times 1700000000 1600000000 0
times 1700000000 0 0
times 1000 1700000000 0

# ---- how it is written ----
if command -v strace >/dev/null; then
	strace -y -e trace=write,pwrite64,pwritev,fsync,fdatasync -o "$T_DIR/trace" \
		"$tool" patch "$img" remote
	grep "$img" "$T_DIR/trace" >"$T_DIR/calls"
	is "the primary is the last write, one of 1024 bytes" \
		"$(grep write "$T_DIR/calls" | tail -n 1 | sed 's/.*, \(1024, 1024\)) *= /\1 /')" \
		"1024, 1024 1024"
	is "it is written once" "$(grep -c 'write.*, 1024, 1024) ' "$T_DIR/calls")" 1
	is "every write is of 1024 bytes" "$(grep -c write "$T_DIR/calls")" \
		"$(grep -c 'write.*, 1024, [0-9]*) *= 1024$' "$T_DIR/calls")"
	is "flush before and after the primary" \
		"$(tail -n 3 "$T_DIR/calls" | sed 's/(.*//' | tr '\n' ' ')" \
		"fsync pwrite64 fsync "
	strace -y -e trace=write,pwrite64 -o "$T_DIR/trace" \
		"$tool" patch "$img" undo="$T_DIR/u" epoch=9
	is "with an undo file too: one write, of 1024 bytes" \
		"$(grep "write.*<$img>" "$T_DIR/trace" | sed 's/.*, \(1024\).*= /\1 /')" "1024 1024"
	rm -f "$T_DIR/u"
else
	skip "order of the writes" "no strace"
fi
first=$(copies "$img" 1024 | sed -n 2p)
like "epoch went to the primary" "$("$tool" facts "$img")" '^epoch=9$'
check "but to no backup" test "$(sbx_at "$img" 1024)" != "$(sbx_at "$img" "$first")"

# ---- a backup that is none ----
mkfs_layout ext4 1024 >/dev/null
at=$(copies "$img" 1024 | sed -n 3p)
dd if=/dev/zero of="$img" bs=1024 seek=$((at / 1024)) count=1 conv=notrunc status=none
status 0 "a lost backup is no reason to stop" "$tool" patch "$img" remote
like "but it is said" "$OUT" "log: .*backup superblock of group [0-9]+ .*rewritten"
check "and made anew" every_copy 1024
"$tool" patch "$img" plain
check "as e2fsck wants it" e2fsck -fn "$img"

# ---- other tools keep it ----
survives() { # NAME COMMAND...: runs, and every copy has the extension afterwards
	local name=$1 out; shift
	out=$("$@" 2>&1) || { (($? == 1)) && [ "$1" = e2fsck ]; } ||
		{ note "$out"; not_ok "$name"; return; }
	out=$("$tool" facts "$img") && grep -q '^has_sbx=1$' <<<"$out" &&
		out=$(e2fsck -fn "$img" 2>&1) || { note "$out"; not_ok "$name"; return; }
	ok "$name"
}
for type in ext3 ext4; do
	mkfs_layout $type 1024 >/dev/null
	"$tool" patch "$img" remote && "$tool" patch "$img" plain
	survives "$type: e2fsck -fy" e2fsck -fy "$img"
	survives "$type: tune2fs -L" tune2fs -L new "$img"
	survives "$type: tune2fs -U random" tune2fs -f -U random "$img"
	survives "$type: tune2fs -c -i -m -e" tune2fs -c 5 -i 1d -m 1 -e panic "$img"
	survives "$type: tune2fs -j" tune2fs -j "$img"
	survives "$type: tune2fs -O ^has_journal" tune2fs -O ^has_journal "$img"
	e2fsck -fy "$img" >/dev/null 2>&1
	truncate -s 64M "$img"
	survives "$type: resize2fs" resize2fs "$img"
	check "$type: new backups carry it" test -z "$(
		for off in $(copies "$img" 1024); do
			dd if="$img" bs=1 skip=$((off + 0x2FC)) count=4 status=none | grep -q RJSB ||
				echo "$off"
		done)"
	if [ "$(id -u)" = 0 ]; then
		mkdir -p "$T_DIR/mnt"
		survives "$type: mount and umount" sh -c \
			"mount -o loop '$img' '$T_DIR/mnt' && echo x >'$T_DIR/mnt/f' && umount '$T_DIR/mnt'"
	fi
done

# ---- undo ----
for type in ext3:1024 ext4:4096 ext4:2048; do
	mkfs_layout ${type%:*} ${type#*:} >/dev/null
	truncate -s +1536 "$img" # a device need not end with the filesystem
	cp --sparse=always "$img" "$T_DIR/before"
	status 0 "$type: 200 writes with an undo file" "$tool" scribble "$img" "$T_DIR/u" 42
	check "$type: they did something" sh -c "! cmp -s '$img' '$T_DIR/before'"
	status 0 "$type: e2undo takes the file" e2undo "$T_DIR/u" "$img"
	check "$type: bit for bit as before" cmp "$img" "$T_DIR/before"
	rm -f "$T_DIR/u"
done
# killed in the middle: what was overwritten is known all the same
if command -v strace >/dev/null; then
	for n in 2 60 150; do
		mkfs_layout ext4 4096 >/dev/null
		cp --sparse=always "$img" "$T_DIR/before"
		("$BASH" -c 'strace -o /dev/null -P "$1" -e trace=pwrite64,write \
			-e inject=pwrite64,write:error=EIO:signal=KILL:when=$2 \
			"$3" scribble "$1" "$4" 7; exit $?' - "$img" $n "$tool" "$T_DIR/u") >/dev/null 2>&1
		is "killed at write $n" $? 137
		check "something was written" sh -c "! cmp -s '$img' '$T_DIR/before'"
		e2undo "$T_DIR/u" "$img" >/dev/null 2>&1
		# e2undo itself marks the primary superblock: the record is unfinished
		check "e2undo takes it back" cmp -i 2048 "$img" "$T_DIR/before"
		rm -f "$T_DIR/u"
	done
else
	skip "killed in the middle" "no strace"
fi
# one undo file for us and for e2fsck after us
mkfs_layout ext4 4096 >/dev/null
cp --sparse=always "$img" "$T_DIR/before"
"$tool" patch "$img" undo="$T_DIR/u" remote
"$tool" patch "$img" undo="$T_DIR/u" plain
debugfs -w -R "clri <11>" "$img" >/dev/null 2>&1
cp --sparse=always "$img" "$T_DIR/damaged"
rm -f "$T_DIR/u"; cp --sparse=always "$T_DIR/before" "$img"
"$tool" patch "$img" undo="$T_DIR/u" plain error
e2fsck -fy -z "$T_DIR/u" "$img" >/dev/null 2>&1
status 0 "e2undo of a file that e2fsck -z went on with" e2undo "$T_DIR/u" "$img"
check "takes both back" cmp "$img" "$T_DIR/before"
rm -f "$T_DIR/u"
echo junk >"$T_DIR/u"
status 1 "a file that is no undo file is refused" "$tool" patch "$img" undo="$T_DIR/u" plain
check "and nothing is written" cmp "$img" "$T_DIR/before"
is "and the file is kept" "$(cat "$T_DIR/u")" junk

# ---- refusals ----
cp --sparse=always "$img" "$T_DIR/before"
head -c 100000 /dev/urandom >"$T_DIR/noise"
status 3 "noise is no filesystem" "$tool" facts "$T_DIR/noise"
like "it says so" "$OUT" "no ext2, ext3 or ext4 filesystem"
: >"$T_DIR/empty"
status 3 "nor is an empty file" "$tool" facts "$T_DIR/empty"
status 4 "nor is nothing" "$tool" facts "$T_DIR/nothing"
status 3 "nor is a directory" "$tool" facts "$T_DIR"
truncate -s 8M "$T_DIR/jdev" && mke2fs -q -F -O journal_dev "$T_DIR/jdev" >/dev/null
status 3 "nor is a journal device" "$tool" facts "$T_DIR/jdev"
like "it says so" "$OUT" "external journal device"
head -c 20000000 "$img" >"$T_DIR/short"
status 8 "a cut image" "$tool" facts "$T_DIR/short"
if [ "$(id -u)" = 0 ] && [ -c /dev/loop-control ]; then
	loop_over "$img" && loop=$DEV
	mkdir -p "$T_DIR/mnt"
	mount -o ro "$loop" "$T_DIR/mnt"
	status 12 "a mounted device" "$tool" patch "$loop" remote
	like "it says where" "$OUT" "mounted on $T_DIR/mnt"
	status 12 "a mounted image" "$tool" patch "$img" remote
	umount "$T_DIR/mnt"
	exec 9<>"$loop"
	status 0 "a loop device" "$tool" patch "$loop" remote
	status 0 "with an undo file" "$tool" patch "$loop" undo="$T_DIR/u2" plain
	status 0 "which e2undo takes back" e2undo "$T_DIR/u2" "$loop"
	exec 9<&-
	"$tool" hold "$loop" >"$T_DIR/held" &
	holder=$!; at_exit kill $holder
	wait_for 60 grep -q held "$T_DIR/held" || exit 99
	status 12 "a device that somebody holds" "$tool" patch "$loop" plain
	kill $holder
else
	skip "block devices" "needs root and loop devices"
fi

# ---- damaged superblocks ----
for layout in "ext3 1024" "ext4 1024" "ext4 4096" "ext4 4096 -O ^metadata_csum,^uninit_bg"; do
	# shellcheck disable=SC2086
	mkfs_layout $layout >/dev/null
	# with a remote journal a backup may stand in
	"$tool" patch "$img" remote
	cp --sparse=always "$img" "$T_DIR/before"
	status 0 "every byte of a superblock, $layout" timeout 60 "$tool" flip "$img" 1
	like "some are refused" "$OUT" "opened [0-9]+ of 12288"
	check "the image is as it was" cmp "$img" "$T_DIR/before"
done
mkfs_layout ext4 4096 >/dev/null
printf X | dd of="$img" bs=1 seek=$((1024 + 0x88)) conv=notrunc status=none
status 8 "a wrong checksum" "$tool" facts "$img"
like "is called so" "$OUT" "wrong checksum"
mkfs_layout ext3 4096 >/dev/null
debugfs -w -R "ssv feature_incompat 0x40000002" "$img" >/dev/null 2>&1
status 13 "an unknown feature" "$tool" facts "$img"
like "is named" "$OUT" "incompat 0x40000000"

# ---- the superblock of a journal device, against mke2fs ----
for bs in 1024 2048 4096; do
	rm -f "$T_DIR/jdev"; truncate -s 8M "$T_DIR/jdev"
	mke2fs -q -F -b $bs -O journal_dev -U 01234567-89ab-cdef-0123-456789abcdef "$T_DIR/jdev" >/dev/null
	# times (0x2C, 0x30, 0x40, 0x108) and the hash seed (0xEC) are its own
	for mask in 44:8 64:4 236:16 264:4; do
		dd if=/dev/zero of="$T_DIR/jdev" bs=1 seek=$((1024 + ${mask%:*})) \
			count=${mask#*:} conv=notrunc status=none
	done
	dd if="$T_DIR/jdev" of="$T_DIR/want" bs=1024 skip=1 count=1 status=none
	"$tool" journal-super $bs $((8388608 / bs)) 01234567-89ab-cdef-0123-456789abcdef >"$T_DIR/got"
	check "journal device, $bs-byte blocks: as mke2fs makes it" cmp "$T_DIR/got" "$T_DIR/want"
done
