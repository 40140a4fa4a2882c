#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The example rjserver.conf, which the packages install: the server starts with
# it as it is, and with each line that is a comment in it; only places are others.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"
D=$T_DIR/store example=$RJ_SRC/contrib/systemd/rjserver.conf
new_ca clients && new_cert rjserver localhost clients || { not_ok "certificates"; exit 1; }
adduser "$D" host1 >"$T_DIR/token"

here() { sed "s|/var/lib/rjserver|$D|; s|/etc/rjprogs/|$PKI/|; s|= \[::\]:7490|= 127.0.0.1:0|"; }
all() { sed -E 's/^# ([a-z-]+ = |\[)/\1/'; }
# starts CONF: rjserver with it says where it listens
starts() {
	local out=$T_DIR/out.$RANDOM pid rc
	"$RJSERVER" --config "$1" >"$out" 2>&1 &
	pid=$!
	kill_at_end $pid
	SERVER_PID=$pid
	wait_for 60 ready_or_dead "$out"
	grep -q '^rjserver: listening on 127' "$out"
	rc=$?
	cat "$out"
	kill $pid && wait $pid
	return $rc
}
here <"$example" >"$T_DIR/as-is.conf"
check "it starts with the example" starts "$T_DIR/as-is.conf"
all <"$example" | here >"$T_DIR/all.conf"
is "of which each setting is one" "$(grep -cE '^#.*[a-z] = ' "$T_DIR/all.conf")" 0
check "there are more settings then" test "$(grep -c = "$T_DIR/all.conf")" -gt "$(grep -c '^[^#]*=' "$T_DIR/as-is.conf")"
check "and with all that is a comment in it" starts "$T_DIR/all.conf"
sed 's/^keep/kept/' "$T_DIR/all.conf" >"$T_DIR/bad.conf"
status 1 "seen: a setting that is none" starts "$T_DIR/bad.conf"
for key in dir listen cert key client-ca min-free durability; do
	check "the example has $key" grep -qE "^(# )?$key = " "$example"
done
