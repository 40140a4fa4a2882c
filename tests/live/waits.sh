#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# on_loss=block waits for all that somebody can mend. Each fault strikes an ext3 and an
# ext4 volume that are written to: rjctl status names the cause, and when it is mended
# the volumes go on by themselves: no error of the kernel, nothing lost. A fault is a
# line of the table below. RJ_LONG=1: all of them, for 30 s each; RJ_FAULTS="NAME...":
# these; RJ_FAULT_SECONDS: so long each.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/live/frame.sh" || exit 99
. "$RJ_SRC/tests/rjserver/http/certs.sh" || exit 99
need_wire
command -v openssl >/dev/null || skip_all "no openssl"

# NAME, on which server (plain: behind a load balancer; tls: with accounts; s3: an S3
# server behind a front that refuses as S3 does, where there is one), what
# breaks it, what mends it, and the cause that status shows meanwhile; S: in the
# short form, too
table() {
	cat <<-'END'
		plain|killed|server_dies|server_comes|unreachable|
		plain|stopped|kill -STOP ${SERVER[1]}|kill -CONT ${SERVER[1]}|unreachable|
		plain|link|net set 3 down=1|net heal 3|unreachable|
		plain|404|front 1.1 404 Not Found|front|not found|S
		plain|302|front 1.1 302 Found|front|redirected|
		plain|408|front 1.1 408 Request Timeout|front|unreachable|
		plain|429|front 1.1 429 Too Many Requests|front|unreachable|
		plain|500|front 1.1 500 Internal Server Error|front|unreachable|
		plain|502|front 1.1 502 Bad Gateway|front|unreachable|
		plain|503|front 1.1 503 Service Unavailable|front|unreachable|
		plain|503-old|front 1.0 503 Service Unavailable|front|unreachable|S
		plain|504|front 1.1 504 Gateway Timeout|front|unreachable|
		plain|507|front 1.1 507 Insufficient Storage|front|no space|
		plain|413|front 1.1 413 Content Too Large|front|refused: rights|
		plain|200|front 1.1 200 OK|front|not understood|
		plain|not-http|front_says SSH-2.0-OpenSSH|front|not understood|
		plain|worker|front 1.1 302 Found; kill_workers|front|redirected|S
		plain|emptied|server_dies; mv $SRV $SRV.away; server_comes|server_dies; rm -r $SRV; mv $SRV.away $SRV; server_comes|segments missing|
		plain|damaged|server_dies; cut_log; server_comes|server_dies; mend_log; server_comes|damaged|S
		plain|cut|server_dies; cut_unused|server_comes|unreachable|
		tls|rotated|new_token >$T_DIR/next|settings $(cat $T_DIR/next) ca|refused: token|S
		tls|revoked|account_gone|settings $(new_token) ca|refused: token|
		tls|rights|new_rights read|new_rights append,read,trim|refused: rights|
		tls|expired|tls_server expired|tls_server good|refused: certificate expired|S
		tls|other-ca|tls_server other|tls_server good|refused: certificate|
		tls|new-ca|tls_server other|add_ca|refused: certificate|S
		tls|bad-conf|new_token >$T_DIR/next; echo nonsense >>$RJ_CONF|settings $(cat $T_DIR/next) ca|refused: token|
		tls|not-yet|tls_server future|tls_server good|refused: certificate|
		tls|tls-worker|new_token >$T_DIR/next; kill_workers|settings $(cat $T_DIR/next) ca|refused: token|
		s3|session-token|s3_refuses ExpiredToken; pass_with one-more|s3_settings one-more|refused: token|
		s3|session-worker|s3_refuses InvalidToken; pass_with third; kill_workers|s3_settings third|refused: token|
		s3|s3-200|front 1.1 200 OK|front|not understood|
		s3|clock|s3_refuses RequestTimeTooSkewed|front|refused: clock|
	END
}

# ---- what breaks and mends ----
SRV=$T_DIR/srv1
server_dies() { kill_pid "${SERVER[1]}"; }
server_comes() { server 1; }
# front VERSION STATUS TEXT...: the load balancer answers; front: it passes on
front() {
	rm -f "$T_DIR/front" "$T_DIR/front.pass"
	[ $# = 0 ] || front_says "HTTP/$1 ${*:2}" 'Location: http://127.77.0.2/' \
		"$([ "$1" = 1.0 ] && echo Connection: close || echo Content-Length: 5)" '' 'sorry'
}
front_says() { printf '%s\r\n' "$@" >"$T_DIR/front.new" && mv "$T_DIR/front.new" "$T_DIR/front"; }
# s3_refuses CODE; pass_with TOKEN: but not those who come with that session token
s3_refuses() {
	front 1.1 403 Forbidden && front_says 'HTTP/1.1 403 Forbidden' 'Connection: close' \
		'Content-Type: application/xml' '' "<Error><Code>$1</Code><Message>no</Message></Error>"
}
pass_with() { printf %s "$1" >"$T_DIR/front.pass"; }
kill_workers() { local v; for v in $VOLUMES; do volume "$v"; kill -KILL "$(worker_pid "$IMG")"; done; }
# zero_from FILE OFFSET: nothing but zeros behind it
zero_from() { cmp -s -n $(($(stat -c %s "$1") - $2)) "$1" /dev/zero -i "$2:0"; }
# last_file: the last data file that something was written to
last_file() {
	local f
	while read -r f; do
		zero_from "$f" 8192 || { echo "$f"; return; }
	done < <(printf '%s\n' "$SRV"/store/*.rjd | sort -r)
}
cut_unused() { truncate -s -4096 "$(last_file)"; }
# right behind what is in it: the server cannot know what else there was
cut_log() {
	local f low=0 high mid
	f=$(last_file) high=$(stat -c %s "$f")
	while ((low < high)); do
		mid=$(((low + high) / 2))
		if zero_from "$f" $mid; then high=$mid; else low=$((mid + 1)); fi
	done
	CUT=$f
	cp --sparse=always "$f" "$T_DIR/whole.rjd" && truncate -s $low "$f"
}
# not the last file: the server may have made one more meanwhile
mend_log() { cp --sparse=always "$T_DIR/whole.rjd" "$CUT"; }
# settings [TOKEN CA]: rj.conf, at once
settings() {
	(umask 077; {
		printf '[*]\nconnect_timeout = 2\nrequest_timeout = 2\n'
		[ $# = 0 ] || printf '[rjs://127.77.0.1]\ntoken = %s\nca = %s\n' "$1" \
			"$PKI/trusted.pem"
	} >"$RJ_CONF.new") && mv "$RJ_CONF.new" "$RJ_CONF"
}
s3_settings() { # SESSION-TOKEN
	(umask 077; printf '%s\n' '[s3+http://127.77.0.2]' 'connect_timeout = 2' \
		'request_timeout = 5' 'user = AKID' 'password = secret' "session_token = $1" >"$RJ_CONF.new") &&
		mv "$RJ_CONF.new" "$RJ_CONF"
}
s3_server() {
	command -v moto_server >/dev/null || return 1
	nsenter --net="${NS[1]}" moto_server -H 127.77.0.1 -p 7000 >"$T_DIR/s3.log" 2>&1 &
	SERVER[1]=$!
	kill_at_end "$!"
	wait_for 60 on "$CLIENT" curl -sf -m 120 -o "$T_DIR/out" -X PUT http://127.77.0.1:7000/logs
}
reload() { kill -HUP "${SERVER[1]}"; }
new_token() { adduser "$SRV" v --new-token && reload; }
new_rights() { adduser "$SRV" v --rights "$1" && reload; }
account_gone() { timeout 120 "$RJSERVER" deluser -q -d "$SRV" v && reload; }
add_ca() { cat "$PKI"/{ca,new}.pem >"$PKI/trusted.new" && mv "$PKI/trusted.new" "$PKI/trusted.pem"; }
# tls_server CERTIFICATE
tls_server() {
	local log=$T_DIR/tls.$RANDOM.log
	[ -z "${SERVER[1]:-}" ] || kill_pid "${SERVER[1]}"
	nsenter --net="${NS[1]}" "$RJSERVER" -d "$SRV" -l 127.77.0.1:7000 \
		--cert "$PKI/$1.pem" --key "$PKI/$1.key" >"$log" 2>&1 &
	SERVER[1]=$!
	kill_at_end "$!"
	wait_for 60 grep -q 'listening on' "$log" || { cat "$log" >&2; return 1; }
}

# ---- two volumes ----
VOLUMES="ext3 ext4"
declare -A D W VD JD AT
# volume TYPE: it is meant from here on
volume() {
	IMG=$T_DIR/$where.$1.img MNT=$T_DIR/mnt.$1 RECORD=$T_DIR/record.$1
	DPID=${D[$1]:-} WRITER=${W[$1]:-} VOLUME_DEV=${VD[$1]:-}
	JOURNAL_DEV=${JD[$1]:-} MOUNTED_AT=${AT[$1]:-}
}
begin() { # TYPE URL
	volume "$1"
	volume_on "$2" "$1" "$([ "$1" = ext3 ] && echo 1024 || echo 4096)" size=4,on_loss=block &&
		mount_on "$([ "$1" = ext3 ] && echo data=journal || echo data=ordered)" || return 1
	write_history "$seed" 2 . 5
	D[$1]=$DPID W[$1]=$WRITER VD[$1]=$VOLUME_DEV JD[$1]=$JOURNAL_DEV AT[$1]=$MOUNTED_AT
	goes_on 5
}
says() { [ "$(status_of mode) $(status_of cause)" = "waiting $1" ]; }
# expect NAME COMMAND...: as check; without it, nothing that follows makes sense
expect() {
	check "$@"
	((T_BAD)) || return
	note "$($LIMIT "$RJCTL" status "$IMG")" "$(tail -n 5 "$T_DIR"/*.log "$T_DIR/out")"
	exit 1
}
# strike NAME BREAK MEND CAUSE
strike() {
	local v until=$((SECONDS + seconds))
	eval "$2" >"$T_DIR/out" 2>&1 || note "$(cat "$T_DIR/out")"
	for v in $VOLUMES; do
		volume "$v"
		expect "$1, $v: status says '$4'" wait_for 60 says "$4"
	done
	while ((SECONDS < until)); do sleep 0.2; done
	eval "$3" >"$T_DIR/out" 2>&1 || note "$(cat "$T_DIR/out")"
	for v in $VOLUMES; do
		volume "$v"
		expect "$1, $v: mended, it goes on" goes_on 5
	done
}
finish() {
	local v
	for v in $VOLUMES; do
		volume "$v"
		is "$where, $v: the kernel saw no error" "$(kernel_errors)" ""
		check "$where, $v: nor did the writer" not gone "$WRITER"
		check "$where, $v: the machine stops" machine_stops "$T_DIR/crash.img"
		check "$where, $v: recovery" recover_on "$T_DIR/crash.img"
		check "$where, $v: nothing acknowledged is lost" history_there "$T_DIR/crash.img" "$seed"
		note "$where, $v: $(acked) acknowledged"
	done
}

seed=${RJ_SEED:-$RANDOM}
note "RJ_SEED=$seed"
CLIENT=3
if [ -n "${RJ_LONG:-}" ]; then seconds=30; else seconds=1; fi
seconds=${RJ_FAULT_SECONDS:-$seconds}
wanted() {
	if [ -n "${RJ_FAULTS:-}" ]; then [[ " $RJ_FAULTS " == *" $1 "* ]]
	else [ -n "${RJ_LONG:-}$2" ]; fi
}
hosts 3 "$seed" || { not_ok "a network"; exit 1; }
export SAN=IP:127.77.0.1
new_ca ca && new_ca new && new_cert good v ca && new_cert expired v ca -1 &&
	new_cert other v new && not_yet future v ca && cp "$PKI/ca.pem" "$PKI/trusted.pem" || exit 99
for where in plain tls s3; do
	faults=()
	while IFS='|' read -r at name break mend cause short; do
		[ "$at" = "$where" ] && wanted "$name" "$short" &&
			faults+=("$name|$break|$mend|$cause")
	done < <(table)
	((${#faults[@]})) || continue
	if [ $where = s3 ]; then
		s3_server || { note "no moto_server: no S3"; continue; }
		s3_settings one
	elif [ $where = plain ]; then
		settings
		server 1 || exit 99
	fi
	if [ $where != tls ]; then
		rm -f "$T_DIR"/front*
		[ -z "${FRONT:-}" ] || kill_pid "$FRONT"
		nsenter --net="${NS[2]}" "$LIVE/front" 127.77.0.2 7000 127.77.0.1 7000 \
			"$T_DIR/front" >"$T_DIR/front.log" &
		FRONT=$!
		kill_at_end "$FRONT"
		wait_for 60 grep -q ready "$T_DIR/front.log" || exit 99
		url=$(server_url 2)/v
		[ $where != s3 ] || url=s3+http://127.77.0.2:7000/logs/v
	else
		# without any account a server keeps those that it knew
		mkdir "$SRV" && adduser "$SRV" other >"$T_DIR/out" &&
			settings "$(adduser "$SRV" v)" ca && tls_server good || exit 99
		url=rjs://127.77.0.1:7000/v
	fi
	for v in $VOLUMES; do
		begin "$v" "$url" || { not_ok "$where, $v: a volume, mounted and written to"; exit 1; }
	done
	for fault in "${faults[@]}"; do
		IFS='|' read -r name break mend cause <<<"$fault"
		strike "$name" "$break" "$mend" "$cause"
	done
	finish
	kill_pid "${SERVER[1]}"
	rm -rf "$SRV"
	unset 'SERVER[1]'
done
