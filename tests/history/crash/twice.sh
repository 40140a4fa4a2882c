#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two crashes, one after the other, before the second mount has put its note: a history ends there,
# and says so, or goes on; what is restored is right in each case. rjrecover is cut off, by a
# kill and by a power cut, at some of its writes (RJ_LONG: at each), and run again; something else
# writes to the volume in between. At last crashes, cuts, and mounts in any order: 1 + RJ_LONG
# rounds.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
. "$RJ_SRC/tests/history/base/mounts.sh" || exit 99
. "$RJ_SRC/tests/history/crash/over.sh" || exit 99
strace -o trace -e trace=none true 2>/dev/null || skip_all "no strace, or no ptrace here"
seed=${RJ_SEED:-$RANDOM} RANDOM=${RJ_SEED:-$RANDOM}
note "RJ_SEED=$seed"
history_conf ""
no_wrapper
check "a volume" new_history device ext4 4096 ""

# ---- the second crash comes before the note MOUNTED ----
another="unmounted or crashed"
unknown="the log does not say that this was by mount.rj, with data=journal"
REAL_MOUNT=$(command -v mount)
mkdir bin
# mount_cut COMMAND: mount.rj is killed when the volume is mounted, before rjournald knows; COMMAND
# uses it
mount_cut() {
	printf '#!/bin/bash\ncase $* in *journal_path*) ;; *) exec %s "$@" ;; esac\n%s "$@" || exit\n%s\nkill -KILL $PPID\n' \
		"$REAL_MOUNT" "$REAL_MOUNT" "$1" >bin/mount && chmod +x bin/mount
	PATH=$T_DIR/bin:$PATH timeout 120 "$MOUNT_RJ" "$VOL" mnt -o data=journal >said 2>&1
	mountpoint -q mnt
}
used='echo >mnt/early-$RANDOM; sync -f mnt'
# served_cut: rjournald, without a mount, and the machine stops
served_cut() { serve "$VOL" && kill_pid "$DPID"; }
crash_and_recover() { rj_crash && again; }
second() { crash_and_recover && mount_cut "$1" && crash_and_recover; }
orphans_too() { deleted_open 3 && mark m && second "$1"; }
new_worker_too() {
	crash_and_recover && mount_cut "$used" && kill_pid "$(worker_pid "$VOL")" &&
		wait_for 60 worker_pid "$VOL" && echo >mnt/late && sync -f mnt && crash_and_recover
}
unmounted_first() { rj_umount && mount_cut "$1" && crash_and_recover; }
broken "a crash, and another one in the mount" "$unknown" second "$used"
broken "... in which nothing was written" "$another" second true
broken "... that releases orphans" "$unknown" orphans_too "$used"
broken "... that releases orphans, and no more" "$unknown" orphans_too true
broken "... and another worker" "$unknown" new_worker_too
broken "an unmount, and a crash in the next mount" "$unknown" unmounted_first "$used"
broken "... in which nothing was written" "$another" unmounted_first true
broken "a crash, and one before the mount" "$another" eval 'crash_and_recover && served_cut && again'
broken "an unmount, and a crash before the mount" "$another" eval 'rj_umount && served_cut && again'
goes_on "a crash, and another one after the note" eval 'crash_and_recover && rj_mount && ops $((++seed)) && crash_and_recover'
goes_on "orphans, rjrecover twice" eval 'deleted_open 3 && mark m && crash_and_recover && again'

# ---- rjrecover is cut off ----
# power_cut CALL N: rjrecover is killed there, and what it had not flushed is gone
power_cut() {
	exec 9<"$VOL" && cut_off "$1" "$2" && cp --sparse=always v.img next.img || return 1
	exec 9<&-
	wait_for 60 losetup -d "$VOL"
	mv next.img v.img && VOL=$(losetup -f --show v.img)
}
calls=write,pwrite64,pwritev,pwritev2,io_uring_enter,fsync,fdatasync
check "mounted" mounted_again
ops $((++seed))
check "the machine stops" rj_crash
cp --sparse=always v.img crashed.img
check "the writes of a recovery" eval 'list "$RJRECOVER_BIN" -p "$VOL"'
mapfile -t cuts <list
renamed() { debugfs -w -R "ssv volume_name n$((++seed))" "$VOL"; }
written() { echo "$seed" >file && debugfs -w -R "write file debugfs-$((++seed))" "$VOL"; }
between=(true renamed written)
at=0 n=0
for call in "${cuts[@]}"; do
	at=$((at + 1))
	[ -n "${RJ_LONG:-}" ] || ((at % (${#cuts[@]} / 3) == 1)) || continue
	for how in cut_off power_cut; do
		[ -n "${RJ_LONG:-}" ] || [ $how = power_cut ] || continue
		b=${between[n++ % 3]}
		either "$how at $call, $b, again" eval "rj_crash && $how $call && { $b; again; }"
	done
done

# ---- in any order ----
random_cut() { echo "${cuts[RANDOM % ${#cuts[@]}]}"; }
# a recovery that is cut off as often as it comes, with a mount that is cut off or not
any_order() {
	local steps=$((RANDOM % 3 + 1)) i
	rm -f k*.segment
	rj_crash || return 1
	for ((i = 0; i < steps; i++)); do
		# shellcheck disable=SC2046 # a cut is several words
		case $((RANDOM % 5)) in
		0) power_cut $(random_cut) ;;
		1) cut_off $(random_cut) ;;
		2) again && mount_cut "$used" && rj_crash ;;
		3) again && rj_mount && ops $((++seed)) && mark "k$i" && rj_crash ;;
		4) again && served_cut ;;
		esac || return 1
	done
	again
}
for ((i = 0; i < 1 + ${RJ_LONG:-0}; i++)); do
	either "in any order, $i" any_order
done
check "the last one is mounted" mounted_again
check "... and unmounted" rj_umount
exit 0
