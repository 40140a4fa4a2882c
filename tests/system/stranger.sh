#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A volume that a stranger made: root makes, opens or removes no file at a path of its
# choice, and its store hears no secret that is not meant for it.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
. "$RJ_SRC/tests/rjserver/common.sh"
need_fuse_loop
RJLOG=$RJ_BUILD/rjlog/rjlog
export no_proxy='*'
kill_daemons_at_end "$T_DIR"/{a,b,c,e,f,g,h}.img
mkdir "$T_DIR/mine" "$T_DIR/others"
check "a server" start_server "$T_DIR/server"

# ---- fallback= ----
here() { local_conf "$T_DIR/mine" "$T_DIR/none"; }
elsewhere() { local_conf "$T_DIR"; }
made_by_stranger() { # IMAGE PATH
	elsewhere
	"$MKRJFS" -q -F -t ext4 -J "remote=$SRV_URL/x,size=4,fallback=$2,fallback_size=40" "$1" 32M
	here
}
nothing_at() { [ ! -e "$1" ] && [ -z "$(ls -A "$T_DIR/others")" ]; }
refused() { # NAME IMAGE FILE REGEX
	cp --sparse=always "$2" "$T_DIR/before"
	status 1 "$1: not served" "$RJOURNALD" -q "$2"
	like "$1: why" "$OUT" "$4"
	status 4 "$1: not recovered" "$RJRECOVER" -p "$2"
	like "$1: why" "$OUT" "$4"
	check "$1: nothing is changed" cmp "$2" "$T_DIR/before"
	status 0 "$1: given up, recovered" "$RJRECOVER" -p --accept-loss "$2"
	check "$1: no file is made" nothing_at "$3"
}
check "a volume" made_by_stranger "$T_DIR/a.img" "$T_DIR/others/f"
rm "$T_DIR/others/f"
refused "another directory" "$T_DIR/a.img" "$T_DIR/others/f" 'not where this host keeps fallback files .*rj.conf'
mkdir "$T_DIR/mine/sub"
check "a volume" made_by_stranger "$T_DIR/b.img" "$T_DIR/mine/sub/f"
rm -r "$T_DIR/mine/sub" && ln -s ../others "$T_DIR/mine/sub"
refused "a link on the way" "$T_DIR/b.img" "$T_DIR/others/f" 'no symbolic link is followed'
check "a volume" made_by_stranger "$T_DIR/c.img" "$T_DIR/mine/f"
rm "$T_DIR/mine/f" && ln -s ../others/f "$T_DIR/mine/f"
refused "a link as the file" "$T_DIR/c.img" "$T_DIR/others/f" 'a symbolic link, which is not followed'
# a file that others have too
rm "$T_DIR/mine/f"
: >"$T_DIR/roots" && ln "$T_DIR/roots" "$T_DIR/mine/f"
status 1 "a second name of another file" "$RJOURNALD" -q "$T_DIR/c.img"
like "why" "$OUT" 'has other names, too'
is "which is as it was" "$(stat -c %s "$T_DIR/roots")" 0
rm "$T_DIR/mine/f"
check "without all that it is served" serve "$T_DIR/c.img"
check "and its file is there" test -s "$T_DIR/mine/f"
unserve
mkrjfs() { "$MKRJFS" -q -F -t ext4 -J "remote=$SRV_URL/x,size=4,fallback=$1" "$T_DIR/d.img" 32M; }
status 1 "nor is one made with such a path" mkrjfs "$T_DIR/mine/../others/f"
status 1 "nor elsewhere" mkrjfs "$T_DIR/others/f"
check "nothing is there" nothing_at "$T_DIR/mine/f2"

# ---- file:// ----
mkdir "$T_DIR/logs" "$T_DIR/logs/mine" "$T_DIR/away"
anywhere() { here; }
only_logs() { here; RJ_CREDENTIALS="$RJ_CREDENTIALS
file_dirs = /nowhere $T_DIR/logs/"; }
file_made_by_stranger() { # IMAGE DIR
	anywhere
	"$MKRJFS" -q -F -t ext4 -J "remote=file://$2,size=4" "$1" 32M
	only_logs
}
file_refused() { # NAME IMAGE DIR REGEX
	local was
	cp --sparse=always "$2" "$T_DIR/before"
	was=$(cd "$3" && find . -ls)
	status 1 "$1: not served" "$RJOURNALD" -q "$2"
	like "$1: why" "$OUT" "$4"
	status 4 "$1: not recovered" "$RJRECOVER" -p "$2"
	like "$1: why" "$OUT" "$4"
	status 4 "$1: not given up by -y -f" "$RJRECOVER" -y -f "$2"
	check "$1: nothing is changed" cmp "$2" "$T_DIR/before"
	is "$1: nothing is written there" "$(cd "$3" && find . -ls)" "$was"
}
check "file://: a volume" file_made_by_stranger "$T_DIR/f.img" "$T_DIR/away"
file_refused "file:// elsewhere" "$T_DIR/f.img" "$T_DIR/away" 'not where this host keeps logs .*rj.conf'
ln -s ../away "$T_DIR/logs/link"
check "file:// over a link: a volume" file_made_by_stranger "$T_DIR/g.img" "$T_DIR/logs/link"
file_refused "file:// over a link" "$T_DIR/g.img" "$T_DIR/away" 'no symbolic link is followed'
check "file:// over ..: a volume" file_made_by_stranger "$T_DIR/g.img" "$T_DIR/logs/mine/../../away"
file_refused "file:// over .." "$T_DIR/g.img" "$T_DIR/away" 'leads out of'
only_logs
status 1 "file://: none is made elsewhere" "$MKRJFS" -q -F -J "remote=file://$T_DIR/away,size=4" "$T_DIR/h.img" 32M
like "file://: ... says why" "$OUT" 'not where this host keeps logs'
check "file://: one is made where logs are" "$MKRJFS" -q -F -J "remote=file://$T_DIR/logs/mine,size=4" "$T_DIR/h.img" 32M
check "file://: it is served" serve "$T_DIR/h.img"
unserve
anywhere

# ---- the token of [*] ----
TOKEN=$("$RJSERVER" adduser -d "$T_DIR/accounts" host1)
ACCESS= start "$T_DIR/accounts" --accounts "$T_DIR/accounts/accounts" || not_ok "a server with accounts"
URL=rj://${BASE#http://}/host1
say() { (umask 077; printf '%s\n' "$@" >"$RJ_CONF"); }
say "[$URL]" "token = $TOKEN"
check "a volume with a store that wants a token" "$MKRJFS" -q -F -t ext4 -J "remote=$URL,size=4" "$T_DIR/e.img" 32M
say "[*]" "token = $TOKEN"
status 12 "a store that only the volume names does not hear it" "$RJRECOVER" -p "$T_DIR/e.img"
like "and the message says why" "$OUT" 'without the secret of \[\*\] in rj.conf'
status 1 "nor when it is served" "$RJOURNALD" -q "$T_DIR/e.img"
status 8 "nor by rjlog" "$RJLOG" ls "$URL"
say "[*]" "token = $TOKEN" "[${URL%/*}1]" "[rjs${URL#rj}]"
status 12 "nor if rj.conf names another port or scheme" "$RJRECOVER" -p "$T_DIR/e.img"
say "[*]" "token = $TOKEN" "[${URL%/host1}]"
status 0 "if rj.conf names the host it does" "$RJRECOVER" -p "$T_DIR/e.img"
exit 0
