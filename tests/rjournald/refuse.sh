#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What must not be served is not, in one clear line, and nothing is changed.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
img=$T_DIR/v.img mnt=$T_DIR/mnt store=$T_DIR/store
mkdir "$store" "$mnt"
volume "$img" ext3 1024 "file://$store" || exit 99

# refused NAME REGEX IMAGE: status 1, one line that matches; image and store
# as before
refused() {
	local before after
	before=$(sha256sum "$3" 2>/dev/null; cd "$store" && find . -type f | sort)
	status 1 "$1: refused" $LIMIT "$RJOURNALD" "$3"
	after=$(sha256sum "$3" 2>/dev/null; cd "$store" && find . -type f | sort)
	like "$1: says so" "$OUT" "$2"
	is "$1: one line, nothing changed" "$(wc -l <<<"$OUT") $after" "1 $before"
}
refused "no such file" 'nothing.img: No such file' "$T_DIR/nothing.img"
head -c 1M /dev/urandom >"$T_DIR/noise.img"
refused "no filesystem" 'noise.img: no .*filesystem' "$T_DIR/noise.img"
truncate -s 8M "$T_DIR/plain.img"
mke2fs -q -F -j "$T_DIR/plain.img"
refused "an internal journal" 'plain.img: this volume has no remote journal' "$T_DIR/plain.img"
cp --sparse=always "$img" "$T_DIR/void.img"
"$MARK" "$T_DIR/void.img" void
refused "a log that was given up" 'void.img: .*run rjrecover first' "$T_DIR/void.img"

seg=$(find "$store" -path '*/log/*' | sort | tail -n 1)
cp "$seg" "$T_DIR/kept"
flip "$seg" 100
refused "a damaged log" "segment $((10#${seg##*/}))" "$img"
rm "$seg"
printf x | dd of="$seg" status=none
refused "a segment cut short" "segment $((10#${seg##*/}))" "$img"
cp "$T_DIR/kept" "$seg"
mv "$store" "$store.away"
mkdir "$store"
refused "no log at all" 'v.img: ' "$img"
rmdir "$store" && mv "$store.away" "$store"

# another volume's log under this volume's name
volume "$T_DIR/w.img" ext3 1024 "file://$T_DIR/other" 2>/dev/null ||
	{ mkdir "$T_DIR/other"; volume "$T_DIR/w.img" ext3 1024 "file://$T_DIR/other"; }
mine=$(find "$store" -mindepth 1 -maxdepth 1)
theirs=$(find "$T_DIR/other" -mindepth 1 -maxdepth 1)
mv "$mine" "$T_DIR/mine" && cp -r "$theirs" "$mine"
refused "a foreign log" 'v.img: .*(another|other|foreign|belongs)' "$img"
rm -rf "$mine" && mv "$T_DIR/mine" "$mine"

# a volume that is mounted (without its journal)
$LIMIT mount -t ext3 -o loop,ro,noload "$img" "$mnt"
at_exit umount -l "$mnt"
status 1 "a mounted volume: refused" $LIMIT "$RJOURNALD" "$img"
like "a mounted volume: says so" "$OUT" 'v.img: mounted on .*mnt'
$LIMIT umount "$mnt"

status 2 "an unknown option" "$RJOURNALD" --frobnicate "$img"
like "one line, with a hint" "$OUT" "^rjournald: unknown option --frobnicate; try 'rjournald --help'\$"
status 2 "no device" "$RJOURNALD"
status 2 "two devices" "$RJOURNALD" "$img" "$img"
check "after all this the volume is served" serve "$img"
status 1 "mkrjfs: not while it is served" "$MKRJFS" -q -F -J "remote=file://$T_DIR/other" "$img"
like "mkrjfs: says so, in one line" "$OUT" "^mkrjfs: .*v.img: an rjournald serves .*rjctl stop .*; nothing was changed\$"
status 1 "mkrjfs: nor with another journal" "$MKRJFS" -q -F "$img"
like "mkrjfs: the same" "$OUT" "^mkrjfs: .*v.img: an rjournald serves"
check "mkrjfs: the volume is as it was" "$RJRECOVER" -n "$img"
status 0 "and stopped" $LIMIT "$RJCTL" stop
check "nothing is left" wait_for 30 nothing_left "$img"
status 1 "rjctl: nobody there" "$RJCTL" status "$img"
like "rjctl: says so" "$OUT" "$img: no rjournald serves this volume"
status 2 "rjctl: an unknown command" "$RJCTL" frobnicate
status 2 "rjctl: stop --force without a volume" "$RJCTL" stop --force
