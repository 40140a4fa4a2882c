# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced after lib.sh: real servers of other makers, as stores. server-NAME.sh
# has two functions for each server:
#
#   NAME_missing     prints what is not installed; nothing if all is there
#   NAME_start DIR   starts it with its data in DIR (new, empty), on loopback, on
#                    ports of its own, and leaves its end to at_exit. It sets
#                    B_URL (a store's URL), calls b_conf with what rj.conf
#                    must say of it, and returns 1 if it does not come up.

# The address of a bad way to the same ports of 127.0.0.1 (b_cuts), this run's own.
B_BAD=127.$((RANDOM % 250 + 2)).$((RANDOM % 250 + 2)).$((RANDOM % 250 + 2))

export no_proxy='*'
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy

# b_need NAME: or the whole file is skipped, for a reason that is counted
b_need() {
	local what
	. "$RJ_SRC/tests/backends/server-$1.sh" || exit 99
	what=$("${1}_missing")
	[ -z "$what" ] || skip_all "not installed: $what"
}

# b_start NAME: its data below the scratch directory
b_start() {
	mkdir -p "$T_DIR/$1" && "${1}_start" "$T_DIR/$1"
}

# b_conf SECTION LINE...: append a section to rj.conf
b_conf() {
	(
		umask 077
		printf '[%s]\n' "$1" >>"$RJ_CONF"
		printf '%s\n' "${@:2}" >>"$RJ_CONF"
	)
}

# b_missing COMMAND...: those that are not to be found
b_missing() {
	local c
	for c; do PATH=$PATH:/usr/sbin:/usr/lib/openssh command -v "$c" >/dev/null || echo "$c"; done
}

# b_end PID: stop a daemon of ours, in order if it can
b_end() {
	kill -TERM "$1" 2>/dev/null || return 0
	wait_for "${2:-10}" b_gone "$1" || kill -KILL "$1" 2>/dev/null
	wait_for 30 b_gone "$1"
	return 0
}
b_gone() {
	local stat
	stat=$(ps -o stat= -p "$1") || return 0
	[[ $stat == Z* ]]
}

# b_cert DIR: cert.pem and key.pem for this machine, its own authority
b_cert() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
		-days 2 -subj /CN=localhost -keyout "$1/key.pem" -out "$1/cert.pem" \
		-addext 'subjectAltName=IP:127.0.0.1,IP:'"$B_BAD"',DNS:localhost,DNS:logs.localhost' \
		>/dev/null 2>&1 && chmod 600 "$1/key.pem"
}

# b_way: let a server that gives up root reach what is below the scratch
# directory, and through the one of our own that that may stand in
b_way() {
	chmod 711 "$T_DIR" || return 1
	[ "$(stat -c %a "${TMPDIR:-/tmp}")" != 700 ] || chmod 711 "$TMPDIR"
}

# b_faults PORT SCHEME LINE...: a proxy of HTTP faults before PORT, with those lines
# in rj.conf; sets FAULT_PORT. RJ_SEED repeats what it draws.
b_faults() {
	local seed=${RJ_SEED:-$RANDOM$RANDOM}
	note "RJ_SEED=$seed"
	"$RJ_BUILD/tests/backends/faultproxy" "$1" "${RJ_FAULTS:-20}" "$seed" \
		>"$T_DIR/faults" 2>&1 </dev/null &
	FAULT_PID=$!
	at_exit b_end "$FAULT_PID"
	wait_for 30 grep -q '^port ' "$T_DIR/faults" || return 1
	FAULT_PORT=$(sed -n 's/^port //p' "$T_DIR/faults")
	b_conf "$2://127.0.0.1:$FAULT_PORT" "${@:3}" "request_timeout = 5"
}
# b_cuts PORT[-PORT]...: the same on the level of TCP, at the address B_BAD
b_cuts() {
	local seed=${RJ_SEED:-$RANDOM$RANDOM}
	note "RJ_SEED=$seed"
	"$RJ_BUILD/tests/backends/cutproxy" "$B_BAD" "${RJ_CUTS:-6}" "$seed" "$@" \
		>"$T_DIR/faults" 2>&1 </dev/null &
	FAULT_PID=$!
	at_exit b_end "$FAULT_PID"
	wait_for 30 grep -q '^ready' "$T_DIR/faults" || { note "$(cat "$T_DIR/faults")"; return 1; }
}
# b_faults_seen: end it; each kind of fault has struck
b_faults_seen() {
	b_end "$FAULT_PID"
	note "$(tr '\n' ' ' <"$T_DIR/faults")"
	check "each kind of fault has struck" awk 'NF == 2 {n++} NF == 2 && $2 == 0 {bad = 1} END {exit bad || n < 6}' "$T_DIR/faults"
}
