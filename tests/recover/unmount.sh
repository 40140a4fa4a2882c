#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An unmount that lost its journal, after which the volume says that it needs no
# recovery: it is recovered unattended. In the same dress an older copy, and what
# another tool changed, are refused, with nothing changed.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
PUT_SUPER=$RJ_BUILD/tests/recover/put_super
start_server "$T_DIR/srv" || exit 99
mnt=$T_DIR/mnt
there() { (cd "$mnt" && sha256sum --quiet -c "$T_DIR/sums"); }
state() { dumpe2fs -h "$1" 2>/dev/null | sed -n 's/^Filesystem state: *//p'; }
# broken_unmount IMAGE: the journal is lost while nothing is left to commit
broken_unmount() {
	sync -f "$mnt" && kill -KILL $(pgrep -P "$DPID") "$DPID" &&
		wait_for 60 gone "$DPID" && $LIMIT umount "$mnt"
}
# refused NAME COPY REGEX: by all that runs unattended, and nothing has changed
refused() {
	local name=$1 copy=$2 regex=$3
	cp --sparse=always "$copy" "$T_DIR/was"
	status 4 "$name: rjrecover -p refuses" $LIMIT "$RJRECOVER" -p "$copy"
	like "$name: and says why" "$OUT" "$regex"
	status 4 "$name: rjrecover -n too" $LIMIT "$RJRECOVER" -n "$copy"
	status 32 "$name: mount.rj too" $LIMIT "$MOUNT_RJ" "$copy" "$mnt"
	check "$name: nothing was changed" cmp "$T_DIR/was" "$copy"
	rm "$T_DIR/was"
}
ambiguous='needs no recovery, but the log at .* holds transactions .*older copy.*another tool.*lost the journal'

more=()
for type in ext3 ext4; do
	img=$T_DIR/$type.img FSTYPE=$type
	kill_daemons_at_end "$img"
	truncate -s 256M "$img" && mke2fs -q -F -t $type "${more[@]}" -b 4096 "$img" &&
		"$RJ_BUILD/rjtune/rjtune" -q -J "remote=$SRV_URL/$type,size=4" "$img" || exit 99
	more=(-O orphan_file)
	for mode in ordered journal; do
		name="$type, data=$mode"
		serve "$img" && mount_served "$img" "$mnt" data=$mode || exit 99
		fsynced "$mnt" 10 "$T_DIR/sums"
		cp --sparse=always "$img" "$T_DIR/before"
		echo more >"$mnt/deleted" && sync "$mnt/deleted" && rm "$mnt/deleted"
		check "$name: an unmount loses its journal" broken_unmount "$img"
		check "$name: needs_recovery is cleared in spite of that" "$PUT_SUPER" "$img"
		cp --sparse=always "$img" "$T_DIR/broken"

		status 1 "$name: rjournald does not serve it" $LIMIT "$RJOURNALD" "$img"
		like "$name: and names what does" "$OUT" 'could not empty the journal .*rjrecover -p'
		if [ $mode = ordered ]; then
			status 0 "$name: mount.rj recovers it" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
			like "$name: and says so" "$OUT" 'could not empty the journal at the last unmount'
			check "$name: every fsynced file is there" there
			status 0 "$name: unmounted" $LIMIT "$UMOUNT_RJ" "$mnt"
		else
			status 0 "$name: -n: would be recovered" $LIMIT "$RJRECOVER" -n "$img"
			# its log is emptied, its superblock is not written yet
			status 0 "$name: a recovery" $LIMIT "$RJRECOVER" -p "$T_DIR/broken"
			is "$name: that is cut is done again: -n" \
				"$($LIMIT "$RJRECOVER" -n "$img" | grep -c 'transactions')" 1
			status 0 "$name: rjrecover -p recovers it" $LIMIT "$RJRECOVER" -p "$img"
			status 0 "$name: and is done with it" $LIMIT "$RJRECOVER" -p "$img"
			like "$name: nothing more to do" "$OUT" 'clean'
		fi
		is "$name: the kernel's note is taken back" "$(state "$img")" clean
		check "$name: the volume is whole" served_fsck "$img" -fn

		[ $mode = ordered ] || continue
		refused "$name: a copy of it, overtaken" "$T_DIR/broken" 'older copy'
	done

	# ---- not this log's end ----
	name="$type, again"
	serve "$img" && mount_served "$img" "$mnt" || exit 99
	fsynced "$mnt" 10 "$T_DIR/sums"
	check "$name: an unmount loses its journal" broken_unmount "$img"
	cp --sparse=always "$img" "$T_DIR/earlier"
	check "$name: needs_recovery is cleared" "$PUT_SUPER" "$img"
	check "$name: the same an hour before" "$PUT_SUPER" "$T_DIR/earlier" 3600
	refused "$type: a copy of before the log's end" "$T_DIR/earlier" "$ambiguous"

	# ---- another tool since ----
	sleep 4
	cp --sparse=always "$img" "$T_DIR/tool"
	debugfs -w -R "mkdir made" "$T_DIR/tool" >/dev/null 2>&1
	refused "$type: debugfs write" "$T_DIR/tool" "$ambiguous"
	cp --sparse=always "$img" "$T_DIR/tool"
	tune2fs -L other "$T_DIR/tool" >/dev/null 2>&1
	refused "$type: tune2fs" "$T_DIR/tool" "$ambiguous"
	cp --sparse=always "$img" "$T_DIR/tool"
	if $LIMIT mount -t $type -o loop,noload "$T_DIR/tool" "$mnt"; then
		echo changed >"$mnt/fsynced.1"
		umount "$mnt"
		refused "$type: mounted without its journal" "$T_DIR/tool" "$ambiguous"
	else
		skip "$type: mounted without its journal" "the kernel refuses noload"
	fi
	cp --sparse=always "$img" "$T_DIR/tool"
	tune2fs -f -O ^has_journal "$T_DIR/tool" >/dev/null 2>&1
	e2fsck -fy "$T_DIR/tool" >/dev/null 2>&1
	status 8 "$type: its journal taken away, and e2fsck -fy: not recovered" \
		$LIMIT "$RJRECOVER" -p "$T_DIR/tool"
	like "$type: and that is said" "$OUT" 'has no journal'

	status 0 "$type: the volume itself is recovered" $LIMIT "$RJRECOVER" -p "$img"
	serve "$img" && mount_served "$img" "$mnt" || exit 99
	check "$type: every fsynced file is there" there
	$LIMIT umount "$mnt"
	unserve
	rm "$img" "$T_DIR"/{before,broken,earlier,tool}
done
