#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjbackup find and log of paths whose directories change names with each other in one commit, whose
# inode is used again, and that have characters of a pattern.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
history_conf ""
mkdir scratch
run() { local verb=$1; shift; timeout 120 "$RJBACKUP" "$verb" --scratch=scratch --base=base.img "$@"; }
# versions PATH: what log says, without what differs from run to run
versions() { run log "$1" | sed 's/^2.*, segment [0-9]*, transaction [0-9]*$/COMMIT/; s/inode [0-9]*/inode/'; }
# ends NAME: what find says, without its moments
ends() { run find "$1" | sed -E 's/2[-0-9]+ [^,]*, segment [0-9]+/THEN/g; s/2[-0-9]+T[^,]*, segment [0-9]+/THEN/g'; }
for kind in "ext4 4096" "ext3 1024"; do
	rm -f v.img base.img
	check "$kind: a volume" history_volume $kind journal ""
	mkdir mnt/daily.{0,1,2} mnt/again mnt/deep mnt/deep/er && echo in >mnt/deep/er/x
	for i in 0 1 2; do
		echo $i >mnt/daily.$i/f$i && printf "$i%*s" "$i" >mnt/daily.$i/x &&
			touch -d "2020-01-0$((i + 1))" mnt/daily.$i/x
	done
	echo one >'mnt/a[1]' && echo two >'mnt/a\b' && echo three >'mnt/*' && echo other >mnt/a1
	status 0 "$kind: a base" "$RJBACKUP" base -o base.img mnt

	# as rsnapshot does, in one commit; with it a directory below one that is renamed, too
	sync -f mnt && mv mnt/daily.2 mnt/daily.3 && mv mnt/daily.1 mnt/daily.2 &&
		mv mnt/daily.0 mnt/daily.1 && mv mnt/deep/er mnt/out && mv mnt/deep mnt/deeper &&
		sync -f mnt
	is "$kind: find after a rotation: each in its own directory" "$(ends 'f?' | sort)" \
		'/daily.1/f0: from before the base, there at the end
/daily.2/f1: from before the base, there at the end
/daily.3/f2: from before the base, there at the end'
	is "... of one name in each" "$(ends x | sort)" '/daily.1/x: from before the base, there at the end
/daily.2/x: from before the base, there at the end
/daily.3/x: from before the base, there at the end
/out/x: from before the base, there at the end'
	is "$kind: log of a path that is of another file then" "$(versions /daily.1/x)" 'COMMIT
  inode, 1 bytes: M /daily.1/x (replaced, content, size 2 -> 1, mtime)'
	is "... of one that went with its directory" "$(versions /daily.0/x)" 'COMMIT
  inode, 1 bytes: - /daily.0/x (link)'

	rmdir mnt/again && mkdir mnt/again && sync -f mnt
	is "$kind: find of a name that was removed and made again in one commit" "$(ends again)" \
		'/again: from before the base, until THEN
/again: from THEN, there at the end'

	for name in 'a[1]' 'a\b' '*'; do
		echo more >>"mnt/$name" && sync -f mnt
		is "$kind: log of $name: a path, and no pattern" "$(versions "/$name" | tail -n 1)" \
			"  inode, $(stat -c %s "mnt/$name") bytes: M /${name/\\/\\134} (size $(($(stat -c %s "mnt/$name") - 5)) -> $(stat -c %s "mnt/$name"), mtime)"
	done
	# what comes after an unmount that the log does not tell of is not in this history
	check "$kind: unmounted, and mounted" eval 'history_umount && history_mount journal'
	echo late >mnt/late && sync -f mnt && rm mnt/late mnt/a1 && sync -f mnt
	for verb in "log /a1" "find a1" "find late" "undelete -n --to=. /late"; do
		# shellcheck disable=SC2086
		OUT=$(run $verb 2>&1)
		like "$kind: $verb: where the history ends is told" "$OUT" "no later: after segment [0-9]+: "
	done
	check "$kind: unmounted" history_umount
done
exit 0
