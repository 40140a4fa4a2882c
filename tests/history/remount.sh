#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A history goes on over unmounts, if nothing else wrote to the volume in between: markers in
# several mounts of type rj are restored from the base of the first, of an image and of a
# block device, with a key, over a killed worker. And it ends, with the reason, where
# something did: each of what may come between two mounts is tried.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
. "$RJ_SRC/tests/history/base/mounts.sh" || exit 99

idle() { rj_mount && sync -f mnt && rj_umount; }

seed=${RJ_SEED:-$RANDOM}
note "RJ_SEED=$seed"
"$RJ_BUILD/rjtune/rjtune" --genkey "$T_DIR/key" >/dev/null
kinds "$seed" "image ext3 1024 ,key=$T_DIR/key" "image ext4 4096 ,fallback=$T_DIR/fb"
for kind in "${KINDS[@]}" "device ext4 4096"; do
	history_conf "keyfile = $T_DIR/key"
	# shellcheck disable=SC2086
	check "$kind: a base" new_history $kind
	for m in b c d; do
		[ $m != c ] || check "... frozen and thawed" eval 'fsfreeze -f mnt && fsfreeze -u mnt'
		check "... unmounted" rj_umount
		[ $m != d ] || check "... mounted, and nothing is written" idle
		check "... mounted again" rj_mount
		check "... used" ops $((seed + $(printf %d "'$m"))) 400
		[ $m != c ] || check "... another worker" new_worker
		check "... a marker" mark $m
	done
	ls_says "... ls goes on over the unmounts" "latest"
	is "... and tells of no break" "$(grep -c 'no later' <<<"$OUT")" 0
	for m in a b c d; do
		check "... marker $m by its segment" restored "segment:$(cat $m.segment)" $m
	done
	for m in a b c; do
		check "... marker $m by its time" restored "$(cat $m.time)" $m
	done
	check "... unmounted" rj_umount
	check "... the latest, afterwards" restored latest d
done

# ---- from here on with the block device; what comes between two mounts ----
# the host that has the base knows it when the volume is mounted
ended() { jq -e '.own_base == "'"$T_DIR"'/base.img" and .ended > 0' "$(note_of)" >/dev/null; }
broken() {
	local name=$1 why=$2; shift 2
	over "$name" "$@"
	check "... rjctl knows" ended
	rm -f r.img
	status 1 "... the history ends" timeout 120 "$RJBACKUP" restore --base=base.img -o r.img
	like "... why" "$OUT" "$why"
	ls_says "... ls says it, too" "no later: after segment [0-9]+: .*$why"
	last=$(sed -n 's/.*no later: after segment \([0-9]*\):.*/\1/p' <<<"$OUT")
	check "... all before it is there" restored "segment:$last" m
	check "... unmounted" rj_umount
}
goes_on() {
	over "$@"
	check "... rjctl knows no end" not ended
	check "... the marker before" restored "segment:$(cat m.segment)" m
	check "... the marker after it" restored "segment:$(cat n.segment)" n
	check "... unmounted" rj_umount
	check "... the latest" restored latest n
}
between() { rj_umount && "$@"; }
labelled() { tune2fs -L "l$seed" "$VOL"; }
written() { echo "$seed" >file && debugfs -w -R "write file debugfs-$seed" "$VOL"; }
grown() { truncate -s 56M v.img && losetup -c "$VOL" && resize2fs -f "$VOL"; }
checked() { serve "$VOL" && fsck_with "$LOOP" "$VOL" -fy; unserve; }
idle_held() { rj_mount && held "$@"; }
served_only() { serve "$VOL" && unserve; }
# no revoke record, which would tell, too
in_mode() { rj_mount ordered && head -c 300000 /dev/urandom >"mnt/in-$seed" && sync -f mnt && rj_umount; }
by_hand() {
	serve "$VOL" && mount -i -t ext4 -o "journal_path=$LOOP,data=journal" "$VOL" mnt &&
		ops $((++seed)) && history_umount
}
read_only() {
	serve "$VOL" && mount -i -t ext4 -o "ro,journal_path=$LOOP,data=journal" "$VOL" mnt &&
		history_umount
}
# the journal's loop device, by the number in the superblock
journal_loop() {
	local n
	n=$((16#$(dumpe2fs -h "$VOL" 2>/dev/null | sed -n 's/^Journal device:[[:space:]]*0x//p')))
	echo "/dev/$(basename "$(readlink "/sys/dev/block/$((n >> 8)):$((n & 255))")")"
}
# held COMMAND...: in between, after an unmount that the daemon does not see the end of
held() {
	local pid rc; pid=$(daemon_pid "$VOL")
	exec 9<"$(journal_loop)" && umount -l mnt && "$@"
	rc=$?
	exec 9<&-
	wait_for 60 gone "$pid" && [ $rc = 0 ]
}
# the daemon's first floor takes its time
slow_floor() {
	local rc
	mkdir floors && truncate -s 16M floors.img && mke2fs -q -F floors.img &&
		mount -o loop floors.img floors && rj_umount && fsfreeze -f floors || return 1
	(sleep 4; exec fsfreeze -u floors) &
	FLOOR_DIR=$T_DIR/floors
	local_conf "$T_DIR"
	rj_mount; rc=$?
	unset FLOOR_DIR
	local_conf "$T_DIR"
	wait $!
	return $rc
}
lost() {
	local pid rc; pid=$(daemon_pid "$VOL")
	exec 9<"$(journal_loop)" && umount -l mnt && sleep 0.5 && kill -STOP "$SRV_PID"
	exec 9<&-
	# a request waits for 30 s
	timeout 20 tail --pid="$pid" -f /dev/null
	rc=$?
	kill_pid "$SRV_PID" && start_server "$T_DIR/srv" "$SRV_PORT" && [ $rc = 0 ]
}
killed_between() {
	local pid worker; pid=$(daemon_pid "$VOL") worker=$(worker_pid "$VOL")
	exec 9<"$(journal_loop)" && umount -l mnt && sleep 0.2 && kill_pid "$worker" &&
		wait_for 60 worker_pid "$VOL"
	exec 9<&-
	wait_for 60 gone "$pid"
}
wrote="something else wrote to the volume"
another="unmounted or crashed"
unknown="the log does not say that this was by mount.rj, with data=journal"
broken "tune2fs -L" "$wrote" between labelled
broken "debugfs -w" "$wrote" between written
broken "e2fsck -f with the journal" "$another" between checked
broken "rjournald without a mount" "$another" between served_only
broken "a mount with data=ordered" "$unknown" between in_mode
broken "a mount by hand" "$unknown" between by_hand
broken "a mount by hand, for reading" "$another" between read_only
goes_on "a mount in which nothing is written" between idle
broken "the same, and debugfs -w" "$another" between idle_held eval 'sleep 0.2; written'
broken "the same, and debugfs -w at once" "$another" between idle_held written
goes_on "the journal's device held open" held true
broken "the same, and debugfs -w" "$another" held eval 'sleep 0.2; written'
broken "the same, and debugfs -w at once" "$another" held written
broken "the same, and a killed worker" "$another" killed_between
goes_on "used before mount.rj knows" with_mount '' 'echo >mnt/early-$RANDOM; sync -f mnt; true'
goes_on "a disk for floors that is slow" slow_floor
broken "debugfs -w before the mount" "$unknown" with_mount "echo >f; debugfs -w -R 'write f now-$RANDOM' $VOL" ''
broken "the store away at the end" "$another" lost
broken "resize2fs" "$wrote" between grown

# ---- mount.rj tells ----
RJCTL=$RJ_BUILD/rjctl/rjctl
check "mounted" mounted_again
check "a base" base
status 0 "rjctl check is well" "$RJCTL" check mnt
check "mounted with data=ordered" eval 'rj_umount && rj_mount ordered'
is "mount.rj warns, in one line" "$(cat said)" \
	"mount.rj: warning: $VOL: the history of its base $T_DIR/base.img has ended: it is not mounted with data=journal: make a new base"
why="its history has ended, as found at 2[0-9: -]+Z: it is not mounted with data=journal: make a new base"
like "rjctl status says it" "$("$RJCTL" status mnt)" "^  base          $T_DIR/base.img of 2.* .0 min ago.: $why$"
is "... as JSON" "$("$RJCTL" status --json mnt | jq -c '.base | [.base, .state, .well]')" "[\"$T_DIR/base.img\",\"ended\",false]"
status 1 "rjctl check warns" "$RJCTL" check mnt
like "... why" "$OUT" "^RJPROGS WARNING: mnt: base: $T_DIR/base.img of 2.*: $why"
like "and the metrics" "$("$RJCTL" metrics mnt)" "^rjbackup_base_well\{volume=\"[0-9a-f-]{36}\",base=\"$T_DIR/base.img\"\} 0$"
check "mounted again" eval 'rj_umount && rj_mount'
is "mount.rj does not say it again" "$(cat said)" ""
check "a new base" base
status 0 "... and all is well" "$RJCTL" check mnt
like "the metrics too" "$("$RJCTL" metrics mnt)" "^rjbackup_base_well\{.*\} 1$"
check "unmounted" rj_umount
exit 0
