#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A worker takes over while rj.conf is not as it was: it waits, says so, and goes on
# when that is mended. No request fails.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
[ "$(printf '6.9\n%s\n' "$(uname -r | cut -d- -f1)" | sort -V | head -n 1)" = 6.9 ] ||
	skip_all "older than Linux 6.9"
RJTUNE=$RJ_BUILD/rjtune/rjtune
start_server "$T_DIR/srv" || exit 99
mnt=$T_DIR/mnt img=$T_DIR/v.img FSTYPE=ext4
restarts() { $LIMIT "$RJCTL" status --json "$img" | sed 's/.*"restarts":\([0-9]*\).*/\1/'; }
caused() { $LIMIT "$RJCTL" status --json "$img" | grep -q '"cause":"rj.conf"'; }
settled() { $LIMIT "$RJCTL" status --json "$img" | grep -q '"cause":""' ||
	! $LIMIT "$RJCTL" status --json "$img" | grep -q '"cause"'; }
# settings LINE: of this store, at once
settings() {
	(umask 077; printf '[%s]\n%s\n[local]\nfallback_dirs = %s\nfloor_dir = %s\n' "$SRV_URL" "$1" \
		"$T_DIR" "$T_DIR/floor" >"$RJ_CONF.new") && mv "$RJ_CONF.new" "$RJ_CONF"
}
"$RJTUNE" --genkey "$T_DIR/one" && "$RJTUNE" --genkey "$T_DIR/two" || exit 99
good="keyfile = $T_DIR/one"

# taken_over NAME LINE: the worker is killed while rj.conf says LINE
taken_over() {
	local name=$1 before writer
	before=$(restarts)
	settings "$2"
	kill -KILL "$(worker_pid "$img")"
	put_file "$mnt/$RANDOM" &
	writer=$!
	check "$name: says what it waits for" wait_for 60 caused
	check "$name: the request waits" kill -0 "$writer"
	settings "$good"
	wait "$writer"
	is "$name: and is done when rj.conf is mended" $? 0
	check "$name: nothing is waited for" wait_for 60 settled
	check "$name: by another worker" test "$(restarts)" -gt "$before"
}

for more in "" ",fallback=$T_DIR/fb,fallback_size=48"; do
	kind=${more:+with a fallback file}
	kind=${kind:-without one}
	settings "$good"
	volume "$img" ext4 4096 "$SRV_URL/v${#more}" "key=$T_DIR/one$more" || exit 99
	serve "$img" && mount_served "$img" "$mnt" && put_file "$mnt/a" || exit 99
	taken_over "$kind: no key" ""
	taken_over "$kind: a wrong key" "keyfile = $T_DIR/two"
	taken_over "$kind: a key file that is none" "keyfile = $T_DIR/srv"
	taken_over "$kind: nonsense" "$good
nonsense"
	status 0 "$kind: unmounted" $LIMIT umount "$mnt"
	status 0 "$kind: stopped" $LIMIT "$RJCTL" stop "$img"
done
