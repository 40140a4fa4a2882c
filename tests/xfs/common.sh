# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced after lib.sh: XFS volumes with a remote log.
. "$RJ_SRC/tests/rjournald/daemon.sh" || exit 99
RJLOG=$RJ_BUILD/rjlog/rjlog
for tool in mkfs.xfs xfs_repair xfs_io; do
	command -v $tool >/dev/null || skip_all "no $tool (scripts/deps)"
done
grep -qw xfs /proc/filesystems || modprobe xfs 2>/dev/null || skip_all "no XFS in this kernel"

# xfs_volume IMAGE URL: make an XFS volume over IMAGE, on a loop device; sets DEV
xfs_volume() {
	truncate -s 400M "$1" && loop_over "$1" && $LIMIT "$MKRJFS" -q -t xfs -J "remote=$2" "$DEV"
}
# xfs_mount DEV DIR URL [OPTIONS]
xfs_mount() { $LIMIT "$MOUNT_RJ" "$1" "$2" -o "logdev=$3${4:+,$4}"; }
xfs_unmount() { $LIMIT "$UMOUNT_RJ" "$1"; }
# xfs_crash DEV DIR: the machine stops. First XFS, with what is not in its log lost
# (XFS_IOC_GOINGDOWN), so that nothing is written to the volume any more, then the daemon,
# and at last the mount is thrown away.
xfs_crash() {
	local pid
	pid=$(xfs_daemon "$1") && [ -n "$pid" ] || return 1
	xfs_io -x -c shutdown "$2" && kill_pid "$pid" && wait_for 60 umount "$2"
}
# xfs_daemon DEV: the supervisor that serves its log
xfs_daemon() {
	local all pid
	all=$(pgrep -f "rjournald .*--xfs=$1 ")
	for pid in $all; do
		grep -qxF "$(ps -o ppid= -p "$pid" | tr -d ' ')" <<<"$all" || { echo "$pid"; return; }
	done
}
# no_daemon DEV: nor what one leaves
no_daemon() { [ -z "$(xfs_daemon "$1")$(find "$RJ_RUN" -mindepth 1 2>/dev/null)" ]; }
xfs_kill_at_end() { at_exit xfs_kill "$1"; }
xfs_kill() { local pid; pid=$(xfs_daemon "$1") && [ -n "$pid" ] && kill_pid "$pid"; }
xfs_daemon_runs() { [ -n "$(xfs_daemon "$1")" ]; }
same_files() { (cd "$1" && sha256sum --quiet -c "$2"); }
