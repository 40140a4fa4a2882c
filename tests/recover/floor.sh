#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A store that lost, rolled back or hides all that was written since the mount: the host
# that was told otherwise knows it, and another one is told that there is nothing.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
. "$RJ_SRC/tests/recover/floor-common.sh"
need_fuse_loop
img=$T_DIR/img mnt=$T_DIR/mnt V=$T_DIR/v store=$T_DIR/store FLOOR=$T_DIR/floor
kill_daemons_at_end "$V"
here() { local_conf "$T_DIR"; }
elsewhere() { RJ_CREDENTIALS=${RJ_CREDENTIALS/"$FLOOR"/"$T_DIR/none"}; }
journal_uuid() { dumpe2fs -h "$1" 2>/dev/null | awk '/^Journal UUID/ {print $3}'; }
store_as() { # DIR: the server has that store by now
	stop_server
	rm -rf "$store" && cp -a "$1" "$store" && start_server "$store" "$SRV_PORT"
}
all_there() { # IMAGE: every fsynced file, after a recovery
	mount_served "$1" "$mnt" && (cd "$mnt" && sha256sum -c --quiet "$T_DIR/sums"); local rc=$?
	umount "$mnt"; unserve || rc=98
	return $rc
}
records() { # FILE: "SEQUENCE EPOCH" of its two records
	od -An -tu8 -j 32 -N 16 "$1"; od -An -tu8 -j 544 -N 16 "$1"
}
behind() { # SEQUENCE: a record of the file has come to it
	records "$FILE" | awk -v n="$1" '$2 >= n {ok = 1} END {exit !ok}'
}
acked() { "$RJ_BUILD/rjctl/rjctl" status --json "$img" | sed -n 's/.*"acknowledged":\([0-9]*\).*/\1/p'; }

check "a server" start_server "$store"
check "a volume" "$MKRJFS" -q -F -t ext4 -J "remote=$SRV_URL/v,size=4" "$img" 32M
FILE=$FLOOR/$(journal_uuid "$img")
check "mounted" mount_served "$img" "$mnt"
mkdir "$mnt/d" && sync "$mnt/d"
stop_server && cp -a "$store" "$T_DIR/early" && start_server "$store" "$SRV_PORT" ||
	not_ok "a copy of the store"
check "30 files are written and fsynced" fsynced "$mnt" 30 "$T_DIR/sums"
LAST=$(acked)
check "the host notes it" wait_for 60 behind "$LAST"
is "for its owner alone" "$(stat -c '%a %s' "$FILE")" "600 1024"
check "the machine stops" crash "$img" "$mnt" "$img.crash"
stop_server && cp -a "$store" "$T_DIR/whole" && start_server "$store" "$SRV_PORT"

cp "$FILE" "$T_DIR/floor.kept"
store_as "$T_DIR/early"
refused "rolled back" 'the log ends at segment [0-9]+, but this host saw [0-9]+ acknowledged.*--accept-loss'
status 4 "rolled back: a yes gives nothing up" "$RJRECOVER" -y "$V"
check "rolled back: nothing is changed by it" cmp "$img.crash" "$V"
mkdir "$T_DIR/empty"
store_as "$T_DIR/empty"
refused "lost" 'the log is empty'
store_as "$T_DIR/early"

# ---- the way on ----
status 0 "--accept-loss goes on" "$RJRECOVER" -p --accept-loss "$V"
like "says what is lost" "$OUT" 'this host saw segment [0-9]+ .*giving that up'
like "and what to do" "$OUT" 'run e2fsck -f'
check "the floor is gone with it" test ! -e "$FILE"
cp "$T_DIR/floor.kept" "$FILE"
status 0 "after which nothing is missed any more" "$RJRECOVER" -p "$V"

# ---- a forged note does not use up the epochs: 2^20 of them at most ----
le() { # VALUE BYTES
	local i
	for ((i = 0; i < $2; i++)); do printf "\\x$(printf %02x $((($1 >> (8 * i)) & 255)))"; done
}
crc() { # FILE: of its 508 bytes
	local c=$((0xffffffff)) b i
	for b in $(od -v -An -tu1 -N 508 "$1"); do
		((c ^= b))
		for ((i = 0; i < 8; i++)); do ((c = (c >> 1) ^ (0x82f63b78 & -(c & 1)))); done
	done
	echo $c
}
forge() { # EPOCH: this host saw it, as far as the note says
	(umask 077 && {
		head -c 32 "$T_DIR/floor.kept"
		le "$1" 8 && le 1000000 8
		head -c 460 /dev/zero
	} >"$FILE" && le "$(crc "$FILE")" 4 >>"$FILE" && truncate -s 1024 "$FILE")
}
EPOCH=$("$RJ_BUILD/rjtune/rjtune" -l "$img.crash" | awk '/^Epoch:/ {print $2}')
MOST=$((1 << 20))
while read -r above to; do
	store_as "$T_DIR/early"
	forge $((EPOCH + above))
	refused "$above epochs above" "but this host saw 1000000 acknowledged"
	status 0 "$above epochs above: given up" "$RJRECOVER" -p -v --accept-loss "$V"
	is "$above epochs above: which begins an epoch $to above" \
		"$(sed -n 's/^ *epoch claimed: //p' <<<"$OUT")" $((EPOCH + to))
	is "$above epochs above: the volume has it" \
		"$("$RJ_BUILD/rjtune/rjtune" -l "$V" | awk '/^Epoch:/ {print $2}')" $((EPOCH + to))
done <<END
7 8
$MOST $((MOST + 1))
$((MOST + 1)) $((MOST + 1))
$((0x7fffffffffffff00 - EPOCH)) $((MOST + 1))
END
check "and is mounted again" mount_served "$V" "$mnt"
umount "$mnt"
check "and left" unserve
cp "$T_DIR/floor.kept" "$FILE"

# ---- another host knows nothing ----
store_as "$T_DIR/early"
cp --sparse=always "$img.crash" "$V"
elsewhere
status 0 "another host has no floor" "$RJRECOVER" -n "$V"
here

# ---- the whole store ----
store_as "$T_DIR/whole"
for slot in 0 512; do # the last note was cut off
	cp "$FILE" "$T_DIR/kept"
	flip "$FILE" $((slot + 40))
	status 0 "a damaged record at $slot: nothing is refused" "$RJRECOVER" -n "$img.crash"
	cp "$T_DIR/kept" "$FILE"
done
flip "$FILE" 40 && flip "$FILE" 552
status 0 "both are: said, and gone on without" "$RJRECOVER" -n "$img.crash"
like "said" "$OUT" 'local floor .*: damaged; going on without'
cp "$FILE" "$T_DIR/root" && rm "$FILE" && ln -s "$T_DIR/root" "$FILE"
cp --sparse=always "$img.crash" "$V"
status 0 "a link in its place: the log is replayed" "$RJRECOVER" -p "$V"
like "it is not followed" "$OUT" 'local floor .*going on without'
check "all files are there, and it is served without a floor" all_there "$V"
check "the link's file is as it was" cmp "$FILE" "$T_DIR/root"
rm "$FILE"

# ---- a volume that was left clean needs none ----
check "served" mount_served "$V" "$mnt"
check "a floor" wait_for 60 test -s "$FILE"
umount "$mnt"
check "ended" unserve
check "and taken away" test ! -e "$FILE"

# ---- nothing of the last mount is in the log ----
stop_server && rm -rf "$T_DIR/early" && cp -a "$store" "$T_DIR/early" && start_server "$store" "$SRV_PORT"
check "mounted" mount_served "$V" "$mnt"
check "a file" fsynced "$mnt" 1 "$T_DIR/sums"
check "the machine stops" crash "$V" "$mnt" "$img.crash"
store_as "$T_DIR/early"
elsewhere
status 4 "the mount's own fence is lost: refused on every host" "$RJRECOVER" -p "$img.crash"
like "why" "$OUT" 'the volume saw'
status 0 "given up" "$RJRECOVER" -p --accept-loss "$img.crash"
like "in one line: nothing of that mount is there" "$OUT" 'the log holds nothing of the last mount'
exit 0
