#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjtune on a volume with a fallback file: moves and a new UUID take the file
# along or remove it; one that holds what is needed is never removed.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
rjtune=$RJ_BUILD/rjtune/rjtune
img=$T_DIR/v.img mnt=$T_DIR/mnt FSTYPE=ext4
mkdir "$T_DIR"/{one,two}
first=$T_DIR/one/f second=$T_DIR/two/f
start_server "$T_DIR/srv" || exit 99
A=$SRV_URL/a B=$SRV_URL/b C=$SRV_URL/c D=$SRV_URL/d
printf '[%s]\nloss_timeout = 1\n' "$SRV_URL" >"$RJ_CONF"
chmod 600 "$RJ_CONF"

mode() { $LIMIT "$RJCTL" status --json "$img" | grep -q "\"mode\":\"$1\""; }
files() { (cd "$T_DIR" && find one two -type f | sort | xargs); }
degraded_file() { # NAME: a file that only the fallback knows of
	serve "$img" && mount_served "$img" "$mnt" || return 1
	kill_pid "$SRV_PID"
	put_file "$mnt/$1" && wait_for 30 mode degraded
}
unmount_and_stop() {
	(cd "$mnt" && sha256sum [a-z].*) >"$T_DIR/sums"
	$LIMIT umount "$mnt" && kill -TERM "$DPID" && wait_for 60 gone "$DPID"
}
works() { # LETTER: it is served, degraded and stopped; the store comes back
	degraded_file "$1.file" && unmount_and_stop &&
		start_server "$T_DIR/srv" "$SRV_PORT" && serve "$img" &&
		mount_served "$img" "$mnt" &&
		(cd "$mnt" && sha256sum --quiet -c "$T_DIR/sums") && unmount_and_stop
}

volume "$img" ext4 1024 "$A" "fallback=$first,fallback_size=40" || exit 99
status 0 "remote to remote, another file" "$rjtune" -J "remote=$B,size=4,fallback=$second,fallback_size=40" "$img"
is "the old file is gone, the new one there" "$(files)" "two/f"
like "and the volume says so" "$("$rjtune" -l "$img")" "allback.*$second"
check "it works" works a
status 0 "remote to remote, the same file" "$rjtune" -J "remote=$C,size=4,fallback=$second,fallback_size=40" "$img"
is "one file" "$(files)" "two/f"
status 0 "a new UUID" "$rjtune" -U random "$img"
check "the file goes along: it works" works b
status 0 "to internal" "$rjtune" -J size=4 "$img"
is "no file is left" "$(files)" ""
status 0 "and back" "$rjtune" -J "remote=$D,size=4,fallback=$first,fallback_size=40" "$img"
is "with its file" "$(files)" "one/f"

# ---- cut off when the new file is in the old one's place: the volume keeps its log, and works ----
big=$T_DIR/big.img third=$T_DIR/three.f
truncate -s 64M "$big"
"$MKRJFS" -q -F -t ext4 -b 1024 -J "remote=$SRV_URL/e,size=4,fallback=$third,fallback_size=40" \
	"$big" || exit 99
# the process is killed when it writes to a file beyond KIB
cut() { # KIB RJTUNE-ARGUMENT...
	{ (ulimit -f "$1"; exec "$rjtune" "${@:2}" "$big"); } >/dev/null 2>&1
}
taken_back() { # WHAT
	like "$1: under way" "$("$rjtune" -l "$big")" "^Move under way: +yes"
	status 0 "$1: taken back" "$rjtune" --resume "$big"
	check "$1: the volume is served" serve "$big"
	check "$1: and stopped" eval 'kill -TERM "$DPID" && wait_for 60 gone "$DPID"'
	check "$1: with a file of its own" eval '[ -s "$third" ] || [ -b "$third" ]'
}
to=remote=$SRV_URL/g,size=4,fallback=$third,fallback_size=40
cut 36000 -J "$to"
taken_back "while the file is made"
cut 45000 -J "$to" # a backup superblock lies beyond that
check "the file was there" test "$(stat -c %s "$third")" = 41943040
taken_back "after that"
cut 36000 -U random
taken_back "a new UUID"
status 0 "the same moves, not cut off" "$rjtune" -J "$to" "$big"
check "and it is served" serve "$big"
check "and stopped" eval 'kill -TERM "$DPID" && wait_for 60 gone "$DPID"'

# ---- the same on a block device, which cannot be removed ----
truncate -s 44M "$T_DIR/disk"
loop_over "$T_DIR/disk" || exit 99
third=$DEV
local_conf "$T_DIR" "$DEV"
to=remote=$SRV_URL/h,size=4,fallback=$DEV
status 0 "to a block device" "$rjtune" -J "$to" "$big"
status 0 "a new UUID" "$rjtune" -U random "$big"
check "it is served" serve "$big"
check "and stopped" eval 'kill -TERM "$DPID" && wait_for 60 gone "$DPID"'
cut 45000 -J "remote=$SRV_URL/i,size=4,fallback=$DEV"
taken_back "on a block device"
local_conf "$T_DIR"

# ---- segments that only the file has ----
check "stopped while degraded" eval 'degraded_file d.file && unmount_and_stop'
cp --sparse=always "$img" "$T_DIR/before.img"
sha256sum "$first" >"$T_DIR/file"
for to in size=4 "remote=file://$T_DIR/two,size=4"; do
	status 4 "the store is away: not moved to ${to%%=*}" "$rjtune" -J "$to" "$img"
	like "and why" "$OUT" 'fallback file holds what the store .* does not have; run rjrecover'
done
status 4 "nor a new UUID" "$rjtune" -U random "$img"
status 5 "nor with -y" "$rjtune" -y -J size=4 "$img"
check "the volume is as it was" cmp "$img" "$T_DIR/before.img"
check "and so is the file" sha256sum --quiet -c "$T_DIR/file"
# the store never comes back: the volume is clean, and there is a way on
status 0 "rjrecover has nothing to do" "$RJRECOVER" -p "$img"
like "and says what has" "$OUT" 'lost for good, rjtune --accept-loss'
cp --sparse=always "$img" "$T_DIR/lost.img"
# one that was kept before, of a journal whose epoch was the same
was=$first.kept-$("$rjtune" -l "$img" | sed -n 's/^Epoch: *//p')
echo precious >"$was"
status 0 "--accept-loss gives the journal up" "$rjtune" --accept-loss -z "$T_DIR/undo" -J size=4 "$T_DIR/lost.img"
like "and says where the file is" "$OUT" "the fallback file is kept as $was.2"
is "what was kept before stays" "$(cat "$was")" precious
rm "$was"
is "and nothing is elsewhere" "$(files | sed 's/[0-9.]*$//')" "one/f.kept-"
mv "$first".kept-* "$first"
check "as it was" sha256sum --quiet -c "$T_DIR/file"
cp --sparse=always "$img" "$T_DIR/lost.img"
mkdir "$T_DIR/three"
status 0 "--accept-loss, to another store with the same fallback file" "$rjtune" --accept-loss -z "$T_DIR/undo2" \
	-J "remote=file://$T_DIR/three,size=4,fallback=$first,fallback_size=40" "$T_DIR/lost.img"
like "and says where the old one is" "$OUT" "the fallback file is kept as $was\$"
is "both are there" "$(files)" "one/f one/f.${was##*.}"
mv "$was" "$first"
check "the old one is as it was" sha256sum --quiet -c "$T_DIR/file"
start_server "$T_DIR/srv" "$SRV_PORT"
status 0 "with the store: rjrecover" "$RJRECOVER" -q "$img"
status 0 "then it is moved" "$rjtune" -J size=4 "$img"
is "and no file is left" "$(files)" ""
mkdir "$T_DIR/look" && mount -o loop,ro "$img" "$T_DIR/look"
at_exit umount -l "$T_DIR/look"
check "all files are there" eval '(cd "$T_DIR/look" && sha256sum --quiet -c "$T_DIR/sums")'

# ---- refused before anything is changed, each cause with its own status ----
volume "$img" ext4 1024 "$A" || exit 99
sha256sum "$img" >"$T_DIR/sum"
refused() { # STATUS WHAT TEXT RJTUNE-ARGUMENT...
	status "$1" "$2" "$rjtune" "${@:4}"
	like "$2: why" "$OUT" "^rjtune: .*$3"
	is "$2: in one line" "$(wc -l <<<"$OUT")" 1
	check "$2: nothing is changed" sha256sum --quiet -c "$T_DIR/sum"
}
"$RJSERVER" adduser -d "$T_DIR/closed" somebody >/dev/null 2>&1
"$RJSERVER" -d "$T_DIR/closed" -l 127.0.0.1:0 >"$T_DIR/closed.log" 2>&1 &
kill_at_end $!
check "a server that wants a token" wait_for 60 grep -q 'listening on' "$T_DIR/closed.log"
closed=rj://$(sed -n 's/.*listening on //p' "$T_DIR/closed.log")/x
refused 7 "a store that does not answer" 127.0.0.1:1/x -J remote=rj://127.0.0.1:1/x "$img"
refused 8 "a store that lets nobody in" "$closed: " -J "remote=$closed" "$img"
refused 9 "no such device" /dev/no-such -J device=/dev/no-such "$img"
refused 9 "no such key file" "$T_DIR/no-key" -J "remote=$B,key=$T_DIR/no-key" "$img"
refused 9 "no such folder for the fallback" "$T_DIR/none" -J "remote=$B,fallback=$T_DIR/none/f" "$img"
refused 9 "no such volume" "$img.none" -J size=4 "$img.none"
refused 2 "the volume itself as its fallback" "$img: is on .* itself" -J "remote=$B,fallback=$img" "$img"
for file in "$T_DIR/sums" /dev/null; do
	refused 2 "another file as its fallback: ${file##*/}" "$file: " -J "remote=$B,fallback=$file" "$img"
done
exit 0
