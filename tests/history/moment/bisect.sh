#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjbackup mount --writable: clones of a moment, several at once, that are written to and are gone
# after umount; the base stays as it is. rjbackup bisect: the first commit at which a
# command fails, of an application that broke its own file, and of a deleted one.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
for m in mnt one two; do at_exit umount -l "$T_DIR/$m"; done
history_conf ""
mkdir scratch one two
BASE=$T_DIR/base.img
clone() { timeout 120 "$RJBACKUP" mount --writable --scratch=scratch --at="$1" --base="$BASE" "$2"; }
search() { timeout 300 "$RJBACKUP" bisect --scratch=scratch --base="$BASE" "$@"; }
servers() { pgrep -f "rjbackup (mount|bisect) .*--base=$BASE"; }
none() { ! servers; }
# the application: 40 records, each with its sum; from the 29th on the sum is wrong
record() { # N
	local sum; sum=$(printf '%s' "$1" | cksum)
	[ "$1" -lt 29 ] || sum="0 0"
	echo "$1 $sum" >>mnt/records && sync mnt/records
}
cat >whole <<'END'
cd "$1" || exit 9
while read -r n sum len; do [ "$(printf %s "$n" | cksum)" = "$sum $len" ] || exit 1; done <records
echo seen >>records
END
for kind in "ext4 4096" "ext3 1024"; do
	rm -rf v.img base.img
	check "$kind: a volume" history_volume $kind journal ""
	"$WORK" ops mnt 1 200 >/dev/null
	status 0 "$kind: a base" "$RJBACKUP" base -o "$BASE" mnt
	cp --sparse=always base.img good.img
	record 0 && echo here >mnt/wanted && sync -f mnt
	check "$kind: the good moment" mark start
	for ((i = 1; i < 40; i++)); do
		record $i
		[ $i != 28 ] || { check "$kind: before it broke" mark before; }
		[ $i != 11 ] || rm mnt/wanted
	done
	sync -f mnt && check "$kind: the end" mark end

	status 0 "$kind: a clone" clone "$(cat before.time)" one
	status 0 "$kind: another one" clone "segment:$(cat end.segment)" two
	like "... and told" "$OUT" "^two: a writable clone as of 2.*, segment [0-9]+"
	check "$kind: it is written to" eval 'echo more >>one/records && rm -rf one/d* && fsynced one 20 sums'
	check "... as long as it is mounted" eval '(cd one && sha256sum --quiet -c ../sums)'
	is "$kind: each has its own" "$(wc -l <one/records) $(wc -l <two/records)" "30 40"
	status 1 "$kind: its program finds what is broken" bash whole two
	umount one && umount two
	check "$kind: nothing is left of them" wait_for 60 none
	is "... no file" "$(ls scratch)" ""
	check "... the base is as it was" cmp base.img good.img

	OUT=$(search --json --good="$(cat start.time)" --exec='bash whole "$1"' 2>err)
	is "$kind: bisect ends" $? 0
	bad=$(jq -r .bad.segment <<<"$OUT") good=$(jq -r .good.segment <<<"$OUT")
	is "$kind: between two segments" $((bad - good)) 1
	check "$kind: in few steps" test "$(jq .steps <<<"$OUT")" -le 12
	note "$OUT"
	clone "segment:$bad" one >/dev/null && clone "segment:$good" two >/dev/null
	is "$kind: the first bad one has the record that broke it" "$(tail -n 1 one/records)" "29 0 0"
	is "$kind: the one before has not" "$(tail -n 1 two/records | cut -d' ' -f1)" 28
	umount one && umount two && wait_for 60 none || exit 99
	OUT=$(search --good="$(cat start.time)" --bad="$(cat before.time)" --exec='[ -e "$1/wanted" ]' 2>err)
	is "$kind: when a file went" $? 0
	like "... told" "$OUT" '^first bad: segment [0-9]+, transaction [0-9]+, as of 2.*'
	bad=$(sed -n 's/^first bad: segment \([0-9]*\).*/\1/p' <<<"$OUT")
	clone "segment:$((bad - 1))" one >/dev/null && clone "segment:$bad" two >/dev/null
	is "$kind: there it was" "$(cat one/wanted; ls two/wanted 2>/dev/null)" here
	umount one && umount two && wait_for 60 none || exit 99
	like "$kind: each step is told" "$(cat err)" '^segment [0-9]+, as of 2.*: good'

	status 1 "$kind: a good moment that is not" search --good="segment:$(cat end.segment)" --exec='bash whole "$1"'
	like "... and said" "$OUT" 'at the good moment: name an earlier one'
	status 1 "$kind: a bad moment that is not" search --good="$(cat start.time)" --exec=true
	like "... and said" "$OUT" 'at the bad moment: name a later one'
	status 1 "$kind: between two that are known nothing can be judged" search --good="$(cat start.time)" \
		--exec='case $(wc -l <"$1/records") in 1) exit 0 ;; 40) exit 1 ;; *) exit 125 ;; esac'
	like "... and said" "$OUT" 'no moment after segment [0-9]+ and before segment [0-9]+ can be judged'
	status 16 "$kind: no good moment" search --exec=true
	check "$kind: nothing is left" wait_for 60 none
	is "... no folder" "$(ls scratch)" ""
	check "... the base is as it was" cmp base.img good.img
	history_umount || exit 99
done
