#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A rjournald that ends while its store is lost saves the journal in memory first, and rjrecover
# --from takes it: by rjctl stop --force, by a second signal, with a key, to a named directory, and
# on a disk without space.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/move/frame.sh"
RJTUNE=$RJ_BUILD/rjtune/rjtune
check "a key" "$RJTUNE" --genkey "$T_DIR/key"

in_use() { # NAME MKRJFS-OPTION...: a volume in use, its server lost for good
	local name=$1; shift
	check "$name: a server" start_server "$T_DIR/store"
	check "$name: a volume in use" used_volume "$SRV_URL/v" "$@"
	check "$name: a writer" write_on
	check "$name: writes" writes_more
	stop_server
	rm -rf "$T_DIR/store"
	check "$name: the server is lost, the writer waits" wait_for 60 mode_is waiting
}
daemon_lives() { [ -n "$(daemon_pid "$img")" ]; }
saved_at() { sed -n 's/.* is saved in \([^:]*\):.*/\1/p' <<<"$OUT"; }
comes_back() { # NAME: by what the message names, then on a new server
	local name=$1 saved
	saved=$(saved_at)
	touch "$T_DIR/stop"
	wait "$WRITER"
	check "$name: the file system is shut down, and unmounted" $LIMIT umount "$mnt"
	check "$name: the daemon has ended" wait_for 60 not daemon_lives
	if [[ $saved = */saved/* ]]; then
		like "$name: rjctl status names it" "$($LIMIT "$RJCTL" status "$img")" \
			"its journal was saved to $saved"
		OUT=$($LIMIT "$RJRECOVER" -p "$img" 2>&1)
		like "$name: so does rjrecover, whose store is lost" "$OUT" \
			"saved to $saved .*: rjrecover -p --from=$saved $img"
	fi
	status 0 "$name: -n of what the message names" $LIMIT "$RJRECOVER" -n --from="$saved" "$img"
	check "$name: rjrecover, as the message names it" $LIMIT "$RJRECOVER" -p --from="$saved" "$img"
	check "$name: it is sound" "$RJRECOVER" ${OLD_KEY:+-J key="$OLD_KEY"} -n -f --verify=full "$img"
	check "$name: a new server" start_server "$T_DIR/new"
	check "$name: the journal goes there" $LIMIT "$RJTUNE" ${OLD_KEY:+--old-key="$OLD_KEY"} \
		-J "remote=$SRV_URL/v${MORE_J:+,$MORE_J}" "$img"
	check "$name: mounted" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
	check "$name: all files are there" all_there
	if [[ $saved = */saved/* ]]; then # the volume went on: what was saved is older now
		check "$name: the machine stops" power_cut
		stop_server
		OUT=$($LIMIT "$RJRECOVER" -p "$img" 2>&1)
		is "$name: what was saved before is not named" "$(grep -c 'saved to' <<<"$OUT")" 0
		OUT=$($LIMIT "$RJRECOVER" -p --from="$saved" "$img" 2>&1)
		is "$name: and refused" $? 4
		like "... and why" "$OUT" 'it was saved before that.*: run rjrecover without --from$'
		check "$name: the server again" start_server "$T_DIR/new" "$SRV_PORT"
		check "$name: recovered, all files are there" recovered
		rm -f "$acked.then"
	fi
	check "$name: unmounted" unmounted
	stop_server
	rm -rf "$T_DIR/new"
}
stops() { # NAME STATUS OPTION...
	local name=$1 want=$2; shift 2
	status "$want" "$name: rjctl stop $*" $LIMIT "$RJCTL" stop -q "$@" "$img"
}

in_use plain -t ext4
stops plain 0 --force
comes_back plain
in_use ext3 -t ext3 -b 1024
stops ext3 0 --force --save="$T_DIR/elsewhere"
like "ext3: it is there" "$OUT" "is saved in $T_DIR/elsewhere: "
comes_back ext3
(umask 077; printf '[rj:]\nkeyfile = %s\n' "$T_DIR/key" >"$RJ_CONF")
MORE_J=key=$T_DIR/key in_use "with a key" -t ext4
stops "with a key" 0 --force
MORE_J=key=$T_DIR/key OLD_KEY=$T_DIR/key comes_back "with a key"
rm "$RJ_CONF"

in_use "no space" -t ext4
truncate -s 1M "$T_DIR/small.img"
check "a small disk" mke2fs -q -F "$T_DIR/small.img"
mkdir "$T_DIR/small"
check "is mounted" mount -o loop "$T_DIR/small.img" "$T_DIR/small"
rmdir "$T_DIR/small/lost+found"
stops "no space" 1 --force --save="$T_DIR/small"
like "no space: what would be lost, and two ways" "$OUT" "no space for .*--save=DIR .*--accept-loss"
check "no space: the volume waits still" mode_is waiting
stops "with the word" 0 --force --accept-loss
is "with the word: nothing is saved" "$OUT" ""
touch "$T_DIR/stop"; wait "$WRITER"
check "no space: unmounted" $LIMIT umount "$mnt"
check "the small disk, too" umount "$T_DIR/small"

# another copy went on with the log before: what is saved is not all there is
check "a server" start_server "$T_DIR/store"
OPTIONS=data=journal check "overtaken: a volume in use" used_volume "$SRV_URL/v" -t ext4
echo old >"$mnt/file" && sync -f "$mnt"
cp --sparse=always "$img" "$T_DIR/copy.img"
status 0 "overtaken: a copy is recovered, and has the log" "$RJRECOVER" -p "$T_DIR/copy.img"
stops overtaken 0 --force --save="$T_DIR/overtaken"
check "overtaken: unmounted" $LIMIT umount "$mnt"
check "overtaken: the daemon has ended" wait_for 60 not daemon_lives
before=$(sha256sum <"$img")
for words in -n -p -f; do
	status 4 "overtaken: rjrecover $words --from" $LIMIT "$RJRECOVER" $words --from="$T_DIR/overtaken" "$img"
	like "overtaken: $words: why, and ways on" "$OUT" \
		"the volume names $SRV_URL/v, and a writer went on there in epoch 3, after .*; nothing was changed; recover from there, without --from"
done
is "overtaken: nothing was changed" "$(sha256sum <"$img")" "$before"
status 0 "overtaken: with a word" $LIMIT "$RJRECOVER" -f --accept-loss --from="$T_DIR/overtaken" "$img"
like "overtaken: and what is given up" "$OUT" "given up .-f --accept-loss.: what a writer wrote to $SRV_URL/v"
stop_server
exit 0
