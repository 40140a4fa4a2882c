#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Clients without credentials cost neither memory nor descriptors, and do not hold
# up a writer. Long form: RJ_STRANGERS_PUTS=5000 (the times are in
# doc/results/rjserver-kills.md).
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"

D=$T_DIR/store
STRANGERS=$RJ_BUILD/tests/rjserver/http/strangers
OWN=$(adduser "$D" own)
export ACCESS=
start "$D" --max-strangers 0 || { note "$(cat "$LOG")"; not_ok "rjserver starts"; exit 1; }
port=${BASE##*:}
# two connections to look at in the end: one that says nothing, and one that a
# request was let in on
exec {silent}<>"/dev/tcp/127.0.0.1/$port"
exec {member}<>"/dev/tcp/127.0.0.1/$port"
ask() { # its status line
	local line rest
	printf 'GET / HTTP/1.1\r\nAuthorization: Bearer %s\r\n\r\n' "$OWN" >&"$member"
	read -r -t 60 line <&"$member"
	while read -r -t 60 rest <&"$member" && [ "${rest%% *}" != rjserver ]; do :; done
	echo "${line%$'\r'}"
}
is "a request is let in" "$(ask)" "HTTP/1.1 200 OK"

# the answer comes at the end of the head
head_only() { # NAME LENGTH HEADER...
	local fd
	exec {fd}<>"/dev/tcp/127.0.0.1/$port"
	{
		printf 'PUT /%s/%s/log/%s HTTP/1.1\r\n' "$1" "$UUID" "$(seq20 9)"
		printf '%s\r\n' "${@:3}" ${2:+"Content-Length: $2"} ''
	} >&"$fd"
	timeout 120 head -n 1 <&"$fd" | tr -d '\r'
	exec {fd}>&-
}
auth="Authorization: Bearer $OWN"
like "no credentials: before the body" "$(head_only own 16777216)" ' 401 '
like "those of nobody" "$(head_only own 16777216 "Authorization: Bearer x.y")" ' 401 '
like "a volume of others" "$(head_only other 16777216 "$auth")" ' 403 '
like "too large" "$(head_only own 16777217 "$auth")" ' 413 '
like "no length" "$(head_only own '' "$auth" "Transfer-Encoding: chunked")" ' 411 '
like "a body that may come" "$(head_only own 100 "$auth" "Expect: 100-continue")" ' 100 '
like "one that may not" "$(head_only own 100 "Expect: 100-continue")" ' 401 '
# a client that sends the body nevertheless reads the answer
head -c 3000000 /dev/zero >"$T_DIR/large"
is "a body that nobody wants" "$(as x.y -H Expect: -T "$T_DIR/large" "$BASE/own/$UUID/log/$(seq20 9)")" 401
is "nor from who is known" "$(as "$OWN" -H Expect: -T "$T_DIR/large" "$BASE/other/$UUID/log/$(seq20 9)")" 403

# 200 strangers with 16 MiB each, 1,000 that say nothing
timeout 300 "$STRANGERS" "$port" $SERVER_PID "$OWN" 200 1000 "${RJ_STRANGERS_PUTS:-500}" >"$T_DIR/got"
is "a writer beside 1,200 strangers" $? 0
note "$(cat "$T_DIR/got")"
read -r _ before after _ < <(grep ^memory "$T_DIR/got")
if sanitized "$RJSERVER"; then
	skip "they take less than 64 MiB" "with a sanitizer it is not the server's own"
else
	check "they take less than 64 MiB" test $((after - before)) -lt 65536
fi
read -r -t 60 _ <&"$silent"
is "who says nothing is cut off" $? 1
is "but not who was let in" "$(ask)" "HTTP/1.1 200 OK"
exec {silent}>&- {member}>&-
stop
is "stopped in order" $? 0

# a limit for each address: the oldest makes room
start "$D" --max-strangers 5 || { not_ok "rjserver starts"; exit 1; }
for i in {0..9}; do exec {fds[i]}<>"/dev/tcp/127.0.0.1/${BASE##*:}"; done
is "others get in" "$(as "$OWN" "$BASE/own/$UUID/log/")" 200
check "it is said" logged '127.0.0.1 has 5 connections without a request that was let in'
ended=0
for i in {0..4}; do
	read -r -t 120 _ <&"${fds[i]}"
	(($? == 1)) && ended=$((ended + 1))
done
is "the oldest are closed" $ended 5
for i in {0..9}; do exec {fds[i]}>&-; done
stop

# the next data file finds a descriptor
cat >"$T_DIR/few" <<END
#!/bin/sh
ulimit -n 64
exec "$RJSERVER" "\$@"
END
chmod +x "$T_DIR/few"
SERVER_OPTIONS="--file-size=65536"
D=$T_DIR/small
OWN=$(adduser "$D" own)
RJSERVER=$T_DIR/few start "$D" || { not_ok "rjserver starts with 64 descriptors"; exit 1; }
timeout 100 "$STRANGERS" "${BASE##*:}" $SERVER_PID "$OWN" 0 56 40 >"$T_DIR/got"
is "56 strangers, 64 descriptors: a writer goes on" $? 0
note "$(cat "$T_DIR/got")"
check "over several data files" test "$(find "$D/store" -name '*.rjd' | wc -l)" -gt 3
stop
is "stopped in order" $? 0
