#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjbackup undelete into a folder that another user may write to. The user puts a link in the place
# of the folder that is copied to: nothing gets elsewhere. Ctrl-C, once and again: nothing is left.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/mnt"
history_conf ""
chmod 755 . && mkdir scratch shared outside && chmod 1777 outside && chown nobody shared
undelete() { timeout 120 "$RJBACKUP" undelete --scratch=scratch --base=base.img "$@"; }
# the work of nobody: a link in place of the folder that undelete makes
cat >swap.py <<'EOF'
import os, sys, time
os.chdir("shared")
end = time.time() + 60
while time.time() < end:
    for name in os.listdir("."):
        if name.startswith(".rjbackup-undelete."):
            os.rename(name, "kept")
            os.symlink("../outside", name)
            sys.exit(0)
sys.exit(1)
EOF
check "a volume" history_volume ext4 4096 journal ""
mkdir mnt/project && echo one >mnt/project/passwd && head -c 12M /dev/urandom >mnt/project/large
status 0 "a base" "$RJBACKUP" base -o base.img mnt
sync -f mnt && rm -r mnt/project && sync -f mnt
echo more >mnt/more && sync -f mnt

runuser -u nobody -- python3 swap.py & swap=$!
# the link may be there before the folder is opened: refused then
OUT=$(undelete --to=shared project 2>&1); rc=$?
note "undelete while the folder is changed: status $rc" "$OUT"
check "the folder was changed" wait "$swap"
is "... nothing is copied elsewhere" "$(ls -A outside)" ""
if [ $rc = 0 ]; then
	is "... but to its name there" "$(cat shared/project/passwd)" one
else
	is "... or refused, and nothing is there" "$rc $(ls -A shared | grep -vc '^kept$\|^\.rjbackup')" "8 0"
fi
find shared -mindepth 1 -delete

# two signals, the first one while it copies, to all that a terminal sends them to
interrupted=0 bad=""
for ((n = 0; n < 8; n++)); do
	setsid "$RJBACKUP" undelete --scratch=scratch --base=base.img --to=shared project \
		>said 2>&1 & pid=$!
	for ((i = 0; i < 2000; i++)); do
		compgen -G 'shared/.rj*/project/large' >/dev/null || [ -d shared/project ] && break
		sleep 0.005
	done
	kill -INT -- "-$pid" 2>/dev/null
	sleep "0.0$((n % 4 * 2))"
	kill -INT -- "-$pid" 2>/dev/null
	wait "$pid"; rc=$?
	if ((rc == 8)) && grep -q 'stopped by signal 2' said && [ ! -e shared/project ]; then
		((++interrupted))
	elif ((rc)); then
		bad+="status $rc: $(cat said)"
	fi
	rm -rf shared/project
	bad+=$(ls -A shared scratch | grep -v ':$')
done
note "$interrupted of 8 were interrupted while they copied"
check "Ctrl-C while it copies" test "$interrupted" -gt 0
is "... leaves nothing" "$bad" ""
is "... and no mount" "$(grep -c "$T_DIR/scratch" /proc/mounts)" 0
check "unmounted" history_umount
exit 0
