#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The disk is full: refused with 507, nothing lost; it works again after
# deletions, and after the disk has grown. A failing fsync: 503 from then on.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
need_root

M=$T_DIR/mnt
mkdir "$M"
mount -t tmpfs -o size=8m none "$M" || skip_all "cannot mount a tmpfs"
at_exit umount -l "$M"
head -c 900000 /dev/urandom >"$T_DIR/a"
start "$M/d" || { note "$(cat "$LOG")"; not_ok "starts on a small disk"; exit 1; }
K=$BASE/n/$UUID/log

# fill FROM: put until it is refused; the number of the first refused
fill() {
	local n=$1
	while [ "$(code -T "$T_DIR/a" "$K/$(seq20 "$n")")" = 201 ]; do n=$((n + 1)); done
	echo "$n"
}
# all_there TO [FROM]
all_there() {
	local n
	for ((n = ${2:-1}; n < $1; n++)); do
		[ "$(code "$K/$(seq20 $n)")" = 200 ] || return 1
		cmp -s "$T_DIR/a" "$T_DIR/body" || return 1
	done
}
full=$(fill 1)
note "full after $full"
is "a full disk: 507" "$(code -T "$T_DIR/a" "$K/$(seq20 "$full")")" 507
is "in one line of text" "$(wc -l <"$T_DIR/body")" 1
is "which is not stored" "$(code "$K/$(seq20 "$full")")" 404
check "a good part of it was used" test "$full" -gt 4
check "what was stored is there" all_there "$full"

mount -o remount,size=24m "$M"
is "the disk has grown: it works" "$(code -T "$T_DIR/a" "$K/$(seq20 "$full")")" 201
more=$(fill $((full + 1)))
check "and takes more" test "$more" -gt $((full + 7))
check "all is there" all_there "$more"
stop
is "a full server stops in order" $? 0
start "$M/d" || { note "$(cat "$LOG")"; not_ok "a full store starts"; exit 1; }
K=$BASE/n/$UUID/log
check "and has it all" all_there "$more"
is "and is still full" "$(code -T "$T_DIR/a" "$K/$(seq20 "$more")")" 507

# to the last byte: smaller ones still fit, until none does
head -c 60000 "$T_DIR/a" >"$T_DIR/b"
printf x >"$T_DIR/c"
for o in b c; do
	n=1
	while [ "$(code -T "$T_DIR/$o" "$BASE/$o/$UUID/log/$(seq20 $n)")" = 201 ]; do
		n=$((n + 1))
	done
	note "$((n - 1)) more of $(wc -c <"$T_DIR/$o") bytes"
done
bad=0
for ((n = 1; n < more; n++)); do
	[ "$(code -X DELETE "$K/$(seq20 $n)")" = 204 ] || bad=$((bad + 1))
done
for o in b c; do
	for n in $(code "$BASE/$o/$UUID/log/" >"$T_DIR/status"; cut -d" " -f1 "$T_DIR/body"); do
		[ "$(code -X DELETE "$BASE/$o/$UUID/log/$n")" = 204 ] || bad=$((bad + 1))
	done
done
is "all can be deleted, full as it is" "$bad" 0
is "then there is room" "$(code -T "$T_DIR/a" "$K/$(seq20 100001)")" 201
again=$(fill 100002)
check "for as much as before" test $((again - 100001)) -gt $((more / 2))
stop KILL
start "$M/d"
K=$BASE/n/$UUID/log
check "all there after kill -9" all_there "$again" 100001
is "nothing of the deleted" \
	"$(code "$K/") $(wc -l <"$T_DIR/body") $(sed -n 1p "$T_DIR/body")" \
	"200 $((again - 100001)) $(seq20 100001) 900000"
stop
is "stopped in order" $? 0

# What a crash left behind the end of the log is cut on a full disk, too, and a copy of it is
# kept if that has space, be it that of the spare file.
rm -rf "$M/d"
mount -o remount,size=512k "$M"
head -c 10000 "$T_DIR/a" >"$T_DIR/s"
start "$M/d" --file-size=128k
is "an object" "$(code -T "$T_DIR/s" "$BASE/n/$UUID/log/$(seq20 1)")" 201
stop KILL
F=$(data_file "$M/d")
for spare in 0 128; do
	rm -f "$M/fill"
	head -c 20000 "$T_DIR/a" | dd of="$F" bs=4096 seek=20 conv=notrunc status=none
	dd if=/dev/zero of="$M/d/store/spare" bs=1k count=$spare status=none
	dd if=/dev/zero of="$M/fill" bs=4k status=none 2>/dev/null
	check "it is full" test "$(df --output=avail "$M" | tail -n 1)" -eq 0
	start "$M/d" --file-size=128k || note "$(cat "$LOG")"
	is "spare of $spare KiB: the object is there" "$(code "$BASE/n/$UUID/log/$(seq20 1)")" 200
	like "it is said" "$(cat "$LOG")" "torn at byte .*$([ $spare = 0 ] && echo 'not kept: .*No space left' || echo 'kept in .*[.]torn')"
	is "the copies" "$(find "$M/d/damaged" -name '*.torn' | wc -l)" $((spare > 0))
	stop
	is "stopped in order" $? 0
done

# A sync that fails once may never be taken for one that worked.
SHIM=$RJ_BUILD/tests/rjserver/store/.libs/failsync.so
export FAILSYNC=$T_DIR/failsync
LD_PRELOAD=$SHIM ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 start "$T_DIR/d"
K=$BASE/n/$UUID/log
is "while it syncs: stored" "$(code -T "$T_DIR/a" "$K/$(seq20 1)")" 201
: >"$FAILSYNC"
is "a failed fdatasync: 503" "$(code -T "$T_DIR/a" "$K/$(seq20 2)")" 503
rm "$FAILSYNC"
is "the same again, though it would work now: 503" \
	"$(code -T "$T_DIR/a" "$K/$(seq20 2)")" 503
is "another key: 503" "$(code -T "$T_DIR/a" "$K/$(seq20 3)")" 503
is "a deletion: 503" "$(code -X DELETE "$K/$(seq20 1)")" 503
is "what was stored can be read" "$(code "$K/$(seq20 1)")" 200
like "it is said" "$(cat "$LOG")" 'cannot fdatasync.*no more writes until restart'
stop
is "not stopped in order: exit 2" $? 2
start "$T_DIR/d"
K=$BASE/n/$UUID/log
is "after a restart: as before" "$(code "$K/$(seq20 1)")" 200
got=$(code "$K/$(seq20 2)")
like "and the other is whole or absent" "$got" '^(404|200)$'
is "after a restart it writes" "$(code -T "$T_DIR/a" "$K/$(seq20 3)")" 201
stop
