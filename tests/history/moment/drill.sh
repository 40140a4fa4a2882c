#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjbackup drill: a moment is restored, checked, mounted, compared and removed; what is
# wrong with it is told, and noted for rjctl and Prometheus; nothing else is left, also after
# a signal.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
history_conf ""
mkdir scratch
RJCTL=$RJ_BUILD/rjctl/rjctl
drill() { timeout 120 "$RJBACKUP" drill --scratch=scratch --base=base.img "$@"; }
# nothing_left NAME: no file, no loop device, no process
nothing_left() {
	is "$1: no file is left" "$(ls scratch)" ""
	check "$1: no loop device is left" wait_for 60 no_loop
}
# told STATUS TEXT: what rjctl status and rjctl check say of the drill
told() {
	like "... rjctl status: $2" "$("$RJCTL" status mnt)" "^  drill         $2"
	status "$1" "... rjctl check" "$RJCTL" check mnt
	[ "$1" = 0 ] || like "... says why" "$OUT" "^RJPROGS WARNING: mnt: drill: ${2%$} \\|"
}
# the numbers of the drills that the server has of the volume
at_store() {
	local http=http://${SRV_URL#rj://}
	curl -s "$http/$(curl -s "$http/status" | jq -r '.volumes[0] | "\(.name)/\(.journal)"')/drill/"
}
noted() { jq -e "$1" drill/*.json; }
# note FILTER: the note becomes another one
note_is() { jq "$1" drill/*.json >note.new && cat note.new >"$(echo drill/*.json)"; }
no_loop() { ! losetup -n -l -O BACK-FILE | grep -q "$T_DIR/scratch/"; }

check "a volume" history_volume ext4 4096 journal ""
is "rjctl status: nothing of a drill without a base" "$("$RJCTL" status mnt | grep drill)" ""
# committed while the base is made: the time of its first moment is known
echo before >mnt/before
status 0 "a base" "$RJBACKUP" base -o base.img mnt
told 0 "never verified, base of 2.* \(0 min ago\)"
check "the base is old" note_is '.base_made -= 9 * 86400'
told 1 "never verified, base of 2.* \(9 d ago\)"
check "work" "$WORK" ops mnt 1 300
mkdir mnt/folder && echo inside >mnt/folder/file && echo one >mnt/same && ln -s same mnt/link
sync -f mnt && sleep 0.05
mv mnt/folder mnt/moved && sync -f mnt && sleep 0.05 && date +@%s.%N >moved.time && sleep 0.05
echo two >mnt/newer && sync -f mnt

status 0 "the latest moment, compared" drill --compare=mnt
like "... is told" "$OUT" "^base.img: ok: restored as of 2.*, segment [0-9]+, [0-9]+ bytes$"
like "... and files are the same" "$OUT" "compared: [0-9]{2,} the same, 0 differ"
like "... nothing would be lost" "$OUT" "RPO: 0.00 s, as the log has nothing that is later$"
nothing_left "the latest"
told 0 "verified at 2.* \(0 min ago\)$"
check "... the note has it all" noted ".base == \"$T_DIR/base.img\" and
	(.url | startswith(\"rj://\")) and .last_success == .last_attempt and .segment > 0 and
	.commit_ns == .latest_ns and .latest_ns > .earliest_ns and .earliest_ns > 0 and
	(has(\"rpo_ns\") | not) and .rto_ns > 0 and .bytes > 0 and (has(\"error\") | not)"
at_store >first
like "... the server has it" "$(cat first)" "^000000000017[0-9]{8}\b"
sleep 1.1 # the name there is the time, in seconds
status 0 "another drill" drill
check "... takes the place of the first" test "$(at_store | wc -l)" = 1 -a "$(at_store)" ">" "$(cat first)"
check "the drill is old" note_is '.last_success -= 9 * 86400'
told 1 "stale, verified at 2.* \(9 d ago\)$"
is "... in JSON" "$("$RJCTL" status --json mnt | jq -c '.drill | [.state, .well, .age_seconds >= 777600]')" \
	'["stale",false,true]'
status 0 "a folder with a slash at its end" drill --compare=mnt/
like "... is the same one" "$OUT" "compared: [0-9]{2,} the same, 0 differ"
ln -s mnt to-mnt
status 0 "a link to it" drill --compare=to-mnt
like "... is the same one" "$OUT" "compared: [0-9]{2,} the same, 0 differ"
mkdir other
status 8 "another folder, newer than the moment" drill --compare=other
like "... is told" "$OUT" "other: is not where the volume is mounted"
status 0 "a moment before, without what is newer" drill --at="$(cat moved.time)" --compare=mnt \
	--exec='test ! -e "$1/newer" && grep -q inside "$1/moved/file"'
like "... its age" "$OUT" "RPO: [0-9.]*[1-9][0-9.]* s, the age of that commit"
status 0 "a random moment, for Prometheus" drill --at=random --metrics=drill.prom
like "... its metrics" "$(cat drill.prom)" \
	"^rjbackup_drill_success\{volume=\"[0-9a-f-]{36}\",base=\"$T_DIR/base.img\"\} 1$"
is "... all of them" \
	"$(sed -n 's/^rjbackup_drill_\([a-z_]*\){.*} [0-9.]*[1-9][0-9.]*$/\1/p' drill.prom | xargs)" \
	"success last_attempt_timestamp_seconds last_success_timestamp_seconds rpo_seconds rto_seconds bytes window_seconds"
is "... for all to read, and no other file" "$(stat -c %a drill.prom*)" 644
OUT=$(drill --json --compare=mnt --exec='echo noise' 2>/dev/null)
check "JSON, and nothing else on stdout" python3 -c 'import json, sys
d = json.loads(sys.argv[1])
assert d["ok"] and d["same"] > 3 and d["exec_status"] == 0
assert d["rpo_seconds"] == 0 and d["rto_seconds"] > 0 and d["bytes"] > 0' "$OUT"

# ---- what fails ----
# all that is there changes: the root, too, and there is a commit after that
sync -f mnt && sleep 0.05 && date +@%s.%N >before.time && sleep 0.05
find mnt -exec touch -h {} + && sync -f mnt && sleep 0.05 && touch mnt/newer && sync -f mnt
status 1 "where nothing is left to compare" drill --at="$(cat before.time)" --compare=mnt
like "... nothing is proved" "$OUT" "^rjbackup: --compare=mnt: nothing was compared: all [0-9]{2,} files there have changed since"
told 1 "failed at 2.*, verified at 2.*: --compare=mnt: nothing was compared: .*: restore a later one$"
status 0 "... without a comparison it is good" drill --at="$(cat before.time)"
status 4 "a command that fails" drill --exec='exit 3'
like "... is told" "$OUT" "the command ended with status 3: exit 3$"
told 1 "failed at 2.* \(0 min ago\), verified at 2.*: the command ended with status 3: exit 3$"
mv base.img away.img
status 8 "a base that is gone" drill --metrics=drill.prom
told 1 "failed at 2.*: .*base.img: .*No such file or directory"
like "... for Prometheus" "$(cat drill.prom)" "^rjbackup_drill_success\{volume=\"[0-9a-f-]{36}\",.* 0$"
like "... with the last success" "$(cat drill.prom)" "^rjbackup_drill_bytes\{.* [1-9]"
mv away.img base.img
status 8 "metrics that cannot be written" drill --metrics=nowhere/drill.prom
like "... are an error" "$OUT" "rjbackup: nowhere/drill.prom.tmp: cannot create: No such file"
note=$(echo drill/*.json) && mv "$note" note.json && ln -s "$T_DIR/note.json" "$note"
status 3 "a link for a note is not followed" "$RJCTL" check mnt
like "... and said" "$OUT" "UNKNOWN: mnt: drill: .*json: Too many levels of symbolic links"
status 0 "... and replaced" drill
told 0 "verified at"
check "... not written to" test "$(jq .last_success note.json)" != null -a ! -L "$(echo drill/*.json)"
status 4 "it is mounted read-only" drill --exec='touch "$1/new"'
# the first moment of a base has another commit before it, also where the journal was emptied
check "frozen, and thawed" eval 'fsfreeze -f mnt && fsfreeze -u mnt'
status 0 "a base, and nothing is committed since" "$RJBACKUP" base -o idle.img mnt
status 0 "... it can be compared" drill --compare=mnt --base=idle.img
like "... with all that is there" "$OUT" "compared: [0-9]{2,} the same, 0 differ"
# a base with another byte: what the log does not mend is found
printf "needle%.0s" {1..200} >mnt/needle && sync -f mnt
mkdir mnt/sub && echo a >mnt/sub/attr && echo b >mnt/sub/lost && echo c >mnt/sub/acl &&
	echo d >mnt/sub/hard && ln mnt/sub/hard mnt/sub/link && mknod mnt/sub/node c 1 3
# a value that is longer than a block, and one of each kind; user 1000 may write
python3 -c 'import os, struct
os.setxattr("mnt/sub/attr", "user.long", b"x" * 3000)
os.setxattr("mnt/sub/attr", "trusted.a", b"live")
os.setxattr("mnt/sub/lost", "security.a", b"live")
os.setxattr("mnt/sub/acl", "system.posix_acl_access", struct.pack("<I" + "HHI" * 5, 2,
	1, 6, 2**32 - 1, 2, 6, 1000, 4, 4, 2**32 - 1, 16, 6, 2**32 - 1, 32, 4, 2**32 - 1))'
# what is logged later shares no block with them
touch mnt/sub/last{1..40} && sync -f mnt
# what was before this mount is in the base only
check "mounted again" eval 'history_umount && history_mount journal && echo 1 >mnt/again'
rm base.img && status 0 "a newer base" "$RJBACKUP" base -o base.img mnt
echo more >mnt/more && sync -f mnt && echo more >>mnt/more && sync -f mnt
cp base.img good.img
at=$(LC_ALL=C grep -abo needleneedle base.img | head -n 1 | cut -d: -f1)
check "a byte of the base is made another one, at $at" flip base.img "$at"
# a base is not whole: its bitmaps and descriptors may be of different moments
debugfs -n -w -f /dev/stdin base.img >debugfs.out 2>&1 <<'END'
ea_set /sub/attr trusted.a base
ea_rm /sub/lost security.a
ea_rm /sub/acl system.posix_acl_access
ea_set /sub/last1 user.a base
ln /sub/hard /sub/other
sif /sub/hard links_count 3
sif /sub/node block[0] 0x0105
END
status 4 "that is found" drill --compare=mnt
like "... and its file is named" "$OUT" "differs: mnt/needle: content$"
for differs in "attr: extended attribute trusted.a" "lost: extended attribute security.a" \
	"acl: extended attribute system.posix_acl_access" "hard: number of links" \
	"link: number of links" "node: device number" "last1: extended attribute user.a"; do
	like "... so is sub/$differs" "$OUT" "differs: mnt/sub/$differs$"
done
is "... and no other" "$(grep -c differs: <<<"$OUT")" 8
nothing_left "after failures"

# ---- a signal ----
"$RJBACKUP" drill --scratch=scratch --base=good.img \
	--exec="echo >started; sleep 600.$$" >signal.out 2>&1 &
pid=$!
check "a drill that takes long" wait_for 60 pgrep -fx "sleep 600.$$"
kill -TERM "$pid"
check "... ends by SIGTERM" wait_for 60 gone "$pid"
check "... with its command" eval '! pgrep -fx "sleep 600.$$"'
like "... and says so" "$(cat signal.out)" "stopped by signal 15"
check "... which is no result" noted '.error | test("differ")'
nothing_left "after SIGTERM"
mkdir stub && printf '#!/bin/sh\nexit 8\n' >stub/e2fsck && chmod +x stub/e2fsck
PATH=$T_DIR/stub:$PATH status 8 "an e2fsck that cannot look is no damage" \
	"$RJBACKUP" drill --scratch=scratch --base=good.img
like "... is told" "$OUT" "e2fsck -fn could not check it: an operational error \(status 8\)$"
nothing_left "e2fsck fails"
# ---- what is unmounted while it runs ----
# where the mounts of the system are shared, as systemd makes them
cat >shared.sh <<'END'
mount --make-rshared / || exit 99
mount -o loop other.img other || exit 98
timeout 120 "$1" drill --scratch=scratch --base=good.img \
	--exec='touch looking; until [ -e looked ]; do sleep 0.05; done' >shared.out 2>&1 &
for ((i = 0; i < 1200; i++)); do [ ! -e looking ] || break; sleep 0.05; done
loop=$(findmnt -no SOURCE other)
umount other || exit 97
kept() { losetup "$loop" 2>/dev/null | grep -qF "$PWD/other.img"; }
for ((i = 0; i < 100; i++)); do kept || break; sleep 0.05; done
kept && failed=96
touch looked && wait
exit ${failed:-0}
END
truncate -s 8M other.img && mke2fs -q -F other.img
status 0 "another volume is unmounted, and its device is let go, while a drill looks" \
	elsewhere bash shared.sh "$RJBACKUP"
like "... and the drill is good" "$(cat shared.out)" "good.img: ok: "
rm -r drill && echo >drill
status 8 "a note that cannot be kept" "$RJBACKUP" drill --scratch=scratch --base=good.img
like "... is an error" "$OUT" "rjbackup: $T_DIR/drill.*: Not a directory"
before=$($LIMIT "$RJ_BUILD/rjctl/rjctl" status mnt | grep drill)
status 16 "--compare of a folder that is not there: refused before the work" drill --compare=nowhere
like "... named" "$OUT" 'nowhere'
is "... and not noted" "$($LIMIT "$RJ_BUILD/rjctl/rjctl" status mnt | grep drill)" "$before"
status 16 "--compare is for drill" "$RJBACKUP" restore --compare=mnt --base=base.img -o r.img
check "unmounted" history_umount
exit 0
