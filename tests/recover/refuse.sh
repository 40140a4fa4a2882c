#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Logs that must not be believed: each has its own clear message and status,
# nothing changes, and -y --accept-loss checks the whole volume, verified, the log kept.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
need_fuse_loop

IMG=$T_DIR/crash.img SUMS=$T_DIR/sums V=$T_DIR/v
make_crash() { # VOLUME-FILE SERVER-DIR
	"$MKRJFS" -q -F -t ext3 -b 4096 -J "remote=$SRV_URL/$3,size=8" "$1" 64M &&
		mount_served "$1" "$T_DIR/mnt" "" &&
		mkdir "$T_DIR/mnt/tree" &&
		cp -a /usr/include/linux/netfilter "$T_DIR/mnt/tree" &&
		fsynced "$T_DIR/mnt" 12 "$2" &&
		crash "$1" "$T_DIR/mnt" "$1.crash" && mv "$1.crash" "$1"
}
journal_uuid() { dumpe2fs -h "$1" 2>/dev/null | awk '/^Journal UUID/ {print $3}'; }
objects() { curl -sf "http://127.0.0.1:$SRV_PORT/$1/log/" | cut -d' ' -f1; }
get() { curl -sf -o "$3" "http://127.0.0.1:$SRV_PORT/$1/log/$2"; }
remove() { curl -sf -X DELETE "http://127.0.0.1:$SRV_PORT/$1/log/$2"; }
put() { curl -sf -T "$3" "http://127.0.0.1:$SRV_PORT/$1/log/$2"; }
again() { # a fresh copy of crash and log
	stop_server
	rm -rf "$T_DIR/srv" && cp -a "$T_DIR/srv.orig" "$T_DIR/srv" &&
		cp --sparse=always "$IMG" "$V" && start_server "$T_DIR/srv" "$SRV_PORT"
}
usable() { # the volume is whole, and mounts with its journal
	served_fsck "$1" -fn && mount_served "$1" "$T_DIR/mnt" "" &&
		echo new >"$T_DIR/mnt/new" && sync "$T_DIR/mnt/new" &&
		umount "$T_DIR/mnt" && unserve
}

# refused STATUS MESSAGE WHAT: -p refuses so, and leaves all as it was
refused() {
	local want=$1 message=$2 what=$3 before
	before=$(objects "$LOG")
	status "$want" "$what: refused" "$RJRECOVER" -p "$V"
	like "$what: says what, and where" "$OUT" "$message"
	is "$what: in one line" "$(wc -l <<<"$OUT")" 1
	is "$what: and once that nothing was changed" \
		"$(grep -o "nothing was changed" <<<"$OUT" | wc -l)" 1
	status "$want" "$what: also with -n" "$RJRECOVER" -n "$V"
	check "$what: the volume is untouched" cmp "$IMG" "$V"
	is "$what: the log too" "$(objects "$LOG")" "$before"
}
# refuses_yes STATUS WHAT: no other word than --accept-loss gives the log up
refuses_yes() {
	local want=$1 what=$2 before words
	before=$(objects "$LOG")
	cp --sparse=always "$V" "$T_DIR/as-it-was"
	for words in -y "-y -f" "-f --accept-loss"; do
		# shellcheck disable=SC2086
		status "$want" "$what: not given up with $words" "$RJRECOVER" -q $words "$V"
		like "$what, $words: the word for that is named" "$OUT" \
			"if it is lost for good, rjrecover -y --accept-loss gives up what was fsynced"
	done
	check "$what: the volume is as it was after -y" cmp "$T_DIR/as-it-was" "$V"
	is "$what: the log is as it was after -y" "$(objects "$LOG")" "$before"
}
# fallback WHAT: -y --accept-loss brings a whole volume, and keeps every segment
fallback() {
	local what=$1 before
	refuses_yes 4 "$what"
	before=$(objects "$LOG")
	status 1 "$what: given up, the whole volume is checked" "$RJRECOVER" -y --accept-loss "$V"
	like "$what: says what is given up" "$OUT" "given up \(--accept-loss\): what was fsynced"
	is "$what: the log is kept" \
		"$(comm -23 <(echo "$before") <(objects "$LOG"))" ""
	status 0 "$what: then there is nothing to do" "$RJRECOVER" "$V"
	check "$what: and the volume is whole and usable" usable "$V"
	status 0 "$what: and stays so" "$RJRECOVER" "$V"
}

start_server "$T_DIR/srv0"
check "a crashed volume" make_crash "$IMG" "$SUMS" vol
check "another volume" make_crash "$T_DIR/other.img" "$T_DIR/sums2" vol
stop_server
mv "$T_DIR/srv0" "$T_DIR/srv.orig"
LOG=vol/$(journal_uuid "$IMG")
OTHER=vol/$(journal_uuid "$T_DIR/other.img")
again
mapfile -t SEGS < <(objects "$LOG")
note "segments: ${#SEGS[@]}"
LAST=${SEGS[-1]} MIDDLE=${SEGS[${#SEGS[@]} - 3]}

# ---- a flipped byte, put back through the front door ----
get "$LOG" "$MIDDLE" "$T_DIR/seg" && flip "$T_DIR/seg" 1000
remove "$LOG" "$MIDDLE" && put "$LOG" "$MIDDLE" "$T_DIR/seg"
refused 4 "segment $((10#$MIDDLE)) .*damaged" "flipped byte"
fallback "flipped byte"

# ---- the same in the last segment, and in its header ----
again
get "$LOG" "$LAST" "$T_DIR/seg" && flip "$T_DIR/seg" 75
remove "$LOG" "$LAST" && put "$LOG" "$LAST" "$T_DIR/seg"
refused 4 "segment $((10#$LAST)) .*damaged" "flipped byte in the last header"
fallback "flipped byte in the last header"

# ---- a flipped byte on the server's own disk ----
again
stop_server
# a sealed segment begins with RJSEGMNT; ours stand before the other volume's
f=$(grep -laF RJSEGMNT -r "$T_DIR/srv" | head -n 1)
at=$(grep -abo RJSEGMNT "$f" | sed -n "$((${#SEGS[@]} - 2))p" | cut -d: -f1)
flip "$f" $((at + 700))
start_server "$T_DIR/srv" "$SRV_PORT"
refused 4 "segment [0-9]+.*damaged" "flipped byte on the server's disk"
fallback "flipped byte on the server's disk"

# ---- a missing segment ----
again
remove "$LOG" "$MIDDLE"
refused 4 "segment $((10#$MIDDLE)) .*missing" "missing segment"
fallback "missing segment"

# ---- the whole log gone ----
again
for s in "${SEGS[@]}"; do remove "$LOG" "$s"; done
refused 4 "the log is empty, but" "no log at all"
fallback "no log at all"

# ---- another volume's log under our name ----
again
for s in "${SEGS[@]}"; do remove "$LOG" "$s"; done
for s in $(objects "$OTHER"); do get "$OTHER" "$s" "$T_DIR/seg" && put "$LOG" "$s" "$T_DIR/seg"; done
refused 4 "another|belongs|foreign|is of volume" "a foreign volume's log"
fallback "a foreign volume's log"

# ---- a log of another size: the volume knows its journal's ----
again
cp --sparse=always "$V" "$T_DIR/small" && "$RJ_BUILD/tests/rjournald/mark" "$T_DIR/small" blocks=1024 &&
	cp --sparse=always "$T_DIR/small" "$T_DIR/small.was"
status 4 "a log of another size: refused" "$RJRECOVER" -p "$T_DIR/small"
like "a log of another size: says so" "$OUT" "is of a journal of 2048 blocks .* not of 1024 blocks"
check "a log of another size: the volume is untouched" cmp "$T_DIR/small.was" "$T_DIR/small"

# ---- the store's directory is away: what holds it is not mounted ----
mkdir "$T_DIR/shelf" && truncate -s 24M "$T_DIR/f" &&
	"$MKRJFS" -q -F -J "remote=file://$T_DIR/shelf" "$T_DIR/f" &&
	mv "$T_DIR/shelf" "$T_DIR/away" && cp "$T_DIR/f" "$T_DIR/f.was"
status 12 "no such directory: refused" "$RJRECOVER" -p "$T_DIR/f"
like "no such directory: says so" "$OUT" "$T_DIR/shelf: there is no such directory.*; try again when it is there; if it is lost for good, rjrecover -y --accept-loss"
check "no such directory: the volume is untouched" cmp "$T_DIR/f.was" "$T_DIR/f"
status 12 "no such directory: -y gives nothing up" "$RJRECOVER" -q -y "$T_DIR/f"
status 1 "no such directory: given up" "$RJRECOVER" -q -y --accept-loss "$T_DIR/f"
mv "$T_DIR/away" "$T_DIR/shelf"
status 0 "the directory is back: a fresh journal" "$RJRECOVER" -p "$T_DIR/f"

# ---- the server is away ----
again
stop_server
status 12 "server away: refused" "$RJRECOVER" -p "$V"
like "server away: says so" "$OUT" "127.0.0.1:$SRV_PORT.*(refused|reach)"
check "server away: the volume is untouched" cmp "$IMG" "$V"
for words in -y "-y -f" "-f --accept-loss"; do
	# shellcheck disable=SC2086
	status 12 "server away: not given up with $words" "$RJRECOVER" -q $words "$V"
done
check "server away: the volume is as it was after -y" cmp "$IMG" "$V"
status 1 "server away: given up" "$RJRECOVER" -q -y --accept-loss "$V"
status 12 "server away: then only the server is missing" "$RJRECOVER" "$V"
status 1 "server away: rjournald does not serve the void log" "$RJOURNALD" "$V"
start_server "$T_DIR/srv" "$SRV_PORT"
status 0 "server back: the volume gets a fresh journal" "$RJRECOVER" "$V"
like "server back: the journal is another one" "$(journal_uuid "$V")" "^[0-9a-f-]{36}$"
check "server back: not that of the old log" test "$(journal_uuid "$V")" != "$(journal_uuid "$IMG")"
is "server back: the old log is kept" \
	"$(comm -23 <(printf '%s\n' "${SEGS[@]}") <(objects "$LOG"))" ""
check "server back: whole and usable" usable "$V"

# ---- a check that was cut off is done again ----
again
stop_server
mkdir "$T_DIR/bin"
printf '#!/bin/sh\nexit 8\n' >"$T_DIR/bin/e2fsck"; chmod +x "$T_DIR/bin/e2fsck"
PATH=$T_DIR/bin:$PATH "$RJRECOVER" -q -y --accept-loss "$V" >/dev/null 2>&1
start_server "$T_DIR/srv" "$SRV_PORT"
status 4 "cut check: not replayed over, not called clean" "$RJRECOVER" -p "$V"
status 1 "cut check: -y does it again" "$RJRECOVER" -q -y "$V"
check "cut check: whole and usable" usable "$V"
exit 0
