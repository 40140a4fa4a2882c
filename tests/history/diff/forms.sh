#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What rjbackup diff, log and find print, as text and as JSON; which moments and paths they take,
# and what they refuse.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
history_conf ""
mkdir scratch
run() { local verb=$1; shift; timeout 120 "$RJBACKUP" "$verb" --scratch=scratch --base=base.img "$@"; }
# moment NAME: of now, as a time
moment() { sync -f mnt && sleep 0.05 && date +@%s.%N >"$1.time" && sleep 0.05; }
at() { cat "$1.time"; }

check "a volume" history_volume ext4 4096 journal ""
mkdir mnt/dir mnt/other && echo one >mnt/dir/a && echo two >mnt/dir/b
echo three >mnt/gone && echo four >mnt/saved
status 0 "a base" "$RJBACKUP" base -o base.img mnt
cp --sparse=always base.img good.img
AT=$(grep -ao "rj://127.0.0.1:$SRV_PORT/[a-zA-Z0-9-]*" v.img | head -n 1)
status 0 "a base at the store" "$RJBACKUP" base -o "$AT" mnt
moment a
echo more >>mnt/dir/a && moment b
mv mnt/dir mnt/moved && rm mnt/gone && moment c
printf 'nine bytes' >mnt/new && chmod 700 mnt/other &&
	echo five >mnt/saved.new && mv mnt/saved.new mnt/saved &&
	ln mnt/moved/b mnt/linked && printf x >$'mnt/odd\n\xff' && moment d
# rewritten alike: no bytes changed
cp -p mnt/moved/b copy && dd if=copy of=mnt/moved/b conv=notrunc status=none &&
	touch -r copy mnt/moved/b && moment e
echo end >mnt/end && sync -f mnt

status 0 "diff" run diff "$(at a)" "$(at d)"
is "... text" "$(grep -av '^from segment' <<<"$OUT")" '- /gone
+ /linked (link)
R /dir -> /moved/
M /moved/a (size 4 -> 9, mtime)
+ /new
+ /odd\012'$'\xff''
M /other/ (mode)
M /saved (replaced, content, mtime)'
OUT=$(run diff "$(at a)" "$(at d)" 2>err)
like "... which moments on stderr" "$(cat err)" \
	'^from segment [0-9]+, as of 2.*, to segment [0-9]+, as of 2'
OUT=$(run diff --json "$(at a)" "$(at d)")
check "diff --json: an object a line, sums at the end" jq -es '
	def one(f): [.[] | select(f)] | if length == 1 then .[0] else {} end;
	(.[-1] | .made == 3 and .removed == 1 and .renamed == 1 and .changed == 3 and
		.made_bytes == 11 and .removed_bytes == 6 and .from.segment > 0) and
	(one(.path == "/moved") | .from == "/dir" and .kind == "renamed") and
	(one(.path == "/moved/a") | .before.size == 4 and .after.size == 9 and
		.what == ["size", "mtime"]) and
	(one(.path_escaped) | .path == "/odd\n\\377")' <<<"$OUT"
is "diff with the base at the store, which has to be whole by then" \
	"$(timeout 120 "$RJBACKUP" diff --json --scratch=scratch --base="$AT" "$(at a)" "$(at d)" |
		jq -c 'del(.blocks)')" "$(jq -c 'del(.blocks)' <<<"$OUT")"
status 0 "diff --stat" run diff --stat "$(at a)" "$(at d)"
like "... sums" "$OUT" '^3 made \(11 bytes\), 1 removed \(6 bytes\), 1 renamed, 3 changed \([0-9]+ bytes\)$'
status 0 "diff below a path" run diff "$(at a)" "$(at d)" moved/
is "... old names of it, too" "$(grep -av '^from segment' <<<"$OUT")" 'R /dir -> /moved/
M /moved/a (size 4 -> 9, mtime)'
status 0 "diff by the old path" run diff "$(at a)" "$(at d)" /dir
is "... of what was renamed" "$(grep -av '^from segment' <<<"$OUT")" 'R /dir -> /moved/'
status 0 "blocks that were written alike" run diff "$(at d)" "$(at e)"
is "... are no change" "$(grep -av '^from segment' <<<"$OUT")" ""
status 0 "a moment and itself" run diff "$(at c)" "$(at c)"
is "... nothing" "$(grep -av '^from segment' <<<"$OUT")" ""

status 0 "log" run log --since="$(at b)" --until="$(at c)"
is "... by commit" "$(sed 's/^2.*, segment [0-9]*, transaction [0-9]*$/COMMIT/' <<<"$OUT")" 'COMMIT
  - /gone
  R /dir -> /moved/'
status 0 "log of a path" run log /moved/a
is "... its versions, from its directory's new name on" \
	"$(sed 's/^2.*, segment [0-9]*, transaction [0-9]*$/COMMIT/; s/inode [0-9]*/inode/' <<<"$OUT")" 'COMMIT
  inode, 9 bytes: + /moved/a (link)'
status 0 "log of the old path" run log dir/a
is "... until its directory was renamed" \
	"$(sed 's/^2.*, segment [0-9]*, transaction [0-9]*$/COMMIT/; s/inode [0-9]*/inode/' <<<"$OUT")" 'COMMIT
  inode, 9 bytes: M /dir/a (size 4 -> 9, mtime)
COMMIT
  inode, 9 bytes: - /dir/a (link)'
OUT=$(run log --json --stat)
check "log --json --stat: an object a commit" jq -es 'length > 3 and all(.at.segment > 0 and .at.tid > 0 and (.made + .removed + .renamed + .changed) > 0)' <<<"$OUT"

status 0 "find" run find gone
like "... until when" "$OUT" '^/gone: from before the base, until 2.*, segment [0-9]+$'
status 0 "find a pattern" run find 'n?w'
like "... from when" "$OUT" '^/new: from 2.*, segment [0-9]+, there at the end$'
status 0 "find in a directory that was renamed" run find a
like "... its path is the last one" "$OUT" '^/moved/a: from before the base, there at the end$'
status 8 "find what never was" run find nothing
like "... is told" "$OUT" 'nothing: no such name was there in this history'

status 16 "the later moment first" run diff "$(at c)" "$(at a)"
like "... is told" "$OUT" 'the second moment is before the first one, segment [0-9]+, as of 2.*: give the earlier one first'
status 1 "the future" run diff "$(at a)" "@$(($(date +%s) + 3600))"
like "... is refused" "$OUT" 'the last commit in the log is of 2'
status 1 "before the base" run diff @1000000000 now
like "... is refused" "$OUT" 'is too early'
status 16 "one moment" run diff now
status 16 "no moment" run diff tomorrow now
status 16 "a path for find" run find a/b
status 16 "no base" "$RJBACKUP" log
is "nothing is left" "$(ls -A scratch)" ""
check "the base is as it was" cmp base.img good.img
check "unmounted" history_umount
exit 0
