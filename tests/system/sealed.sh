# SPDX-License-Identifier: GPL-2.0-or-later
# A volume whose log is encrypted: format, mount, write, crash, recover; what
# the store sees of it; a key that is missing, wrong, or open to others; and a
# store that changes, swaps, drops or replaces what it keeps.
. "$RJ_SRC/tests/support/lib.sh"
. "$RJ_SRC/tests/support/rj.sh"
need_fuse_loop
RJLOG=$RJ_BUILD/rjlog/rjlog
store=$T_DIR/store url=file://$T_DIR/store
mnt=$T_DIR/mnt img=$T_DIR/v.img
mkdir "$store" "$mnt"

new_key() { (umask 077; printf 'rj-key 1\n%s\n' "$(openssl rand -hex 32)" >"$1"); }
conf() { (umask 077; printf '[*]\nkeyfile = %s\n' "$1" >"$RJ_CONF"); }
new_key "$T_DIR/key"
new_key "$T_DIR/other"
(umask 077; : >"$RJ_CONF")

truncate -s 64M "$img"
status 1 "a key file that is not there" "$MKRJFS" -q -J "remote=$url,key=$T_DIR/none" "$img"
like "is named" "$OUT" "$T_DIR/none: "
is "and the store was not touched" "$(find "$store" -type f | wc -l)" 0
cp "$T_DIR/key" "$T_DIR/open"; chmod 644 "$T_DIR/open"
status 1 "a key file that others can read" "$MKRJFS" -q -J "remote=$url,key=$T_DIR/open" "$img"
like "is refused" "$OUT" "others may use this key file"
echo junk >"$T_DIR/junk"; chmod 600 "$T_DIR/junk"
status 1 "a file that is no key" "$MKRJFS" -q -J "remote=$url,key=$T_DIR/junk" "$img"
check "format with a key" "$MKRJFS" -q -J "remote=$url,key=$T_DIR/key" "$img"

status 1 "without the key nothing is served" "$RJOURNALD" -q "$img"
like "one line says what to do" "$OUT" 'encrypted with the key [0-9a-f]{32}: name its file'
conf "$T_DIR/other"
status 1 "with another key neither" "$RJOURNALD" -q "$img"
like "both are named" "$OUT" 'encrypted with the key [0-9a-f]{32}: .*other holds the key [0-9a-f]{32}'
conf "$T_DIR/key"
check "with the key: mounted" mount_served "$img" "$mnt" data=journal
yes "A line that nobody may read." | head -c 20000 >"$mnt/secret-name"
sync "$mnt/secret-name"
check "fsynced files" fsynced "$mnt" 20 "$T_DIR/sums"
check "crash" crash "$img" "$mnt" "$T_DIR/crash.img"

check "segments were written" test "$(find "$store" -name '0*' -path '*/log/*' | wc -l)" -ge 20
is "no text of the volume's is in the store" \
	"$(grep -rlaE 'nobody may read|secret-name' "$store" | wc -l)" 0
is "nor this host's name" "$(grep -rlaF "host $(hostname)" "$store" | wc -l)" 0

recover() { cp --sparse=always "$T_DIR/crash.img" "$T_DIR/r.img"; "$RJRECOVER" -y "$@" "$T_DIR/r.img"; }
: >"$RJ_CONF"
status 8 "recovery without the key" recover
like "says so" "$OUT" 'encrypted with the key'
check "and changes nothing" cmp "$T_DIR/crash.img" "$T_DIR/r.img"
status 8 "recovery with another key" recover -J "key=$T_DIR/other"
check "changes nothing either" cmp "$T_DIR/crash.img" "$T_DIR/r.img"
status 32 "rjlog verify without the key" "$RJLOG" verify "$url"
status 32 "and with another one" "$RJLOG" verify --key "$T_DIR/other" "$url"
check "and with the key" "$RJLOG" verify --key "$T_DIR/key" "$url"
conf "$T_DIR/key"
check "rj.conf names it as well" "$RJLOG" verify "$url"

# a log that is not encrypted, below a prefix for which rj.conf names a key
mkdir "$T_DIR/plain"
truncate -s 64M "$T_DIR/p.img"
(umask 077; : >"$T_DIR/empty.conf")
RJ_CONF=$T_DIR/empty.conf "$MKRJFS" -q -J "remote=file://$T_DIR/plain" "$T_DIR/p.img" 2>"$T_DIR/err" ||
	note "$(cat "$T_DIR/err")"
status 0 "a log that is not encrypted is read without the key" "$RJLOG" verify "file://$T_DIR/plain"
like "with a warning" "$OUT" 'warning: not encrypted, though rj.conf names a key'
status 4 "but not where the key was asked for" "$RJLOG" verify --key "$T_DIR/key" "file://$T_DIR/plain"
# re-keyed: the same place, another key
check "moved to another key at the same URL" "$RJ_BUILD/rjtune/rjtune" -q \
	-J "remote=file://$T_DIR/plain,key=$T_DIR/other" "$T_DIR/p.img"
like "which the volume knows by its fingerprint" \
	"$("$RJ_BUILD/rjtune/rjtune" -l --old-key="$T_DIR/other" "$T_DIR/p.img" 2>&1)" 'Key fingerprint: *[0-9a-f]{32}'
check "and again" "$RJ_BUILD/rjtune/rjtune" -q --old-key="$T_DIR/other" \
	-J "remote=file://$T_DIR/plain,key=$T_DIR/key" "$T_DIR/p.img"
is "three logs" "$(ls "$T_DIR/plain" | wc -l)" 3
status 0 "with the same key there is nothing to do" "$RJ_BUILD/rjtune/rjtune" \
	-J "remote=file://$T_DIR/plain,key=$T_DIR/key" "$T_DIR/p.img"
like "which is said" "$OUT" 'nothing to do'

# ---- a store that lies ----
log=$(echo "$store"/*/log)
last=$(ls "$log" | tail -n 1)
mid=$(ls "$log" | tail -n 5 | head -n 1) next=$(ls "$log" | tail -n 4 | head -n 1)
cp -a "$store" "$T_DIR/good"
put_back() { rm -rf "$store"; cp -a "$T_DIR/good" "$store"; }
# tampered NAME: both tools see it; the volume stays as it is
tampered() {
	local st
	"$RJLOG" verify -q "$url" >/dev/null 2>&1; st=$?
	is "$1: rjlog verify sees it" $st 4
	cp --sparse=always "$T_DIR/crash.img" "$T_DIR/r.img"
	"$RJRECOVER" -p -J "key=$T_DIR/key" "$T_DIR/r.img" >"$T_DIR/out" 2>&1; st=$?
	check "$1: rjrecover refuses ($st)" test $st -ge 4
	check "$1: and changes nothing" cmp "$T_DIR/crash.img" "$T_DIR/r.img"
	put_back
}
for at in 0 8 12 16 24 32 40 48 56 64 72 88 104 120 136 168 184 200 256 300 "$(($(stat -c %s "$log/$mid") - 1))"; do
	chmod u+w "$log/$mid"
	flip "$log/$mid" "$at"
	"$RJLOG" verify -q "$url" >/dev/null 2>&1; st=$?
	check "byte $at flipped: rjlog verify sees it ($st)" test $st -ge 4
	put_back
done
flip "$log/$mid" 300
tampered "a flipped byte"
mv "$log/$mid" "$log/x"; mv "$log/$next" "$log/$mid"; mv "$log/x" "$log/$next"
tampered "two segments swapped"
rm -f "$log/$mid"
tampered "a segment dropped"
cp "$log/$mid" "$log/$last"
tampered "an earlier segment replayed as the last"
# another volume's, made with the same key
truncate -s 64M "$T_DIR/w.img"
mkdir "$T_DIR/store2"
"$MKRJFS" -q -J "remote=file://$T_DIR/store2,key=$T_DIR/key" "$T_DIR/w.img" || note "mkrjfs failed"
cp "$(ls "$T_DIR"/store2/*/log/* | tail -n 1)" "$log/$last"
tampered "another volume's segment"
# what anybody could make who may write there
chmod u+w "$log/$last"
check "take the encryption off" "$RJ_BUILD/tests/rjlog/reseal" "$log/$last" 0 "$T_DIR/key"
tampered "a segment with its encryption taken off"

check "with the true log the recovery goes well" recover
check "the files are there" sh -c "
	mount -i -t ext4 -o ro,noload '$T_DIR/r.img' '$mnt' &&
	cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
umount "$mnt"
check "and the volume is served again" mount_served "$T_DIR/r.img" "$mnt" data=ordered
check "with its files" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
umount "$mnt"
check "and left" unserve
