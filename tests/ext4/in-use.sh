#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Which blocks are in use, against dumpe2fs, on every layout that mke2fs makes; a group whose
# descriptor or bitmap is damaged counts as in use.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
PATH=$PATH:/sbin:/usr/sbin
tool=$RJ_BUILD/tests/ext4/volume-tool
cd "$T_DIR" || exit 99

# layout NAME BLOCKS MKE2FS-OPTIONS...: with files, and holes where others were
layout() {
	local n i; n=$2; shift 2
	rm -f v.img
	mke2fs -q -F -N 1024 "$@" v.img "$n" >/dev/null 2>&1 || return 1
	for i in $(seq 40); do
		head -c $((i * 9001)) /dev/zero | tr '\0' x >"f$i"
		echo "write f$i f$i"
	done >cmd
	debugfs -w -f cmd v.img >/dev/null 2>&1
	for i in $(seq 1 3 40); do echo "rm f$i"; done >cmd
	debugfs -w -f cmd v.img >/dev/null 2>&1
	rm -f f[0-9]*
	e2fsck -fy v.img >/dev/null 2>&1; e2fsck -fn v.img >/dev/null 2>&1
}
# theirs: the blocks in use by dumpe2fs, which knows what a group without a bitmap has
theirs() {
	dumpe2fs v.img 2>/dev/null | awk '
	/^Block count:/ { count = $3 }
	/^Block size:/ { size = $3 }
	/^Cluster size:/ { more = $3 / size - 1 }
	sub(/^  Free blocks: /, "") {
		n = split($0, part, ", ")
		for (i = 1; i <= n; i++) {
			m = split(part[i], r, "-")
			for (b = r[1] + 0; m && b <= r[m] + more; b++) free[b] = 1
		}
	}
	END { for (b = 0; b < count; b++) if (!(b in free)) print b }'
}
agrees() { "$tool" in-use v.img >ours && theirs >theirs && cmp ours theirs; }
# covers: nothing that is in use is missing, and N blocks at most are too many
covers() {
	"$tool" in-use v.img >ours && theirs >theirs || return 1
	[ "$(comm -13 <(sort ours) <(sort theirs) | wc -l)" = 0 ] &&
		[ "$(comm -23 <(sort ours) <(sort theirs) | wc -l)" -le "$1" ]
}
# bytes_of FIELD GROUP: of a descriptor, by dumpe2fs
bitmap_of() { dumpe2fs v.img 2>/dev/null | awk -v g="Group $1:" 'index($0, g) {on = 1} on && /Block bitmap at/ {print $4; exit}'; }

small=(-b 1024 -g 2048 -E lazy_itable_init=0)
for words in "-t ext3 -O ^has_journal" "-t ext4 -O ^has_journal" "-t ext4 -O ^has_journal,^metadata_csum,uninit_bg" \
	"-t ext4 -O ^has_journal,^64bit" "-t ext4 -O ^has_journal,^flex_bg" \
	"-t ext4 -O ^has_journal,^resize_inode,meta_bg" "-t ext4 -O ^has_journal,metadata_csum_seed,quota,mmp" \
	"-t ext4 -O ^has_journal,^sparse_super,^resize_inode" "-t ext4 -O ^has_journal,^resize_inode,sparse_super2" \
	"-t ext4 -O orphan_file -J size=1"; do
	# shellcheck disable=SC2086
	check "$words: made" layout x 36864 "${small[@]}" $words
	check "... groups without a bitmap have nothing too much but room for descriptors" covers 3000
	dumpe2fs v.img 2>/dev/null | grep -q BLOCK_UNINIT || check "... the same blocks" agrees
done
check "4 KiB, one group" layout x 9000 -b 4096 -t ext4
check "... the same blocks" covers 1200
check "bigalloc" layout x 36864 -b 1024 -t ext4 -O bigalloc -C 16384
check "... the same blocks" covers 1200

check "ext3 again" layout x 36864 "${small[@]}" -t ext3 -O ^has_journal
check "... exactly the same blocks" agrees
at=$(bitmap_of 1)
check "its bitmap of group 1 says that it is free itself" dd if=/dev/zero of=v.img bs=1024 seek="$at" count=1 conv=notrunc status=none
"$tool" in-use v.img >ours
is "... the whole group counts" "$(awk '$1 > 2048 && $1 <= 4096' ours | wc -l)" 2048
check "ext4 again" layout x 36864 "${small[@]}" -t ext4 -O ^has_journal
# of a group in the middle: the last one is shorter
group=$(dumpe2fs v.img 2>/dev/null | awk '/^Group / && !/BLOCK_UNINIT/ && $2 + 0 < 17 {g = $2 + 0} END {print g}')
first=$((1 + group * 2048))
"$tool" in-use v.img >before
check "a byte of the bitmap of group $group" flip v.img $(($(bitmap_of "$group") * 1024 + 200))
"$tool" in-use v.img >ours
is "... the whole group counts" "$(awk -v a=$first '$1 >= a && $1 < a + 2048' ours | wc -l)" 2048
is "... and no other" "$(awk -v a=$first '$1 < a || $1 >= a + 2048' ours | sha256sum)" \
	"$(awk -v a=$first '$1 < a || $1 >= a + 2048' before | sha256sum)"
check "ext4 again" layout x 36864 "${small[@]}" -t ext4 -O ^has_journal
check "a byte of the descriptor of group 5" flip v.img $((2048 + 5 * 64 + 12))
"$tool" in-use v.img >ours
is "... the whole group counts" "$(awk '$1 > 5 * 2048 && $1 <= 6 * 2048' ours | wc -l)" 2048
exit 0
