#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Name servers that do not answer: a request's time limit is what rj.conf says, not
# what they may take.
. "$RJ_SRC/tests/support/lib.sh"
need_root
for i in unshare ip; do command -v $i >/dev/null || skip_all "needs $i"; done
LIMIT="timeout -k 5 120"
url=rj://journal.example.org:7490/x

# A network of its own, with somebody in it who takes everything and says nothing.
cat >"$T_DIR/silent.sh" <<'EOS'
ip link set lo up &&
ip link add rj0 type veth peer name rj1 &&
ip addr add 192.0.2.1/24 dev rj0 &&
ip link set rj0 up && ip link set rj1 up &&
ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev rj0 &&
mount --bind "$1/resolv.conf" /etc/resolv.conf || exit 99
shift
exec "$@"
EOS
printf 'nameserver 192.0.2.2\noptions timeout:30 attempts:1\n' >"$T_DIR/resolv.conf"
(umask 077 && printf '[%s]\nconnect_timeout=1\nrequest_timeout=1\n' "$url" >"$RJ_CONF")
silent() { $LIMIT unshare -n -m sh "$T_DIR/silent.sh" "$T_DIR" "$@"; }
silent true || skip_all "no network namespace with a veth to be had"

began=$SECONDS
status 8 "the server's name is not found" silent "$RJ_BUILD/rjlog/rjlog" probe "$url"
like "it says so" "$OUT" "cannot reach the journal server: timed out after 1000 ms"
took=$((SECONDS - began))
note "after $took s"
check "in the time that rj.conf gives, and not the resolver's 30 s" test "$took" -lt 25
