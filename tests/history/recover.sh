#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A history goes on over a crash and rjrecover, if nothing else wrote to the volume in between:
# markers before crashes and after them are restored from the base of the first mount, with
# orphan inodes, freezes, killed workers, over unmounts. And it ends, with the reason, where
# something did: each of what may come between the crash and the next mount is tried.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
. "$RJ_SRC/tests/history/base/mounts.sh" || exit 99
. "$RJ_SRC/tests/history/crash/over.sh" || exit 99
frozen_and_thawed() { fsfreeze -f mnt && fsfreeze -u mnt; }
seed=${RJ_SEED:-$RANDOM}
note "RJ_SEED=$seed"
"$RJ_BUILD/rjtune/rjtune" --genkey "$T_DIR/key" >/dev/null
kinds "$seed" "image ext3 1024 ,key=$T_DIR/key" "image ext4 4096 ,fallback=$T_DIR/fb" "device ext4 1024" \
	"device ext3 4096" "image ext4 4096 ,on_loss=block -O ^orphan_file"
for kind in "${KINDS[@]}"; do
	history_conf "keyfile = $T_DIR/key"
	# shellcheck disable=SC2086
	check "$kind: a base" new_history $kind
	cp --sparse=always base.img folded.img
	for m in b c d e; do
		case $m in
		b) check "... orphans, more operations" eval 'deleted_open 3 && ops $((++seed)) 300' ;;
		c) check "... another worker, operations" eval 'new_worker && ops $((++seed)) 300' ;;
		d) check "... a freeze, operations" eval 'frozen_and_thawed && ops $((++seed)) 300 && sync -f mnt' ;;
		e) check "... unmounted, mounted again" eval 'rj_umount && rj_mount && ops $((++seed)) 300' ;;
		esac
		check "... a crash under load" crash_under_load $((++seed))
		if [ $m = b ]; then
			status 0 "... rjrecover -p" recover
			like "... leaves the orphans to the mount" "$OUT" "left to the next mount, so that a history"
		fi
		# mount.rj recovers the volume else
		check "... mounted again" rj_mount
		check "... a marker of what is there" mark ${m}1
		check "... used" ops $((++seed)) 300
		check "... a marker" mark ${m}2
	done
	ls_says "... ls goes on over the crashes" "latest"
	is "... and tells of no break" "$(grep -c 'no later' <<<"$OUT")" 0
	for m in a b1 b2 c1 c2 d1 d2 e1 e2; do
		check "... marker $m by its segment" restored "segment:$(cat $m.segment)" $m
	done
	for m in a b1 c2 e1; do
		check "... marker $m by its time" restored "$(cat $m.time)" $m
	done
	mv folded.img base.img
	check "... a base is folded up to marker c1" timeout 120 "$RJBACKUP" fold --until="$(cat c1.time)" --base=base.img
	check "... and on" timeout 120 "$RJBACKUP" fold --base=base.img
	check "... unmounted" rj_umount
	check "... the latest, afterwards" restored latest e2
	status 0 "... and each block in use is the volume's" "$COMPARE" v.img r.img
	note "$kind: $OUT"
	[[ $VOL != /dev/* ]] || losetup -d "$VOL"
	VOL=$T_DIR/v.img
done

# ---- from here on with one block device; what comes between a crash and the next mount ----
history_conf ""
check "a volume" new_history device ext4 4096 ""
# crashed COMMAND...: before rjrecover; recovered COMMAND...: after it
crashed() { rj_crash && "$@" && again; }
recovered() { rj_crash && recover >recover.said && "$@"; }
labelled() { tune2fs -L "l$((++seed))" "$VOL"; }
# (tune2fs refuses a volume that needs recovery)
renamed() { debugfs -w -R "ssv volume_name n$((++seed))" "$VOL"; }
written() { echo "$seed" >file && debugfs -w -R "write file debugfs-$((++seed))" "$VOL"; }
# e2fsck with the journal, as with any external one
checked() { serve "$VOL" && fsck_with "$LOOP" "$VOL" "$1"; unserve; }
# the replay has the bitmaps of before the file, which may be the next one's too
crashed_and_mended() { crashed "$@" && checked -fy; }
by_hand() {
	serve "$VOL" && mount -i -t ext4 -o "journal_path=$LOOP,data=journal" "$VOL" mnt &&
		ops $((++seed)) && history_umount
}
read_only() {
	serve "$VOL" && mount -i -t ext4 -o "ro,journal_path=$LOOP,data=journal" "$VOL" mnt && history_umount
}
served_only() { serve "$VOL" && unserve; }
# no revoke record, which would tell, too
in_mode() {
	rj_crash && recover && rj_mount ordered && ((++seed)) &&
		head -c 300000 /dev/urandom >"mnt/in-$seed" && sync -f mnt && rj_umount
}
found="could not say that nothing else had changed it"
wrote="something else wrote to the volume"
another="unmounted or crashed"
unknown="the log does not say that this was by mount.rj, with data=journal"
said() { like "... rjrecover said so" "$(cat recover.said)" "a history of the volume ends with this recovery"; }
broken "crash, debugfs -w" "$found" crashed_and_mended written
said
broken "crash, another label" "$found" crashed renamed
said
broken "crash, e2fsck -fp with the journal" "$another" crashed checked -fp
broken "crash, a mount by hand" "$another" crashed by_hand
broken "recovered, debugfs -w" "$wrote" recovered written
broken "recovered, tune2fs -L" "$wrote" recovered labelled
broken "recovered, e2fsck -fp with the journal" "$another" recovered checked -fp
broken "recovered, rjournald without a mount" "$another" recovered served_only
broken "recovered, a mount by hand" "$unknown" recovered by_hand
broken "recovered, a mount by hand, for reading" "$another" recovered read_only
broken "recovered, a mount with data=ordered" "$unknown" in_mode
goes_on "recovered, looked at by e2fsck -fn" recovered eval 'e2fsck -fn "$VOL"; true'
goes_on "recovered, rjrecover again" recovered recover
goes_on "crash, mounted to look at" crashed eval 'mount -i -t ext4 -o ro,noload "$VOL" look && umount look'

# the orphans are released for the full check that was asked for
full() { deleted_open 2 && mark m && rj_crash && recovered_by recover --verify=full; }
broken "recovered with --verify=full, and orphans" "did not note how it left it" full
said
none_held() { rj_crash && recover --verify=full; }
goes_on "recovered with --verify=full, without orphans" none_held

# rjournald was told to stop at once
stopped() {
	local pid; pid=$(daemon_pid "$VOL")
	"$RJ_BUILD/rjctl/rjctl" stop --force "$VOL"; wait_for 60 gone "$pid" && umount mnt && recover
}
over "rjctl stop --force" stopped
ls_says "... ls ends there, or goes on" "latest|no later"
if ! grep -q "no later" <<<"$OUT"; then
	check "... the marker after it" restored latest n
fi
check "... unmounted" rj_umount

# the superblock that a thaw wrote is in no transaction, and of those before the log has none
gone_round() {
	local i
	frozen_and_thawed || return 1
	for ((i = 0; i < 30; i++)); do
		dd if=/dev/urandom of=mnt/plain bs=300k count=1 conv=notrunc,fsync status=none ||
			return 1
	done
	rj_crash && recover
}
goes_on "a freeze, the journal goes round, a crash" gone_round

# the superblock that a thaw wrote is not in the log
thawed() { frozen_and_thawed && rj_crash && recover; }
over "a freeze, and a crash before the next transaction" thawed
ls_says "... ls ends there" "no later"
check "... unmounted" rj_umount

# ---- rjrecover is killed, and run again ----
no_wrapper
cut_recover() { rj_crash && cut_off "$1" "$2" && recovered_by recover; }
for where in "io_uring_enter 6" "fsync 1" "pwrite64 1"; do
	goes_on "killed at $where" cut_recover $where
done
# the superblock is written, and there is nothing to be done again
for where in "fsync 3" "fsync 4"; do
	either "killed at $where" cut_recover $where
done

# ---- damage, and -y ----
[[ $VOL != /dev/* ]] || losetup -d "$VOL"
mkdir store; SRV_URL=file://$T_DIR/store
damaged() {
	rj_crash || return 1
	flip "$(find store -name '0*' -path '*/log/*' | sort | tail -n 1)" 700 || return 1
	recovered_by timeout 120 "$RJRECOVER" -y --accept-loss "$VOL"
}
history_conf ""
check "a log in a directory" new_history image ext4 4096 ""
over "rjrecover -y past damage" damaged
status 4 "... the history ends" timeout 120 "$RJBACKUP" restore --base=base.img -o r2.img
check "... unmounted" rj_umount

# ---- a mount by hand, which no note proves ----
check "mounted by hand" eval 'serve "$VOL" && mount -i -t ext4 -o "loop,journal_path=$LOOP,data=journal" "$VOL" mnt'
broken "a crash of a mount by hand" "$found" crashed true
exit 0
