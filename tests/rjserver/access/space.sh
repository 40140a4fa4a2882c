#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The disk's floor holds with many bodies under way; of what is kept back below it
# nobody gets all, and claims get through; a disk that is full is said to be.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjserver/common.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"
need_root

M=$T_DIR/mnt MIB=$((1 << 20))
mkdir "$M"
mount -t tmpfs -o size=96m none "$M" || skip_all "cannot mount a tmpfs"
at_exit umount -l "$M"
SERVER_OPTIONS="--file-size=$MIB"
head -c $((4 * MIB)) /dev/urandom >"$T_DIR/large"
head -c 200000 "$T_DIR/large" >"$T_DIR/a"
head -c 256 "$T_DIR/large" >"$T_DIR/fence"
printf x >"$T_DIR/b"
uuid() { printf '%08x-8765-4321-0123-456789abcdef' "$1"; }
# what the server takes for free, in bytes
free() { as "$ADMIN" "$BASE/status" >/dev/null && jq .server.free_bytes "$T_DIR/body"; }
is_what() { as "$ADMIN" "$BASE/status" >/dev/null && jq -r .server.health "$T_DIR/body"; }

D=$M/floor
ADMIN=$(adduser "$D" boss --rights admin --volumes '*')
MANY=$(adduser "$D" many --volumes 'm*')
OTHER=$(adduser "$D" other --volumes 'o*')
THIRD=$(adduser "$D" third --volumes 't*')
FOURTH=$(adduser "$D" fourth --volumes 'u*')
FIFTH=$(adduser "$D" fifth --volumes 'w*')
LAST=$(adduser "$D" last --volumes 'l*')

# Eight bodies of 4 MiB under way, and room for two.
ACCESS="--min-free 1" start "$D" || { note "$(cat "$LOG")"; not_ok "rjserver starts"; exit 1; }
is "one object" "$(as "$ADMIN" -T "$T_DIR/b" "$BASE/n/$UUID/log/$(seq20 1)")" 201
floor=$(($(free) - 12 * MIB)) # each takes an eighth more of its file, and what the last has left
stop
ACCESS="--min-free $floor" start "$D"
for i in {1..8}; do
	exec {fds[i]}<>"/dev/tcp/127.0.0.1/${BASE##*:}"
	{
		printf 'PUT /n/%s/log/%s HTTP/1.1\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n' \
			"$(uuid $i)" "$(seq20 1)" "$ADMIN" $((4 * MIB))
		head -c $((4 * MIB - 1)) "$T_DIR/large"
	} >&"${fds[i]}"
done
for i in {1..8}; do
	printf x >&"${fds[i]}"
	read -r -t 60 _ line _ <&"${fds[i]}"
	echo "$line"
	exec {fds[i]}>&-
done >"$T_DIR/bodies"
is "eight bodies at once, room for two" "$(sort "$T_DIR/bodies" | uniq -c | tr -s ' \n' ' ')" " 2 201 6 507 "
check "the floor holds" test "$(free)" -ge "$floor"
like "each is counted" "$(counted space)" '^[6-9]$'
stop

# part FD PATH BYTES: a PUT whose last byte is still to come
part() {
	printf 'PUT /%s HTTP/1.1\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n' "$2" "$ADMIN" "$3" >&"$1"
	head -c $(($3 - 1)) "$T_DIR/large" >&"$1"
}
# last FD: the byte; status FD: of its answer
last() { printf x >&"$1"; }
status() {
	local line
	read -r -t 60 _ line _ <&"$1"
	echo "$line"
}
# Small bodies that end together are one batch, which is not on the disk yet.
ACCESS="--min-free 1" start "$D"
as "$ADMIN" -T "$T_DIR/b" "$BASE/n/$UUID/log/$(seq20 2)" >/dev/null
floor=$(($(free) - 2 * MIB))
stop
ACCESS="--min-free $floor" start "$D"
for i in {1..12}; do
	exec {fds[i]}<>"/dev/tcp/127.0.0.1/${BASE##*:}"
	part "${fds[i]}" "batch/$(uuid $i)/log/$(seq20 1)" 600000
done
check "a small one is taken meanwhile" test "$(free)" -gt "$floor"
kill -STOP $SERVER_PID
for i in {1..12}; do last "${fds[i]}"; done
kill -CONT $SERVER_PID
for i in {1..12}; do
	status "${fds[i]}"
	exec {fds[i]}>&-
done >"$T_DIR/bodies"
note "$(sort "$T_DIR/bodies" | uniq -c | tr -s ' \n' ' ')"
check "twelve bodies in a batch, room for three" test "$(grep -c 201 "$T_DIR/bodies")" -le 3
stop

# What is kept back: 20 MiB below the floor, three quarters of it for progress.
ACCESS="--min-free 40M" start "$D"
for n in {1..4}; do as "$ADMIN" -T "$T_DIR/large" "$BASE/n/$(uuid 8)/log/$(seq20 $n)"; done >/dev/null
exec {there}<>"/dev/tcp/127.0.0.1/${BASE##*:}" {epoch}<>"/dev/tcp/127.0.0.1/${BASE##*:}"
head -c 60000 "$T_DIR/a" >"$T_DIR/c"
part $there "late/$(uuid 1)/log/$(seq20 1)" 60000
part $epoch "late/$(uuid 1)/epoch/$(seq20 1)" 60000
is "an object" "$(as "$ADMIN" -T "$T_DIR/c" "$BASE/late/$(uuid 1)/log/$(seq20 1)")" 201
n=1
while [ "$(as "$ADMIN" -T "$T_DIR/a" "$BASE/n/$(uuid 9)/log/$(seq20 $n)")" = 201 ]; do n=$((n + 1)); done
while [ "$(as "$ADMIN" -T "$T_DIR/fence" "$BASE/n/$(uuid 9)/log/$(seq20 $n)")" = 201 ]; do n=$((n + 1)); done
last $there
is "full when its body comes: an object that is there is there" "$(status $there)" 412
last $epoch
is "and an epoch is taken" "$(status $epoch)" 201
exec {there}>&- {epoch}>&-
is "full" "$(is_what)" full
# progress TOKEN NAME: of how many new journals one segment is taken
progress() {
	local i
	for ((i = 1; i <= 90; i++)); do
		[ "$(as "$1" -H 'RJ-Progress: 1' -T "$T_DIR/a" "$BASE/$2$i/$(uuid $i)/log/$(seq20 1)")" = 201 ] || break
	done
	echo $((i - 1))
}
got=$(progress "$MANY" m)
note "an account of many volumes: $got"
check "an account gets a quarter of it, whatever its volumes" test "$got" -ge 10 -a "$got" -le 30
got=$(progress "$OTHER" o)
note "another: $got"
check "another gets some, too" test "$got" -ge 4
progress "$THIRD" t >/dev/null
progress "$FOURTH" u >/dev/null
progress "$FIFTH" w >/dev/null
is "then there is no more for progress" "$(progress "$LAST" l)" 0
head -c 131500 "$T_DIR/large" >"$T_DIR/base"
is "but for a small one, the base that ends a recovery" "$(as "$LAST" -H 'RJ-Progress: 1' -T "$T_DIR/base" "$BASE/l/$(uuid 2)/log/$(seq20 1)")" 201
claim() { as "$1" -T "$T_DIR/b" "$BASE/$2/$(uuid 1)/epoch/$(seq20 "$3")"; }
is "and for an epoch, whoever claims it" "$(claim "$LAST" l 1)$(claim "$MANY" m1 1)" 201201
is "and for a fence" "$(as "$LAST" -H 'RJ-Progress: 1' -T "$T_DIR/fence" "$BASE/l/$(uuid 1)/log/$(seq20 1)")" 201
for ((i = 2; i < 100; i++)); do
	[ "$(as "$MANY" -T "$T_DIR/c" "$BASE/m$i/$(uuid $i)/epoch/$(seq20 1)")" = 201 ] || break
done
check "not for ever" test $i -lt 30
is "others' claims still are taken" "$(claim "$LAST" l 2)" 201
stop

# A disk above its floor that has no room for what comes, but would have it without
# what was deleted: not enough of it to be cleaned otherwise.
D=$M/half
rm -rf "$M/floor"
ADMIN=$(adduser "$D" boss --rights admin --volumes '*')
ACCESS="--min-free 1" start "$D"
head -c 300000 "$T_DIR/large" >"$T_DIR/third"
head -c 600000 "$T_DIR/large" >"$T_DIR/rest"
for n in {1..4}; do
	as "$ADMIN" -T "$T_DIR/third" "$BASE/n/$(uuid 1)/log/$(seq20 $n)"
	as "$ADMIN" -T "$T_DIR/rest" "$BASE/n/$(uuid 2)/log/$(seq20 $n)"
done >"$T_DIR/codes"
is "files of objects" "$(cat "$T_DIR/codes")" "$(printf '201%.0s' {1..8})"
is "two thirds of them deleted" "$(as "$ADMIN" -X DELETE "$BASE/n/$(uuid 2)/log/?below=5")" 204
stop
ACCESS="--min-free 1" start "$D" # a start sets room aside
floor=$(($(free) - 200000))
stop
ACCESS="--min-free $floor" start "$D"
check "above its floor" test "$(free)" -ge "$floor"
is "no room for more" "$(as "$ADMIN" -T "$T_DIR/rest" "$BASE/n/$(uuid 1)/log/$(seq20 5)")" 507
taken() { [ "$(as "$ADMIN" -T "$T_DIR/rest" "$BASE/n/$(uuid 1)/log/$(seq20 5)")" = 201 ]; }
check "it is made" wait_for 60 taken
stop

# The disk is full before the floor is reached.
D=$M/small
rm -rf "$M/half"
ADMIN=$(adduser "$D" boss --rights admin --volumes '*')
ACCESS="--min-free 0" start "$D"
is "room" "$(is_what)" ok
n=1
while [ "$(as "$ADMIN" -T "$T_DIR/large" "$BASE/n/$UUID/log/$(seq20 $n)")" = 201 ]; do n=$((n + 1)); done
for i in {1..20}; do as "$ADMIN" -T "$T_DIR/large" "$BASE/n/$UUID/log/$(seq20 $n)"; done >/dev/null
is "none: /status says full" "$(is_what)" full
is "the refusals are counted" "$(counted space)" 21
as "$ADMIN" "$BASE/metrics" >/dev/null
is "the metrics say it" "$(grep -c '^rjserver_disk_full 1$' "$T_DIR/body")" 1
like "stats, too" "$(timeout 60 "$RJSERVER" stats -d "$D")" '^rjserver [^ ]*: full;'
check "the log says it, a minute apart" test "$(grep -c 'No space left' "$LOG")" -le 3
as "$ADMIN" -X DELETE "$BASE/n/$UUID/log/?below=$n" >/dev/null
is "trimmed: taken" "$(as "$ADMIN" -T "$T_DIR/a" "$BASE/n/$UUID/log/$(seq20 $n)")" 201
is "and all is well" "$(is_what)" ok
stop
is "stopped in order" $? 0
