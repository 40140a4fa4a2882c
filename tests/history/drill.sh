#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjbackup drill: a moment is restored, checked, mounted, compared and removed; what is
# wrong with it is told; nothing is left, also after a signal.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh" || exit 99
. "$RJ_SRC/tests/history/run.sh" || exit 99
need_fuse_loop
cd "$T_DIR" || exit 99
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
history_conf ""
mkdir scratch
drill() { timeout 120 "$RJBACKUP" drill --scratch=scratch --base=base.img "$@"; }
# nothing_left NAME: no file, no loop device, no process
nothing_left() {
	is "$1: no file is left" "$(ls scratch)" ""
	check "$1: no loop device is left" wait_for 60 no_loop
}
no_loop() { ! losetup -n -l -O BACK-FILE | grep -q "$T_DIR/scratch/"; }

check "a volume" history_volume ext4 4096 journal ""
status 0 "a base" "$RJBACKUP" base -o base.img mnt
check "work" "$WORK" ops mnt 1 300
mkdir mnt/folder && echo inside >mnt/folder/file && echo one >mnt/same && ln -s same mnt/link
sync -f mnt && sleep 0.05
mv mnt/folder mnt/moved && sync -f mnt && sleep 0.05 && date +@%s.%N >moved.time && sleep 0.05
echo two >mnt/newer && sync -f mnt

status 0 "the latest moment, compared" drill --compare=mnt
like "... is told" "$OUT" "^base.img: ok: restored as of 2.*, segment [0-9]+, [0-9]+ bytes$"
like "... and files are the same" "$OUT" "compared: [0-9]{2,} the same, 0 differ"
like "... its age" "$OUT" "RPO: [0-9.]+ s"
nothing_left "the latest"
status 0 "a moment before, without what is newer" drill --at="$(cat moved.time)" --compare=mnt \
	--exec='test ! -e "$1/newer" && grep -q inside "$1/moved/file"'
status 0 "a random moment" drill --at=random --compare=mnt
OUT=$(drill --json --compare=mnt --exec='echo noise' 2>/dev/null)
check "JSON, and nothing else on stdout" python3 -c 'import json, sys
d = json.loads(sys.argv[1])
assert d["ok"] and d["same"] > 3 and d["exec_status"] == 0
assert d["rpo_seconds"] > 0 and d["rto_seconds"] > 0 and d["bytes"] > 0' "$OUT"

# ---- what fails ----
status 4 "a command that fails" drill --exec='exit 3'
like "... is told" "$OUT" "the command ended with status 3: exit 3$"
status 4 "it is mounted read-only" drill --exec='touch "$1/new"'
# a base with another byte: what the log does not mend is found
printf "needle%.0s" {1..200} >mnt/needle && sync -f mnt
# what was before this mount is in the base only
check "mounted again" eval 'history_umount && history_mount journal && echo 1 >mnt/again'
rm base.img && status 0 "a newer base" "$RJBACKUP" base -o base.img mnt
echo more >mnt/more && sync -f mnt && echo more >>mnt/more && sync -f mnt
cp base.img good.img
at=$(LC_ALL=C grep -abo needleneedle base.img | head -n 1 | cut -d: -f1)
check "a byte of the base is made another one, at $at" flip base.img "$at"
status 4 "that is found" drill --compare=mnt
like "... and its file is named" "$OUT" "differs: mnt/needle: content$"
nothing_left "after failures"

# ---- a signal ----
"$RJBACKUP" drill --scratch=scratch --base=good.img \
	--exec='echo $$ >started; sleep 600' >signal.out 2>&1 &
pid=$!
check "a drill that takes long" wait_for 60 test -s started
kill -TERM "$pid"
check "... ends by SIGTERM" wait_for 60 gone "$pid"
check "... with its command" wait_for 60 gone "$(cat started)"
like "... and says so" "$(cat signal.out)" "stopped by signal 15"
nothing_left "after SIGTERM"
status 16 "--compare is for drill" "$RJBACKUP" restore --compare=mnt --base=base.img -o r.img
check "unmounted" history_umount
exit 0
