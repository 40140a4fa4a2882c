#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjctl journal-data on: a program replaces a file, or opens it for writing, while rjctl copies it
# and exchanges the names. What that program wrote is what the name has, and is never removed.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh" || exit 99
need_root
[ -c /dev/loop-control ] || skip_all "no loop devices"
cd "$T_DIR" || exit 99
export ASAN_OPTIONS=detect_leaks=0 # of a process that strace traces
RJCTL=$RJ_BUILD/rjctl/rjctl
if [ -x "$RJ_BUILD/rjctl/.libs/rjctl" ]; then # the calls of libtool's script do not count
	RJCTL=$RJ_BUILD/rjctl/.libs/rjctl
	export LD_LIBRARY_PATH=$RJ_BUILD/lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
scenes="copying unlinked exact twice after writer signal"
mkdir mnt bin
for d in $scenes quiet; do
	mkdir -p "tree/$d" && echo old >"tree/$d/conf"
done
mke2fs -q -F -t ext4 -d tree v.img 48M >/dev/null || exit 99
# what is made there from now on has the flag, with no need for CAP_SYS_RESOURCE
for d in $scenes quiet; do
	debugfs -w -R "set_inode_field $d flags 0x84000" v.img 2>/dev/null || exit 99
done
loop_over v.img && mount -o nodelalloc "$DEV" mnt || exit 99
at_exit umount -l "$T_DIR/mnt"

on() { "$RJCTL" journal-data on "mnt/$1"; }
save() { # SCENE TEXT: as a program does that keeps its file whole
	echo "$2" >"mnt/$1/conf.tmp" && sync "mnt/$1/conf.tmp" && mv "mnt/$1/conf.tmp" "mnt/$1/conf"
}
kept() { # SCENE TEXT: rjctl said no, and the name has TEXT and is the only one
	is "... is not taken for done" "$?" 1
	like "... is told" "$(cat "$1.out")" "mnt/$1/conf: a process opened it for writing or replaced it"
	is "... the name has what was written last" "$(cat "mnt/$1/conf")" "$2"
	is "... and nothing else is there" "$(ls -A "mnt/$1")" conf
}

# ---- while cp runs ----
cat >bin/cp <<'END'
#!/bin/bash
PATH=${PATH#*:}
cp "$@" || exit
eval "$WHILE_COPYING"
END
chmod +x bin/cp
export -f save
WHILE_COPYING='save copying new' PATH=$T_DIR/bin:$PATH on copying >copying.out 2>&1
kept copying new
WHILE_COPYING='rm mnt/unlinked/conf; echo new >mnt/unlinked/conf' \
	PATH=$T_DIR/bin:$PATH on unlinked >unlinked.out 2>&1
kept unlinked new

# ---- stopped between two calls of the exchange ----
trace=(strace -q -e "trace=fcntl,renameat2")
status 0 "nobody disturbs" "${trace[@]}" -o quiet.trace "$RJCTL" journal-data on mnt/quiet
[ -s quiet.trace ] || skip_all "no ptrace here"
is "... the copy has the flag" "$(lsattr mnt/quiet/conf | grep -o 'j')" j
# the last call before the exchange
look=$(grep fcntl quiet.trace | grep -n F_GETLEASE | sed -n '1s/:.*//p')
begin() { # SCENE CALL:when=N...: rjctl, stopped after each of these calls
	local scene=$1 call stops=(); shift
	for call; do stops+=(-e "inject=${call%%:*}:signal=STOP:${call#*:}"); done
	"${trace[@]}" -o "$scene.trace" "${stops[@]}" "$RJCTL" journal-data on "mnt/$scene" >"$scene.out" 2>&1 &
	tracer=$!
	kill_at_end "$tracer"
	stopped "$scene" 1
}
stopped() { # SCENE N: it has stopped N times
	check "$1: stopped ($2)" wait_for 60 eval "[ \$(grep -c 'stopped by SIGSTOP' $1.trace) = $2 ]"
	traced=$(pgrep -P "$tracer") || exit 99
}
go_on() { kill -CONT "$traced"; }
end() { go_on; wait "$tracer"; }

begin exact "fcntl:when=$look"
save exact new
end
kept exact new

begin twice "fcntl:when=$look" "renameat2:when=1"
save twice new
go_on
stopped twice 2
is "a wrong exchange" "$(cat mnt/twice/conf)" old
save twice newer
end
is "... is not taken for done" "$?" 1
is "... the name has what was written last" "$(cat mnt/twice/conf)" newer
left=$(find mnt/twice -name '.rjctl*')
is "... what that replaced is kept" "$(cat "$left")" new
like "... and named" "$(cat twice.out)" "replaced it; .*the file that was there before is $left\$"

begin after "renameat2:when=1"
save after new
end
kept after new

begin writer "renameat2:when=1"
number=$(stat -c %i mnt/writer/.rjctl*)
echo more >>"$(echo mnt/writer/.rjctl*)" &
check "a program waits for the old file" wait_for 60 grep -q "BREAKING.* $number:\|BREAKING.*:$number " /proc/locks
go_on
wait "$tracer"
status=$?
wait $!
(exit $status)
kept writer $'old\nmore'
is "... in the old file" "$(stat -c %i mnt/writer/conf)" "$number"

begin signal "renameat2:when=1"
kill -TERM "$traced"
end
check "a signal between the exchange and its end ends rjctl" test $? -gt 128
is "... with the copy in place" "$(lsattr mnt/signal/conf | grep -o 'j')" j
is "... and no other name" "$(ls -A mnt/signal)" conf
exit 0
