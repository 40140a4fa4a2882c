#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The server is gone, and rjrecover recovers the volume from the fallback file alone: the log at the
# store lacks what that file had, so a history ends there, rjrecover and ls say so, and nothing
# later is restored. A base that is made afterwards is good.
. "$RJ_SRC/tests/history/run.sh" || exit 99
start_server "$T_DIR/srv" || exit 99
. "$RJ_SRC/tests/history/base/mounts.sh" || exit 99
. "$RJ_SRC/tests/history/crash/over.sh" || exit 99
RJCTL=$RJ_BUILD/rjctl/rjctl
seed=${RJ_SEED:-$RANDOM}
note "RJ_SEED=$seed"
history_conf "loss_timeout = 1"
is_mode() { "$RJCTL" status --json mnt | grep -q "\"mode\": *\"$1\""; }
enough() { "$RJCTL" status --json mnt | grep -q '"self_sufficient": *true'; }
# file_alone: the store is lost; more is written, until the file has all that a replay needs
file_alone() {
	kill_pid "$SRV_PID" && ops $((++seed)) && wait_for 60 is_mode degraded &&
		fsfreeze -f mnt && fsfreeze -u mnt && ops $((++seed)) && sync -f mnt && enough &&
		mark f && rj_crash && again
}
back() { start_server "$T_DIR/srv" "$SRV_PORT"; }
kinds "$seed" "image ext4 4096" "device ext3 1024"
for kind in "${KINDS[@]}"; do
	# shellcheck disable=SC2086
	check "$kind: a volume" new_history $kind ",fallback=$T_DIR/fb,on_loss=local"
	check "... recovered from the file alone" file_alone
	like "... says what is to be done" "$(cat recover.said)" "from the fallback file alone: run rjrecover again when the store is back"
	status 32 "... it is not mounted before that" timeout 120 "$MOUNT_RJ" "$VOL" mnt
	check "... the store is back" back
	ls_says "... ls goes to what it has" "latest"
	check "... the log begins again" again
	like "... which ends a history, and is said" "$(cat recover.said)" "a history of the volume ends with this recovery"
	check "... mounted" rj_mount
	check "... all that was acknowledged is there" eval '"$WORK" manifest mnt >now.manifest && cmp f.manifest now.manifest'
	ops $((++seed)); mark n
	rm -f r.img
	for at in latest "segment:$(cat n.segment)" "$(cat n.time)"; do
		status 1 "... the history ends: $at is refused" timeout 120 "$RJBACKUP" restore --at="$at" --base=base.img -o r.img
		like "... why" "$OUT" "rjrecover recovered the volume, and could not say"
	done
	check "... nothing is made" test ! -e r.img
	ls_says "... ls says it, too" "no later: after segment [0-9]+: rjrecover recovered the volume, and could not say"
	check "... marker a is there" restored "segment:$(cat a.segment)" a
	status 1 "... follow ends there" timeout 120 "$RJBACKUP" follow --once --base=base.img
	check "... a new base" base
	check "... is good" restored latest n
	check "... unmounted" rj_umount
	[[ $VOL != /dev/* ]] || losetup -d "$VOL"
done
exit 0
