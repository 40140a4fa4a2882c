#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjbackup undelete: a file, a pattern, a link and a folder come back as they were last, with all
# that they had; what is there stays; nothing is left after a failure.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
for m in mnt full; do at_exit umount -l "$T_DIR/$m"; done
history_conf ""
mkdir scratch to full
undelete() { timeout 120 "$RJBACKUP" undelete --scratch=scratch --base=base.img "$@"; }
# facts DIR: what a copy has to have, of all below DIR: kind, mode, owner, links, mtime, content
facts() {
	(cd "$1" && find . -mindepth 1 -printf '%p %y %m %U:%G %n %T@ %l\n' | sort
		find . -type f -printf '%p %s\n' | sort
		find . -type f -exec sha256sum {} + | sort
		python3 -c 'import os, sys
for p in sorted(sys.stdin.read().split("\0")[:-1]):
    names = os.listxattr(p, follow_symlinks=False)
    print(p, [(n, os.getxattr(p, n, follow_symlinks=False)) for n in names])' < <(find . -print0))
}
# xattr FILE: one in the inode, and one that needs a block
xattr() { python3 -c 'import os, sys
os.setxattr(sys.argv[1], "user.k", b"short")
os.setxattr(sys.argv[1], "user.long", b"x" * 700)' "$1"; }
for kind in "ext4 4096" "ext3 1024"; do
	rm -rf v.img base.img to/*
	check "$kind: a volume" history_volume $kind journal ""
	mkdir mnt/keep && echo before >mnt/old
	status 0 "$kind: a base" "$RJBACKUP" base -o base.img mnt
	# a folder with all kinds of files
	(cd mnt && mkdir -p project/sub && echo one >project/a && ln project/a project/sub/hard &&
		ln -s ../a project/sub/soft && mkfifo project/pipe &&
		truncate -s 3M project/sparse &&
		echo end >>project/sparse && xattr project/a && chown 1234:70000 project/a &&
		chmod 640 project/sub/hard && touch -d 2001-02-03 project/sub &&
		printf 'x%.0s' {1..9000} >"project/höhe *[1]" && echo v1 >report.txt && echo n >notes.txt &&
		sync -f . && echo v2 >report.txt && sync -f .) || exit 99
	sleep 0.05 && date +@%s.%N >v2.time && sleep 0.05
	facts mnt/project >project.facts
	# removed as rm does, by commits of its own; then other work
	for f in project/sub/soft project/a project report.txt notes.txt old; do
		rm -r "mnt/$f" && sync -f mnt
	done
	"$WORK" ops mnt 1 200 >/dev/null && sync -f mnt

	status 0 "$kind: -n" undelete -n --to=to /report.txt
	like "... says when and where" "$OUT" \
		'^/report.txt: file of 3 bytes, as of 2.*, segment [0-9]+, would be copied to to$'
	is "... and copies nothing" "$(ls -A to)" ""
	status 0 "$kind: a file" undelete --to=to report.txt
	is "... as it was last" "$(cat to/report.txt)" v2
	like "... told" "$OUT" '^/report.txt: file of 3 bytes, .* copied to to$'
	status 0 "$kind: a folder" undelete --to=to /project/
	facts to/project >found.facts
	check "... with all that was below it before its removal began" \
		diff project.facts found.facts
	check "... holes stay holes" test "$(stat -c %b to/project/sparse)" -lt 100
	echo mine >to/old
	status 8 "$kind: what is there" undelete --to=to old
	like "... stays, and a way on is named" "$OUT" 'to/old: there is one, which stays as it is: name another folder with --to'
	is "... as it is" "$(cat to/old)" mine
	rm -r to/* && status 0 "$kind: a pattern" undelete --to=to '/*.txt'
	is "... of two moments" "$(cd to && cat notes.txt report.txt)" "n
v2"
	rm to/* && status 0 "$kind: --at" undelete --to=to --at="$(cat v2.time)" '/proj*/sub/h*'
	is "... of a file with another name" "$(cat to/hard; stat -c '%u:%g %a' to/hard)" "one
1234:70000 640"
	rm to/* && status 0 "$kind: --before, while it is there" undelete --to=to --before="$(cat v2.time)" old
	is "... is that moment" "$(cat to/old)" before
	OUT=$(undelete -n --json --to=to project)
	check "$kind: JSON" jq -e '.path == "/project" and .at.segment > 0 and .to == "to"' <<<"$OUT"
	status 1 "$kind: what is there still" undelete keep
	like "... is told" "$OUT" "/keep: it is there at the end of the log: name an earlier moment with --at, or --before"
	status 8 "$kind: what never was" undelete nothing
	like "... is told" "$OUT" "/nothing: no such path was there in this history"
	status 8 "$kind: a folder to copy to that is not there" undelete --to=nowhere report.txt
	like "... is named" "$OUT" "nowhere: cannot copy there: No such file"
	check "$kind: a small file system" mount -t tmpfs -o size=16k none full
	status 8 "$kind: a folder to copy to that is full" undelete --to=full project
	like "... is told" "$OUT" 'cp ended with status 1: see above; nothing was copied: name another folder'
	is "... and nothing is left there" "$(ls -A full)" ""
	umount full
	status 16 "$kind: both moments" undelete --at=now --before=-1h --at=-2h x
	is "$kind: nothing is left" "$(ls -A scratch; ls -A to)" old
	history_umount || exit 99
done
exit 0
