#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# mke2fs -O orphan_file,^has_journal is refused, or the feature dropped: mke2fs.conf decides.
#
# e2fsprogs 1.47.0 (Debian 12, 1.47.0-2+b2).
# The orphan file is for volumes with a journal. With the same command line, which asks for it and
# for no journal (an external one is to come later),
#   - status 1, "cannot set orphan_file feature without a journal", where mke2fs.conf does not
#     name the feature for that type of volume,
#   - status 0, and a volume without it, and no message, where mke2fs.conf does.
# So a program that makes volumes without a journal first fails on machines with an older
# mke2fs.conf only; with a newer one its users get no orphan file. tune2fs -O orphan_file adds it
# when the journal is there. One would expect a feature of the command line to be made or refused,
# whatever the defaults are.
# Exit status: 0 it is so, 1 it is not any more, 2 cannot be seen.
set -u
version=1.47.0-2+b2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
for p in e2fsprogs libext2fs2 libcom-err2 libss2; do
	apt-get -q download "$p=$version" >/dev/null 2>&1 || { echo "cannot get $p $version"; exit 2; }
done
for p in *.deb; do dpkg -x "$p" root || exit 2; done
libs=$(dirname "$(find "$work/root" -name 'libext2fs.so.2' | head -n 1)")
tool() { local t; t=$(find "$work/root" -type f -name "$1" -o -type l -name "$1" | head -n 1); shift
	LD_LIBRARY_PATH=$libs${libs:+:}$work/root/usr/lib/x86_64-linux-gnu "$t" "$@"; }
# conf FEATURES: a mke2fs.conf with these for ext4
conf() {
	printf '%s\n' '[defaults]' 'base_features = sparse_super,filetype' '[fs_types]' 'ext4 = {' \
		"features = $1" '}' 'small = {' '}' >conf
	export MKE2FS_CONFIG=$work/conf
}
has() {
	tool dumpe2fs -h v 2>/dev/null | grep '^Filesystem features:' | grep -qw orphan_file &&
		echo yes || echo no
}
make() {
	rm -f v && truncate -s 64M v
	tool mke2fs -q -F -t ext4 -O orphan_file,^has_journal v >out 2>&1
	STATUS=$?
}
conf has_journal,extent
make
without="status $STATUS, $(grep -o 'cannot set orphan_file[^.]*' out)"
conf has_journal,extent,orphan_file
make
with="status $STATUS, orphan_file: $(has), $(grep -c orphan out) lines about it"
echo "mke2fs -O orphan_file,^has_journal"
echo "mke2fs.conf does not name the feature: $without"
echo "mke2fs.conf names it: $with"
[ "$without" = "status 1, cannot set orphan_file feature without a journal" ] &&
	[ "$with" = "status 0, orphan_file: no, 0 lines about it" ]
