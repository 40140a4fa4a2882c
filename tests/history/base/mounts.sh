# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced after the server was started, so that mounts end before it: a volume, of an image or a
# block device, that is mounted as type rj again and again.
at_exit umount -l "$T_DIR/look"
at_exit end_mount
end_mount() {
	umount -l "$T_DIR/mnt" 2>/dev/null
	kill_daemon "$VOL"
	[[ $VOL != /dev/* ]] || losetup -d "$VOL"
}
ops() { "$WORK" ops mnt "$1" "${2:-200}" >/dev/null; }
base() { rm -f base.img && timeout 120 "$RJBACKUP" base -o base.img mnt; }
ls_says() { OUT=$(timeout 120 "$RJBACKUP" ls base.img 2>&1); like "$1" "$OUT" "$2"; }
# new_history image|device TYPE BLOCKSIZE [WORDS [MKE2FS-OPTIONS...]]: mounted, with a base, and
# the marker a
new_history() {
	rm -f ./*.img ./*.manifest fb
	VOL=$T_DIR/v.img
	history_volume "$2" "$3" journal "${4:-}" "${@:5}" && history_umount || return 1
	if [ "$1" = device ]; then
		VOL=$(losetup -f --show v.img) || return 1
	fi
	rj_mount && ops 1 && base && ops 2 && mark a
}
new_worker() {
	kill_pid "$(worker_pid "$VOL")" && wait_for 60 worker_pid "$VOL" && wait_for 60 took_over
}
took_over() { "$RJ_BUILD/rjctl/rjctl" status --json mnt | grep -q '"mode": *"online"'; }
mounted_again() { mountpoint -q mnt || rj_mount; }
# over NAME COMMAND...: COMMAND in place of an unmount and a mount, after a base. seed is set
over() {
	local name=$1; shift
	check "$name: mounted" mounted_again
	ops $((++seed))
	check "... a base" base
	ops $((++seed)); mark m
	check "... $name" "$@"
	check "... mounted again" mounted_again
	ops $((++seed)); sync -f mnt; ops $((++seed)); mark n
}
