#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# front=ublk: a mount with the journal on a ublk device, its worker killed, its server away,
# its machine stopped. Most kernels that tests run on have no ublk: then this runs in a
# virtual machine with one that has it.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
if [ ! -e /dev/ublk-control ] && [ -z "${RJ_UBLK_INSIDE:-}" ]; then
	need_root
	export RJ_VM_KERNEL=${RJ_VM_KERNEL:-/var/cache/rjprogs/vm-kernel-6.12} RJ_UBLK_INSIDE=1
	ls "$RJ_VM_KERNEL"/boot/vmlinuz-* >/dev/null 2>&1 ||
		skip_all "no ublk, and no kernel of tests/power/get-kernel in $RJ_VM_KERNEL"
	for p in qemu-system-x86_64 busybox cpio; do
		type $p >/dev/null 2>&1 || skip_all "no ublk, and no $p"
	done
	# an emulated sanitizer takes eight minutes: tests/rjournald/ublk/suites, by hand
	sanitized "$RJ_BUILD/rjournald/rjournald" &&
		skip_all "the emulated machine runs the normal build"
	for try in 1 2 3; do # QEMU breaks a boot now and then
		VM_MODULES=ublk_drv timeout -k 5 900 "$RJ_SRC/tests/power/inside" bash "$0" \
			>"$T_DIR/tap" 2>"$T_DIR/said"
		status=$?
		[ $status = 125 ] || break
		note "boot $try failed" "$(grep -a -m 3 -E 'Oops|panic|inside:' "$T_DIR/said")"
	done
	cat "$T_DIR/tap"
	[ $status != 125 ] || cat "$T_DIR/said" >&2
	trap - EXIT
	rm -rf "$T_DIR"
	exit $status
fi
. "$RJ_SRC/tests/rjournald/daemon.sh"
img=$T_DIR/v.img mnt=$T_DIR/m
devices() { find /dev -maxdepth 1 -name 'ublk[bc]*' -printf '%f\n' | sort; }
before=$(devices)
no_devices() { [ "$(devices)" = "$before" ]; }
front() { local_conf "$T_DIR
front = $1"; }
mounted() {
	mkdir -p "$mnt" && $LIMIT "$MOUNT_RJ" "$img" "$mnt" && kill_at_end "$(daemon_pid "$img")"
}
waits() { $LIMIT "$RJCTL" status --json "$img" | grep -q '"mode":"waiting"'; }
# Files fsynced one after the other, each noted when it is.
record() {
	local n=0
	while [ ! -e "$T_DIR/enough" ]; do
		n=$((n + 1))
		put_file "$mnt/rec.$n" $((n % 9 + 1)) || { echo $n >"$T_DIR/refused"; return; }
		(cd "$mnt" && sha256sum "rec.$n") >>"$T_DIR/sums"
	done
}
read_device() { $LIMIT dd if="$device" of=/dev/null bs=64k count=16 iflag=direct status=none; }
there() { (cd "$1" && sha256sum --quiet -c "${@:2}"); }
at_least() { [ "$(wc -l <"$T_DIR/sums")" -ge "$1" ]; }
goes_on() { wait_for 60 at_least $(($(wc -l <"$T_DIR/sums") + $1)); }

start_server "$T_DIR/srv" && volume "$img" ext3 1024 "$SRV_URL/v" || exit 99
# ---- a kernel without ublk: taken away in the virtual machine, which has only this test ----
if [ -n "${RJ_UBLK_INSIDE:-}" ]; then
	mv /dev/ublk-control "$T_DIR/control"
	cp "$img" "$T_DIR/was.img"
	segments() { "$RJ_BUILD/rjlog/rjlog" ls "$SRV_URL/v"; }
	was=$(segments)
	front ublk
	status 1 "without ublk it is refused" $LIMIT "$RJOURNALD" "$img"
	is "in one line" "$OUT" "rjournald: /dev/ublk-control is not there (is the module ublk_drv loaded?)"
	is "and the log is as it was" "$(segments)" "$was"
	check "as is the volume" cmp "$img" "$T_DIR/was.img"
	front auto
	check "front=auto goes on" serve "$img" -q
	like "through FUSE" "$LOOP" ^/dev/loop
	unserve
	wait_for 60 nothing_left "$img" || exit 99
	mv "$T_DIR/control" /dev/ublk-control
fi

front ublk
check "with ublk it is mounted" mounted
device=$("$RJCTL" status --json "$img" | sed 's/.*"journal_device":"\([^"]*\)".*/\1/')
like "through ublk" "$device" '^/dev/ublkb[0-9]+$'
: >"$T_DIR/sums"
record &
recorder=$!
at_exit touch "$T_DIR/enough"
check "files are fsynced" goes_on 3
for i in 1 2 3; do
	kill -KILL "$(worker_pid "$img")"
	check "worker $i is killed: they are" goes_on 3
done
kill_pid "$SRV_PID"
check "the server goes away: an fsync waits" wait_for 60 waits
acked=$(wc -l <"$T_DIR/sums")
check "the device is read meanwhile" read_device
kill -KILL "$(worker_pid "$img")"
sleep 1
check "the waiting worker is killed, too; still read" read_device
is "nothing was acknowledged meanwhile" "$(wc -l <"$T_DIR/sums")" "$acked"
check "the server comes back" start_server "$T_DIR/srv" "$SRV_PORT"
check "and it goes on" goes_on 3
touch "$T_DIR/enough"
wait $recorder
check "no fsync failed" test ! -e "$T_DIR/refused"
is "the kernel says no error" "$(dmesg | grep -Ei 'error|abort' | grep -E "ublk|JBD2|EXT4-fs")" ""
check "unmounted" $LIMIT umount "$mnt"
check "nothing is left" wait_for 60 nothing_left "$img"
check "nor is a device" wait_for 60 no_devices

check "mounted again" mounted
check "each file is there" there "$mnt" "$T_DIR/sums"
rm "$T_DIR/enough"
: >"$T_DIR/sums"
record &
recorder=$!
check "files are fsynced" goes_on 5
check "the machine stops meanwhile" crash "$img" "$mnt" "$T_DIR/dead.img" "$T_DIR/sums"
wait $recorder
check "the warden removes the device" wait_for 60 no_devices
status 0 "rjrecover" env RJ_RUN="$T_DIR/run2" \
	$LIMIT "$RJRECOVER" -q -p --verify=full "$T_DIR/dead.img"
mkdir "$T_DIR/look"
mount -t ext3 -o loop,ro,noload "$T_DIR/dead.img" "$T_DIR/look"
check "each file is there then" there "$T_DIR/look" "$T_DIR/sums.then"
umount "$T_DIR/look"

# ---- all of its processes are killed at once, the warden too ----
img=$T_DIR/w.img
volume "$img" ext3 1024 "$SRV_URL/w" && mounted && put_file "$mnt/a" || exit 99
kill -KILL $(pgrep -f "rjournald .*$img\$")
sleep 1
check "all are killed: the device is still there" not no_devices
status 1 "the next rjournald is refused, as it is mounted" $LIMIT "$RJOURNALD" -q "$img"
check "but has removed the device" wait_for 60 no_devices
check "so the unmount ends" $LIMIT umount "$mnt"
status 0 "rjrecover" $LIMIT "$RJRECOVER" -q -p "$img"
check "it is mounted once more" mounted
check "with its file" test -s "$mnt/a"
check "unmounted" $LIMIT umount "$mnt"
check "no device is left" wait_for 60 no_devices

# ---- the file system is shut down before anybody is told, by the worker and by the warden ----
hanging_disk "the server dies" eval 'kill_pid "$SRV_PID"'
hanging_disk "rjournald dies" eval 'kill_pid "$DPID"'
check "no device is left" wait_for 60 no_devices
