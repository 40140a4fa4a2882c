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
# hanging_disk NAME KILL...: make the journal fail by KILL under a commit, while an fsync waits for
# its data on a disk that hangs. No process gets the error before the disk goes on; then both fail.
hanging_disk() {
	local what=$1 disk=$T_DIR/disk img=$T_DIR/disk/v.img mnt=$T_DIR/disk.mnt FSTYPE=ext4 late
	shift
	(umask 077; printf '[*]\nrequest_timeout = 100\n' >"$RJ_CONF")
	rm -f "$T_DIR/disk.told"
	mkdir -p "$disk" && truncate -s 64M "$T_DIR/disk.img" &&
		mke2fs -q -F -t ext4 "$T_DIR/disk.img" && mount -o loop "$T_DIR/disk.img" "$disk" && at_exit fsfreeze -u "$disk" &&
		start_server "$T_DIR/disk.srv" && volume "$img" ext4 4096 "$SRV_URL/$RANDOM" on_loss=error &&
		serve "$img" -q && mount_served "$img" "$mnt" && put_file "$mnt/late" 1 || exit 99
	kill -STOP "$SRV_PID"
	mkdir "$mnt/dir" # now: the kernel commits by itself every five seconds
	{ sync "$mnt/dir" 2>/dev/null; touch "$T_DIR/disk.told"; } &
	check "$what: a commit is under way" wait_for 60 lags "$img"
	check "$what: the disk hangs" fsfreeze -f "$disk"
	echo more >>"$mnt/late" # after that: the kernel may write it at any time
	sync "$mnt/late" 2>/dev/null &
	late=$!
	check "$what: an fsync waits for it" wait_for 60 grep -q wait_writeback "/proc/$late/stack"
	"$@"
	check "$what: the file system goes down" wait_for 60 not cat "$mnt/late"
	sleep 5
	check "$what: no process gets the error while the disk hangs" test ! -e "$T_DIR/disk.told"
	fsfreeze -u "$disk"
	wait $late
	is "$what: that fsync fails, when the disk goes on" $? 1
	check "$what: as does the other one" wait_for 60 test -e "$T_DIR/disk.told"
	check "$what: unmounted" $LIMIT umount "$mnt"
	kill_pid "$SRV_PID"; kill_pid "$DPID"
	check "$what: the disk is free" wait_for 60 umount "$disk"
}
lags() { $LIMIT "$RJCTL" status --json "$1" | grep -q '"lag_seconds":[1-9]'; }
# fill_server: another name takes what room there is, with large objects and then with small ones
fill_server() {
	local url n code=0
	head -c 1000000 /dev/urandom >"$T_DIR/large"
	head -c 3000 /dev/urandom >"$T_DIR/small"
	url=http://127.0.0.1:$SRV_PORT/junk/$(cat /proc/sys/kernel/random/uuid)/log
	for ((n = 1; n < 2000 && code != 507; n++)); do
		code=$(curl -s -m 120 -o /dev/null -w '%{http_code}' -H 'If-None-Match: *' \
			-T "$T_DIR/$([ "$n" -lt 140 ] && echo large || echo small)" \
			"$url/$(printf '%020d' "$n")")
		[ "$n" -ge 140 ] || [ "$code" != 507 ] || { n=140; code=0; }
	done
	[ "$code" = 507 ]
}
