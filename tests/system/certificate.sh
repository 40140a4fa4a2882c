#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A certificate that ends within 14 days is a warning on both sides; one that is renewed is seen
# when the server reloads.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"
. "$RJ_SRC/tests/rjournald/daemon.sh"
D=$T_DIR/store img=$T_DIR/v.img mnt=$T_DIR/mnt
export FSTYPE=ext4
new_ca ca && new_cert server localhost ca 10 || { not_ok "certificates"; exit 1; }
adduser "$D" host1 >"$T_DIR/token"
ADMIN=$(adduser "$D" boss --rights admin --volumes '*')
chmod 600 "$T_DIR/token"
check "a server" tls_start "$D"
(umask 077; printf '[*]\ntrim_interval = 1\n[rjs://127.0.0.1]\ntokenfile = %s\nca = %s\n' "$T_DIR/token" "$PKI/ca.pem" >"$RJ_CONF")
ends() { date -ud "$(openssl x509 -in "$PKI/server.pem" -noout -enddate | cut -d= -f2)" "+${1:-%F %T}Z"; }
server_says() { as "$ADMIN" "$BASE/status" >/dev/null; jq -r '.server | .health, .certificate_end_s' "$T_DIR/body" | xargs; }

is "the server's health says so" "$(server_says)" "expiring $(ends %s | tr -d Z)"
check "its log warns" logged "server.pem: the certificate ends 2[0-9-]+ [0-9:]+"
like "rjserver stats says when" "$(TZ=UTC "$RJSERVER" stats -d "$D")" "^certificate: until $(ends)"
check "a volume" volume "$img" ext4 4096 "rjs://${BASE#https://}/host1"
check "served" serve "$img"
check "mounted" mount_served "$img" "$mnt"
check "written to" put_file "$mnt/a"
warned() { $LIMIT "$RJCTL" check "$mnt" | grep -q '^RJPROGS WARNING'; }
check "the host warns" wait_for 60 warned
like "and says when" "$(TZ=UTC $LIMIT "$RJCTL" check "$mnt")" "^RJPROGS WARNING: $mnt: the certificate of the store ends: $(ends)"
like "rjctl status says when" "$(TZ=UTC $LIMIT "$RJCTL" status "$mnt")" "  certificate   of the store, until $(ends)"
like "the metrics, too" "$($LIMIT "$RJCTL" metrics "$mnt")" \
	"^rjournald_store_certificate_end_timestamp_seconds\{.*\} $(ends %s | tr -d Z)$"

check "it is renewed" new_cert server localhost ca 50
kill -HUP "$SERVER_PID"
renewed() { [ "$(server_says)" = "ok $(ends %s | tr -d Z)" ]; }
check "the server is well, and says when the new one ends" wait_for 60 renewed
check "an fsync" put_file "$mnt/b"
check "unmounted" $LIMIT umount "$mnt"
exit 0
