#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A history goes on over unmounts, if nothing else wrote to the volume in between: markers in
# three mounts of type rj are restored from the base of the first. And it ends, with the
# reason, where something did: each of what may come between two mounts is tried.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh" || exit 99
. "$RJ_SRC/tests/history/run.sh" || exit 99
need_fuse_loop
cd "$T_DIR" || exit 99
start_server "$T_DIR/srv" || exit 99
at_exit umount -l "$T_DIR/look"
at_exit end_mount
history_conf ""

rj_mount() {
	timeout 120 "$MOUNT_RJ" "$T_DIR/v.img" mnt -o "data=${1:-journal}" || return 1
	# rjournald sets it where there are extents
	[[ $kind != ext3* ]] || echo 0 >"$(zeroout_file)"
}
# until its rjournald has ended, too
rj_umount() { timeout 120 "$UMOUNT_RJ" "$T_DIR/mnt"; }
end_mount() { umount -l "$T_DIR/mnt"; }
ls_says() { OUT=$(timeout 120 "$RJBACKUP" ls base.img 2>&1); like "$1" "$OUT" "$2"; }
ops() { "$WORK" ops mnt "$1" "${2:-200}" >/dev/null; }

# new_history TYPE BLOCKSIZE: mounted, with a base, and the marker a
new_history() {
	rm -f ./*.img ./*.manifest
	history_volume "$1" "$2" journal "" && history_umount && rj_mount && ops 1 &&
		timeout 120 "$RJBACKUP" base -o base.img mnt && ops 2 && mark a
}

seed=${RJ_SEED:-$RANDOM}
note "RJ_SEED=$seed"
for kind in "ext3 1024" "ext4 4096"; do
	# shellcheck disable=SC2086
	check "$kind: a base" new_history $kind
	for m in b c; do
		check "... unmounted" rj_umount
		check "... mounted again" rj_mount
		check "... used" ops $((seed + $(printf %d "'$m"))) 400
		check "... a marker" mark $m
	done
	ls_says "... ls goes on over the unmounts" "latest"
	is "... and tells of no break" "$(grep -c 'no later' <<<"$OUT")" 0
	for m in a b c; do
		check "... marker $m by its segment" restored "segment:$(cat $m.segment)" $m
	done
	for m in a b; do
		check "... marker $m by its time" restored "$(cat $m.time)" $m
	done
	check "... unmounted" rj_umount
	check "... the latest, afterwards" restored latest c
done

# broken NAME WHY COMMAND...: COMMAND between two mounts ends the history of a base that was
# made in the first one, and its last marker is there
broken() {
	local name=$1 why=$2; shift 2
	check "$name: mounted" rj_mount
	ops $((++seed))
	rm -f base.img r.img
	check "... a base" timeout 120 "$RJBACKUP" base -o base.img mnt
	ops $((++seed)); mark m
	check "... unmounted" rj_umount
	check "... $name" "$@"
	check "... mounted again" rj_mount
	ops $((++seed)); sync -f mnt
	status 1 "... the history ends" timeout 120 "$RJBACKUP" restore --base=base.img -o r.img
	like "... why" "$OUT" "$why"
	ls_says "... ls says it, too" "no later: after segment [0-9]+: .*$why"
	last=$(sed -n 's/.*no later: after segment \([0-9]*\):.*/\1/p' <<<"$OUT")
	check "... all before it is there" restored "segment:$last" m
	check "... unmounted" rj_umount
}
labelled() { tune2fs -L "l$seed" v.img; }
written() { echo "$seed" >file && debugfs -w -R "write file debugfs-$seed" v.img; }
checked() { serve "$T_DIR/v.img" && fsck_with "$LOOP" v.img -fy; unserve; }
# no revoke record, which would tell, too
in_mode() { rj_mount ordered && head -c 300000 /dev/urandom >"mnt/in-$seed" && sync -f mnt && rj_umount; }
by_hand() { history_mount journal && ops $((++seed)) && history_umount; }
by_kernel() { mount_served "$T_DIR/v.img" mnt ro && history_umount; }
wrote="something else wrote to the volume"
another="unmounted or crashed"
broken "tune2fs -L" "$wrote" labelled
broken "debugfs -w" "$wrote" written
broken "e2fsck -f with the journal" "$another" checked
broken "a mount with data=ordered" "the log does not say that this was with data=journal" in_mode
broken "a mount by hand" "the log does not say that this was with data=journal" by_hand
broken "a mount by hand that writes nothing" "$another" by_kernel
exit 0
