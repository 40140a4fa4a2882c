#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Attaching to a volume that is there: refusals, cuts at every write, and how
# the kernel and e2fsprogs treat the result: they refuse, and harm nothing.
. "$RJ_SRC/tests/support/lib.sh"
PATH=$PATH:/sbin:/usr/sbin
attach=$RJ_BUILD/tests/journal/attach-tool
volume=$RJ_BUILD/tests/ext4/volume-tool
img=$T_DIR/v.img
store=$T_DIR/store
url=file://$store
mkdir "$store"

make_volume() { # TYPE OPTIONS...
	local type=$1; shift
	rm -f "$img"
	mke2fs -q -F -t "$type" -b 1024 -g 2048 -N 1024 -O ^has_journal "$@" \
		"$img" 36864 >/dev/null
}
keep() { cp --sparse=always "$img" "$T_DIR/kept"; }

# Looking for an external journal, e2fsck and tune2fs read the label of every
# block device of the machine (blkid), also of those that other tests serve or
# that hang. Here they see none.
export BLKID_FILE=$T_DIR/blkid.tab
alone() { "$@"; }
if [ "$(id -u)" = 0 ]; then
	: >"$T_DIR/partitions"
	alone() {
		unshare -m "$BASH" -c 'mount --bind "$0" /proc/partitions && exec "$@"' \
			"$T_DIR/partitions" "$@"
	}
fi

# ---- an existing volume ----
make_volume ext4 -d "$RJ_SRC/tests/support"
status 0 "attach to a volume with files in it" "$attach" "$img" remote="$url",size=2,on_loss=error
like "the superblock has it" "$("$volume" facts "$img")" '^journal_blocks=2048$'
keep
objects=$(find "$store" -type f | wc -l)
status 5 "a second time: it has one" "$attach" "$img" remote="$url"
like "the message says where" "$OUT" "has a journal already \($url\)"
check "nothing changed" cmp "$img" "$T_DIR/kept"
make_volume ext3 && tune2fs -j "$img" >/dev/null 2>&1 && keep
status 5 "an internal journal" "$attach" "$img" remote="$url"
like "is named" "$OUT" "internal"
check "nothing changed" cmp "$img" "$T_DIR/kept"
make_volume ext3 && "$volume" patch "$img" error && keep
status 18 "a volume with errors" "$attach" "$img" remote="$url"
like "e2fsck is named" "$OUT" "run e2fsck"
check "nothing changed" cmp "$img" "$T_DIR/kept"
make_volume ext3 && keep
status 6 "a store out of reach" "$attach" "$img" remote=rj://127.0.0.1:1/x
check "nothing changed" cmp "$img" "$T_DIR/kept"
is "no log was begun by any of these" "$(find "$store" -type f | wc -l)" "$objects"

# ---- cut at every write to the volume ----
if command -v strace >/dev/null; then
	make_volume ext4 && keep
	writes=$(($("$volume" facts "$img" | sed -n 's/^backups=//p') + 1))
	note "$writes writes"
	bad=''
	for ((i = 1; i <= writes; i++)); do
		cp --sparse=always "$T_DIR/kept" "$img"
		# in a subshell, so that bash does not report the kill
		("$BASH" -c 'strace -f -o /dev/null -P "$2" -e trace=pwrite64 \
			-e inject=pwrite64:error=EIO:signal=KILL:when=$1 \
			"$3" "$2" remote="$4"; exit $?' - $i "$img" "$attach" "$url") \
			>/dev/null 2>&1 && bad="$bad not-cut-at-$i"
		"$volume" facts "$img" | grep -qx has_journal=0 || bad="$bad journal-at-$i"
		e2fsck -fn "$img" >/dev/null 2>&1 || bad="$bad unsound-at-$i"
		"$attach" "$img" remote="$url" 2>/dev/null || bad="$bad no-second-try-at-$i"
	done
	check "there is more than the primary" test "$writes" -gt 1
	is "cut before each write: sound, no journal, can be attached" "$bad" ""
	cp --sparse=always "$T_DIR/kept" "$img"
	strace -f -o /dev/null -P "$img" -e trace=pwrite64 \
		-e inject=pwrite64:error=EIO:when=$writes \
		"$attach" "$img" remote="$url" >"$T_DIR/out" 2>&1
	is "a write that fails is reported" "$?" 1
	like "with its reason" "$(cat "$T_DIR/out")" "Input/output error"
else
	skip "cut at every write" "no strace"
fi

# ---- what other tools do with it ----
# refuses NAME STATUS REGEX COMMAND...: on a copy, which stays as it was
refuses() {
	local name=$1 want=$2 regex=$3 out got; shift 3
	cp --sparse=always "$img" "$T_DIR/copy"
	out=$("$@" "$T_DIR/copy" 2>&1 </dev/null); got=$?
	if [ $got = "$want" ] && grep -Eq "$regex" <<<"$out" &&
		cmp "$img" "$T_DIR/copy"; then
		ok "$name"
	else
		note "status $got" "$out"; not_ok "$name"
	fi
}
mount_copy() { # [OPTIONS] COPY
	mkdir -p "$T_DIR/mnt"
	mount -o loop"${2:+,$1}" "${!#}" "$T_DIR/mnt" || return
	umount "$T_DIR/mnt"
}
for type in ext3 ext4; do
	for recover in 0 1; do
		what="$type, needs_recovery $recover"
		make_volume $type && "$attach" "$img" remote="$url" &&
			"$volume" patch "$img" recover=$recover
		uuid=$("$volume" facts "$img" | sed -n 's/^journal_uuid=//p')
		for how in -n -p -y -fn -fp -fy; do
			refuses "$what: e2fsck $how" 12 "Can't find external journal" \
				alone e2fsck $how
		done
		for backup in 2049 6145; do
			refuses "$what: e2fsck -fn -b $backup" 12 "Can't find external journal" \
				alone e2fsck -fn -b $backup -B 1024
		done
		if [ "$(id -u)" = 0 ] && [ -c /dev/loop-control ]; then
			refuses "$what: mount" 32 "not a valid block device" mount_copy
			refuses "$what: mount -o ro" 32 "not a valid block device" mount_copy ro
			refuses "$what: mount -o ro,noload" 0 "" mount_copy ro,noload
		else
			skip "$what: mount" "needs root and loop devices"
		fi
		refuses "$what: tune2fs -j" 1 "already has a journal|recovering journal" \
			alone tune2fs -j
		refuses "$what: tune2fs -O ^has_journal" 1 \
			"Cannot locate journal device|recovering journal" \
			alone tune2fs -O ^has_journal
		refuses "$what: tune2fs -l" 0 "^Journal UUID: *$uuid\$" tune2fs -l
		refuses "$what: dumpe2fs -h" 0 "^Journal device:.*0x00ff\$" dumpe2fs -h
		refuses "$what: debugfs stat <8>" 0 "Blockcount: 0\$" \
			debugfs -R "stat <8>"
		if [ $recover = 1 ]; then
			refuses "$what: tune2fs -f -O ^has_journal" 1 "recovering journal" \
				alone tune2fs -f -O ^has_journal
			refuses "$what: tune2fs -L" 1 "recovering journal" \
				alone tune2fs -L x
			refuses "$what: resize2fs" 1 "e2fsck -f" resize2fs
		fi
	done
done
