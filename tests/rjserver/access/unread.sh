#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An account that may only read holds little of the server's memory by answers that it leaves:
# large objects, small ones, lists, streams. Others go on, and what is read is whole.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"

D=$T_DIR/store
UNREAD=$RJ_BUILD/tests/rjserver/access/unread
OWN=$(adduser "$D" own)
OTHER=$(adduser "$D" other)
READER=$("$RJSERVER" adduser -d "$D" --rights read --volumes own reader)
export ACCESS=
ulimit -n 8192
start "$D" || { note "$(cat "$LOG")"; not_ok "rjserver starts"; exit 1; }
port=${BASE##*:}
log=$BASE/own/$UUID/log
put() { as "$OWN" -H Expect: -T "$2" "$log/$(seq20 "$1")"; }
got() { as "$READER" "$log/$(seq20 "$1")" >/dev/null && cmp -s "$T_DIR/body" "$2"; }
rss_mib() { awk '/^VmRSS/ {print int($2 / 1024)}' /proc/$SERVER_PID/status; }

for kib in 16384 4096 256 33 32 31; do
	{ echo "object of $kib KiB"; head -c $((kib * 1024)) /dev/urandom; } | head -c $((kib * 1024)) >"$T_DIR/$kib"
done
n=0
for kib in 16384 4096 256 33 32 31; do
	n=$((n + 1))
	is "an object of $kib KiB" "$(put $n "$T_DIR/$kib")" 201
	check "it is read as it was" got $n "$T_DIR/$kib"
done
dir=/own/$UUID/log
for i in $(seq 7 1500); do
	printf 'url = "%s/%020d"\nupload-file = "%s"\noutput = /dev/null\n' "$log" "$i" "$T_DIR/31"
done >"$T_DIR/puts"
timeout 120 curl -s --noproxy '*' -H "Authorization: Bearer $OWN" -H Expect: -K "$T_DIR/puts"
is "1,500 objects" "$(as "$READER" "$BASE$dir/" >/dev/null; grep -c . "$T_DIR/body")" 1500

before=$(rss_mib)
mkfifo "$T_DIR/end"
timeout 120 "$UNREAD" "$port" "$READER" 1000 "$dir/$(seq20 1)" "$dir/$(seq20 2)" "$dir/$(seq20 3)" \
	"$dir/$(seq20 6)" "$dir/" "$dir/?from=1" <"$T_DIR/end" >"$T_DIR/asked" &
READERS=$!
at_exit kill -9 $READERS
exec {hold}>"$T_DIR/end"
check "1,000 answers that nobody reads" wait_for 60 grep -q asked "$T_DIR/asked"
sleep 2
after=$(rss_mib)
note "$before MiB before, $after MiB with them"
if sanitized "$RJSERVER"; then
	skip "they take less than 64 MiB" "with a sanitizer it is not the server's own"
else
	check "they take less than 64 MiB" test $((after - before)) -lt 64
fi
is "another account writes meanwhile" \
	"$(as "$OTHER" -H Expect: -T "$T_DIR/256" "$BASE/other/$UUID/log/$(seq20 1)")" 201
check "and the same account reads" got 1 "$T_DIR/16384"
exec {hold}>&-
wait $READERS

# an object whose bytes are damaged is refused before any of it is sent
F=$(data_file "$D")
pos=$(grep -abo -m 1 "object of 4096 KiB" "$F" | head -n 1 | cut -d : -f 1)
check "a byte far behind is changed" dd of="$F" conv=notrunc status=none bs=1 count=1 \
	seek=$((pos + 3000000)) <<<x
is "the object is said to be damaged" "$(as "$READER" "$log/$(seq20 2)")" 500
check "by its header" head_has "RJ-Damaged: 1"
as "$READER" "$BASE$dir/?from=1" >/dev/null
check "a stream says so, too" grep -qa "$(seq20 2) damaged$" "$T_DIR/body"
check "and has the others" test "$(stat -c %s "$T_DIR/body")" -gt $((16384 * 1024 + 1490 * 31 * 1024))
stop
exit 0
