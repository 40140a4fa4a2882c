#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rjlog copy: a kernel's log from a server to a directory, to a store of mode B,
# and to another server, which the volume then lives with. Cut copies, targets
# that are something else, sources that are not sound; an encrypted log, with its
# key and without.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
. "$RJ_SRC/tests/backends/frame.sh"
. "$RJ_SRC/tests/backends/server-sftp.sh"

RJLOG=$RJ_BUILD/rjlog/rjlog
need_fuse_loop
command -v jq >/dev/null || skip_all "needs jq"
(umask 077; : >"$RJ_CONF")

IMG=$T_DIR/img MNT=$T_DIR/mnt
# files of a store, by name and content
sums() { (cd "$1" && find . -type f -path '*/*-*/*' | LC_ALL=C sort | xargs -r sha256sum); }
count() { find "$1" -type f | wc -l; }
seg() { printf '%s/%s/log/%020d' "$1" "$UUID" "$2"; }
query() { local f=$1; shift; "$RJLOG" --json "$@" 2>/dev/null | jq -r "$f"; }

# ---- a log with several epochs, of which the beginning was trimmed ----
make_log() {
	"$MKRJFS" -q -F -t ext4 -b 1024 -J "remote=$SRV_URL/vol,size=4" "$IMG" 32M &&
		mount_served "$IMG" "$MNT" data=journal &&
		fsynced "$MNT" 6 "$T_DIR/sums" && umount "$MNT" && unserve &&
		mount_served "$IMG" "$MNT" data=journal && fsynced "$MNT" 12 "$T_DIR/sums" &&
		"$RJLOG" prune -q "$SRV_URL/vol" &&
		crash "$IMG" "$MNT" "$IMG.crash" && mv "$IMG.crash" "$IMG"
}
check "a server" start_server "$T_DIR/srv"
check "a crashed volume" make_log
URL=$SRV_URL/vol PORT=$SRV_PORT
UUID=$(dumpe2fs -h "$IMG" 2>/dev/null | awk '/^Journal UUID/ {print $3}')
LAST=$(query '.segments[-1].segment' ls "$URL/$UUID")
TRIMMED=$(query .trimmed verify "$URL")
check "its beginning was trimmed" test "$TRIMMED" -gt 0
N=$(query .segments verify "$URL")

# ---- to a directory ----
F=$T_DIR/files; mkdir "$F"
status 0 "-n" "$RJLOG" copy -n "$URL" "file://$F"
like "-n: how many would be copied" "$OUT" ": segments 1 to $LAST, $N would be copied, 0 are there$"
is "-n: nothing was" "$(count "$F")" 0
status 0 "copied" "$RJLOG" copy "$URL" "file://$F"
like "says so" "$OUT" "^file://$F/$UUID: segments 1 to $LAST, $N copied, [0-9]+ bytes, 0 were there: the copy is whole$"
status 0 "the copy is sound" "$RJLOG" verify "file://$F"
is "with what verify says of the source" "$(query 'del(.url)' verify "file://$F")" \
	"$(query 'del(.url)' verify "$URL")"
same_bytes() { # each object of the server's, but what it lists
	local kind n
	for kind in log epoch; do
		for n in $(curl -sf "http://127.0.0.1:$PORT/vol/$UUID/$kind/" | cut -d' ' -f1); do
			curl -sf "http://127.0.0.1:$PORT/vol/$UUID/$kind/$n" |
				cmp - "$F/$UUID/$kind/$n" || return 1
		done
	done
	[ "$(curl -sf "http://127.0.0.1:$PORT/vol/$UUID/epoch/" | wc -l)" = "$(count "$F/$UUID/epoch")" ]
}
check "byte for byte, claims too" same_bytes
status 0 "again" "$RJLOG" copy "$URL" "file://$F"
like "again: nothing is left to do" "$OUT" " 0 copied, 0 bytes, $N were there: the copy is whole$"
sums "$F" >"$T_DIR/good"

# ---- one that was cut off goes on ----
NEWEST=$(find "$F/$UUID/epoch" -type f | LC_ALL=C sort | tail -n 1)
rm "$(seg "$F" "$LAST")" "$(seg "$F" $((LAST - 1)))" "$NEWEST"
is "cut off: what is missing is put, as JSON" \
	"$(query '[.copied, .present, .whole, .status] | @csv' copy "$URL" "file://$F")" \
	"2,$((N - 2)),true,0"
check "cut off: it is the same" diff <(sums "$F") "$T_DIR/good"
status 0 "progress" "$RJLOG" copy -q -C 3 "$URL" "file://$F" 3>"$T_DIR/progress"
is "progress: each of the passes ends" "$(awk '$2 == $3 {print $1}' "$T_DIR/progress" | sort -nu | xargs)" "1 2 3"
status 0 "progress of verify" "$RJLOG" verify -q -C 3 "$URL" 3>"$T_DIR/progress"
is "progress of verify: its end" "$(tail -n 1 "$T_DIR/progress")" "1 $N $N $URL/$UUID"

# ---- a target that is something else ----
refused() { # STATUS WHAT TEXT: nothing was changed
	local before
	before=$(sums "$F")
	status "$1" "$2" "$RJLOG" copy "${FROM:-$URL}" "file://$F"
	like "$2: says so" "$OUT" "^rjlog: .*$3"
	is "$2: nothing was changed" "$(sums "$F")" "$before"
}
cp -a "$F" "$F.good"
again() { rm -rf "$F" && cp -a "$F.good" "$F"; }
flip "$(seg "$F" $((LAST - 1)))" 300; rm "$(seg "$F" "$LAST")"
refused 4 "another segment" "segment $((LAST - 1)) is not that of $URL/$UUID: "
again; cp "$(seg "$F" "$LAST")" "$(seg "$F" $((LAST + 1)))"
refused 4 "one that goes on" "segment $((LAST + 1)) is not that of "
again; cp "$NEWEST" "$F/$UUID/epoch/00000000000000000900"
refused 4 "a newer epoch" "epoch 900 was claimed there and not at "
again; sed -i 's/^host .*/host other/' "$NEWEST"
refused 4 "another's claim" "epoch [0-9]+ is another writer's there"
again
status 16 "to itself" "$RJLOG" copy "file://$F" "file://$F/"
status 16 "to another journal's name" "$RJLOG" copy "$URL" "file://$F/11111111-2222-4333-8444-555555555555"
status 16 "to nowhere" "$RJLOG" copy "$URL"
status 8 "to a directory that is not there" "$RJLOG" copy "$URL" "file://$F.none"

# ---- a source that is not sound is not copied ----
cp -a "$F.good" "$T_DIR/bad"; rm -rf "${F:?}"/*
flip "$(seg "$T_DIR/bad" $((LAST - 1)))" 300
FROM=file://$T_DIR/bad refused 4 "a damaged source" "segment $((LAST - 1)) is damaged"
rm "$(seg "$T_DIR/bad" $((LAST - 1)))"
FROM=file://$T_DIR/bad refused 4 "a source with a gap" "segment $((LAST - 1)) is missing"
again

# ---- through a store of mode B to another server, and on ----
through_mode_b() {
	local b n
	check "mode B: a server" b_start sftp || return
	b=$T_DIR/sftp/logs
	status 0 "mode B: copied" "$RJLOG" copy "file://$F" "$B_URL"
	status 0 "mode B: sound" "$RJLOG" verify "$B_URL"
	is "mode B: as at the source" "$(query 'del(.url)' verify "$B_URL")" "$(query 'del(.url)' verify "$URL")"
	n=$(find "$b" -type f | LC_ALL=C sort | tail -n 1)
	find "$b" -type f -exec sha256sum {} + | sort >"$T_DIR/b.good"
	rm "${n%/*}/claim" "$(find "${n%/*}" -name '0*' | LC_ALL=C sort | tail -n 1)"
	is "mode B: one that was cut off goes on" \
		"$(query '[.copied, .present, .whole] | @csv' copy "file://$F" "$B_URL")" "1,$((N - 1)),true"
	check "mode B: it is the same" diff <(find "$b" -type f -exec sha256sum {} + | sort) "$T_DIR/b.good"
	FROM_B=$B_URL
}
FROM_B=file://$F
if [ -z "$(sftp_missing)" ]; then through_mode_b; else skip "mode B" "no sshd"; fi
stop_server
check "another server" start_server "$T_DIR/other"
status 0 "copied to it" "$RJLOG" copy "$FROM_B" "$SRV_URL/vol"
stop_server
check "it takes the first one's place" start_server "$T_DIR/other" "$PORT"
status 0 "the volume recovers from the copy" "$RJRECOVER" --verify=full "$IMG"
check "and lives with it" mount_served "$IMG" "$MNT" data=journal
check "every file is back" bash -c "cd '$MNT' && sha256sum --quiet -c '$T_DIR/sums'"
check "new files" fsynced "$MNT" 4 "$T_DIR/sums"
check "unmounted" umount "$MNT"
check "ended" unserve
status 0 "the copy, continued, is sound" "$RJLOG" verify "$SRV_URL/vol"
check "and longer" test "$(query .last verify "$SRV_URL/vol")" -gt "$LAST"
status 0 "copied on" "$RJLOG" copy "$SRV_URL/vol" "file://$F"
status 0 "that copy is sound too" "$RJLOG" verify "file://$F"

# ---- an encrypted log ----
(umask 077; printf 'rj-key 1\n%s\n' "$(openssl rand -hex 32)" >"$T_DIR/key")
K=$T_DIR/sealed K2=$T_DIR/sealed2; mkdir "$K" "$K2"
sealed_log() {
	"$MKRJFS" -q -F -t ext4 -b 1024 -J "remote=file://$K,size=4,key=$T_DIR/key" "$IMG" 32M &&
		printf '[*]\nkeyfile = %s\n' "$T_DIR/key" >"$RJ_CONF" &&
		mount_served "$IMG" "$MNT" data=journal && fsynced "$MNT" 5 "$T_DIR/sums" &&
		umount "$MNT" && unserve && : >"$RJ_CONF"
}
check "an encrypted log" sealed_log
UUID=$(dumpe2fs -h "$IMG" 2>/dev/null | awk '/^Journal UUID/ {print $3}')
status 0 "encrypted, with the key: verify" "$RJLOG" verify --key "$T_DIR/key" "file://$K"
status 32 "encrypted, no key: verify" "$RJLOG" verify "file://$K"
like "no key: says what was not checked" "$OUT" "its headers are good; the rest is encrypted, and was not checked: no key$"
is "no key: in one line" "$(wc -l <<<"$OUT")" 1
is "no key: as JSON" "$(query '[.good, .replay_good, .headers_only, .status] | @csv' verify "file://$K")" "false,false,true,32"
status 0 "no key: copied" "$RJLOG" copy "file://$K" "file://$K2"
like "no key: says what was checked" "$OUT" "only its headers were checked"
check "no key: the same bytes" diff <(sums "$K") <(sums "$K2")
status 0 "the copy is sound, with the key" "$RJLOG" verify --key "$T_DIR/key" "file://$K2"
mv "$(seg "$K2" 3)" "$T_DIR/3"
status 4 "no key: a segment is missing" "$RJLOG" verify "file://$K2"
like "no key: it is named" "$OUT" "segment 3 is missing"
cp "$T_DIR/3" "$(seg "$K2" 3)"; flip "$(seg "$K2" 3)" 170
status 4 "no key: another's header" "$RJLOG" verify "file://$K2"
like "no key: the chain tells" "$OUT" "segment 4 is damaged: .*the chain of hashes breaks"
cp "$T_DIR/3" "$(seg "$K2" 3)"; truncate -s -1 "$(seg "$K2" 3)"
status 4 "no key: one that was cut" "$RJLOG" verify "file://$K2"
exit 0
