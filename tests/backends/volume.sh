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

# b_key FILE: a new key, which rj.conf names for all stores
b_key() {
	(umask 077; printf 'rj-key 1\n%s\n' "$(openssl rand -hex 32)" >"$1")
	b_conf '*' "keyfile = $1"
}

# b_main_path NAME [MORE-J]: format, mount, write, crash, recover. B_ACK: what the
# acknowledgement is worth, where it is not ack=received.
b_main_path() {
	local name=$1 img=$T_DIR/$1.img mnt=$T_DIR/$1.mnt
	local more=${B_ACK-ack=received}
	[ -z "${2:-}" ] || more=${more:+$more,}$2
	check "$name: mkrjfs" volume "$img" ext4 4096 "$B_URL" "$more" || return
	check "$name: serve" serve "$img"
	check "$name: mount" mount_served "$img" "$mnt" data=journal
	check "$name: files, each fsynced" fsynced "$mnt" 8 "$T_DIR/$name.sums"
	check "$name: the machine stops" crash "$img" "$mnt" "$T_DIR/$name.crashed"
	check "$name: rjrecover" $LIMIT "$RJRECOVER" -p "$T_DIR/$name.crashed"
	check "$name: every fsynced file is back" b_files_back "$T_DIR/$name.crashed" "$T_DIR/$name.sums"
	check "$name: e2fsck finds nothing" served_fsck "$T_DIR/$name.crashed" -fn
}

# b_fenced IMAGE: a volume in use is recovered by a second host. The first one's
# next commit fails, and what it had acknowledged until then is there.
b_fenced() {
	local img=$1 mnt=$T_DIR/fenced.mnt copy=$T_DIR/copy.img first writer
	check "fenced: the first host serves it" serve "$img"
	first=$DPID
	check "fenced: ... and mounts it" mount_served "$img" "$mnt" data=journal
	mountpoint -q "$mnt" || return
	# what is written from here on is nowhere but in the log
	cp --sparse=always "$img" "$copy"
	: >"$T_DIR/acked"
	b_write "$mnt" "$T_DIR/acked" &
	writer=$!
	check "fenced: it writes" wait_for 30 b_lines "$T_DIR/acked" 5
	check "fenced: the second host recovers" $LIMIT "$RJRECOVER" -f -p "$copy"
	check "fenced: the first one's next commit fails" wait_for 60 b_gone "$writer"
	wait "$writer"
	is "fenced: ... as an fsync that fails" $? 5
	like "fenced: ... because of the second" "$($LIMIT "$RJCTL" status "$img")" 'another writer'
	check "fenced: the kernel has aborted the journal" wait_for 30 b_aborted "$mnt"
	umount "$mnt" 2>/dev/null || umount -l "$mnt"
	kill_pid "$first"
	note "$(wc -l <"$T_DIR/acked") files were acknowledged"
	check "fenced: each file acknowledged is there" b_files_back "$copy" "$T_DIR/acked"
	check "fenced: e2fsck finds nothing" served_fsck "$copy" -fn
}
# b_write DIR ACKED: files until one fails; those whose fsync did not, in ACKED.
# Status 5: it was an fsync; 6: none failed.
b_write() {
	local i
	for ((i = 0; i < 4000; i++)); do
		head -c 2000 /dev/urandom >"$T_DIR/.data"
		timeout 60 dd if="$T_DIR/.data" of="$1/w$i" conv=fsync status=none \
			2>/dev/null || return 5
		printf '%s  w%s\n' "$(sha256sum <"$T_DIR/.data" | cut -c1-64)" "$i" >>"$2"
	done
	return 6
}
b_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }
# nothing can be written any more
b_aborted() { ! touch "$1/anything" 2>/dev/null; }

# b_lose DIR: the store goes back to an older state, in which the last three segments of its
# log are missing; they are in $T_DIR/lost.tar. DIR: where the server keeps objects, as files.
b_lose() {
	(cd "$1" && find . -type f -regex '.*/[0-9]*' | sort | tail -n 3 >"$T_DIR/lost" &&
		tar -cf "$T_DIR/lost.tar" -T "$T_DIR/lost" && xargs rm <"$T_DIR/lost")
	is "rolled back: three segments go away" "$(wc -l <"$T_DIR/lost")" 3
}
# b_rolled_back DIR: that happens under a volume in use, and they come back. Not to be
# confused with: a second host takes the log over, and trims it. DIR: of B_URL
b_rolled_back() {
	local img=$T_DIR/back.img mnt=$T_DIR/back.mnt more=$T_DIR/back.crashed first writer
	cp "$RJ_CONF" "$T_DIR/conf.was"
	b_conf '*' 'trim_interval = 1'
	check "rolled back: a volume" volume "$img" ext4 4096 "$B_URL/back" ack=received,on_loss=block || return
	check "rolled back: ... is served" serve "$img"
	check "rolled back: ... and mounted" mount_served "$img" "$mnt"
	mountpoint -q "$mnt" || return
	check "rolled back: ... with files" fsynced "$mnt" 5 "$T_DIR/back.sums"
	b_lose "$1/back"
	# nothing is written until then: each fsync moves the tail, and segments below it are
	# not missed
	check "rolled back: rjournald notices it" wait_for 60 b_missing "$img"
	put_file "$mnt/more" &
	writer=$!
	check "rolled back: ... and puts nothing" wait_for 60 b_waiting "$img"
	like "rolled back: ... says so" "$($LIMIT "$RJCTL" status --json "$img")" \
		'"why":"[^"]*segment [0-9]+ was stored, and is not there'
	sleep 0.5
	check "rolled back: ... and acknowledges nothing" kill -0 "$writer"
	tar -xpf "$T_DIR/lost.tar" -C "$1/back"
	wait "$writer"
	is "rolled back: with its segments it goes on" $? 0
	check "rolled back: the machine stops" crash "$img" "$mnt" "$more"
	check "rolled back: rjrecover" $LIMIT "$RJRECOVER" -p "$more"
	check "rolled back: every fsynced file is back" b_files_back "$more" "$T_DIR/back.sums"

	check "trimmed by another: served again" serve "$more"
	first=$DPID
	check "trimmed by another: and mounted" mount_served "$more" "$mnt"
	check "trimmed by another: an fsync, and the host stops" put_file "$mnt/last"
	freeze_daemon "$first"
	cp --sparse=always "$more" "$img"
	check "trimmed by another: a second host recovers" $LIMIT "$RJRECOVER" -f -p "$img"
	# shellcheck disable=SC2046 # all but one, in numbers
	(cd "$1"/back/*/epoch && find $(ls | head -n -1) -type f -regex '.*/[0-9]*' -delete)
	thaw_daemon "$first"
	sleep 3 # it looks at the log before it puts anything
	put_file "$mnt/after" 2>/dev/null &
	writer=$!
	check "trimmed by another: the first one's commit does not wait" wait_for 60 b_gone "$writer"
	like "trimmed by another: ... it was fenced" "$($LIMIT "$RJCTL" status "$more")" 'another writer'
	umount "$mnt" 2>/dev/null || umount -l "$mnt"
	kill_pid "$first"
	cp "$T_DIR/conf.was" "$RJ_CONF"
}
b_waiting() { $LIMIT "$RJCTL" status --json "$1" | grep -q '"mode":"waiting"'; }
b_missing() { $LIMIT "$RJCTL" status --json "$1" | grep -q 'was stored, and is not there'; }

# b_durable_refused: ack=durable, which is the default, is not to be had
b_durable_refused() {
	status 1 "ack=durable is refused" volume "$T_DIR/none.img" ext4 4096 "$B_URL"
	like "and says why" "$OUT" 'add ack=received'
}
