#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# prefer=: the journal goes to the fallback file and back, by policy, by the link
# by what sleeps, and by joules, under a writing ext4; and the machine stops. In a mount
# namespace, for sysfs shall say that a device sleeps.
. "$RJ_SRC/tests/support/own-mounts.sh" || exit 99
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/live/frame.sh" || exit 99
need_wire
# The machine that runs this test is awake, and wire0 has no device: what sysfs says is
# written over it. writable DIR: lay an overlay on DIR, in memory
writable() {
	local up=$T_DIR/sys$1
	mkdir -p "$up" && mount -t tmpfs none "$up" && mkdir "$up/upper" "$up/work" &&
		mount -t overlay none -o "lowerdir=$1,upperdir=$up/upper,workdir=$up/work" "$1"
}
disk=/sys/dev/block/$(stat -c '%Hd:%Ld' "$T_DIR")
block=$disk/device/power net=/sys/class/net/wire0/device/power
writable /sys/dev/block && writable /sys/class/net || skip_all "no overlayfs"
rm -f "$disk" && mkdir -p "$block" "$net" || exit 99
RJLOG=$RJ_BUILD/rjlog/rjlog
seed=${RJ_SEED:-$RANDOM}
note "RJ_SEED=$seed"
CLIENT=2 IMG=$T_DIR/v.img MNT=$T_DIR/mnt
status_is() { $LIMIT "$RJCTL" status --json "$IMG" | grep -Eq "$1"; }
mode() { status_is "\"mode\":\"$1\""; }
# link up|down: the interface itself
link() { on "$CLIENT" ip link set wire0 "$1"; }
prefer() { $LIMIT "$RJCTL" prefer -q "$1" "$IMG"; }
milliseconds() { local t=${EPOCHREALTIME/./}; echo $((t / 1000)); }

hosts 2 "$seed" && server 1 || exit 99
# a loss would take far longer than this test waits: it is the arbiter that acts
(umask 077; printf '[*]\nloss_timeout = 100\nrequest_timeout = 100\nprefer = remote\n' >"$RJ_CONF")
volume_on "$(server_url 1)/one" ext4 4096 "size=8,fallback=$T_DIR/fb.file" || exit 99
check "mounted" mount_on
check "it says what is preferred, and why" status_is '"prefer":"remote","choice":"remote","reason":"preferred"'
write_history "$seed" 2
check "writing" goes_on 20
check "to the store" mode online

# ---- the link ----
from=$(milliseconds)
link down
check "link down: to the file" wait_for 20 mode local
took=$(($(milliseconds) - from))
check "at once ($took ms), not when the store is lost" test "$took" -lt 50000
check "and why" status_is '"choice":"local","reason":"the network link is down"'
check "and it goes on" goes_on 20
link up
check "link up: to the store again" wait_for 60 mode online
check "and it goes on" goes_on 20
check "nothing waits in the file" status_is '"backlog_segments":0'

# ---- by word ----
check "prefer local" prefer local
check "to the file, though the store is there" wait_for 20 mode local
check "and it goes on" goes_on 20
like "the status says so" "$($LIMIT "$RJCTL" status "$IMG")" 'prefer +local: now local, preferred'
check "it stays there" status_is '"backlog_segments":[1-9]'
check "prefer remote" prefer remote
check "to the store" wait_for 60 mode online
check "with all that the file held" status_is '"backlog_segments":0'
check "and it goes on" goes_on 20
status 2 "no such policy" "$RJCTL" prefer fast "$IMG"

# ---- power ----
check "prefer power" prefer power
check "awake: to the store" wait_for 20 status_is '"choice":"remote","reason":"link and disk are awake"'
echo suspended >"$net/runtime_status"
check "the link sleeps: to the file" wait_for 20 mode local
check "and it goes on" goes_on 20
echo suspended >"$block/runtime_status"
check "the disk, too; another policy counts at once" prefer remote
check "to the store" wait_for 60 mode online
check "prefer power" prefer power
check "the disk sleeps: to the store" wait_for 20 status_is '"choice":"remote","reason":"the local disk is asleep"'

# ---- the machine stops, with commits in the file alone ----
check "prefer local" prefer local
check "to the file" wait_for 20 mode local
check "and it goes on" goes_on 20
is "no error was seen" "$(kernel_errors)" ""
status 0 "the machine stops" machine_stops "$T_DIR/c.img"
status 0 "recovered" recover_on "$T_DIR/c.img"
check "all that was acknowledged is there" history_there "$T_DIR/c.img" "$seed"
check "the log is whole" on "$CLIENT" $LIMIT "$RJLOG" verify "$(server_url 1)/one"

# ---- stopped in order with commits in the file by choice ----
IMG=$T_DIR/c.img
check "mounted again" mount_on
check "prefer local" prefer local
check "to the file" wait_for 20 mode local
check "written" dd if=/dev/urandom of="$MNT/last" bs=8k count=1 conv=fsync status=none
check "unmounted" $LIMIT "$UMOUNT_RJ" "$MNT"
check "and stopped" wait_for 60 gone "$DPID"
mv "$T_DIR/fb.file" "$T_DIR/fb.away"
check "the store has it all: nobody needs the file" mount_on
check "it is there" test -s "$MNT/last"
check "unmounted" $LIMIT "$UMOUNT_RJ" "$MNT"
check "the log is whole" on "$CLIENT" $LIMIT "$RJLOG" verify "$(server_url 1)/one"

# ---- power, by the figures of rj.conf ----
figures() { # DISK LINK
	(umask 077; printf '[*]\nloss_timeout = 3\nrequest_timeout = 3\nprefer = power\n' >"$RJ_CONF")
	printf 'disk_energy = %s\nlink_energy = %s\n' "$1" "$2" >>"$RJ_CONF"
}
write_some() {
	local n
	for n in 1 2 3; do
		dd if=/dev/urandom of="$MNT/$1.$n" bs=8k count=1 conv=fsync status=none || return
	done
}
sleeps="wakeup=9J awake=1W idle=10s" never="commit=0.001J"
figures "$never" "$sleeps"
check "mounted with figures" mount_on
check "written" write_some first
check "the file takes less" wait_for 60 status_is '"choice":"local","reason":"the fallback file takes less energy"'
check "to the file" wait_for 20 mode local
check "and it goes on" write_some second
like "the status has both sums" "$($LIMIT "$RJCTL" status "$IMG")" 'segments: [0-9.e+-]+ J in the file, [0-9.e+-]+ J at the store'
check "unmounted" $LIMIT "$UMOUNT_RJ" "$MNT"
check "and stopped" wait_for 60 gone "$DPID"
figures "$sleeps" "$never"
check "mounted with other figures" mount_on
check "written" write_some third
check "the store takes less" wait_for 60 status_is '"choice":"remote","reason":"the store takes less energy"'
check "to the store" wait_for 60 mode online
kill -STOP "${SERVER[1]}"
check "the store is lost: acknowledged by the file" write_some fourth
check "as a loss" mode degraded
kill -CONT "${SERVER[1]}"
check "it is back, and gets it all" wait_for 60 mode online
check "nothing waits in the file" status_is '"backlog_segments":0'
check "and it goes on" write_some fifth
check "unmounted" $LIMIT "$UMOUNT_RJ" "$MNT"
check "the log is whole" on "$CLIENT" $LIMIT "$RJLOG" verify "$(server_url 1)/one"
