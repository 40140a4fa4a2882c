#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Which libraries a command maps: rj:// and file:// need no libcurl, and without TLS and a key no
# OpenSSL; what libcurl's stores need is loaded when a URL of theirs is opened. From where: from
# beside librj, and from nowhere else.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/support/rj.sh"
. "$RJ_SRC/tests/rjserver/http/certs.sh"
unset http_proxy https_proxy HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY
RJTUNE=$RJ_BUILD/rjtune/rjtune RJLOG=$RJ_BUILD/rjlog/rjlog
VERSION=$(sed -n 's/^#define PACKAGE_VERSION "\(.*\)"/\1/p' "$RJ_BUILD/config.h")

# loads WANT COMMAND...: the command succeeds (or ends with $STATUS), and of the four libraries, it
# and the programs that it runs load those that the pattern WANT names
loads() {
	local want=$1 rc got
	shift
	rm -f "$T_DIR"/ld.*
	LD_DEBUG=files LD_DEBUG_OUTPUT=$T_DIR/ld "$@" >"$T_DIR/out" 2>&1
	rc=$?
	got=$(cat "$T_DIR"/ld.* | sed -nE 's,.*calling init: .*/lib(curl|expat|ssl|crypto)[-.].*,\1,p' |
		LC_ALL=C sort -u | tr '\n' ' ')
	# shellcheck disable=SC2053
	[[ $got == $want ]] && [ $rc = "${STATUS:-0}" ] && return
	cat "$T_DIR/out"
	echo "status $rc; loads: $got; wanted: $want"
	return 1
}
with_curl="*curl *"

# --- the same life of a volume at three stores
# life URL WANT: made, looked at, found clean, its log listed
life() {
	local image=$T_DIR/${1%%:*}
	truncate -s 24M "$image"
	check "${1%%:*}: mkrjfs loads ${2:-none of them}" \
		loads "$2" "$MKRJFS" -q -F -t ext4 -J "remote=$1,size=4" "$image"
	check "${1%%:*}: rjtune -l" loads "$2" "$RJTUNE" -l "$image"
	check "${1%%:*}: rjtune -l reaches the journal" grep -q 'Journal reachable: *yes' "$T_DIR/out"
	check "${1%%:*}: rjrecover -p" loads "$2" "$RJRECOVER" -p "$image"
	check "${1%%:*}: rjrecover -p says clean" grep -q 'clean, nothing to recover' "$T_DIR/out"
	check "${1%%:*}: rjlog ls" loads "$2" "$RJLOG" ls "$1"
}
mkdir "$T_DIR/dir"
life "file://$T_DIR/dir" ""
start_server "$T_DIR/plain" || { not_ok "rjserver starts"; exit 1; }
life "$SRV_URL/v" ""
PLAIN=$SRV_URL
new_ca ca && new_cert server localhost ca || { not_ok "certificates are made"; exit 1; }
TOKEN=$("$RJSERVER" adduser -q -d "$T_DIR/tls" host)
printf '[rjs://127.0.0.1]\nca = %s\ntoken = %s\n' "$PKI/ca.pem" "$TOKEN" >"$RJ_CONF"
chmod 600 "$RJ_CONF"
SRV_OPTIONS="--cert $PKI/server.pem --key $PKI/server.key" start_server "$T_DIR/tls" ||
	{ not_ok "rjserver starts with TLS"; exit 1; }
TLS=rjs://127.0.0.1:$SRV_PORT
life "$TLS/host" "crypto ssl "
# a key: only what seals and opens segments
"$RJTUNE" --genkey "$T_DIR/key"
printf '[rj://127.0.0.1]\nkeyfile = %s\n' "$T_DIR/key" >"$RJ_CONF"
truncate -s 24M "$T_DIR/sealed"
check "with a key: mkrjfs loads crypto" loads "crypto ssl " \
	"$MKRJFS" -q -F -t ext4 -J "remote=$PLAIN/sealed,key=$T_DIR/key,size=4" "$T_DIR/sealed"
check "with a key: rjtune -l loads none" loads "" "$RJTUNE" -l "$T_DIR/sealed"
check "with a key: rjrecover -p" loads "crypto ssl " "$RJRECOVER" -p "$T_DIR/sealed"
check "with a key: rjrecover -p says clean" grep -q 'clean, nothing to recover' "$T_DIR/out"

# --- the daemon: its supervisor, its worker, and the worker after it
mapped() { grep -oE '/lib(rj-)?(curl|openssl|ssl|crypto)-?[.0-9]*so[.0-9]*' "/proc/$1/maps" | sort -u | tr -d '\n'; }
next_worker() { local w; w=$(worker_pid "$1") && [ -n "$w" ] && [ "$w" != "$2" ]; }
if [ -z "${RJ_TEST_SKIP_SYSTEM:-}" ] && [ "$(id -u)" = 0 ] && [ -c /dev/fuse ] && [ -c /dev/loop-control ]; then
	: >"$RJ_CONF"
	truncate -s 24M "$T_DIR/image"
	"$MKRJFS" -q -F -t ext4 -J "remote=$PLAIN/daemon,size=4" "$T_DIR/image"
	check "rjournald serves" serve "$T_DIR/image"
	is "rj://: the supervisor maps none" "$(mapped "$DPID")" ""
	is "rj://: nor does the worker" "$(mapped "$(worker_pid "$T_DIR/image")")" ""
	check "it ends" unserve
	# an upgrade replaces the module's file while a volume is mounted, and the worker dies
	printf '[rjs://127.0.0.1]\nca = %s\ntoken = %s\n' "$PKI/ca.pem" "$TOKEN" >"$RJ_CONF"
	mkdir "$T_DIR/old"
	cp "$RJ_BUILD/lib/.libs/librj.so.0" "$RJ_BUILD/lib/.libs/librj-openssl-$VERSION.so" "$T_DIR/old"
	export LD_LIBRARY_PATH=$T_DIR/old
	check "it serves a volume with TLS" mount_served "$T_DIR/rjs" "$T_DIR/mnt" data=journal
	at_exit umount -l "$T_DIR/mnt"
	unset LD_LIBRARY_PATH
	check "the supervisor has the worker's module" grep -q "$T_DIR/old/librj-openssl" "/proc/$DPID/maps"
	rm "$T_DIR/old/librj-openssl-$VERSION.so"
	worker=$(worker_pid "$T_DIR/rjs")
	kill -KILL "$worker"
	check "another worker starts" wait_for 60 next_worker "$T_DIR/rjs" "$worker"
	(fsynced "$T_DIR/mnt" 3 "$T_DIR/sums" && : >"$T_DIR/committed") &
	check "and commits, though the file is gone" wait_for 60 test -e "$T_DIR/committed"
	# (a worker without the module waits for it)
	cp "$RJ_BUILD/lib/.libs/librj-openssl-$VERSION.so" "$T_DIR/old"
	check "unmounted" umount "$T_DIR/mnt"
	check "the daemon ends" unserve
	check "the volume is clean" "$RJRECOVER" -p "$T_DIR/rjs"
else
	skip "rjournald maps none" "needs root, FUSE and loop devices"
fi

# --- libcurl's stores: the module is loaded by their URL, and does what it is for
port=$(free_port)
for url in "dav://127.0.0.1:$port/x" "s3+http://127.0.0.1:$port/bucket" "ftp://127.0.0.1:$port/x" \
	"sftp://127.0.0.1:$port/x" "imap://127.0.0.1:$port/x"; do
	printf '[%s]\nuser = u\npassword = p\ninsecure = yes\n' "$url" >"$RJ_CONF"
	STATUS=8 check "${url%%:*}:// loads them" loads "$with_curl" "$RJLOG" ls "$url"
	check "${url%%:*}:// was tried" grep -q 'cannot reach the .*connection refused' "$T_DIR/out"
done
# a proxy is libcurl's, whatever the store is: here nobody listens
printf '[rj://127.0.0.1]\nproxy = http://127.0.0.1:%s\n' "$port" >"$RJ_CONF"
STATUS=8 check "rj:// through a proxy loads them" loads "$with_curl" "$RJLOG" ls "$PLAIN/v"
check "and the proxy was tried" grep -q 'cannot reach the journal server: connection refused' "$T_DIR/out"
: >"$RJ_CONF"

# --- from where. A librj of its own, in a folder without the modules
mkdir "$T_DIR/lib" "$T_DIR/other"
cp "$RJ_BUILD/lib/.libs/librj.so.0" "$T_DIR/lib"
module=librj-curl-$VERSION.so
cp "$RJ_BUILD/lib/.libs/$module" "$T_DIR/other"
cp "$RJ_BUILD/lib/.libs/$module" "$T_DIR"
own() { LD_LIBRARY_PATH=$T_DIR/lib "$@"; }
cd "$T_DIR" || exit 99
dav() { own "$RJLOG" ls "dav://127.0.0.1:$port/x"; }
status 8 "without the module: refused" dav
like "one line says which file, and what to install" "$OUT" \
	"^rjlog: dav://: $T_DIR/lib/$module: the module is not there .*install it.*librj0"
is "the message is one line" "$(wc -l <<<"$OUT")" 1
status 0 "rj:// needs none" own "$RJLOG" ls "$PLAIN/v"
truncate -s 24M "$T_DIR/new"
status 1 "mkrjfs says it, too" own "$MKRJFS" -q -F -t ext4 -J "remote=dav://127.0.0.1:$port/x" "$T_DIR/new"
like "in the same words" "$OUT" "the module is not there"
is "and has written nothing" "$(tr -d '\0' <"$T_DIR/new" | wc -c)" 0
status 16 "rjtune, too" own "$RJTUNE" -J "remote=dav://127.0.0.1:$port/x" "$T_DIR/file"
like "rjtune says it" "$OUT" "the module is not there"
# what this host lacks says nothing of a log: it is not given up
printf '[rjs://127.0.0.1]\nca = %s\ntoken = %s\n' "$PKI/ca.pem" "$TOKEN" >"$RJ_CONF"
cp "$T_DIR/rjs" "$T_DIR/rjs.before"
for options in "-p" "-y" "-y --accept-loss"; do
	# shellcheck disable=SC2086
	status 4 "rjrecover $options: refused" own "$RJRECOVER" $options "$T_DIR/rjs"
	like "rjrecover $options: says what to install" "$OUT" \
		"$T_DIR/lib/librj-openssl-$VERSION.so: the module is not there"
	check "rjrecover $options: has changed nothing" cmp "$T_DIR/rjs" "$T_DIR/rjs.before"
done
: >"$RJ_CONF"
# a search path, the working directory and a name of the module's in the environment
status 8 "not from another folder of the search path" \
	env LD_LIBRARY_PATH="$T_DIR/lib:$T_DIR/other" "$RJLOG" ls "dav://127.0.0.1:$port/x"
like "said" "$OUT" "$T_DIR/lib/$module: the module is not there"
status 8 "not beside a librj that was named by a relative path" \
	env LD_LIBRARY_PATH=lib "$RJLOG" ls "dav://127.0.0.1:$port/x"
like "said, too" "$OUT" "not loaded from an absolute path"
cp "$T_DIR/other/$module" "$T_DIR/lib"
# refused NAME REGEX
refused() {
	status 8 "refused: $1" dav
	like "$1: said" "$OUT" "$2"
}
chmod o+w "$T_DIR/lib/$module"
refused "a module that everybody may write" "not loaded: it has another owner.*install it again"
chmod o-w "$T_DIR/lib/$module"
chmod 1777 "$T_DIR/lib"
refused "a folder that everybody may write" "all users may write its folder; chmod o-w $T_DIR/lib"
chmod 755 "$T_DIR/lib"
if [ "$(id -u)" = 0 ]; then
	chown 1 "$T_DIR/lib/$module"
	refused "a module of another user" "not loaded: it has another owner"
	chown 0 "$T_DIR/lib/$module"
else
	skip "a module of another user" "needs root"
fi
echo text >"$T_DIR/lib/$module"
refused "a module that is damaged" "cannot load the module: .*install it again"
# a copy that was cut: at each length a line, and no signal
whole=$(stat -Lc %s "$T_DIR/other/$module")
for bytes in 0 64 500 4096 9000 20000 $((whole / 2)) $((whole - 1)); do
	head -c "$bytes" "$T_DIR/other/$module" >"$T_DIR/lib/$module"
	refused "one of $bytes bytes" "^rjlog: dav://: $T_DIR/lib/$module: cannot load the module: .*install it again"
done
cp "$T_DIR/other/$module" "$T_DIR/lib"
status 8 "it is loaded when it is right again" dav
like "and used" "$OUT" "cannot reach the .*connection refused"
