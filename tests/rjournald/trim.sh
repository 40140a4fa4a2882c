#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel moves its tail, and what lies before it leaves the store: never a
# fence, never an epoch, never what a replay needs.
. "$RJ_SRC/tests/support/lib.sh" || exit 99
. "$RJ_SRC/tests/rjournald/daemon.sh"
img=$T_DIR/v.img mnt=$T_DIR/mnt RJLOG=$RJ_BUILD/rjlog/rjlog
url=file://$T_DIR/store
mkdir "$T_DIR/store"
export FSTYPE=ext4
(umask 077; printf '[*]\ntrim_interval = 1\n' >"$RJ_CONF")
check "a volume" volume "$img" ext4 1024 "$url"
log=$(echo "$T_DIR"/store/*/log) epochs=$(echo "$T_DIR"/store/*/epoch)
segments() { find "$log" -name '0*' | wc -l; }
fences() { find "$log" -name '0*' -size -289c | wc -l; }

# twice round the ring, so that the tail has to move
use() {
	local i
	for ((i = 0; i < 40; i++)); do
		head -c 700000 /dev/urandom >"$mnt/f.$((i % 8))" &&
			sync "$mnt/f.$((i % 8))" || return 1
	done
}
trimmed() { [ -z "$(find "$log" -name 00000000000000000002)" ] && [ "$(segments)" -lt $1 ]; }
check "served" serve "$img"
check "and mounted" mount_served "$img" "$mnt" data=journal
check "written to" use
before=$(ls "$log" | tail -n 1)
check "segments go away" wait_for 20 trimmed $((10#$before / 2))
note "$(segments) of $((10#$before)) segments are left"
check "the fence stays" test -e "$log/00000000000000000001"

# ---- what keeps it from that is shown, although each fsync returns 0 ----
hold=${log%/log}/hold
failing() { [ "$("$RJCTL" metrics "$img" | sed -n 's/^rjournald_upkeep_failing_seconds{.*} //p')" != 0 ]; }
not failing
is "all well: no failing upkeep" $? 0
check "all well" "$RJCTL" check "$img"
echo "no folder" >"$hold"
check "more is written" use
check "it cannot be trimmed: the metrics say so" wait_for 20 failing
status 0 "rjctl status" "$RJCTL" status "$img"
like "says why" "$OUT" '  upkeep        fails for [0-9]+ s: .*cannot open directory .*/hold/: Not a directory'
status 1 "rjctl check warns" "$RJCTL" check "$img"
like "and says why" "$OUT" '^RJPROGS WARNING: .*: upkeep: .*Not a directory'
rm "$hold"
check "mended: well again" wait_for 20 not failing
status 0 "rjctl check" "$RJCTL" check "$img"
check "files whose fsync returned" fsynced "$mnt" 10 "$T_DIR/sums"
check "crash" crash "$img" "$mnt" "$T_DIR/crash.img"
status 0 "rjlog verify takes the holes for what they are" "$RJLOG" verify "$url"
note "$OUT"
check "recovery" "$RJRECOVER" -y "$T_DIR/crash.img"
mv "$T_DIR/crash.img" "$img"
# nobody has served it since: the log from before the recovery stays
count=$(segments)
status 0 "rjlog prune waits for the volume to be used" "$RJLOG" prune "$url"
is "and deletes nothing" "$(segments)" "$count"
check "served again" serve "$img"
check "and mounted again" mount_served "$img" "$mnt" data=journal
check "the files are there" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
check "written to again" use
umount "$mnt" && unserve

# ---- by hand ----
is "a fence for each epoch" "$(fences)" "$(ls "$epochs" | wc -l)"
(umask 077; printf '[*]\ntrim_interval = 1\nretain = 1h\n' >"$RJ_CONF")
count=$(segments)
status 0 "with a retention of an hour: prune" "$RJLOG" prune "$url"
is "deletes nothing" "$(segments)" "$count"
(umask 077; printf '[*]\ntrim_interval = 1\n' >"$RJ_CONF")
status 0 "prune -n" "$RJLOG" prune -n "$url"
like "says what it would delete" "$OUT" 'would be deleted'
is "and deletes nothing" "$(segments)" "$count"
would=$("$RJLOG" prune -n --json "$url" 2>/dev/null | tr -d ' \n' | sed 's/.*"segments":\([0-9]*\).*/\1/')
status 0 "prune" "$RJLOG" prune "$url"
is "deletes as many as -n said" "$((count - $(segments)))" "$would"
is "never a fence" "$(fences)" "$(ls "$epochs" | wc -l)"
status 0 "the rest is sound" "$RJLOG" verify "$url"
check "and is served" serve "$img"
check "and mounted" mount_served "$img" "$mnt"
check "with its files" sh -c "cd '$mnt' && sha256sum --quiet -c '$T_DIR/sums'"
umount "$mnt"
check "to the end" unserve
