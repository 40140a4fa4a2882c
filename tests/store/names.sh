#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Name servers that do not answer: a request's time limit is what rj.conf says, not
# what they may take. A name with several addresses: one that works is enough, and if none does
# the cause is not that this host has no IPv6.
. "$RJ_SRC/tests/support/lib.sh"
need_root
for i in unshare ip python3; do command -v $i >/dev/null || skip_all "needs $i"; done
LIMIT="timeout -k 5 120"
url=rj://journal.example.org:7490/x

# A network of its own, with a name server in it that takes everything and says nothing, a
# journal server that listens at 127.0.0.1:7490 alone, and no way out.
cat >"$T_DIR/silent.py" <<'EOS'
import os, socket, sys
name = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
name.bind(("127.0.0.2", 53))
os.set_inheritable(name.fileno(), True)
os.execvp(sys.argv[1], sys.argv[1:])
EOS
cat >"$T_DIR/silent.sh" <<'EOS'
ip link set lo up &&
mount --bind "$1/resolv.conf" /etc/resolv.conf &&
mount --bind "$1/hosts" /etc/hosts || exit 99
if [ -n "${SERVE:-}" ]; then
	"$SERVE" -q -d "$1/d" -l 127.0.0.1:7490 --insecure >"$1/served" 2>&1 &
	trap 'kill $!; wait $!' EXIT
	for i in $(seq 600); do
		grep -q listening "$1/served" && break
		sleep 0.1
	done
fi
dir=$1
shift
python3 "$dir/silent.py" "$@"
EOS
printf 'nameserver 127.0.0.2\noptions timeout:30 attempts:1\n' >"$T_DIR/resolv.conf"
printf '%s\n' '127.0.0.1 localhost v4first.test v6first.test' '2001:db8::1 v4first.test' \
	'::1 v6first.test' >"$T_DIR/hosts"
(umask 077 && printf '[%s]\nconnect_timeout=1\nrequest_timeout=1\n' "$url" >"$RJ_CONF")
silent() { $LIMIT unshare -n -m sh "$T_DIR/silent.sh" "$T_DIR" "$@"; }
silent true || skip_all "this machine makes no network namespace"

began=$SECONDS
status 8 "the server's name is not found" silent "$RJ_BUILD/rjlog/rjlog" probe "$url"
like "it says so" "$OUT" "cannot reach the journal server: timed out after 1000 ms"
took=$((SECONDS - began))
note "after $took s"
check "in the time that rj.conf gives, and not the resolver's 30 s" test "$took" -lt 25

: >"$RJ_CONF"
for host in v4first v6first; do
	status 8 "$host, nobody listens" silent "$RJ_BUILD/rjlog/rjlog" ls "rj://$host.test:7490/x"
	like "$host: refused, which is the cause" "$OUT" "cannot reach the journal server: connection refused"
	SERVE=$RJ_BUILD/rjserver/rjserver status 0 "$host: the address that works is found" \
		silent "$RJ_BUILD/rjlog/rjlog" ls "rj://$host.test:7490/x"
done
