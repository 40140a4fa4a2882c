#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is wrong on this host (rj.conf, the key file) says nothing of the log: neither
# rjrecover -y --accept-loss nor rjtune --accept-loss gives it up for that. Only
# --old-key=none does, when the key is lost for good.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
need_fuse_loop
rjtune=$RJ_BUILD/rjtune/rjtune
store=$T_DIR/store url=file://$T_DIR/store
mnt=$T_DIR/mnt img=$T_DIR/v.img key=$T_DIR/key V=$T_DIR/r.img
mkdir "$store" "$mnt" "$T_DIR/plain"

mend() { # rj.conf and the key as they are to be
	(umask 077; cp "$T_DIR/good.key" "$key" && printf '[*]\nkeyfile = %s\n' "$key" >"$RJ_CONF")
	chown "$(id -u)" "$RJ_CONF" && chmod 600 "$key" "$RJ_CONF"
}
check "a key" "$rjtune" --genkey "$T_DIR/good.key"
mend
check "a volume whose log is encrypted" "$MKRJFS" -q -J "remote=$url,size=4" "$img" 64M
check "mounted" mount_served "$img" "$mnt" data=ordered
check "files that only the log has" fsynced "$mnt" 12 "$T_DIR/sums"
check "crashed" crash "$img" "$mnt" "$T_DIR/crash.img"
objects() { find "$store" -type f -exec sha256sum {} + | sort; }
before=$(objects)

# kept STATUS STATUS MESSAGE WHAT: of both with --accept-loss; all stays as it was
kept() {
	local recover=$1 tune=$2 message=$3 what=$4
	cp --sparse=always "$T_DIR/crash.img" "$V"
	status "$recover" "$what: rjrecover -y --accept-loss" "$RJRECOVER" -y --accept-loss "$V"
	like "$what: says what is wrong" "$OUT" "$message"
	is "$what: in one line" "$(wc -l <<<"$OUT")" 1
	like "$what: and that nothing was changed" "$OUT" "; nothing was changed\$"
	status "$tune" "$what: rjtune --accept-loss" "$rjtune" -q --accept-loss -z "$T_DIR/undo" -J size=4 "$V"
	like "$what: says what is wrong, too" "$OUT" "$message"
	check "$what: the volume is as it was" cmp "$T_DIR/crash.img" "$V"
	is "$what: and the log" "$(objects)" "$before"
	mend
}
lost=" [(]if that key is lost for good: rjtune[(]8[)], --old-key=none[)]"
chmod 644 "$key"
kept 8 8 "$key: others may use this key file [(]mode 0644[)]; chmod 600 it$lost" "the key's mode"
truncate -s 10 "$key"
kept 8 2 "$key: not a key file, or not all of one .*$lost" "a key that is cut off"
rm "$key"
kept 8 9 "encrypted with the key [0-9a-f]{32}: $key: cannot open the key file: No such file.*$lost" \
	"no key file"
(umask 077; echo >"$RJ_CONF")
kept 8 2 "name its file as keyfile in rj.conf.*$lost" "no key named"
chmod 644 "$RJ_CONF"
kept 8 8 "rj.conf: .*others may use it [(]mode 0644[)]: chmod 600 it" "the mode of rj.conf"
chown 12345 "$RJ_CONF"
kept 8 8 "rj.conf: it belongs to another user [(]12345[)]" "the owner of rj.conf"
echo "no such thing" >>"$RJ_CONF"
kept 8 2 "rj.conf: line 3: neither" "a word in rj.conf"

check "all mended: the log is replayed" "$RJRECOVER" -y "$V"
check "the files are there" sh -c "
	mount -i -t ext4 -o ro,noload '$V' '$mnt' && cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
umount "$mnt"

# ---- a volume that needs no recovery ----
cp --sparse=always "$V" "$T_DIR/clean.img"
chmod 644 "$key"
status 8 "the key's mode, and a clean volume: rjtune --accept-loss" "$rjtune" -q --accept-loss -z "$T_DIR/undo" -J size=4 "$V"
like "says the same" "$OUT" "others may use this key file"
check "the volume has its journal" cmp "$T_DIR/clean.img" "$V"

# ---- the key is lost for good ----
rm "$key"; echo >"$RJ_CONF"
status 16 "that takes --accept-loss" "$rjtune" --old-key=none -J size=4 "$V"
status 0 "a clean volume gets another journal" "$rjtune" --accept-loss -z "$T_DIR/undo1" --old-key=none -J size=4 "$V"
check "which is sound" e2fsck -fn "$V"
cp --sparse=always "$T_DIR/crash.img" "$V"
status 0 "so does one that crashed" "$rjtune" --accept-loss -z "$T_DIR/undo2" --old-key=none -J size=4 "$V"
like "inside it" "$(dumpe2fs -h "$V" 2>/dev/null)" "^Journal inode: +8"
check "which is sound" e2fsck -fn "$V"
check "the log is kept at its store" test "$(find "$store" -path '*/log/*' -type f | wc -l)" -ge 12

# ---- no word for a log that is not encrypted ----
check "a volume without a key" "$MKRJFS" -q -J "remote=file://$T_DIR/plain,size=4" "$T_DIR/p.img" 64M
cp --sparse=always "$T_DIR/p.img" "$V"
status 2 "its log is not given up" "$rjtune" -q --accept-loss -z "$T_DIR/undo3" --old-key=none -J size=4 "$V"
like "and why" "$OUT" "the log is not encrypted"
check "nothing is changed" cmp "$T_DIR/p.img" "$V"
