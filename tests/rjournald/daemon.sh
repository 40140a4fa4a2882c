# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the tests of rjournald and mount.rj: volumes, and what is left.
. "$RJ_SRC/tests/support/rj.sh" || exit 99
RJCTL=$RJ_BUILD/rjctl/rjctl
MARK=$RJ_BUILD/tests/rjournald/mark
# a wedged device must not hang the suite
LIMIT="timeout -k 5 120"
need_fuse_loop
grep -q ext4 /proc/filesystems || modprobe ext4 2>/dev/null ||
	skip_all "no ext4 in this kernel"

# volume FILE TYPE BLOCKSIZE URL [MORE-J]: a volume of 32 MiB
volume() {
	rm -f "$1"
	truncate -s 32M "$1" && "$MKRJFS" -q -F -t "$2" -b "$3" \
		-J "remote=$4,size=8${5:+,$5}" "$1"
}
# serve IMAGE [OPTION...]: start in the background; LOOP, DPID
serve() {
	local image=$1; shift
	LOOP=$($LIMIT "$RJOURNALD" "$@" "$image") || return 1
	DPID=$(daemon_pid "$image")
	kill_at_end "$DPID"
}
# mount_served IMAGE DIR OPTIONS: with the loop device of serve
mount_served() {
	mkdir -p "$2"
	at_exit umount -l "$2"
	$LIMIT mount -t "${FSTYPE:-ext3}" -o "loop,journal_path=$LOOP${3:+,$3}" "$1" "$2"
}
gone() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null; }
# left IMAGE: processes, loop devices, mounts and files of its daemon
left() {
	pgrep -af "rjournald .*$1\$"
	losetup -a | grep -F "$T_DIR/"
	grep -F "$T_DIR/" /proc/mounts
	find "$RJ_RUN" -mindepth 1 2>/dev/null
}
nothing_left() { [ -z "$(left "$1")" ]; }
# each fsynced, written to FILE DIR/NAME.N
put_file() { dd if=/dev/urandom of="$1" bs=1k count="${2:-3}" conv=fsync status=none; }
