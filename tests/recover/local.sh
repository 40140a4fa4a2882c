#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Journals inside the volume and on a device: crash states of the running
# kernel, equal to e2fsck's replay; damage, refused and with -y.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
need_root
[ -c /dev/loop-control ] || skip_all "no loop devices"
export RJ_STATE=$T_DIR/state

# crashed NAME TYPE BLOCKSIZE OPTIONS JDEV(0|1) [MKE2FS-OPTIONS...]
crashed() {
	local n=$T_DIR/$1 type=$2 bs=$3 opts=$4 ext=$5 j=; shift 5
	truncate -s 64M "$n.live"; mkdir -p "$n.mnt"
	if [ "$ext" = 1 ]; then
		truncate -s 8M "$n.jlive"
		mke2fs -q -O journal_dev -b "$bs" "$n.jlive" || return 1
		loop_over "$n.jlive" && j=$DEV || return 1
		mke2fs -q -F -t "$type" -b "$bs" -J "device=$j" "$@" "$n.live" || return 1
		opts=${opts:+$opts,}journal_path=$j
	else
		mke2fs -q -F -t "$type" -b "$bs" -J size=8 "$@" "$n.live" || return 1
	fi
	mount -i -t ext4 -o "loop${opts:+,$opts}" "$n.live" "$n.mnt" || return 1
	cp -a /usr/include/linux/netfilter "$n.mnt" && sync -f "$n.mnt"
	rm -rf "$n.mnt/netfilter" && sync -f "$n.mnt"
	fsynced "$n.mnt" 10 "$n.sums" || return 1
	# no daemon to stop here: the copy is made while nothing is written
	cp "$n.live" "$n.img" || return 1
	[ "$ext" = 0 ] || cp "$n.jlive" "$n.jdev" || return 1
	umount "$n.mnt"
	[ "$ext" = 0 ] || losetup -d "$j"
}
files_back() {
	local rc
	mkdir -p "$T_DIR/back" && mount -t ext4 -o ro,noload,loop "$1" "$T_DIR/back" || return 1
	(cd "$T_DIR/back" && sha256sum --quiet -c "$2") && [ ! -e "$T_DIR/back/netfilter" ]; rc=$?
	umount "$T_DIR/back"
	return $rc
}
# without an internal journal's own blocks, which the two empty differently
comparable() { debugfs -w -R 'zap_block -f <8> 0' "$1" >/dev/null 2>&1; }

one() {
	local name=$1 kind img=$T_DIR/$1.img j=()
	kind="$2 $3 ${4:--} $([ "$5" = 1 ] && echo device || echo internal)"
	check "$kind: crashed" crashed "$@" || return
	cp "$img" "$T_DIR/a"; cp "$img" "$T_DIR/b"
	if [ "$5" = 1 ]; then
		cp "$T_DIR/$1.jdev" "$T_DIR/ja"; cp "$T_DIR/$1.jdev" "$T_DIR/jb"
		j=(-J "device=$T_DIR/ja")
	fi
	status 0 "$kind: -n" "$RJRECOVER" -n "${j[@]}" "$T_DIR/a"
	like "$kind: tells the plan" "$OUT" "transactions to replay: [1-9]"
	check "$kind: changes nothing" cmp "$img" "$T_DIR/a"
	status 0 "$kind: recovered" "$RJRECOVER" --verify=full "${j[@]}" "$T_DIR/a"
	check "$kind: every fsynced file is back" files_back "$T_DIR/a" "$T_DIR/$1.sums"
	status 0 "$kind: then clean" "$RJRECOVER" "${j[@]}" "$T_DIR/a"
	if [ "$5" = 1 ]; then
		e2fsck -E journal_only -y -j "$T_DIR/jb" "$T_DIR/b" >/dev/null 2>&1
		status 0 "$kind: e2fsck -fn" e2fsck -fn -j "$T_DIR/ja" "$T_DIR/a"
	else
		e2fsck -E journal_only -y "$T_DIR/b" >/dev/null 2>&1
		status 0 "$kind: e2fsck -fn" e2fsck -fn "$T_DIR/a"
		comparable "$T_DIR/a"; comparable "$T_DIR/b"
	fi
	check "$kind: block for block what e2fsck makes" same_blocks "$T_DIR/a" "$T_DIR/b"
}

one i3 ext3 4096 data=journal 0
one i1 ext3 1024 "" 0
one d3 ext3 1024 data=journal 1
one d4 ext4 4096 "" 1 -O ^metadata_csum

# ---- the device is not there ----
cp "$T_DIR/d3.img" "$T_DIR/a"
status 12 "journal device gone: refused" "$RJRECOVER" -p "$T_DIR/a"
like "journal device gone: says which, and how to name it" "$OUT" "external journal [0-9a-f-]{36}.*-J device="
check "journal device gone: untouched" cmp "$T_DIR/d3.img" "$T_DIR/a"
status 1 "journal device gone for good: given up" "$RJRECOVER" -q -y --accept-loss "$T_DIR/a"

# ---- it is there, but takes no writes: it is not lost ----
cp "$T_DIR/d3.img" "$T_DIR/a"; cp "$T_DIR/d3.jdev" "$T_DIR/ja"
if chattr +i "$T_DIR/ja" 2>/dev/null; then
	at_exit chattr -i "$T_DIR/ja"
	status 4 "immutable journal: -y refuses" "$RJRECOVER" -y --accept-loss -J "device=$T_DIR/ja" "$T_DIR/a"
	like "immutable journal: says why" "$OUT" "^rjrecover: $T_DIR/ja: cannot open the journal for writing: "
	check "immutable journal: untouched" cmp "$T_DIR/d3.img" "$T_DIR/a"
	chattr -i "$T_DIR/ja"
else skip "immutable journal" "no chattr +i here"; fi

# ---- it is there, and cannot be read: nor is it lost ----
cp "$T_DIR/d3.img" "$T_DIR/a"; cp "$T_DIR/d3.jdev" "$T_DIR/ja"
if E=$(losetup -f --show --direct-io=on "$T_DIR/ja" 2>/dev/null); then
	at_exit loop_detach "$E" "$T_DIR/ja"
	truncate -s 16k "$T_DIR/ja" # what is read behind that is an error
	for how in -p -y "-y -f"; do
		status 8 "unreadable journal: $how" "$RJRECOVER" $how -J "device=$E" "$T_DIR/a"
		like "unreadable journal: $how says where" "$OUT" "^rjrecover: $E: cannot read .*: Input/output error"
		check "unreadable journal: $how changes nothing" cmp "$T_DIR/d3.img" "$T_DIR/a"
	done
	check "unreadable journal: no log was saved" test ! -e "$RJ_STATE"
	losetup -d "$E"
else skip "unreadable journal" "no direct I/O on loop devices here"; fi

# ---- another volume's journal device ----
cp "$T_DIR/d3.img" "$T_DIR/a"; cp "$T_DIR/d4.jdev" "$T_DIR/ja"
status 4 "a foreign journal device: refused" "$RJRECOVER" -p -J "device=$T_DIR/ja" "$T_DIR/a"
check "a foreign journal device: volume untouched" cmp "$T_DIR/d3.img" "$T_DIR/a"
check "a foreign journal device: itself untouched" cmp "$T_DIR/d4.jdev" "$T_DIR/ja"

# ---- damage: a descriptor's checksum, in the middle of a v3 log ----
check "a log with checksums" crashed c4 ext4 4096 "" 0
at=$(grep -abo $'\xc0\x3b\x39\x98\x00\x00\x00\x01' "$T_DIR/c4.img" 2>/dev/null | tail -n 2 | head -n 1 | cut -d: -f1)
[ -n "$at" ] || at=$(LC_ALL=C grep -aboP '\xc0\x3b\x39\x98\x00\x00\x00\x01' "$T_DIR/c4.img" | tail -n 3 | head -n 1 | cut -d: -f1)
cp "$T_DIR/c4.img" "$T_DIR/damaged"
flip "$T_DIR/damaged" $((at + 30))
cp "$T_DIR/damaged" "$T_DIR/a"
status 4 "damaged: refused" "$RJRECOVER" -p "$T_DIR/a"
like "damaged: names block and transaction" "$OUT" "block [0-9]+.*(tid|transaction) [0-9]+|(tid|transaction) [0-9]+.*block [0-9]+"
check "damaged: untouched" cmp "$T_DIR/damaged" "$T_DIR/a"
status 1 "damaged: given up" "$RJRECOVER" -q -y --accept-loss "$T_DIR/a"
status 0 "damaged: the volume is whole" e2fsck -fn "$T_DIR/a"
is "damaged: the log was saved" "$(ls "$RJ_STATE" | wc -l)" 1
mkdir "$T_DIR/stub"
while read -r name script; do
	printf '#!/bin/sh\n%s\n' "$script" >"$T_DIR/stub/e2fsck" && chmod +x "$T_DIR/stub/e2fsck"
	cp "$T_DIR/damaged" "$T_DIR/a"; rm "$RJ_STATE"/*
	PATH=$T_DIR/stub:$PATH status "${name#*:}" "damaged: -y, ${name%:*}" "$RJRECOVER" -q -y --accept-loss "$T_DIR/a"
	"$RJRECOVER" -p "$T_DIR/a" >"$T_DIR/out" 2>&1
	check "... the next run checks the volume" grep -q 'its error flag is set' "$T_DIR/out"
done <<END
cut-before-its-check:137 kill -KILL \$PPID
the-second-e2fsck-finds-more:4 [ "\$1" = -fn ] && exit 4; exec $(command -v e2fsck) "\$@"
END
exit 0
