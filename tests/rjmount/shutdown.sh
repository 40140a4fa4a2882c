#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An unmount whose store is away waits; while systemd shuts the machine down only
# for x-rj.stop-timeout=, and the console says for what. What was fsynced is there
# after. In a mount namespace whose /run looks as systemd's; systemctl is a script.
. "$RJ_SRC/tests/support/own-mounts.sh" || exit 99
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
need_fuse_loop
mount -t tmpfs run /run && mkdir -p /run/mount /run/systemd/system "$T_DIR/bin" || exit 99
cat >"$T_DIR/bin/systemctl" <<EOF
#!/bin/sh
echo "a warning" >&2
cat "$T_DIR/state"
[ ! -e "$T_DIR/next" ] || mv "$T_DIR/next" "$T_DIR/state"
EOF
chmod +x "$T_DIR/bin/systemctl"
PATH=$T_DIR/bin:$PATH
: >"$T_DIR/said"
[ ! -e /dev/console ] || mount --bind "$T_DIR/said" /dev/console || exit 99
img=$T_DIR/v.img mnt=$T_DIR/mnt said=$T_DIR/said
mkdir "$mnt"
kill_daemons_at_end "$img"
at_exit umount -l "$mnt"
start_server "$T_DIR/srv" || exit 99

lose_server() { # with something that the unmount has to write
	fsynced "$mnt" 3 "$T_DIR/sums" && stop_server && echo late >"$mnt/late"
}
begin_umount() { "$UMOUNT_RJ" "$mnt" & UMOUNT=$!; }
ended() { [ "$UMOUNT" = 0 ] || ! kill -0 "$UMOUNT" 2>/dev/null; }
waits() { "$RJ_BUILD/rjctl/rjctl" status --json "$img" | grep -q '"mode":"waiting"'; }
back() { start_server "$T_DIR/srv" "$SRV_PORT"; }
there() { (cd "$mnt" && sha256sum --quiet -c "$T_DIR/sums"); }

check "a volume" volume "$img" ext4 4096 "$SRV_URL/v"
check "mounted, though systemd gives no scope" $LIMIT "$MOUNT_RJ" "$img" "$mnt" -o x-rj.stop-timeout=4

echo running >"$T_DIR/state"
check "the server is away" lose_server
begin_umount
check "an unmount waits" wait_for 60 waits
check "a first signal asks" kill -TERM "$(daemon_pid "$img")"
sleep 6
check "for longer than that" not ended
check "the server is back" back
check "and the unmount ends" wait_for 60 ended
wait "$UMOUNT"; is "with status 0" $? 0
is "nothing was said of a shutdown" "$(cat "$said")" ""
check "nothing is left" wait_for 60 nothing_left "$img"

# mount(8) keeps x-* words from its helpers
# the line's mount point may be a link; a line of another type is not ours
ln -s "$mnt" "$T_DIR/link"
cat >"$T_DIR/fstab" <<END
$img $mnt ext4 noauto,x-rj.stop-timeout=none 0 0
$img $T_DIR/link rj _netdev,x-rj.stop-timeout=4,noauto 0 0
END
mount --bind "$T_DIR/fstab" /etc/fstab || exit 99
check "mounted again, by its line in fstab" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
check "what was fsynced is there" there
echo stopping >"$T_DIR/state"
echo running >"$T_DIR/next"
check "the server is away again" lose_server
begin_umount
check "a shutdown is seen, and cancelled" wait_for 60 grep -q running "$T_DIR/state"
sleep 15
check "the unmount waits on" not grep -q "not waited for" "$said"
echo stopping >"$T_DIR/state"
check "at shutdown the unmount ends without it" wait_for 60 ended
if [ -e /dev/console ]; then
	like "the console says for what it waits, and how long" "$(cat "$said")" "waiting for $SRV_URL/.* 4 s"
	like "and that it gives up" "$(cat "$said")" 'not waited for any longer'
else
	skip "what the console says" "no /dev/console"
fi
check "nothing is left" wait_for 60 nothing_left "$img"
check "the server is back once more" back
check "mounted and recovered" $LIMIT "$MOUNT_RJ" "$img" "$mnt"
check "what was fsynced is there still" there
check "unmounted" $LIMIT "$UMOUNT_RJ" "$mnt"
exit 0
