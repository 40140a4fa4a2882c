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
		[ "$w" = null ] || echo "${pair%:*} $w $(plan "${pair#*:}")"
	done
}

one() {
	local j=()
	check "$name: unpacked" unpack "$name.img" img || return
	rm -f jdev; unpack "$name.jdev" jdev && j=(-J "device=$T_DIR/jdev")
	"$RJRECOVER" -n --json "${j[@]}" img >plan.json 2>plan.err
	is "$name: -n plans it" "$?" 0
	is "$name: every count is right" "$(counts | awk '$2 != $3')" ""
	is "$name: a line per transaction" "$(jq '.plan.list | length' plan.json)" "$(plan transactions)"
	status 0 "$name: recovered" "$RJRECOVER" -q --verify=full "${j[@]}" img
	is "$name: the volume is the kernel's" "$(sum img)" "$(want canon_kernel)"
	is "$name: and the independent parser's" "$(want canon_jparse)" "$(want canon_kernel)"
	rm -f img jdev
}
for json in "$corpus"/*.json; do
	[ -e "$json" ] || skip_all "no corpus in $corpus"
	name=$(basename "$json" .json)
	one
done
exit 0
