#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The systemd unit: what it forbids, held against what the server does.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"

UNIT=$RJ_BUILD/contrib/systemd/rjserver.service
value() { sed -n "s/^$1=//p" "$UNIT"; }
is "it says when it is ready" "$(value Type)" notify
like "and is watched" "$(value WatchdogSec)" '^[0-9]+$'
like "SIGHUP reloads it" "$(value ExecReload)" ' -HUP \$MAINPID$'
# the options of ExecStart are options of rjserver, the example is a configuration
for o in $(value ExecStart | grep -o -- ' --[a-z-]*'); do
	check "$o is an option" grep -qe "$o" <("$RJSERVER" --help)
done
sed -e "s|/var/lib/rjserver|$T_DIR/none/store|; s|^\(cert\|key\) = .*|\1 = $T_DIR/none.pem|" \
	-e 's/^# \(\[volume\|keep\|max-\|client-ca\|min-free\|durability\)/\1/' \
	-e 's/^listen = .*/listen = 127.0.0.1:0/' \
	"$RJ_SRC/contrib/systemd/rjserver.conf" >"$T_DIR/conf"
status 1 "the example is read" timeout 120 "$RJSERVER" --config "$T_DIR/conf"
like "to its end" "$OUT" 'there are no accounts'

if command -v systemd-analyze >/dev/null; then
	mkdir "$T_DIR/verify"
	sed "s|/[^ ]*/rjserver --|$(command -v true) --|; s|/bin/kill|$(command -v kill)|" "$UNIT" \
		>"$T_DIR/verify/rjserver.service"
	OUT=$(timeout 120 systemd-analyze verify --man=no "$T_DIR/verify/rjserver.service" 2>&1)
	is "systemd-analyze verify" "$? $OUT" "0 "
	echo 'Nonsense=yes' >>"$T_DIR/verify/rjserver.service"
	like "seen: a word it does not know" \
		"$(timeout 120 systemd-analyze verify --man=no "$T_DIR/verify/rjserver.service" 2>&1)" Nonsense
	exposure=$(timeout 120 systemd-analyze security --offline=true "$UNIT" 2>/dev/null |
		sed -n 's/.*Overall exposure level.*: \([0-9.]*\) .*/\1/p')
	like "little is left open ($exposure of 10)" "$exposure" '^[01]\.'
else
	skip "systemd-analyze" "not here"
fi

command -v strace >/dev/null && strace -o "$T_DIR/none" true 2>/dev/null ||
	{ skip "what the server does" "no strace, or it may not trace"; exit 0; }
if grep -q fsanitize=address "$RJ_BUILD/Makefile"; then
	skip "what the server does" "a sanitizer does things of its own"
	exit 0
fi

# everything it does in a life: start, PUT, GET, list, page, reload, stats, stop
D=$T_DIR/store
new_ca ca && new_cert server localhost ca || { not_ok "certificates"; exit 1; }
HOST=$(adduser "$D" host1 --rights append,read,trim)
REAL=$RJSERVER
cat >"$T_DIR/traced" <<END
#!/bin/sh
exec strace -f -qq -o "$T_DIR/trace" "$REAL" "\$@"
END
chmod +x "$T_DIR/traced"
RJSERVER=$T_DIR/traced tls_start "$D" || { note "$(cat "$LOG")"; not_ok "starts"; exit 1; }
TRACER=$SERVER_PID
K=$BASE/host1/$UUID/log
head -c 300000 /dev/urandom >"$T_DIR/a"
for i in {1..250}; do echo "upload-file = \"$T_DIR/a\"
url = \"$K/$(seq20 $i)\"
output = \"$T_DIR/none\""; done >"$T_DIR/puts"
curl -s -m 600 --noproxy '*' -H "Authorization: Bearer $HOST" -K "$T_DIR/puts"
is "written" "$(as "$HOST" "$K/$(seq20 250)")" 200
is "listed" "$(as "$HOST" "$K/") $(body | wc -l)" "200 250"
is "streamed" "$(as "$HOST" "$K/?from=240")" 200
is "trimmed" "$(as "$HOST" -X DELETE "$K/?below=200")" 204
is "deleted" "$(as "$HOST" -X DELETE "$K/$(seq20 250)")" 204
is "the page" "$(as "$HOST" -H 'Accept: text/html' "$BASE/")" 200
is "metrics" "$(as "$HOST" "$BASE/metrics")" 200
check "stats" timeout 120 "$REAL" stats -d "$D"
pid=$(pgrep -P "$TRACER" | head -n 1)
kill -HUP "$pid"
check "reload" wait_for 20 logged reloaded
kill -TERM "$pid"
wait "$TRACER"
is "stopped" $? 0

# after the exec of the server itself: libtool's wrapper comes before it
last=$(grep -nE ' execve\("[^"]*rjserver"' "$T_DIR/trace" | tail -n 1 | cut -d: -f1)
sed -i "1,${last}d" "$T_DIR/trace"
check "there is a trace" test "$(wc -l <"$T_DIR/trace")" -gt 1000
calls() { sed -nE 's/^[0-9]+ +([a-z0-9_]+)\(.*/\1/p' "$T_DIR/trace" | sort -u; }
if command -v systemd-analyze >/dev/null; then
	timeout 120 systemd-analyze syscall-filter >"$T_DIR/sets"
	# allowed WORD...: the calls of sets and names; "~" takes away what follows
	allowed() {
		awk -v words="$*" '
		function mark(w, on,    i, n, part) {
			if (w !~ /^@/) {is[w] = on; return}
			n = split(set[w], part, " ")
			for (i = 1; i <= n; i++) mark(part[i], on)
		}
		/^@/ {now = $1; next}
		/^ +[@a-z]/ {set[now] = set[now] " " $1}
		END {
			n = split(words, w, " ")
			mark("@default", 1)
			for (i = 1; i <= n; i++) {
				if (w[i] ~ /^~/) {on = 0; sub(/^~/, "", w[i])}
				else if (w[i] == "+") {on = 1; continue}
				mark(w[i], on)
			}
			for (c in is) if (is[c]) print c
		}' "$T_DIR/sets" | sort -u
	}
	filter=$(value SystemCallFilter | sed 's/^/+ /' | tr '\n' ' ')
	is "every system call is allowed by SystemCallFilter" \
		"$(comm -23 <(calls) <(allowed "$filter") | tr '\n' ' ')" ""
	like "seen: a filter without file-system calls" \
		"$(comm -23 <(calls) <(allowed "$filter ~@file-system") | tr '\n' ' ')" openat
else
	skip "SystemCallFilter" "no systemd-analyze"
fi
families=$(value RestrictAddressFamilies)
is "every socket is of an address family that is allowed" \
	"$(grep -oE ' socket\(AF_[A-Z0-9]+' "$T_DIR/trace" | sed 's/.*(//' | sort -u |
		grep -vxF "$(tr ' ' '\n' <<<"$families")")" ""
is "nothing is written outside of the state directory" \
	"$(grep -E ' (open|openat|creat|mkdir|rename|unlink)[a-z0-9]*\(' "$T_DIR/trace" |
		grep -E 'O_WRONLY|O_RDWR|O_CREAT|mkdir|rename|unlink' | grep -v ENOENT |
		grep -vF "\"$D" | head -n 3)" ""
is "no memory is writable and executable (MemoryDenyWriteExecute)" \
	"$(value MemoryDenyWriteExecute) $(grep -cE ' (mmap|mprotect)\(.*PROT_WRITE\|PROT_EXEC' "$T_DIR/trace")" "yes 0"
is "nothing of /home or /root is opened (ProtectHome)" \
	"$(grep -E ' open(at)?\(' "$T_DIR/trace" | grep -E '"/(home|root|run/user)/' |
		grep -vF "$(cd "$RJ_SRC" && pwd -P)" | grep -vF "$(cd "$RJ_BUILD" && pwd -P)" | head -n 3)" ""
is "of /proc only what ProcSubset=pid shows" \
	"$(grep -oE ' open(at)?\([^"]*"/(proc|sys)/[^"]*' "$T_DIR/trace" | sed 's/.*"//' |
		grep -vE '^/proc/(self|[0-9]+)/' | sort -u)" ""
is "no device but the harmless ones (PrivateDevices)" \
	"$(grep -oE ' open(at)?\([^"]*"/dev/[^"]*' "$T_DIR/trace" | sed 's/.*"//' |
		grep -vxE '/dev/(null|zero|full|random|urandom|tty)' | sort -u)" ""
is "nothing else is run" "$(grep -E ' (execve|v?fork|clone3?)\(' "$T_DIR/trace" | grep -cv CLONE_THREAD)" 0
