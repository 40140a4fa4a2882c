#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Crash images with known answers: rjrecover's plan has the counts, and its
# replay gives the volume, that the kernel, e2fsck and an independent parser
# gave. RJ_CORPUS: a directory with NAME.json, NAME.img and, with an external
# journal, NAME.jdev (plain, .xz or .zst); default: those in the tree.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
command -v jq >/dev/null || skip_all "needs jq"
corpus=${RJ_CORPUS:-$RJ_SRC/tests/jbd2/corpus}
export RJ_STATE=$T_DIR/state
cd "$T_DIR" || exit 99

# unpack NAME.EXT TO: status 1 if the corpus has none
unpack() {
	if [ -e "$corpus/$1" ]; then cp --sparse=always "$corpus/$1" "$2"
	elif [ -e "$corpus/$1.xz" ]; then xz -dc "$corpus/$1.xz" >"$2"
	elif [ -e "$corpus/$1.zst" ]; then zstd -qdfo "$2" "$corpus/$1.zst"
	else return 1; fi
}
# sum IMAGE: sha256 of the blocks that count, without an internal journal's own
sum() {
	local ranges
	ranges=$(debugfs -c -R 'stat <8>' "$1" 2>/dev/null | awk '
		/^(BLOCKS|EXTENTS):/ {on = 1; next}
		on {
			while (match($0, /\([0-9][^)]*\):[0-9]+(-[0-9]+)?/)) {
				r = substr($0, RSTART, RLENGTH); sub(/.*:/, "", r)
				print (r ~ /-/ ? r : r "-" r)
				$0 = substr($0, RSTART + RLENGTH)
			}
		}')
	dumpe2fs -h "$1" 2>/dev/null | grep -q '^Journal inode: *[1-9]' || ranges=
	# shellcheck disable=SC2086
	"$RJ_BUILD/tests/jbd2/corpus-blocks" "$1" $ranges | sha256sum | cut -d' ' -f1
}
want() { jq -r ".$1 // empty" "$corpus/$name.json"; }
plan() { jq -r ".plan.$1" plan.json; }
# counts: "corpus's name, ours" for all that the corpus has
counts() {
	local pair w
	for pair in transactions:transactions descriptors:- logged_data_blocks:tags \
		revoke_entries:revokes tags_skipped_by_revoke:revoked escaped:escapes \
		distinct_targets:blocks wrapped:wrapped; do
		[ "${pair#*:}" != - ] || continue
		w=$(jq -r ".${pair%:*}" "$corpus/$name.json")
		# what is not replayed of it, the kernel does replay
		[ "${pair%:*}" != distinct_targets ] || [ "$(plan freed)" = 0 ] ||
			{ echo "${pair%:*} $w $(sed -n 's/.* blocks=\([0-9]*\).*/\1/p' k.info)"; continue; }
		[ "$w" = null ] || echo "${pair%:*} $w $(plan "${pair#*:}")"
	done
}

# as_kernel: k.img, replayed without implied revokes (data=journal), as the kernel does
as_kernel() {
	local bs sb=0
	bs=$(plan journal.block_size)
	cp --sparse=always img k.img
	if [ -e jdev ]; then cp jdev k.j; sb=$((bs == 1024 ? 2 : 1))
	else debugfs -c -R "dump <8> k.j" img; fi
	"$RJ_BUILD/tests/jbd2/replay-log" k.j $sb k.img >k.info && grep -o ' blocks=[0-9]*' k.info
}
# not_free: the blocks that differ in img and k.img, and are in use, but for the
# superblocks of the volume and of its own journal
not_free() {
	local bs own
	bs=$(plan journal.block_size)
	own=$(debugfs -c -R "blocks <8>" img 2>/dev/null | cut -d' ' -f1)
	cmp -l img k.img | awk -v bs="$bs" -v own="$own" '$1 <= 1024 || $1 > 2048 {
		b = int(($1 - 1) / bs); if (b != last && b != own) print "testb " b; last = b}' |
		debugfs -f - k.img 2>/dev/null | grep 'marked in use'
}

one() {
	local j=() theirs=img
	check "$name: unpacked" unpack "$name.img" img || return
	rm -f jdev; unpack "$name.jdev" jdev && j=(-J "device=$T_DIR/jdev")
	"$RJRECOVER" -n --json "${j[@]}" img >plan.json 2>plan.err
	is "$name: -n plans it" "$?" 0
	if [ "$(plan freed)" != 0 ]; then
		theirs=k.img
		check "$name: replayed as the kernel does" as_kernel
	fi
	is "$name: every count is right" "$(counts | awk '$2 != $3')" ""
	is "$name: a line per transaction" "$(jq '.plan.list | length' plan.json)" "$(plan transactions)"
	status 0 "$name: recovered" "$RJRECOVER" -q --verify=full "${j[@]}" img
	is "$name: the volume is the kernel's" "$(sum $theirs)" "$(want canon_kernel)"
	[ $theirs = img ] || is "$name: ours differs in blocks that are free" "$(not_free)" ""
	is "$name: and the independent parser's" "$(want canon_jparse)" "$(want canon_kernel)"
	rm -f img jdev k.img k.j
}
for json in "$corpus"/*.json; do
	[ -e "$json" ] || skip_all "no corpus in $corpus"
	name=$(basename "$json" .json)
	one
done
exit 0
