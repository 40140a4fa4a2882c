#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A token and a key: that neither is seen in the arguments or the environment of
# a process, in a message, a log or a status, in the volume or at the store, or in
# the core that a daemon leaves which is killed; with a server that takes the token,
# with one that does not, and with a failure of each.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"
need_fuse_loop
RJLOG=$RJ_BUILD/rjlog/rjlog RJCTL=$RJ_BUILD/rjctl/rjctl
export no_proxy='*'
img=$T_DIR/img mnt=$T_DIR/mnt D=$T_DIR/store

new_ca ca && new_cert server localhost ca || { not_ok "certificates"; exit 1; }
TOKEN=$(adduser "$D" host1 --rights append,read,trim)
check "a server with accounts" tls_start "$D"
URL=rjs://${BASE#https://}/host1
KEY=$(openssl rand -hex 32) WRONG=host1:$(openssl rand -hex 32)
(umask 077; printf 'rj-key 1\n%s\n' "$KEY" >"$T_DIR/key"; printf '%s\n' "$TOKEN" >"$T_DIR/token")
# the secret part: of a token what follows the account's name
SECRETS=("$TOKEN" "${TOKEN##*[:.]}" "$KEY" "$WRONG" "$(printf %s "$TOKEN" | base64 -w0)")
said() { # of LINE...: no secret is in them
	local s
	for s in "${SECRETS[@]}"; do
		[ ${#s} -lt 16 ] || ! grep -qF -- "$s" <<<"$*" || { note "found"; return 1; }
	done
}
seen_in() { # FILE...: those that hold a secret
	local s
	for s in "${SECRETS[@]}"; do [ ${#s} -lt 16 ] || grep -rlaF -- "$s" "$@" 2>/dev/null; done | sort -u
}
# every process of ours below this shell, and its descendants' arguments and environment
public() {
	local p
	for p in $(pgrep -f "rjournald .*$img\$"); do
		tr '\0' '\n' <"/proc/$p/cmdline"; tr '\0' '\n' <"/proc/$p/environ"
	done
}

# ---- the token in a file that rj.conf names ----
(umask 077; printf '[%s]\ntokenfile = %s\nca = %s\nkeyfile = %s\n' "${URL%/host1}" "$T_DIR/token" "$PKI/ca.pem" "$T_DIR/key" >"$RJ_CONF")
OUT=$("$MKRJFS" -q -F -t ext4 -J "remote=$URL,size=4,key=$T_DIR/key" "$img" 32M 2>&1)
is "a volume" "$?" 0
"$RJOURNALD" -f -v "$img" >"$T_DIR/out" 2>"$T_DIR/log" </dev/null &
at_exit kill_pid $!
check "served" wait_for 60 grep -q "^/dev/" "$T_DIR/out"
LOOP=$(cat "$T_DIR/out") DPID=$(daemon_pid "$img")
mkdir -p "$mnt"
check "mounted" mount -i -t ext4 -o "loop,journal_path=$LOOP" "$img" "$mnt"
check "written" fsynced "$mnt" 5 "$T_DIR/sums"
PUBLIC=$(public)
like "arguments and environments were read" "$PUBLIC" "$img"
check "no secret is in them" said "$PUBLIC"
check "nor in status and metrics" said "$("$RJCTL" status --json "$img"; "$RJCTL" status "$img"; "$RJCTL" metrics "$img")"
check "nor in what rjlog says" said "$("$RJLOG" ls --json "$URL" 2>&1; "$RJLOG" verify "$URL" 2>&1; "$RJLOG" probe -q "$URL" 2>&1)"
worker=$("$RJCTL" status --json "$img" | sed -n 's/.*"worker_pid":\([0-9]*\).*/\1/p')
is "the worker is not dumpable: its memory is root's" "$(stat -c %u "/proc/${worker:-$DPID}/mem")" 0
is "no secret is in the log, the volume and the store" "$(seen_in "$T_DIR/log" "$img" "$D")" ""

# ---- a core ----
mkdir "$T_DIR/cores"
for p in $(pgrep -f "rjournald .*$img\$"); do prlimit --pid "$p" --core=unlimited:unlimited 2>/dev/null; done
case $(cat /proc/sys/kernel/core_pattern) in
/* | '|'*) skip "a worker that is killed leaves no core" "cores go elsewhere on this machine" ;;
*)
	kill -ABRT "${worker:-$DPID}" # a shell has its background jobs ignore QUIT
	wait_for 60 gone "${worker:-$DPID}" || exit 99
	is "a worker that is killed leaves no core" "$(find / -xdev -maxdepth 1 -name 'core*' -newer "$T_DIR/sums" -type f)" ""
	;;
esac
umount -l "$mnt"
for p in $(pgrep -f "rjournald .*$img\$"); do kill_pid "$p"; done

# ---- by the environment, and a token that is refused ----
: >"$RJ_CONF"
export RJ_CREDENTIALS="[*]
ca = $PKI/ca.pem
token = $WRONG
[${URL%/host1}]"
status 8 "a token that is wrong" "$RJLOG" ls "$URL"
check "is not repeated" said "$OUT"
export RJ_CREDENTIALS="[*]
token $WRONG"
status 16 "a malformed line" "$RJLOG" ls "$URL"
check "is not repeated either" said "$OUT"
unset RJ_CREDENTIALS
status 16 "a token in a URL" "$RJLOG" ls "rjs://$WRONG@127.0.0.1/host1"
check "is not repeated" said "$OUT"
# the search itself
printf 'x%sy' "$TOKEN" >"$T_DIR/seen"
is "seen: a token in a file" "$(seen_in "$T_DIR/seen")" "$T_DIR/seen"
check "seen: a token in a line" not said "a $TOKEN b"
exit 0
