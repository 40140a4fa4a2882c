#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A fallback file that is full: requests wait, and none fails; the store comes
# back and gets everything; ext3 and the kernel saw no error.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
mnt=$T_DIR/mnt img=$T_DIR/v.img
mode() { $LIMIT "$RJCTL" status --json "$img" | grep -q "\"mode\":\"$1\""; }
# Each fsynced, its sum noted, until told. With data=journal all of it goes
# through the journal.
write_on() {
	local i
	for ((i = 0; ; i++)); do
		[ -e "$T_DIR/enough" ] && break
		dd if=/dev/urandom of="$mnt/w.$((i % 8))" bs=512k count=1 conv=fsync status=none ||
			{ echo failed >"$T_DIR/failed"; break; }
		(cd "$mnt" && sha256sum "w.$((i % 8))") >>"$T_DIR/sums"
	done
}
acked() { wc -l 2>/dev/null <"$T_DIR/sums"; }
beyond() { [ "$(acked)" -gt "$1" ]; }
# since BEGUN: what the kernel said of DEVICE
kernel_errors() {
	dmesg | awk -F'[][ ]+' -v t="$BEGUN" '$2 > t' |
		grep -E "(JBD2|EXT[34]-fs error|I/O error|Aborting journal).*${1#/dev/}\\>"
}

start_server "$T_DIR/srv" || exit 99
printf '[%s]\nloss_timeout = 1\n' "$SRV_URL" >"$RJ_CONF"
chmod 600 "$RJ_CONF"
volume "$img" ext3 4096 "$SRV_URL/one" "fallback=$T_DIR/fb,fallback_size=40" || exit 99
FSTYPE=ext3
check "serve" serve "$img"
check "mount" mount_served "$img" "$mnt" data=journal
volume_loop=$(awk -v m="$mnt" '$2 == m {print $1}' /proc/mounts)
BEGUN=$(cut -d" " -f1 /proc/uptime)
: >"$T_DIR/sums"
write_on & writer=$!
at_exit touch "$T_DIR/enough"
check "files are acknowledged" wait_for 60 beyond 1
kill_pid "$SRV_PID"
check "the server is gone: on in the file" wait_for 30 mode degraded
check "until it is full" wait_for 600 mode full
like "the status says so" "$($LIMIT "$RJCTL" status "$img")" full
# the last one that was may not be noted yet: the next one waits in the kernel
waiting() { pgrep -P "$writer" -x dd -r D; }
settled() {
	local dd
	dd=$(waiting) && count=$(acked) && sleep 1 && [ "$(waiting)" = "$dd" ]
}
wait_for 60 settled || exit 99
n=$count
check "more than the store had was acknowledged" test "$n" -gt 20
like "so do the metrics" "$($LIMIT "$RJCTL" metrics "$img")" '^rjournald_fallback_backlog_bytes\{.*\} [1-9]'
is "nothing more is acknowledged" "$(acked)" "$n"
check "the request waits" kill -0 "$writer"
check "and did not fail" test ! -e "$T_DIR/failed"
start_server "$T_DIR/srv" "$SRV_PORT"
check "the server is back: it goes on" wait_for 60 beyond "$n"
touch "$T_DIR/enough"
wait "$writer"
check "the store gets everything" wait_for 120 mode online
check "no write failed" test ! -e "$T_DIR/failed"
is "no error counted" "$(cat "/sys/fs/ext4/${volume_loop#/dev/}/errors_count")" 0
is "no error logged" "$(kernel_errors "$LOOP"; kernel_errors "$volume_loop")" ""
status 0 "the machine stops" crash "$img" "$mnt" "$T_DIR/c.img"
status 0 "the log is whole" $LIMIT "$RJ_BUILD/rjlog/rjlog" verify "$SRV_URL/one"
img=$T_DIR/c.img
status 0 "recovered, and a full check finds nothing" env RJ_RUN="$T_DIR/run2" \
	$LIMIT "$RJRECOVER" -q -p --verify=full "$img"
mkdir "$T_DIR/look" && $LIMIT mount -t ext3 -o loop,ro,noload "$img" "$T_DIR/look"
at_exit umount -l "$T_DIR/look"
# the last of each name
tail -n 8 "$T_DIR/sums" >"$T_DIR/last"
check "the last files that were acknowledged are there" eval \
	'(cd "$T_DIR/look" && sha256sum --quiet -c "$T_DIR/last")'
