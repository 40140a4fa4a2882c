#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A mount.rj that is killed before the mount is done: its rjournald ends, and does
# not wait 60 seconds for a mount. A volume that is mounted keeps its daemon.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
img=$T_DIR/v.img other=$T_DIR/other.img mnt=$T_DIR/mnt bin=$T_DIR/bin
mkdir "$mnt" "$bin"
kill_daemons_at_end "$img" "$other"
at_exit umount -l "$mnt"
start_server "$T_DIR/srv" || exit 99
check "a volume" volume "$img" ext4 4096 "$SRV_URL/v"
check "another one" volume "$other" ext4 4096 "$SRV_URL/other"

# a mount(8) that waits before (BEFORE=1) or after it has mounted
cat >"$bin/mount" <<EOF
#!/bin/bash
mounts() { $(command -v mount) "\$@" || exit; }
[ -n "\${BEFORE:-}" ] || mounts "\$@"
echo \$\$ >"$T_DIR/waits.new" && mv "$T_DIR/waits.new" "$T_DIR/waits"
exec sleep 600
EOF
chmod +x "$bin/mount"
mount_hangs() {
	rm -f "$T_DIR/waits"
	PATH=$bin:$PATH "$MOUNT_RJ" "$img" "$mnt" >"$T_DIR/said" 2>&1 &
	HELPER=$!
	kill_at_end "$HELPER"
	wait_for 60 test -e "$T_DIR/waits" && kill_at_end "$(cat "$T_DIR/waits")"
}
# its limit is the measure: it began before, and ends by that limit alone
witness() {
	[ -z "${WITNESS:-}" ] || $LIMIT "$RJCTL" stop -q "$other" || return 1
	serve "$other" --until-unmount && WITNESS=$DPID
}
ended_first() { wait_for 90 nothing_left_of "$1" && ! gone "$WITNESS"; }
nothing_left_of() { [ -z "$(daemon_pid "$1")" ]; }

check "a daemon that waits for its mount" witness
BEFORE=1 check "mount(8) hangs" mount_hangs
check "its daemon serves" test -n "$(daemon_pid "$img")"
kill -KILL "$HELPER"
check "mount.rj is killed: its daemon ends, sooner than by its limit" ended_first "$img"
kill_pid "$(cat "$T_DIR/waits")"

check "a daemon that waits for its mount" witness
kill -STOP "$SRV_PID"
"$MOUNT_RJ" "$img" "$mnt" >"$T_DIR/said" 2>&1 &
HELPER=$!
reads_log() { [ -n "$(worker_pid "$img")" ]; }
check "a daemon that waits for its store" wait_for 60 reads_log
kill -KILL "$HELPER"
kill -CONT "$SRV_PID"
check "mount.rj is killed before: its daemon ends" ended_first "$img"
check "the one that waited is stopped" $LIMIT "$RJCTL" stop -q "$other"

# a descriptor that is closed must not become one that the daemon replaces
serves_closed() { (eval "exec $1" && $LIMIT "$MOUNT_RJ" "$img" "$mnt") && [ -n "$(daemon_pid "$img")" ]; }
for closed in '>&-' '2>&-' '<&- >&- 2>&-'; do
	check "mounted with $closed" serves_closed "$closed"
	check "the daemon watches mount.rj, and stays" $LIMIT "$RJCTL" status "$img"
	check "unmounted" $LIMIT "$UMOUNT_RJ" "$mnt"
	check "nothing is left" wait_for 60 nothing_left_of "$img"
done

check "mount(8) has mounted, and hangs" mount_hangs
pid=$(daemon_pid "$img")
kill -KILL "$HELPER"
kill_pid "$(cat "$T_DIR/waits")"
# it looks at all that there is before each answer, or after
check "mount.rj is killed: the daemon answers" $LIMIT "$RJCTL" status "$img"
check "and answers again" $LIMIT "$RJCTL" status "$img"
check "and serves the mounted volume" fsynced "$mnt" 3 "$T_DIR/sums"
is "it is the same one" "$(daemon_pid "$img")" "$pid"
check "unmounted" $LIMIT "$UMOUNT_RJ" "$mnt"
check "nothing is left" wait_for 60 nothing_left "$img"
exit 0
