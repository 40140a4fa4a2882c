#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Controls of the oracle: what does not pass the log is found, by a refusal or by what the
# oracle compares. rjbackup base refuses such a volume; this base is made by hand.
# RJ_LONG: of more kinds.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
HAND=$RJ_BUILD/tests/history/hand
at_exit umount -l "$T_DIR/mnt"
at_exit umount -l "$T_DIR/look"
history_conf ""

device() { findmnt -no SOURCE mnt; }
segment() { "$RJ_BUILD/rjctl/rjctl" status --json mnt | sed 's/.*"acknowledged": *\([0-9]*\).*/\1/'; }
# emptied: the journal, so that nothing before it is read again
emptied() { sync -f mnt && fsfreeze -f mnt && fsfreeze -u mnt; }
# base_by_hand: as rjbackup base, without its checks
base_by_hand() {
	local from
	from=$(segment) && sync "$(device)" &&
		dd if="$(device)" of=base.img bs=1M iflag=direct conv=sparse status=none &&
		sync -f mnt && "$HAND" base base.img "$from" "$(segment)"
}
# pieces NAME FILES BYTES CHARACTER: FILES files of BYTES bytes each
pieces() {
	local n
	mkdir -p "mnt/$1" || return 1
	for ((n = 0; n < $2; n++)); do
		head -c "$3" /dev/zero | tr '\0' "$4" >"mnt/$1/$n" || return 1
	done
}
# compared: the volume, unmounted, and its last moment, into OUT
compared() {
	rm -f r.img
	"$RJBACKUP" restore --verify=none --base=base.img -o r.img && "$COMPARE" v.img r.img
}

# ---- a base by hand is good where rjbackup makes one, too ----
check "data=journal: a volume" history_volume ext4 4096 journal ""
check "data=journal: files" pieces files 20 30000 a
check "data=journal: the journal is emptied" emptied
check "data=journal: a base by hand" base_by_hand
check "data=journal: other bytes in the same blocks" pieces files 20 30000 b
check "data=journal: a marker" mark m
check "data=journal: is restored" restored latest m
check "data=journal: unmounted" history_umount
status 0 "data=journal: each block in use is the volume's" compared

# ---- data=ordered ----
for kind in "ext4 4096" ${RJ_LONG:+"ext3 1024"}; do
	rm -f ./*.img
	check "$kind, data=ordered: a volume" history_volume $kind ordered ""
	check "... files" pieces files 20 30000 a
	check "... the journal is emptied" emptied
	check "... a base by hand" base_by_hand
	for ((i = 0; i < 20; i++)); do
		head -c 9000 /dev/zero | tr "\0" b |
			dd of=mnt/files/$i bs=9000 conv=notrunc status=none
	done
	check "... other bytes in the same blocks: a marker" mark m
	status 0 "... which is restored" "$RJBACKUP" restore --base=base.img -o r.img
	check "... and is not what was there" not same_as r.img m
	check "... by the content of files" grep -q "^./files/7 " m.manifest
	check "... in each of them" test "$(diff m.manifest found.manifest | grep -c '^< ./files/')" = 20
	rm -rf mnt/files
	sync -f mnt
	rm -f r.img
	status 1 "... a folder is removed: refused" "$RJBACKUP" restore --base=base.img -o r.img
	like "... by its revoke records" "$OUT" "revoke records, which data=journal does not write"
	check "... unmounted" history_umount
done

# ---- zeroing past the log ----
# zeroing NAME KB: fallocated files, of each a part is written. There are more of them than
# free blocks in the base: so in most they are where it has other bytes
zeroing() {
	local n
	rm -f ./*.img
	check "$1: a volume, nearly full" history_volume ext4 4096 journal ""
	check "$1: ... nearly full" pieces full 115 400000 a
	check "$1: ... the journal is emptied" emptied
	status 0 "$1: a base" "$RJBACKUP" base -o base.img mnt
	rm -r mnt/full && mkdir mnt/new && emptied
	for ((n = 0; n < 200; n++)); do fallocate -l 16384 "mnt/new/$n"; done
	sync -f mnt
	file=$(zeroout_file)
	for ((n = 0; n < 200; n++)); do
		# rjournald sets it to 0 once a second
		echo "$2" >"$file"
		printf x 1<>"mnt/new/$n"
	done
	echo 0 >"$file"
	check "$1: a marker" mark m
}
zeroing "extent_max_zeroout_kb 0" 0
check "... is restored" restored latest m
check "... unmounted" history_umount
status 0 "... each block in use is the volume's" compared
note "$OUT"
zeroing "extent_max_zeroout_kb 32" 32
check "... is not restored: files have other bytes" not restored latest m
check "... unmounted" history_umount
status 1 "... and blocks in use are not the volume's" compared
note "$OUT"

# ---- blocks are moved that were written by mmap(2) ----
# Before Linux 6.4 the volume loses them; the log has them on every kernel.
rm -f ./*.img
check "mapped: a volume" history_volume ext4 4096 journal ""
status 0 "mapped: a base" "$RJBACKUP" base -o base.img mnt
for how in collapse insert; do
	check "mapped: $how" "$HAND" mapped mnt/$how $how
	check "mapped: $how after fsync" "$HAND" mapped mnt/$how-synced $how fsync
done
check "mapped: a marker" mark m
lost=
for how in collapse insert; do
	is "mapped: $how after fsync loses nothing" "$("$HAND" wrong mnt/$how-synced $how)" 0
	lost+="$("$HAND" wrong mnt/$how $how) "
done
note "Linux $(uname -r): collapse and insert lost blocks of the volume: $lost"
if [ "$(printf '%s\n' 6.4 "$(uname -r)" | sort -V | head -n 1)" = 6.4 ]; then
	is "mapped: without it neither" "$lost" "0 0 "
	check "mapped: the marker is restored" restored latest m
else
	status 0 "mapped: restored" "$RJBACKUP" restore --base=base.img -o r.img
fi
mkdir -p look
check "mapped: the moment is mounted" mount -i -t ext4 -o ro,loop r.img look
for name in collapse{,-synced} insert{,-synced}; do
	is "mapped: ... $name has all that was written" "$("$HAND" wrong look/$name ${name%-synced})" 0
done
check "mapped: ... unmounted" umount look
check "mapped: the volume unmounted" history_umount

# ---- encryption ----
for kind in "ext4 4096" "ext3 1024" ${RJ_LONG:+"ext4 4096 -O ^orphan_file"}; do
	rm -f ./*.img
	read -r type bs more <<<"$kind"
	# shellcheck disable=SC2086
	check "encrypt, $kind: a volume" history_volume "$type" "$bs" journal "" $more
	check "... files" pieces files 20 3000 a
	status 0 "... a base" "$RJBACKUP" base -o base.img mnt
	mkdir mnt/secret
	check "... an encrypted folder" "$HAND" encrypt "$(device)" mnt/secret
	check "... with a file" pieces secret/in 3 9000 c
	sync -f mnt
	check "... a marker" mark m
	status 1 "... is refused" "$RJBACKUP" restore --base=base.img -o r.img
	like "... and why" "$OUT" "encrypt"
	rm -f base.img
	status 1 "... and so is another base" "$RJBACKUP" base -o base.img mnt
	like "... and why" "$OUT" "the feature encrypt: what is in encrypted files does not pass the log"
	check "... unmounted" history_umount
done
exit 0
