# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced after frame.sh: a volume whose journal is in the store of B_URL, from
# mkrjfs to rjrecover, and a second writer that takes its log over.
. "$RJ_SRC/tests/rjournald/daemon.sh" || exit 99
FSTYPE=ext4

b_files_back() { # IMAGE SUMS
	local m=$T_DIR/back rc
	mkdir -p "$m" && mount -t ext4 -o ro,noload,loop "$1" "$m" || return 1
	(cd "$m" && sha256sum --quiet -c "$2"); rc=$?
	umount "$m"
	return $rc
}

# b_main_path NAME [MORE-J]: format, mount, write, crash, recover
b_main_path() {
	local name=$1 img=$T_DIR/$1.img mnt=$T_DIR/$1.mnt
	check "$name: mkrjfs" volume "$img" ext4 4096 "$B_URL" "ack=received${2:+,$2}"
	check "$name: serve" serve "$img"
	check "$name: mount" mount_served "$img" "$mnt" data=journal
	check "$name: files, each fsynced" fsynced "$mnt" 8 "$T_DIR/$name.sums"
	check "$name: the machine stops" crash "$img" "$mnt" "$T_DIR/$name.crashed"
	check "$name: rjrecover" $LIMIT "$RJRECOVER" -p "$T_DIR/$name.crashed"
	check "$name: every fsynced file is back" b_files_back "$T_DIR/$name.crashed" "$T_DIR/$name.sums"
	check "$name: e2fsck finds nothing" served_fsck "$T_DIR/$name.crashed" -fn
}

# b_fenced IMAGE: the volume is served again, and then elsewhere
b_fenced() {
	local img=$1 mnt=$T_DIR/fenced.mnt first second
	check "fenced: the first writer" serve "$img"
	first=$DPID
	check "fenced: mount" mount_served "$img" "$mnt"
	check "fenced: a file of before" put_file "$mnt/before"
	cp --sparse=always "$img" "$T_DIR/copy.img"
	check "fenced: a second writer, elsewhere" env RJ_RUN="$T_DIR/run2" \
		$LIMIT "$RJOURNALD" "$T_DIR/copy.img"
	second=$(daemon_pid "$T_DIR/copy.img")
	at_exit kill_pid "$second"
	status 1 "fenced: the first one's next fsync fails" \
		$LIMIT dd if=/dev/zero of="$mnt/late" bs=1k count=1 conv=fsync
	like "fenced: because of the second" "$($LIMIT "$RJCTL" status "$img")" 'another writer'
	check "fenced: the kernel has aborted the journal" wait_for 30 b_aborted "$mnt"
	umount "$mnt" 2>/dev/null || umount -l "$mnt"
	kill_pid "$second"
	kill_pid "$first"
	check "fenced: recovery of what was acknowledged" $LIMIT "$RJRECOVER" -f -p "$T_DIR/copy.img"
	check "fenced: the file of before is there" b_has "$T_DIR/copy.img" before
}
# nothing can be written any more
b_aborted() { ! touch "$1/anything" 2>/dev/null; }
b_has() {
	local m=$T_DIR/back rc
	mkdir -p "$m" && mount -t ext4 -o ro,noload,loop "$1" "$m" || return 1
	test -s "$m/$2"; rc=$?
	umount "$m"
	return $rc
}

# b_durable_refused: ack=durable, which is the default, is not to be had
b_durable_refused() {
	status 1 "ack=durable is refused" volume "$T_DIR/none.img" ext4 4096 "$B_URL"
	like "and says why" "$OUT" 'add ack=received'
}
